/* SPDX-License-Identifier: MIT */
/*
 * trimmed - the trimmed mean of durations: of all but the slowest tenth, which what else a machine
 * does decides about more than the program. Pure.
 *
 * The sum of all is exact, and what is taken off it is counted in buckets, so the error by those is
 * that of the slow part alone.
 */
#ifndef TICKSNICK_TRIMMED_H
#define TICKSNICK_TRIMMED_H

#include <stddef.h>
#include <stdint.h>

#include "profile.h"

#define TRIMMED_PART 0.1

struct trimmed {
	double mean_ns; /* NaN: there are no durations, or they exceed their sum */
	/*
	 * Relative variance of the mean, as if durations were independent: that of the winsorized
	 * ones (K. K. Yuen, Biometrika 61, 1974). NaN with fewer than two.
	 */
	double variance;
	double error; /* the greatest relative one by the buckets, whose middles are off by part */
};

/* sum_ns: of all durations in the list, which is as in histogram.h; off: the greatest relative
 * error of a bucket's middle. */
struct trimmed trimmed__of(uint64_t sum_ns, const struct profile_bucket *at, size_t count,
			   double off);

#endif
