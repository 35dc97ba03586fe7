// SPDX-License-Identifier: MIT
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_parts.h"
#include "saturate.h"

#define REPORT_ALPHA	   0.05 /* what the shares of a report are bounded at, all rows at once */
#define EFFECT_HITS_MIN	   20	/* of a row whose interval is to tell something */
#define HITS_EXACT_MAX	   1e6
#define EFFECT_WAITING_MAX 0.1 /* of its thread-time: waiting is no matter of hits */

/* Σ over labels that are not idle: hits, running and thread-time, rows with hits. */
struct labelled {
	double hits, running, time, rows;
};

static struct labelled labelled_of(const struct profile *profile)
{
	struct labelled of = {0};

	for (size_t i = 0; i < profile->fine_count; i++) {
		const struct profile_fine *row = &profile->fine[i];

		if (row->idle)
			continue;
		of.hits += (double)row->hits;
		of.running += (double)row->running_ns;
		of.time += (double)row->thread_time_ns;
		of.rows += row->hits > 0;
	}
	return of;
}

/* Of a part's interval; normal where there are so many hits that the exact one takes time. */
static double binomial_width(double hits, double trials, double alpha)
{
	const double part = hits / trials;
	struct interval interval;

	if (hits > HITS_EXACT_MAX)
		return -2 * stats__normal_quantile(alpha / 2) * sqrt(part * (1 - part) / trials);
	interval = stats__binomial_interval(hits, trials, alpha);
	return interval.hi - interval.lo;
}

/*
 * Hits that come in runs tell less than as many independent ones. A report does not say how much
 * less, but its intervals of shares do: they are made as in bounds.c, so the square of their width
 * by that of the binomial interval at the same level is the design effect. One row tells little of
 * it, all of them pooled tell it well. Rows that wait are left out, for what they measure narrows
 * their interval.
 */
double compare__effect(const struct profile *profile)
{
	const struct labelled all = labelled_of(profile);
	const double level = REPORT_ALPHA / (all.rows + 1);
	double variance = 0, expected = 0;

	for (size_t i = 0; i < profile->fine_count; i++) {
		const struct profile_fine *row = &profile->fine[i];
		const double wait = (double)row->thread_time_ns - (double)row->running_ns;
		const double q = (double)row->hits / all.hits;
		double ratio;

		if (row->idle || row->hits < EFFECT_HITS_MIN || isnan(row->share_lo) ||
		    isnan(row->share_hi) || q >= 1 ||
		    wait > EFFECT_WAITING_MAX * (double)row->thread_time_ns)
			continue;
		ratio = (row->share_hi - row->share_lo) * all.time / all.running /
			binomial_width((double)row->hits, all.hits, level);
		if (!(ratio > 0) || isinf(ratio))
			continue;
		variance += ratio * ratio * q * (1 - q);
		expected += q * (1 - q);
	}
	return expected > 0 ? fmax(1, variance / expected) : 1;
}

/* Relative variance of a row's running time by sampling within its run; 0 without hits. */
static double sampling_variance(const struct compare_run *run, const struct profile_fine *row)
{
	const double all = (double)run->profile->totals.hits;
	const double part = all > 0 ? fmin(1, (double)row->hits / all) : 0;

	if (row->hits == 0)
		return 0;
	/* where all hits are in one label, its time is as exact as the running time is */
	return fmax(1 - part, 1 / all) * run->effect / (double)row->hits;
}

/* A label's rows, and what they are measured against. */
struct group {
	const struct comparison *comparison;
	struct compare_group rows;
	const struct compare_run *const *runs;
};

static double labelled_ns(const struct group *group, int side)
{
	double sum = 0;

	for (size_t k = 0; k < group->comparison->reports[side]; k++)
		sum += (double)group->runs[side][k].profile->totals.labelled_ns;
	return sum;
}

static void add_up(const struct group *group, struct compare_fine *fine)
{
	for (size_t i = 0; i < group->rows.count; i++) {
		const struct compare_entry *entry = &group->rows.entries[i];
		const struct profile_fine *row = entry->row;
		struct compare_fine_side *side = &fine->side[entry->side];
		const uint64_t waits[] = {row->runnable_ns, row->blocked_ns, row->io_ns};

		side->present = true;
		side->calls = saturate__add(side->calls, row->calls);
		side->hits = saturate__add(side->hits, row->hits);
		side->running_ns = saturate__add(side->running_ns, row->running_ns);
		side->thread_time_ns = saturate__add(side->thread_time_ns, row->thread_time_ns);
		for (size_t k = 0; k < sizeof(waits) / sizeof(waits[0]); k++)
			side->wait_ns = saturate__add(side->wait_ns, waits[k]);
	}
	for (int i = 0; i < ESTIMATE_SIDES; i++) {
		const double labelled = labelled_ns(group, i);

		fine->side[i].share = NAN;
		if (fine->state != COMPARE_IDLE && fine->side[i].present && labelled > 0)
			fine->side[i].share =
				fmin(1, (double)fine->side[i].thread_time_ns / labelled);
	}
}

