// SPDX-License-Identifier: MIT
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_parts.h"
#include "histogram.h"
#include "saturate.h"
#include "trimmed.h"

const char *const compare_duration_names[COMPARE_DURATIONS] = {
	[COMPARE_MEAN] = "mean",
	[COMPARE_TM90] = "tm90",
	[COMPARE_P50] = "p50",
	[COMPARE_P99] = "p99",
};

const double compare_duration_noise[COMPARE_DURATIONS] = {
	[COMPARE_MEAN] = COMPARE_SINGLE_NOISE_MEAN,
	[COMPARE_TM90] = COMPARE_SINGLE_NOISE_TM90,
	[COMPARE_P50] = COMPARE_SINGLE_NOISE_P50,
	[COMPARE_P99] = COMPARE_SINGLE_NOISE_P99,
};

static const unsigned percents[COMPARE_DURATIONS] = {[COMPARE_P50] = 50, [COMPARE_P99] = 99};

/* A ratio of sums over runs; else a percentile. */
static bool is_mean(int which)
{
	return which == COMPARE_MEAN || which == COMPARE_TM90;
}

/* Executions whose durations were not kept: by an earlier version, or because they could not be
 * read. */
static bool is_untimed(const struct profile_coarse *row)
{
	return row->executions > 0 && row->histogram_count == 0;
}

static int add_up(const struct compare_group *group, struct compare_coarse *coarse)
{
	bool unknown[ESTIMATE_SIDES] = {false}; /* the longest of some report */

	for (size_t i = 0; i < group->count; i++) {
		const struct profile_coarse *row = group->entries[i].row;
		struct compare_coarse_side *side = &coarse->side[group->entries[i].side];
		const int error = histogram__merge(&side->histogram, &side->histogram_count,
						   row->histogram, row->histogram_count);

		if (error)
			return error;
		side->present = true;
		side->executions = saturate__add(side->executions, row->executions);
		side->sum_ns = saturate__add(side->sum_ns, row->sum_ns);
		side->max_ns = row->max_ns > side->max_ns ? row->max_ns : side->max_ns;
		side->untimed |= is_untimed(row);
		if (is_untimed(row) && row->sum_ns == 0)
			side->unsummed = saturate__add(side->unsummed, row->executions);
		unknown[group->entries[i].side] |= row->executions > 0 && row->max_ns == 0;
	}
	for (int i = 0; i < ESTIMATE_SIDES; i++)
		if (unknown[i])
			coarse->side[i].max_ns = 0;
	return 0;
}

static enum compare_state state_of(const struct compare_coarse *coarse)
{
	const struct compare_coarse_side *base = &coarse->side[ESTIMATE_BASE];
	const struct compare_coarse_side *new = &coarse->side[ESTIMATE_NEW];

	if (!base->present)
		return COMPARE_ADDED;
	if (!new->present)
		return COMPARE_REMOVED;
	if (base->executions == 0 || new->executions == 0)
		return base->executions	 ? COMPARE_UNCALLED_NEW
		       : new->executions ? COMPARE_UNCALLED_BASE
					 : COMPARE_UNCALLED;
	return COMPARE_BOTH;
}

/* Relative variance of the mean by the durations' own, as if executions were independent; NaN with
 * fewer than two. */
static double mean_variance(const struct compare_coarse_side *side)
{
	const struct histogram_moments of =
		histogram__moments(side->histogram, side->histogram_count, INFINITY);

	if (!(of.count >= 2) || !(of.mean > 0))
		return NAN;
	return of.squares / (of.mean * of.mean) / (of.count - 1) / of.count;
}

/* NaN unless all of the row's executions were timed. */
static struct trimmed trimmed_of(const struct profile_coarse *row)
{
	const struct trimmed none = {NAN, NAN, NAN};

	if (histogram__total(row->histogram, row->histogram_count) != row->executions)
		return none;
	return trimmed__of(row->sum_ns, row->histogram, row->histogram_count,
			   ESTIMATE_BUCKET_ERROR);
}

/* One run's duration of that kind. A percentile has no weight: each run that has durations counts
 * the same. */
static bool tell_duration(const void *entry, int which, double *amount, double *weight)
{
	const struct profile_coarse *row = entry;

	if (row->executions == 0)
		return false;
	if (which == COMPARE_MEAN) {
		*amount = (double)row->sum_ns;
		*weight = (double)row->executions;
		return !is_untimed(row) || row->sum_ns > 0;
	}
	if (which == COMPARE_TM90) {
		*amount = trimmed_of(row).mean_ns * (double)row->executions;
		*weight = (double)row->executions;
		return !isnan(*amount);
	}
	*amount = (double)histogram__percentile(row->histogram, row->histogram_count,
						percents[which], row->max_ns);
	*weight = 1;
	return !is_untimed(row);
}

static double degrees_of_executions(const struct compare_coarse *coarse)
{
	const uint64_t base = coarse->side[ESTIMATE_BASE].executions;
	const uint64_t new = coarse->side[ESTIMATE_NEW].executions;
	const uint64_t least = base < new ? base : new;

	return least > 1 ? (double)least - 1 : 1;
}

