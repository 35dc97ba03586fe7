/* SPDX-License-Identifier: MIT */
#include "bounds.h"

#include <math.h>

#include "saturate.h"
#include "stats.h"

/* What every row's interval is made from. */
struct sampling {
	double level;		  /* two-sided, of each interval */
	double trials_all;	  /* hits, less where their weights differ */
	double trials;		  /* of them in labels that are not idle */
	double lost;		  /* part of the latter that may be missing */
	struct interval labelled; /* P: part of running time in labels that are not idle */
	bool windowed;
	size_t window_count;
	double window_labelled[WINDOWS_MAX], window_all[WINDOWS_MAX];
	bool summed;		   /* instead of windows there are sums of squares */
	bool hits_may_do;	   /* where these are of fewer than two windows */
	double effect, effect_max; /* design effect: of all rows pooled, of the greatest row */
};

/* Adds the row's weights per window to sum; labels that share a window row count once. */
static void add_windows(const struct windows *windows, const struct row *row, double *sum)
{
	const size_t count = windows__count(windows);
	double weights[WINDOWS_MAX];

	for (size_t i = 0; i < row->label_count; i++) {
		if (i > 0 && row->labels[i]->window_row == row->labels[i - 1]->window_row)
			continue;
		windows__row(windows, row->labels[i]->window_row, weights);
		for (size_t k = 0; k < count; k++)
			sum[k] += weights[k];
	}
}

static void add_all_windows(const struct windows *windows, double *sum)
{
	const size_t count = windows__count(windows);
	double weights[WINDOWS_MAX];

	for (size_t row = 0; row < windows__rows(windows); row++) {
		windows__row(windows, row, weights);
		for (size_t k = 0; k < count; k++)
			sum[k] += weights[k];
	}
}

/* Effective number per hit, at most 1: less if hits have unequal weights (L. Kish, Survey Sampling,
 * 1965). */
static double efficiency(const struct rows *rows)
{
	const double weight = (double)rows->weight / PROFILE_WEIGHT_NS;
	const double squares = rows->input->weight_square_sum;
	const double hits = rows->totals.hits;

	if (rows->weight == 0)
		return 0;
	if (!(squares > 0))
		return 1;
	if (squares >= (double)INT64_MAX) /* more than a report holds */
		return 0;
	return fmin(1, weight * weight / squares / hits);
}

static double part_lost(uint64_t lost, uint64_t hits)
{
	return lost > 0 ? lost / ((double)lost + hits) : 0;
}

/* A proportion: its estimate, how many hits it is of, and their windows. */
struct proportion {
	double p, trials;
	const double *part, *whole;
	double variance, windows; /* where there are sums instead of windows */
};

/* Sums over windows of x^2, x r and r^2, for the ratio of x to r. */
struct squares {
	uint64_t part, product, whole;
};

/*
 * Batch means from sums, by the residuals x - p r. Windows of unequal
 * length count as (sum of r)^2 / (sum of r^2); that needs no count, and is not above it. whole_ns:
 * sum of r.
 */
static void set_variance(struct proportion *of, const struct squares *squares, double whole_ns)
{
	const long double whole = whole_ns / PROFILE_SQUARE_NS;
	long double residuals;

	of->variance = NAN;
	of->windows = squares->whole > 0 ? (double)(whole * whole / squares->whole) : 0;
	if (squares->part >= INT64_MAX || squares->product >= INT64_MAX ||
	    squares->whole >= INT64_MAX) { /* more than a report holds */
		of->variance = INFINITY;
		of->windows = 2;
	} else if (of->windows > 1) {
		residuals = stats__residual_squares(squares->part, squares->product, squares->whole,
						    of->p);
		of->variance =
			(double)(residuals / (whole * whole)) * of->windows / (of->windows - 1);
	}
}

/* Variance of a proportion of independent hits. */
static double binomial_variance(const struct proportion *of)
{
	return of->trials > 0 ? of->p * (1 - of->p) / of->trials : 0;
}

/* Variance by the windows over that of independent hits: how many hits tell as much as one. NaN:
 * not known. */
static double design_effect(const struct sampling *sampling, const struct proportion *of)
{
	const double variance = sampling->summed ? of->variance
						 : stats__ratio_variance(of->part, of->whole,
									 sampling->window_count);

	return rows__ratio(variance, binomial_variance(of));
}

/*
 * The wider of two intervals: Clopper-Pearson on the hits divided by the design effect, as E. L.
 * Korn and B. I. Graubard do (Survey Methodology 24, 1998), right for few hits; and batch means,
 * which trust no binomial.
 */
