/* SPDX-License-Identifier: MIT */
#include "model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

#define WEIGHT_SQUARE_UNIT_NS 1024. /* of model_input.weight_square_sum, before squaring */
#define TINY_NS		      50.   /* upper limit per call below which the hook shows */
#define LONG_HITS_MIN	      20
#define LONG_FRACTION	      0.02
#define WAITING_HONEST	      0.05 /* waiting part up to which a long execution is work */
#define WAITING_MOSTLY	      0.50
#define SERIALISED_GLANCES    25
#define SERIALISED_MEETINGS \
	5 /* expected of callers that do not mind each other; none by chance: exp(-5) */
#define SERIALISED_IN_FLIGHT 1.005 /* 1 and a rounding error: no two inside off the CPU either */
#define FEW_HITS	     50
#define COVERAGE_LOW	     0.5
#define COVERAGE_HIGH	     0.9

typedef unsigned __int128 u128;

/* One row of the table before it is written out; fine.label is not set yet. */
struct row {
	struct profile_fine fine;
	const char *name;		   /* NULL: the time in no label */
	const struct model_label **labels; /* of this row, by window row */
	size_t label_count;
	uint64_t weight, wait;
	uint64_t long_hits, glances, glances_shared;
	unsigned callers; /* the most in any one process: only those can meet */
};

struct table {
	const struct model_input *input;
	const struct model_label **labels; /* by row, backs row.labels */
	struct row *rows;		   /* rows[0] is the time in no label, always there */
	size_t row_count;
	u128 weight; /* of all hits */
	uint64_t hits_labelled, weight_labelled, running_labelled, wait_labelled;
	struct profile_totals totals;
	uint64_t duration_ns; /* of the session; 0: not known */
};

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static bool in_shares(const struct row *row)
{
	return row->name && !row->fine.idle;
}

/* Whether anything was seen of it. */
static bool seen(const struct row *row)
{
	return row->fine.hits > 0 || row->fine.thread_time_ns > 0;
}

/* --- rows: labels of several processes with the same name and kind are one --- */

/* The time in no label first, then by name and kind. */
static int compare_identity(const struct model_label *a, const struct model_label *b)
{
	int order;

	if (!a->name || !b->name)
		return (a->name != NULL) - (b->name != NULL);
	order = strcmp(a->name, b->name);
	return order ? order : a->idle - b->idle;
}

static int compare_labels(const void *left, const void *right)
{
	const struct model_label *a = *(const struct model_label *const *)left;
	const struct model_label *b = *(const struct model_label *const *)right;
	const int order = compare_identity(a, b);

	return order ? order : compare_u64(a->window_row, b->window_row);
}

static void row_add(struct row *row, const struct model_label *label)
{
	struct profile_fine *fine = &row->fine;

	row->name = label->name;
	row->label_count++;
	row->weight = add(row->weight, label->weight_ns);
	row->long_hits = add(row->long_hits, label->long_hits);
	row->glances = add(row->glances, label->glances);
	row->glances_shared = add(row->glances_shared, label->glances_shared);
	if (label->callers > row->callers)
		row->callers = label->callers;
	fine->idle = label->name && label->idle;
	fine->hits_user = add(fine->hits_user, label->hits_user);
	fine->hits_kernel = add(fine->hits_kernel, label->hits_kernel);
	fine->hits = add(fine->hits_user, fine->hits_kernel);
	fine->runnable_ns = add(fine->runnable_ns, label->runnable_ns);
	fine->blocked_ns = add(fine->blocked_ns, label->blocked_ns);
	fine->io_ns = add(fine->io_ns, label->io_ns);
	row->wait = add(add(fine->runnable_ns, fine->blocked_ns), fine->io_ns);
	fine->calls = add(fine->calls, label->calls);
}

static void group_labels(struct table *table)
{
	const size_t count = table->input->label_count;

	for (size_t i = 0; i < count; i++)
		table->labels[i] = &table->input->labels[i];
	if (count > 0)
		qsort(table->labels, count, sizeof(*table->labels), compare_labels);
	table->row_count = 1;
	table->rows[0].labels = table->labels;
	for (size_t i = 0; i < count; i++) {
		struct row *row = &table->rows[table->row_count - 1];

		if (i > 0 ? compare_identity(table->labels[i - 1], table->labels[i]) != 0
			  : table->labels[i]->name != NULL) {
			row = &table->rows[table->row_count++];
			row->labels = &table->labels[i];
		}
		row_add(row, table->labels[i]);
	}
	for (size_t i = 0; i < table->row_count; i++)
		table->weight += table->rows[i].weight;
}