/* Value and variance within the runs. Where durations are missing, nothing is known of how great
 * the error is. */
static void fill_mean(const struct compare_coarse_side *from, struct estimate_side *side)
{
	if (from->sum_ns == 0 || from->executions == from->unsummed)
		return;
	side->value = (double)from->sum_ns / (double)(from->executions - from->unsummed);
	side->variance = from->unsummed ? NAN : mean_variance(from);
}

/* Likewise: the mean of the runs' own, weighed by executions; nothing is known where one has none.
 */
static void fill_trimmed(const struct compare_group *group, int which_side,
			 struct estimate_side *side)
{
	double amount = 0, weight = 0, variance = 0, off = 0;

	for (size_t i = 0; i < group->count; i++) {
		const struct profile_coarse *row = group->entries[i].row;
		const double executions = (double)row->executions;
		struct trimmed of;

		if (group->entries[i].side != which_side || row->executions == 0)
			continue;
		of = trimmed_of(row);
		amount += of.mean_ns * executions;
		weight += executions;
		variance += of.mean_ns * executions * of.mean_ns * executions * of.variance;
		off += of.error * of.mean_ns * executions;
	}
	if (!(amount > 0))
		return;
	side->value = amount / weight;
	side->variance = variance / (amount * amount);
	side->off = off / amount;
}

/* That of the durations there are; without trials its interval is open at both ends. */
static void fill_percentile(const struct compare_coarse_side *from, int which,
			    struct estimate_side *side)
{
	if (from->histogram_count == 0)
		return;
	side->value = (double)histogram__percentile(from->histogram, from->histogram_count,
						    percents[which], from->max_ns);
	side->buckets = from->histogram;
	side->bucket_count = from->histogram_count;
	side->trials = from->untimed ? 0 : (double)from->executions;
}

/* What is known, or where each side has one report assumed, of the variance between runs. */
static void add_between_runs(const struct estimate_spread *spread, int which, int i,
			     struct estimate_side *side)
{
	const bool single = !(spread->df > 0);
	const double wider = single ? COMPARE_SINGLE_WIDENING * COMPARE_SINGLE_WIDENING : 1;
	const double noise = compare_duration_noise[which] * compare_duration_noise[which];

	if (is_mean(which)) {
		side->variance = side->variance * wider * spread->wider + (single ? noise : 0);
		if (side->variance < spread->variance[i]) /* NaN, not known, stays */
			side->variance = spread->variance[i];
	} else {
		side->trials /= wider;
		side->variance = single ? noise : spread->variance[i];
		side->apart = single;
	}
	side->value *= spread->factor[i];
}

/* A percentile is one of all runs' durations together, so that nothing can be taken out of it. */
static int estimate_duration(const struct compare_group *group, struct compare_coarse *coarse,
			     int which)
{
	struct estimate *estimate = &coarse->duration[which].estimate;
	struct estimate_spread spread;

	if (compare__spread(group, tell_duration, which, is_mean(which), &spread))
		return -ENOMEM;
	estimate->kind = is_mean(which) ? ESTIMATE_MEAN : ESTIMATE_PERCENTILE;
	estimate->percent = percents[which];
	estimate->comparable = coarse->state == COMPARE_BOTH;
	estimate->df = spread.df > 0 ? spread.df : INFINITY;
	if (is_mean(which))
		estimate->df = fmin(estimate->df, degrees_of_executions(coarse));
	for (int i = 0; i < ESTIMATE_SIDES; i++) {
		const struct compare_coarse_side *from = &coarse->side[i];
		struct estimate_side *side = &estimate->side[i];

		side->value = NAN;
		if (from->executions == 0)
			continue;
		if (which == COMPARE_MEAN)
			fill_mean(from, side);
		else if (which == COMPARE_TM90)
			fill_trimmed(group, i, side);
		else
			fill_percentile(from, which, side);
		add_between_runs(&spread, which, i, side);
		if (side->value == 0)
			estimate->comparable = false;
	}
	return 0;
}

static int fill_row(const struct compare_group *group, struct compare_coarse *coarse)
{
	int error;

	coarse->label = strdup(group->entries[0].label);
	if (!coarse->label)
		return -ENOMEM;
	error = add_up(group, coarse);
	if (error)
		return error;
	coarse->state = state_of(coarse);
	for (int which = 0; which < COMPARE_DURATIONS && !error; which++)
		error = estimate_duration(group, coarse, which);
	return error;
}

int compare__coarse_rows(struct comparison *comparison, const struct compare_entry *entries,
			 size_t count)
{
	size_t at = 0;

	comparison->coarse = calloc(count ? count : 1, sizeof(*comparison->coarse));
	if (!comparison->coarse)
		return -ENOMEM;
	while (at < count) {
		const struct compare_group group = {entries + at,
						    compare__same_label(entries + at, count - at)};
		const int error = fill_row(&group, &comparison->coarse[comparison->coarse_count++]);

		if (error)
			return error;
		at += group.count;
	}
	return 0;
}
