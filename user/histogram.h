/* SPDX-License-Identifier: MIT */
/*
 * histogram - how many durations fell into which bucket of ns: struct profile_bucket lists, sorted,
 * without empty ones. A middle of a bucket is at most 0.05% off, and merging loses nothing. Pure.
 */
#ifndef TICKSNICK_HISTOGRAM_H
#define TICKSNICK_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile.h"

#define HISTOGRAM_OCTAVE  (1u << PROFILE_HISTOGRAM_BITS)
#define HISTOGRAM_BUCKETS 56320 /* all of 64 bits */

/* The bucket of a duration; the least ns in a bucket, and of HISTOGRAM_BUCKETS UINT64_MAX; the
 * middle of a bucket, rounded down. */
uint32_t histogram__bucket(uint64_t ns);
uint64_t histogram__low(uint32_t bucket);
uint64_t histogram__middle(uint32_t bucket);

/* Whether the list is sorted by bucket, each there is and has a count. */
bool histogram__valid(const struct profile_bucket *at, size_t count);

/*
 * Adds other to the list, which is replaced; counts saturate. 0 or -ENOMEM, and then the list is as
 * it was.
 */
int histogram__merge(struct profile_bucket **at, size_t *count, const struct profile_bucket *other,
		     size_t other_count);

/*
 * Adds what an application counted: uint64_t[TSN_DURATION_BUCKETS] in units of unit_ns > 0. Each
 * of its buckets goes where its middle lies, or where longest_units does if the middle is beyond
 * that; so does what the last bucket holds, which has no upper end. longest_units 0: not known. The
 * middle of a bucket is at most 0.8% off, 0.9% after this. 0 or -ENOMEM as above.
 */
int histogram__add_units(struct profile_bucket **at, size_t *count, const uint64_t *buckets,
			 double unit_ns, uint64_t longest_units);

/* Saturates. */
uint64_t histogram__total(const struct profile_bucket *at, size_t count);

/* Of durations by their buckets' middles, none taken to be longer than most_ns: how many, their
 * mean (NaN without any), Σ squares of their distances from it. */
struct histogram_moments {
	double count, mean, squares;
};
struct histogram_moments histogram__moments(const struct profile_bucket *at, size_t count,
					    double most_ns);

/*
 * By nearest rank: the middle of the bucket of the least duration that at least percent (1..100) of
 * all do not exceed; max_ns, the longest of all, if that is less (0: it is not known, and the
 * buckets must do). 0: the list is empty.
 */
uint64_t histogram__percentile(const struct profile_bucket *at, size_t count, unsigned percent,
			       uint64_t max_ns);

#endif
