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
 * durations for executions); x[k] is a covariate, what it may differ from others by, on one scale
 * for both sides. x is NULL, or some of it NaN, where that is not known. Runs without a weight tell
 * nothing.
 */
struct estimate_runs {
	const double *amount, *weight, *x;
	size_t count;
};

enum estimate_covariate {
	ESTIMATE_NOTHING,
	ESTIMATE_PACE, /* logarithm of how long the CPUs took for the same calculation */
	ESTIMATE_TIME, /* when it was made, s since any moment: machines get slower, or faster */
	ESTIMATE_COVARIATES,
};

/*
 * Whether runs are to be adjusted by a covariate, which it alone decides: with enough degrees of
 * freedom; where it differs at all between runs of a side; and where it adds no more than so much
 * of the variance of the ratio. So not where all runs of one side came first; nor where the sides'
 * means differ so much that chance does that in 1% (a t-test), as where it is one build that makes
 * the CPUs slower.
 */
#define ESTIMATE_PACE_DF   4
#define ESTIMATE_PACE_COST 1.0	 /* or less, see above */
#define ESTIMATE_PACE_MIN  0.005 /* standard deviation between runs of a side */
#define ESTIMATE_TIME_DF   6
#define ESTIMATE_TIME_COST 0.25

bool estimate__serves(const struct estimate_runs runs[ESTIMATE_SIDES],
		      enum estimate_covariate which);

/* What such series on both sides say of the variance between runs. */
struct estimate_spread {
	double df;			 /* 0: nothing */
	double variance[ESTIMATE_SIDES]; /* of sum(amount) / sum(weight), relative */
	double factor[ESTIMATE_SIDES];	 /* takes that to the covariate's middle; 1 without one */
	double wider; /* at least 1: what the covariate makes of the ratio's variance, all causes */
};

/*
 * By the residuals amount[k] - ratio * weight[k] (W. G. Cochran, Sampling Techniques, 1977, 6.3),
 * pooled: the relative variance of one run is taken to be the same on both sides. With a single run
 * on each there is none.
 *
 * What the covariate explains of them, linearly and the same for both sides, is no variance between
 * runs: it is estimated and taken out (analysis of covariance; Cochran, Biometrics 13, 1957), for
 * one degree of freedom, where there are two. Exact for runs of like weight.
 */
void estimate__between_runs(const struct estimate_runs runs[ESTIMATE_SIDES],
			    struct estimate_spread *spread);

#endif