static struct interval bound_proportion(const struct sampling *sampling,
					const struct proportion *of, double effect)
{
	const double trials = of->trials / fmax(1, effect);
	struct interval interval =
		stats__binomial_interval(of->p * trials, trials, sampling->level);

	if (sampling->windowed)
		interval = stats__hull(interval, stats__ratio_interval(of->part, of->whole,
								       sampling->window_count,
								       sampling->level));
	if (sampling->summed && (of->windows >= 2 || !sampling->hits_may_do))
		interval = stats__hull(interval,
				       stats__variance_interval(of->p, of->variance, of->windows,
								sampling->level));
	return isnan(interval.lo) ? (struct interval){0, 1} : interval;
}

/* lost is the part of all observations that is missing: all or none of them may have been in it. */
static struct interval widen(struct interval interval, double lost)
{
	return (struct interval){interval.lo * (1 - lost), interval.hi * (1 - lost) + lost};
}

/* The row's part q of the weight in labels that are not idle; part[] receives its windows. */
static struct proportion row_proportion(const struct rows *rows, const struct sampling *sampling,
					const struct row *row, double *part)
{
	const struct squares squares = {row->fine.window_squares, row->fine.window_products,
					rows->totals.window_squares};
	struct proportion of = {
		.p = row->weight ? fmin(1, row->weight / (double)rows->weight_labelled) : 0,
		.trials = sampling->trials,
		.part = part,
		.whole = sampling->window_labelled,
	};

	if (sampling->windowed)
		add_windows(rows->input->windows, row, part);
	if (sampling->summed)
		set_variance(&of, &squares, (double)rows->weight_labelled);
	return of;
}

/*
 * Hits come in runs where an operation outlasts a tick or a phase lasts. Pooled, the effect is
 * known well even where a row has too few hits to tell; a row that was never hit is taken to be as
 * clustered as the worst one that was.
 */
static void pool_design_effects(const struct rows *rows, struct sampling *sampling)
{
	double variance = 0, expected = 0;

	for (size_t i = 0; i < rows->count; i++) {
		double part[WINDOWS_MAX] = {0};
		struct proportion q;
		double effect;

		if (!row__in_shares(&rows->row[i]))
			continue;
		q = row_proportion(rows, sampling, &rows->row[i], part);
		effect = design_effect(sampling, &q);
		if (isnan(effect))
			continue;
		variance += effect * binomial_variance(&q);
		expected += binomial_variance(&q);
		sampling->effect_max = fmax(sampling->effect_max, effect);
	}
	if (expected > 0)
		sampling->effect = variance / expected;
}

static struct interval bound_labelled(const struct rows *rows, const struct sampling *sampling)
{
	const struct squares squares = {rows->totals.window_squares, rows->totals.window_products,
					rows->totals.window_all_squares};
	struct proportion labelled = {
		.p = rows->weight ? fmin(1, rows->weight_labelled / (double)rows->weight) : 0,
		.trials = sampling->trials_all,
		.part = sampling->window_labelled,
		.whole = sampling->window_all,
	};
	const double lost = part_lost(rows->input->lost_hits, rows->totals.hits);
	double effect;

	if (sampling->summed)
		set_variance(&labelled, &squares, (double)rows->weight);
	effect = fmax(sampling->effect, design_effect(sampling, &labelled));
	return widen(bound_proportion(sampling, &labelled, effect), lost);
}

static void prepare_sampling(const struct rows *rows, struct sampling *sampling)
{
	const struct windows *windows = rows->input->windows;
	const double per_hit = efficiency(rows);
	size_t rows_hit = 0;

	*sampling = (struct sampling){.windowed = windows != NULL,
				      .summed = !windows && rows->totals.window_all_squares,
				      .hits_may_do = rows->hits_may_do};
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->row[i];

		if (!row__in_shares(row))
			continue;
		rows_hit += row->fine.hits > 0;
		if (windows)
			add_windows(windows, row, sampling->window_labelled);
	}
	if (windows) {
		sampling->window_count = windows__count(windows);
		add_all_windows(windows, sampling->window_all);
	}
	sampling->level = rows->input->alpha / (rows_hit + 1.);
	sampling->trials_all = per_hit * rows->totals.hits;
	sampling->trials = per_hit * rows->hits_labelled;
	sampling->lost = part_lost(rows->input->lost_hits, rows->hits_labelled);
	pool_design_effects(rows, sampling);
	sampling->labelled = bound_labelled(rows, sampling);
}

