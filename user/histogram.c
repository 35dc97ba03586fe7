// SPDX-License-Identifier: MIT
#include "histogram.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <ticksnick/slot.h>

#include "saturate.h"

uint32_t histogram__bucket(uint64_t ns)
{
	uint32_t octave;

	if (ns < HISTOGRAM_OCTAVE)
		return (uint32_t)ns;
	octave = 63u - (uint32_t)__builtin_clzll(ns) - PROFILE_HISTOGRAM_BITS;
	return octave * HISTOGRAM_OCTAVE + (uint32_t)(ns >> octave);
}

uint64_t histogram__low(uint32_t bucket)
{
	uint32_t octave;

	if (bucket >= HISTOGRAM_BUCKETS)
		return UINT64_MAX;
	if (bucket < HISTOGRAM_OCTAVE)
		return bucket;
	octave = bucket / HISTOGRAM_OCTAVE - 1;
	return (uint64_t)(bucket - octave * HISTOGRAM_OCTAVE) << octave;
}

uint64_t histogram__middle(uint32_t bucket)
{
	const uint64_t low = histogram__low(bucket);

	return low + (histogram__low(bucket + 1) - low - 1) / 2;
}

bool histogram__valid(const struct profile_bucket *at, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (at[i].bucket >= HISTOGRAM_BUCKETS || at[i].count == 0 ||
		    (i > 0 && at[i - 1].bucket >= at[i].bucket))
			return false;
	return true;
}

int histogram__merge(struct profile_bucket **at, size_t *count, const struct profile_bucket *other,
		     size_t other_count)
{
	struct profile_bucket *merged;
	size_t i = 0, k = 0, length = 0;

	if (other_count == 0)
		return 0;
	merged = calloc(*count + other_count, sizeof(*merged));
	if (!merged)
		return -ENOMEM;
	while (i < *count || k < other_count) {
		const bool from_other =
			i == *count || (k < other_count && other[k].bucket < (*at)[i].bucket);

		if (!from_other && k < other_count && other[k].bucket == (*at)[i].bucket) {
			merged[length].bucket = other[k].bucket;
			merged[length++].count = saturate__add((*at)[i++].count, other[k++].count);
		} else {
			merged[length++] = from_other ? other[k++] : (*at)[i++];
		}
	}
	free(*at);
	*at = merged;
	*count = length;
	return 0;
}

/* The ns that stand for what is in a bucket of the application's. */
static uint64_t representative_ns(uint32_t bucket, double unit_ns, uint64_t longest_units)
{
	const uint64_t low = tsn_duration_low(bucket), next = tsn_duration_low(bucket + 1);
	const long double middle = low + (next - low - 1) / 2.0L;
	const bool endless = bucket == TSN_DURATION_BUCKETS - 1;

	if (longest_units > 0 && (endless || middle > longest_units))
		return saturate__round((long double)longest_units * unit_ns);
	return saturate__round(middle * unit_ns);
}

int histogram__add_units(struct profile_bucket **at, size_t *count, const uint64_t *buckets,
			 double unit_ns, uint64_t longest_units)
{
	struct profile_bucket *added = calloc(TSN_DURATION_BUCKETS, sizeof(*added));
	size_t length = 0;
	int err;

	if (!added)
		return -ENOMEM;
	for (uint32_t i = 0; i < TSN_DURATION_BUCKETS; i++) {
		uint32_t bucket;

		if (buckets[i] == 0)
			continue;
		bucket = histogram__bucket(representative_ns(i, unit_ns, longest_units));
		if (length == 0 || added[length - 1].bucket != bucket)
			added[length++].bucket = bucket;
		added[length - 1].count = saturate__add(added[length - 1].count, buckets[i]);
	}
	err = histogram__merge(at, count, added, length);
	free(added);
	return err;
}

uint64_t histogram__total(const struct profile_bucket *at, size_t count)
{
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++)
		total = saturate__add(total, at[i].count);
	return total;
}

struct histogram_moments histogram__moments(const struct profile_bucket *at, size_t count,
					    double most_ns)
{
	struct histogram_moments of = {.count = (double)histogram__total(at, count)};
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (double)at[i].count * fmin((double)histogram__middle(at[i].bucket), most_ns);
	of.mean = sum / of.count;
	for (size_t i = 0; i < count; i++) {
		const double from_mean =
			fmin((double)histogram__middle(at[i].bucket), most_ns) - of.mean;

		of.squares += (double)at[i].count * from_mean * from_mean;
	}
	return of;
}

uint64_t histogram__percentile(const struct profile_bucket *at, size_t count, unsigned percent,
			       uint64_t max_ns)
{
	u128 total = 0, rank, seen = 0;
	uint64_t middle;
	size_t i;

	for (i = 0; i < count; i++)
		total += at[i].count;
	rank = (total * percent + 99) / 100;
	for (i = 0; i < count && (seen += at[i].count) < rank; i++)
		;
	if (count == 0)
		return 0;
	middle = histogram__middle(at[i].bucket);
	return max_ns && max_ns < middle ? max_ns : middle;
}