double compare__wait_per_call(const struct compare_fine_side *side)
{
	return side->calls > 0 ? (double)side->wait_ns / (double)side->calls : NAN;
}

static enum compare_state state_of(const struct compare_fine *fine)
{
	const struct compare_fine_side *base = &fine->side[ESTIMATE_BASE];
	const struct compare_fine_side *new = &fine->side[ESTIMATE_NEW];

	if (fine->state == COMPARE_IDLE)
		return COMPARE_IDLE;
	if (!base->present)
		return COMPARE_ADDED;
	if (!new->present)
		return COMPARE_REMOVED;
	if (base->calls == 0 || new->calls == 0)
		return base->calls  ? COMPARE_UNCALLED_NEW
		       : new->calls ? COMPARE_UNCALLED_BASE
				    : COMPARE_UNCALLED;
	if (base->hits == 0 || new->hits == 0)
		return base->hits  ? COMPARE_UNSAMPLED_NEW
		       : new->hits ? COMPARE_UNSAMPLED_BASE
				   : COMPARE_UNSAMPLED;
	return COMPARE_BOTH;
}

/* One side's time per call: value, exposure, and the variance of sampling. */
static struct estimate_side rate_of(const struct group *group, int side)
{
	double amount = 0, calls = 0, variance = 0, exposure = 0;

	for (size_t i = 0; i < group->rows.count; i++) {
		const struct compare_entry *entry = &group->rows.entries[i];
		const struct compare_run *run = &group->runs[entry->side][entry->run];
		const struct profile_fine *row = entry->row;
		const double running = (double)row->running_ns;

		if (entry->side != side)
			continue;
		amount += running;
		calls += (double)row->calls;
		variance += running * running * sampling_variance(run, row);
		if (run->ns_per_hit > 0)
			exposure += (double)row->calls / (run->ns_per_hit * run->effect);
	}
	return (struct estimate_side){
		.value = calls > 0 ? amount / calls : NAN,
		.variance = amount > 0 ? variance / (amount * amount) : 0,
		.exposure = exposure,
	};
}

static bool tell_calls(const void *entry, int which, double *amount, double *weight)
{
	const struct profile_fine *row = entry;

	(void)which;
	*amount = (double)row->running_ns;
	*weight = (double)row->calls;
	return true;
}

/* The variance between runs, where it is known, is never taken to be below that of sampling, which
 * is a part of it. */
static int add_between_runs(const struct group *group, struct estimate *estimate)
{
	const double wider = COMPARE_SINGLE_WIDENING * COMPARE_SINGLE_WIDENING;
	const double noise = COMPARE_SINGLE_NOISE * COMPARE_SINGLE_NOISE;
	struct estimate_spread spread;

	if (compare__spread(&group->rows, tell_calls, 0, true, &spread))
		return -ENOMEM;
	estimate->df = spread.df > 0 ? spread.df : INFINITY;
	for (int side = 0; side < ESTIMATE_SIDES; side++) {
		struct estimate_side *of = &estimate->side[side];

		if (spread.df > 0) {
			of->variance = fmax(of->variance * spread.wider, spread.variance[side]);
			of->value *= spread.factor[side];
		} else {
			of->variance = of->variance * wider + noise;
			of->exposure /= wider;
		}
	}
	return 0;
}

static int fill_row(const struct group *group, struct compare_fine *fine)
{
	struct estimate *estimate = &fine->per_call.estimate;

	fine->label = strdup(group->rows.entries[0].label);
	if (!fine->label)
		return -ENOMEM;
	if (group->rows.entries[0].idle)
		fine->state = COMPARE_IDLE;
	add_up(group, fine);
	fine->state = state_of(fine);
	for (int side = 0; side < ESTIMATE_SIDES; side++)
		estimate->side[side] = rate_of(group, side);
	estimate->kind = ESTIMATE_RATE;
	estimate->comparable = fine->state == COMPARE_BOTH ||
			       fine->state == COMPARE_UNSAMPLED_BASE ||
			       fine->state == COMPARE_UNSAMPLED_NEW;
	return add_between_runs(group, estimate);
}

int compare__fine_rows(struct comparison *comparison, const struct compare_entry *entries,
		       size_t count, const struct compare_run *const runs[ESTIMATE_SIDES])
{
	size_t at = 0;

	comparison->fine = calloc(count ? count : 1, sizeof(*comparison->fine));
	if (!comparison->fine)
		return -ENOMEM;
	while (at < count) {
		const struct group group = {
			comparison,
			{entries + at, compare__same_label(entries + at, count - at)},
			runs};
		const int error = fill_row(&group, &comparison->fine[comparison->fine_count++]);

		if (error)
			return error;
		at += group.rows.count;
	}
	return 0;
}