/* The share if `running` of labelled thread-time is running and the row has q of that. */
static double share_at(double running, double q, double wait, double wait_labelled)
{
	const double whole = running + wait_labelled;

	return whole > 0 ? (running * q + wait) / whole : q;
}

/*
 * The share is monotone in the row's part q of labelled running time, and in the part P of all
 * running time that is labelled, so its extremes are at corners. Where nothing waits P cancels;
 * where nothing runs, nothing is uncertain.
 */
static void bound_share(const struct rows *rows, const struct sampling *sampling, struct row *row)
{
	const double lost_wait = rows->input->lost_wait_ns;
	const double run_lo = rows->totals.running_ns * sampling->labelled.lo;
	const double run_hi = rows->totals.running_ns * sampling->labelled.hi;
	const double wait = row->wait, whole = rows->wait_labelled;
	struct profile_fine *fine = &row->fine;
	double part[WINDOWS_MAX] = {0};
	const struct proportion of = row_proportion(rows, sampling, row, part);
	const double effect = fine->hits > 0 ? fmax(sampling->effect, design_effect(sampling, &of))
					     : sampling->effect_max;
	const struct interval q = widen(bound_proportion(sampling, &of, effect), sampling->lost);

	fine->share_lo = fmin(share_at(run_lo, q.lo, wait, whole + lost_wait),
			      share_at(run_hi, q.lo, wait, whole + lost_wait));
	fine->share_hi = fmax(share_at(run_lo, q.hi, wait + lost_wait, whole + lost_wait),
			      share_at(run_hi, q.hi, wait + lost_wait, whole + lost_wait));
	fine->share_lo = fmax(0, fmin(fine->share_lo, fine->share));
	fine->share_hi = fmin(1, fmax(fine->share_hi, fine->share));
}

void bounds__compute(struct rows *rows)
{
	struct profile_totals *totals = &rows->totals;
	struct sampling sampling;

	totals->bound = totals->labelled_ns > 0 ? 0 : NAN;
	prepare_sampling(rows, &sampling);
	for (size_t i = 0; i < rows->count; i++) {
		struct row *row = &rows->row[i];
		struct profile_fine *fine = &row->fine;

		fine->share = fine->share_lo = fine->share_hi = fine->cpu_share = NAN;
		if (!row__in_shares(row))
			continue;
		fine->cpu_share = rows__ratio(fine->running_ns, rows->running_labelled);
		if (totals->labelled_ns == 0)
			continue;
		fine->share = rows__ratio(fine->thread_time_ns, totals->labelled_ns);
		bound_share(rows, &sampling, row);
		totals->bound = fmax(totals->bound, fine->share - fine->share_lo);
		totals->bound = fmax(totals->bound, fine->share_hi - fine->share);
	}
}

/* Squares of running time, which is weight times scale. */
static uint64_t sum_products(const double *a, const double *b, size_t count, double scale)
{
	long double sum = 0;

	for (size_t k = 0; k < count; k++)
		sum += (long double)(a[k] * scale / PROFILE_SQUARE_NS) *
		       (b[k] * scale / PROFILE_SQUARE_NS);
	return saturate__round(sum);
}

void bounds__keep_sums(struct rows *rows)
{
	const struct windows *windows = rows->input->windows;
	const double scale = rows__ratio((double)rows->input->running_ns, (double)rows->weight);
	const size_t count = windows ? windows__count(windows) : 0;
	double labelled[WINDOWS_MAX] = {0}, all[WINDOWS_MAX] = {0};
	struct profile_totals *totals = &rows->totals;

	totals->lost_hits = rows->input->lost_hits;
	totals->lost_wait_ns = rows->input->lost_wait_ns;
	if (!windows || isnan(scale))
		return;
	totals->weight_squares =
		saturate__round((long double)rows->input->weight_square_sum * scale * scale);
	add_all_windows(windows, all);
	for (size_t i = 0; i < rows->count; i++)
		if (row__in_shares(&rows->row[i]))
			add_windows(windows, &rows->row[i], labelled);
	totals->window_squares = sum_products(labelled, labelled, count, scale);
	totals->window_products = sum_products(labelled, all, count, scale);
	totals->window_all_squares = sum_products(all, all, count, scale);
	for (size_t i = 0; i < rows->count; i++) {
		struct row *row = &rows->row[i];
		double part[WINDOWS_MAX] = {0};

		if (!row__in_shares(row))
			continue;
		add_windows(windows, row, part);
		row->fine.window_squares = sum_products(part, part, count, scale);
		row->fine.window_products = sum_products(part, labelled, count, scale);
	}
}
