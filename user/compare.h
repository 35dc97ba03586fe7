/* SPDX-License-Identifier: MIT */
/*
 * compare - what a new build does to each label, told from reports of it and of a base. Pure: no
 * kernel, no clock. docs/diff.md has the arithmetic as users see it.
 *
 * A label has regressed if the whole interval of its change lies beyond the threshold. The
 * intervals are at the levels of S. Holm's procedure (Scandinavian Journal of Statistics 6, 1979)
 * over all quantities that can be judged, so that the chance of any false alarm is at most alpha,
 * however the labels depend on each other.
 */
#ifndef TICKSNICK_COMPARE_H
#define TICKSNICK_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "estimate.h"
#include "profile.h"

#define COMPARE_ALPHA	  0.05
#define COMPARE_THRESHOLD 0.03

/*
 * Where each side has one report, nothing is known of the variance between runs. The standard error
 * is then that of sampling within a run times the first, and besides so much of the value, for what
 * no run shows of itself however long it is. make bench-diff measures both: docs/diff.md has its
 * figures.
 */
#define COMPARE_SINGLE_WIDENING	  1.5
#define COMPARE_SINGLE_NOISE	  0.01 /* of the time per call */
#define COMPARE_SINGLE_NOISE_MEAN 0.03 /* of a mean duration */
#define COMPARE_SINGLE_NOISE_TM90 0.01
#define COMPARE_SINGLE_NOISE_P50  0.01
#define COMPARE_SINGLE_NOISE_P99  0.05

enum compare_state {
	COMPARE_BOTH,		/* on both sides, with calls */
	COMPARE_ADDED,		/* in no report of the base */
	COMPARE_REMOVED,	/* in no report of the new build */
	COMPARE_UNCALLED,	/* no calls, or executions, on either side */
	COMPARE_UNCALLED_BASE,	/* no calls in the base alone */
	COMPARE_UNCALLED_NEW,	/* no calls in the new build alone */
	COMPARE_UNSAMPLED,	/* called, but never hit by a tick, on either side */
	COMPARE_UNSAMPLED_BASE, /* never hit in the base: the change has no upper end */
	COMPARE_UNSAMPLED_NEW,	/* never hit in the new build: no lower end but -100% */
	COMPARE_IDLE,		/* an idle label, which is not judged */
	COMPARE_STATES
};

enum compare_verdict {
	COMPARE_SLOWER,	 /* the whole interval lies above the threshold */
	COMPARE_UNKNOWN, /* cannot say: the interval holds an end of what counts as the same */
	COMPARE_FASTER,	 /* the whole interval lies below the threshold */
	COMPARE_SAME,	 /* the whole interval lies within the threshold */
	COMPARE_NONE,	 /* there is nothing to judge; the state says why */
	COMPARE_VERDICTS
};

/* One quantity of one label, such as its time per call. */
struct compare_test {
	struct estimate estimate;
	double alpha; /* level of the intervals, two-sided */
	struct estimate_limits limits;
	enum compare_verdict verdict;
};

/* What a side has of a fine label, summed over its reports. */
struct compare_fine_side {
	bool present;
	uint64_t calls, hits, running_ns, wait_ns, thread_time_ns;
	double share; /* NaN: none */
};

struct compare_fine {
	char *label;
	enum compare_state state;
	struct compare_fine_side side[ESTIMATE_SIDES];
	struct compare_test per_call; /* running time for each call */
};

enum { COMPARE_MEAN, COMPARE_TM90, COMPARE_P50, COMPARE_P99, COMPARE_DURATIONS };

struct compare_coarse_side {
	bool present;
	bool untimed; /* some report has executions and no durations of them */
	uint64_t executions, sum_ns;
	uint64_t unsummed;		  /* executions of which not even the sum is known */
	uint64_t max_ns;		  /* 0: some report does not know its own */
	struct profile_bucket *histogram; /* of all reports */
	size_t histogram_count;
};

struct compare_coarse {
	char *label;
	enum compare_state state;
	struct compare_coarse_side side[ESTIMATE_SIDES];
	struct compare_test duration[COMPARE_DURATIONS];
};

struct compare_warning {
	const char *code; /* stable; docs/diff.md has an entry for each */
	char *text;	  /* one sentence; may hold what a report says, so any bytes */
};

struct comparison {
	double threshold, alpha; /* as asked for */
	bool single;		 /* one report on each side: see COMPARE_SINGLE_WIDENING */
	double level;		 /* of each interval that settled nothing: alpha / what is left */
	size_t reports[ESTIMATE_SIDES];
	size_t recordings[ESTIMATE_SIDES];    /* in them; more than reports where some are merged */
	uint64_t duration_ns[ESTIMATE_SIDES]; /* of all reports of a side */
	double pace_ns[ESTIMATE_SIDES];	  /* mean over a side's reports; NaN: not known of all */
	enum estimate_covariate adjusted; /* what was taken out of times per call and means */
	struct compare_fine *fine;	  /* worst first */
	size_t fine_count;
	struct compare_coarse *coarse; /* worst first */
	size_t coarse_count;
	size_t tests;			   /* quantities that were judged */
	size_t verdicts[COMPARE_VERDICTS]; /* of quantities */
	size_t labels[COMPARE_VERDICTS];   /* fine and coarse, by the worst of each */
	struct compare_warning *warnings;
	size_t warning_count;
};

struct compare_input {
	const struct profile *const *reports; /* borrowed; at least one */
	size_t count;
	const char *const *names; /* of their files, for warnings; borrowed. NULL: none */
};

/* threshold in 0..1, alpha in 0..1 without the ends. NULL: out of memory. */
struct comparison *compare__new(const struct compare_input input[ESTIMATE_SIDES], double threshold,
				double alpha);
void compare__free(struct comparison *comparison); /* NULL is fine */

/* Waiting for each call, ns; NaN: no calls. */
double compare__wait_per_call(const struct compare_fine_side *side);

/* Labels that have a verdict. */
size_t compare__judged_labels(const struct comparison *comparison);

/* Of a coarse label: the worst of its quantities' verdicts. */
enum compare_verdict compare__coarse_verdict(const struct compare_coarse *row);

/* "slower", "cannot-say" ...; "added", ... */
const char *compare__verdict_name(enum compare_verdict verdict);
const char *compare__state_name(enum compare_state state);

/* "mean", "tm90" (trimmed.h), "p50", "p99" */
extern const char *const compare_duration_names[COMPARE_DURATIONS];

/* COMPARE_SINGLE_NOISE_MEAN .. */
extern const double compare_duration_noise[COMPARE_DURATIONS];

/* new / base - 1, for the estimate and its interval; NaN: no value, INFINITY: open. */
double compare__change(const struct compare_test *test);
struct interval compare__change_limits(const struct compare_test *test);

#endif
