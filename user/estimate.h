/* SPDX-License-Identifier: MIT */
/*
 * estimate - one quantity of a base and of a new build, both estimated, and the intervals of its
 * change at any level. Pure: no kernel, no clock, no allocation.
 *
 * An open end of an interval is 0 or INFINITY; what has no value is NaN.
 */
#ifndef TICKSNICK_ESTIMATE_H
#define TICKSNICK_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile.h"
#include "stats.h"

enum { ESTIMATE_BASE, ESTIMATE_NEW, ESTIMATE_SIDES };

enum estimate_kind {
	ESTIMATE_RATE,	     /* by counted hits: time per call */
	ESTIMATE_MEAN,	     /* by measured durations */
	ESTIMATE_PERCENTILE, /* of measured durations */
};

struct estimate_side {
	double value; /* ns; of a rate 0 without hits; NaN: none */
	/*
	 * Relative variance of the value, all causes: of a rate and a mean all that is known (of a
	 * rate without hits not used); of a percentile that between runs alone, 0 if not known,
	 * with sampling in it unless it stands apart.
	 */
	double variance;
	bool apart;
	double off; /* of a mean: greatest relative error besides, which is no matter of chance */
	double exposure; /* of a rate: effective hits for each ns of the value */
	/* Of a percentile: the durations, borrowed, and as how many independent ones they count. */
	const struct profile_bucket *buckets;
	size_t bucket_count;
	double trials;
};

struct estimate {
	enum estimate_kind kind;
	bool comparable; /* else the sides alone have limits */
	struct estimate_side side[ESTIMATE_SIDES];
	double df;	  /* of the variances; INFINITY: they are known */
	unsigned percent; /* of a percentile */
};

struct estimate_limits {
	struct interval side[ESTIMATE_SIDES]; /* ns */
	struct interval ratio;		      /* new / base */
	struct interval difference;	      /* new - base, ns */
};

/* Greatest relative error of a percentile by the buckets that it was counted in (histogram.h). */
#define ESTIMATE_BUCKET_ERROR 0.009

/*
 * The intervals, each two-sided at alpha; the ratio's alone, and all. Intervals at a smaller alpha
 * hold those at a greater one.
 */
struct interval estimate__ratio(const struct estimate *estimate, double alpha);
void estimate__limits(const struct estimate *estimate, double alpha,
		      struct estimate_limits *limits);

/*
 * A series of runs of one side: run k has amount[k] for weight[k] (running time for calls,
 * durations for executions), and was made at when[k], s since any moment that both sides share;
 * NULL: not known. Runs without a weight tell nothing.
 */
struct estimate_runs {
	const double *amount, *weight, *when;
	size_t count;
};

/* What such series on both sides say of the variance between runs. */
struct estimate_spread {
	double df;			 /* 0: nothing */
	double variance[ESTIMATE_SIDES]; /* of sum(amount) / sum(weight), relative */
	double factor[ESTIMATE_SIDES];	 /* takes that to the middle of the time; 1 without drift */
};

/*
 * By the residuals amount[k] - ratio * weight[k] (W. G. Cochran, Sampling Techniques, 1977, 6.3),
 * pooled: the relative variance of one run is taken to be the same on both sides. With a single run
 * on each there is none.
 *
 * Where the sides took turns, a machine that gets slower (or faster) meanwhile is no variance
 * between runs: a linear drift, the same for both sides, is estimated and taken out (analysis of
 * covariance; Cochran, Biometrics 13, 1957), for one degree of freedom. That is done with at least
 * ESTIMATE_DRIFT_DF degrees, and where it adds no more than a quarter to the variance of the ratio
 * (ESTIMATE_DRIFT_COST), which the times alone decide; so never with all runs of one side first.
 */
#define ESTIMATE_DRIFT_DF   6
#define ESTIMATE_DRIFT_COST 0.25

void estimate__between_runs(const struct estimate_runs runs[ESTIMATE_SIDES],
			    struct estimate_spread *spread);

#endif