/* --- running time by hits --- */

struct remainder {
	u128 left;
	struct row *row;
};

/* Greatest first; then in the order of the rows. */
static int compare_remainders(const void *left, const void *right)
{
	const struct remainder *a = left, *b = right;

	if (a->left != b->left)
		return a->left > b->left ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/*
 * running = T_on x weight / all weights, in integers whose sum is T_on: what rounding down leaves
 * over, less than one per row, goes to the rows with the largest remainders.
 */
static int split_running(struct table *table)
{
	const uint64_t running_ns = table->input->running_ns;
	struct remainder *remainders;
	uint64_t left = running_ns;

	if (table->weight == 0) {
		table->rows[0].fine.running_ns = running_ns;
		return 0;
	}
	remainders = calloc(table->row_count, sizeof(*remainders));
	if (!remainders)
		return -ENOMEM;
	for (size_t i = 0; i < table->row_count; i++) {
		struct row *row = &table->rows[i];
		const u128 product = (u128)running_ns * row->weight;

		row->fine.running_ns = product / table->weight;
		left -= row->fine.running_ns;
		remainders[i] = (struct remainder){product % table->weight, row};
	}
	qsort(remainders, table->row_count, sizeof(*remainders), compare_remainders);
	for (size_t i = 0; i < left; i++)
		remainders[i].row->fine.running_ns++;
	free(remainders);
	return 0;
}

/* One label of one process: off the CPU as measured, on it scaled like running time. */
static uint64_t label_elapsed(const struct table *table, const struct model_label *label,
			      uint64_t duration_ns)
{
	uint64_t elapsed = label->elapsed_off_ns;

	if (table->weight > 0) {
		const u128 product = (u128)table->input->running_ns * label->elapsed_on_ns;
		const u128 on = product / table->weight;

		elapsed = add(elapsed, on > UINT64_MAX ? UINT64_MAX : (uint64_t)on);
	}
	return duration_ns > 0 ? min_u64(elapsed, duration_ns) : elapsed;
}

static void compute_times(struct table *table, uint64_t duration_ns)
{
	for (size_t i = 0; i < table->row_count; i++) {
		struct row *row = &table->rows[i];
		struct profile_fine *fine = &row->fine;

		fine->thread_time_ns = add(fine->running_ns, row->wait);
		for (size_t k = 0; k < row->label_count; k++)
			fine->elapsed_ns = add(fine->elapsed_ns,
					       label_elapsed(table, row->labels[k], duration_ns));
		fine->elapsed_ns = min_u64(fine->elapsed_ns, fine->thread_time_ns);
		fine->in_flight = ratio(fine->thread_time_ns, fine->elapsed_ns);
		fine->per_call_ns = ratio(fine->thread_time_ns, fine->calls);
	}
}

static void compute_totals(struct table *table)
{
	struct profile_totals *totals = &table->totals;
	const struct profile_fine *unlabelled = &table->rows[0].fine;

	totals->running_ns = table->input->running_ns;
	totals->stolen_ns = table->input->stolen_ns;
	totals->unlabelled_ns = unlabelled->thread_time_ns;
	for (size_t i = 0; i < table->row_count; i++) {
		const struct row *row = &table->rows[i];
		const struct profile_fine *fine = &row->fine;

		totals->hits = add(totals->hits, fine->hits);
		totals->runnable_ns = add(totals->runnable_ns, fine->runnable_ns);
		totals->blocked_ns = add(totals->blocked_ns, fine->blocked_ns);
		totals->io_ns = add(totals->io_ns, fine->io_ns);
		if (fine->idle)
			totals->idle_ns = add(totals->idle_ns, fine->thread_time_ns);
		if (!in_shares(row))
			continue;
		totals->labelled_ns = add(totals->labelled_ns, fine->thread_time_ns);
		table->hits_labelled = add(table->hits_labelled, fine->hits);
		table->weight_labelled = add(table->weight_labelled, row->weight);
		table->running_labelled = add(table->running_labelled, fine->running_ns);
		table->wait_labelled = add(table->wait_labelled, row->wait);
	}
	totals->thread_time_ns = add(add(totals->running_ns, totals->runnable_ns),
				     add(totals->blocked_ns, totals->io_ns));
	totals->coverage =
		ratio(totals->labelled_ns, (double)totals->labelled_ns + totals->unlabelled_ns);
	totals->coverage_running = ratio(table->running_labelled,
					 (double)table->running_labelled + unlabelled->running_ns);
}

/* --- bounds --- */

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
static double efficiency(const struct table *table)
{
	const double weight = (double)table->weight / WEIGHT_SQUARE_UNIT_NS;
	const double squares = table->input->weight_square_sum;
	const double hits = table->totals.hits;

	if (table->weight == 0)
		return 0;
	if (!(squares > 0))
		return 1;
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
};

/* Variance of a proportion of independent hits. */
static double binomial_variance(const struct proportion *of)
{
	return of->trials > 0 ? of->p * (1 - of->p) / of->trials : 0;
}

/* Variance by the windows over that of independent hits: how many hits tell as much as one. NaN:
 * not known. */
static double design_effect(const struct sampling *sampling, const struct proportion *of)
{
	return ratio(stats__ratio_variance(of->part, of->whole, sampling->window_count),
		     binomial_variance(of));
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
	return isnan(interval.lo) ? (struct interval){0, 1} : interval;
}

/* lost is the part of all observations that is missing: all or none of them may have been in it. */
static struct interval widen(struct interval interval, double lost)
{
	return (struct interval){interval.lo * (1 - lost), interval.hi * (1 - lost) + lost};
}

/* The row's part q of the weight in labels that are not idle; part[] receives its windows. */
static struct proportion row_proportion(const struct table *table, const struct sampling *sampling,
					const struct row *row, double *part)
{
	if (sampling->windowed)
		add_windows(table->input->windows, row, part);
	return (struct proportion){
		.p = row->weight ? fmin(1, row->weight / (double)table->weight_labelled) : 0,
		.trials = sampling->trials,
		.part = part,
		.whole = sampling->window_labelled,
	};
}

/*
 * Hits come in runs where an operation outlasts a tick or a phase lasts. Pooled, the effect is
 * known well even where a row has too few hits to tell; a row that was never hit is taken to be as
 * clustered as the worst one that was.
 */
static void pool_design_effects(const struct table *table, struct sampling *sampling)
{
	double variance = 0, expected = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		double part[WINDOWS_MAX] = {0};
		struct proportion q;
		double effect;

		if (!in_shares(&table->rows[i]))
			continue;
		q = row_proportion(table, sampling, &table->rows[i], part);
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

static struct interval bound_labelled(const struct table *table, const struct sampling *sampling)
{
	const struct proportion labelled = {
		.p = table->weight ? fmin(1, table->weight_labelled / (double)table->weight) : 0,
		.trials = sampling->trials_all,
		.part = sampling->window_labelled,
		.whole = sampling->window_all,
	};
	const double effect = fmax(sampling->effect, design_effect(sampling, &labelled));
	const double lost = part_lost(table->input->lost_hits, table->totals.hits);

	return widen(bound_proportion(sampling, &labelled, effect), lost);
}

static void prepare_sampling(const struct table *table, struct sampling *sampling)
{
	const struct windows *windows = table->input->windows;
	const double per_hit = efficiency(table);
	size_t rows_hit = 0;

	*sampling = (struct sampling){.windowed = windows != NULL};
	for (size_t i = 0; i < table->row_count; i++) {
		const struct row *row = &table->rows[i];

		if (!in_shares(row))
			continue;
		rows_hit += row->fine.hits > 0;
		if (windows)
			add_windows(windows, row, sampling->window_labelled);
	}
	if (windows) {
		sampling->window_count = windows__count(windows);
		add_all_windows(windows, sampling->window_all);
	}
	sampling->level = table->input->alpha / (rows_hit + 1.);
	sampling->trials_all = per_hit * table->totals.hits;
	sampling->trials = per_hit * table->hits_labelled;
	sampling->lost = part_lost(table->input->lost_hits, table->hits_labelled);
	pool_design_effects(table, sampling);
	sampling->labelled = bound_labelled(table, sampling);
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
static void bound_share(const struct table *table, const struct sampling *sampling, struct row *row)
{
	const double lost_wait = table->input->lost_wait_ns;
	const double run_lo = table->totals.running_ns * sampling->labelled.lo;
	const double run_hi = table->totals.running_ns * sampling->labelled.hi;
	const double wait = row->wait, whole = table->wait_labelled;
	struct profile_fine *fine = &row->fine;
	double part[WINDOWS_MAX] = {0};
	const struct proportion of = row_proportion(table, sampling, row, part);
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

static void compute_shares(struct table *table)
{
	struct profile_totals *totals = &table->totals;
	struct sampling sampling;

	totals->bound = totals->labelled_ns > 0 ? 0 : NAN;
	prepare_sampling(table, &sampling);
	for (size_t i = 0; i < table->row_count; i++) {
		struct row *row = &table->rows[i];
		struct profile_fine *fine = &row->fine;

		fine->share = fine->share_lo = fine->share_hi = fine->cpu_share = NAN;
		if (!in_shares(row))
			continue;
		fine->cpu_share = ratio(fine->running_ns, table->running_labelled);
		if (totals->labelled_ns == 0)
			continue;
		fine->share = ratio(fine->thread_time_ns, totals->labelled_ns);
		bound_share(table, &sampling, row);
		totals->bound = fmax(totals->bound, fine->share - fine->share_lo);
		totals->bound = fmax(totals->bound, fine->share_hi - fine->share);
	}
}

/* --- order and flags --- */

/* Shares first, then idle time, then what was never seen: of that the called ones first. */
static int row_class(const struct row *row)
{
	return !seen(row) ? 2 : row->fine.idle ? 1 : 0;
}

static int compare_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	int order = row_class(a) - row_class(b);

	if (!order)
		order = compare_u64(b->fine.thread_time_ns, a->fine.thread_time_ns);
	if (!order)
		order = compare_u64(b->fine.calls, a->fine.calls);
	if (!order)
		order = strcmp(a->name, b->name);
	return order ? order : a->fine.idle - b->fine.idle;
}

/* NaN without calls. */
static double per_call_limit(const struct table *table, const struct row *row)
{
	return ratio(row->fine.share_hi * table->totals.labelled_ns, row->fine.calls);
}

/*
 * Glances that would have found another caller inside, if callers came independently of each other:
 * each of the others is inside for its part of the row's thread-time. Infinite if the duration is
 * not known.
 */
static double meetings_expected(const struct table *table, const struct row *row)
{
	double others = 1 - 1.0 / row->callers;

	if (!table->duration_ns)
		return INFINITY;
	return (double)row->glances * others *
	       ratio((double)row->fine.thread_time_ns, table->duration_ns);
}

/* Several callers, and never two inside at once though that would be no chance. */
static bool is_serialised(const struct table *table, const struct row *row)
{
	return row->callers > 1 && row->glances >= SERIALISED_GLANCES && row->glances_shared == 0 &&
	       row->fine.in_flight <= SERIALISED_IN_FLIGHT &&
	       meetings_expected(table, row) >= SERIALISED_MEETINGS;
}

static uint32_t row_flags(const struct table *table, const struct row *row)
{
	uint32_t flags = 0;

	if (!seen(row))
		flags |= PROFILE_FLAG_UNSAMPLED;
	if (row->fine.idle)
		return flags;
	if (per_call_limit(table, row) < TINY_NS)
		flags |= PROFILE_FLAG_TINY;
	if (row->long_hits >= LONG_HITS_MIN && row->long_hits > LONG_FRACTION * row->fine.hits)
		flags |= PROFILE_FLAG_LONG;
	if (is_serialised(table, row))
		flags |= PROFILE_FLAG_SERIALISED;
	return flags;
}

/* Rows in order: sorted, tied to a neighbour where the intervals overlap. */
static void sort_and_flag(struct table *table)
{
	qsort(table->rows + 1, table->row_count - 1, sizeof(*table->rows), compare_rows);
	for (size_t i = 1; i < table->row_count; i++) {
		struct row *row = &table->rows[i], *above = row - 1;

		row->fine.flags |= row_flags(table, row);
		if (i > 1 && row_class(row) == 0 && above->fine.share_lo <= row->fine.share_hi) {
			above->fine.flags |= PROFILE_FLAG_TIED;
			row->fine.flags |= PROFILE_FLAG_TIED;
		}
	}
}

/* --- warnings --- */

static int warn_session(const struct table *table, struct profile *profile)
{
	const struct profile_totals *totals = &table->totals;
	const unsigned long long hits = table->hits_labelled;
	int err = 0;

	if (table->row_count == 1)
		return profile__warn(profile, "no_labels", NULL,
				     "no label is registered: all of the time is in no label");
	if (table->weight == 0)
		err = profile__warn(profile, "no_hits", NULL,
				    "no tick found a thread running: running time counts as in no "
				    "label; run for longer");
	else if (hits < FEW_HITS)
		err = profile__warn(profile, "few_hits", NULL,
				    "only %llu hit%s landed in labels: run for longer", hits,
				    hits == 1 ? "" : "s");
	if (!err && totals->coverage < COVERAGE_LOW)
		err = profile__warn(
			profile, "coverage_low", NULL,
			"labels cover %.1f%% of the thread-time%s: the shares say nothing "
			"of the rest",
			floor(1000 * totals->coverage) / 10,
			totals->coverage_running >= COVERAGE_HIGH
				? " (but nearly all running time: TSN_IDLE marks the waiting that "
				  "is left)"
				: "");
	return err;
}

static int warn_tiny(const struct table *table, const struct row *row, struct profile *profile)
{
	const double limit_ns = per_call_limit(table, row);

	return profile__warn(
		profile, "tiny", row->name,
		"at most %.*f ns per call: the label's own cost is a visible part of it",
		limit_ns < 10 ? 1 : 0, limit_ns);
}

static int warn_long(const struct row *row, struct profile *profile)
{
	const double waiting = ratio(row->wait, row->fine.thread_time_ns);

	if (waiting >= WAITING_MOSTLY)
		return profile__warn(profile, "long", row->name,
				     "single executions last for several ticks, mostly waiting "
				     "(%.0f%%): label what is inside it to see where",
				     100 * waiting);
	if (waiting > WAITING_HONEST)
		return profile__warn(profile, "long", row->name,
				     "single executions last for several ticks, %.0f%% of it "
				     "waiting: label what is inside it to see where",
				     100 * waiting);
	return profile__warn(profile, "long", row->name,
			     "its single executions run long, for several ticks: label what is "
			     "inside it to see where");
}

static int warn_row(const struct table *table, const struct row *row, struct profile *profile)
{
	int err = 0;

	if (row->fine.flags & PROFILE_FLAG_TINY)
		err = warn_tiny(table, row, profile);
	if (!err && row->fine.flags & PROFILE_FLAG_LONG)
		err = warn_long(row, profile);
	if (!err && row->fine.flags & PROFILE_FLAG_SERIALISED)
		err = profile__warn(profile, "serialised", row->name,
				    "%u threads call it, but never were two of them inside at once",
				    row->callers);
	return err;
}

static int warn_all(const struct table *table, struct profile *profile)
{
	int err = warn_session(table, profile);

	for (size_t i = 1; i < table->row_count && !err; i++)
		err = warn_row(table, &table->rows[i], profile);
	return err;
}

/* --- the profile --- */

static void free_fine(struct profile_fine *fine, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(fine[i].label);
	free(fine);
}

/* NULL: out of memory. */
static struct profile_fine *copy_rows(const struct table *table)
{
	const size_t count = table->row_count - 1;
	struct profile_fine *fine = calloc(count ? count : 1, sizeof(*fine));

	for (size_t i = 0; fine && i < count; i++) {
		fine[i] = table->rows[i + 1].fine;
		fine[i].label = strdup(table->rows[i + 1].name);
		if (!fine[i].label) {
			free_fine(fine, i);
			return NULL;
		}
	}
	return fine;
}

static int write_profile(const struct table *table, struct profile *profile)
{
	struct profile_fine *fine = copy_rows(table);
	int err = fine ? warn_all(table, profile) : -ENOMEM;

	if (err) {
		free_fine(fine, fine ? table->row_count - 1 : 0);
		return err;
	}
	free_fine(profile->fine, profile->fine_count);
	profile->fine = fine;
	profile->fine_count = table->row_count - 1;
	profile->totals = table->totals;
	return 0;
}

int model__compute(const struct model_input *input, struct profile *profile)
{
	struct table table = {.input = input};
	int err = -ENOMEM;

	if (!(input->alpha > 0 && input->alpha < 1))
		return -EINVAL;
	table.labels = calloc(input->label_count + 1, sizeof(*table.labels));
	table.rows = calloc(input->label_count + 1, sizeof(*table.rows));
	if (!table.labels || !table.rows)
		goto free_table;
	group_labels(&table);
	err = split_running(&table);
	if (err)
		goto free_table;
	table.duration_ns = profile->session.duration_ns;
	compute_times(&table, profile->session.duration_ns);
	compute_totals(&table);
	compute_shares(&table);
	sort_and_flag(&table);
	err = write_profile(&table, profile);

free_table:
	free(table.labels);
	free(table.rows);
	return err;
}
