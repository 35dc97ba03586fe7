/* SPDX-License-Identifier: MIT */
#include "model.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "rows.h"
#include "saturate.h"

#define TINY_NS		   50. /* upper limit per call below which the hook shows */
#define LONG_HITS_MIN	   20
#define LONG_FRACTION	   0.02
#define WAITING_MOSTLY	   0.50
#define SERIALISED_GLANCES 25
#define SERIALISED_MEETINGS \
	5 /* expected of callers that do not mind each other; none by chance: exp(-5) */
#define SERIALISED_IN_FLIGHT 1.005 /* 1 and a rounding error: no two inside off the CPU either */
#define FEW_HITS	     50
#define COVERAGE_LOW	     0.5
#define COVERAGE_HIGH	     0.9

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
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
	fine->long_hits = add(fine->long_hits, label->long_hits);
	fine->glances = add(fine->glances, label->glances);
	fine->glances_shared = add(fine->glances_shared, label->glances_shared);
	if (label->callers > fine->callers)
		fine->callers = label->callers;
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

static void group_labels(struct rows *rows)
{
	const size_t count = rows->input->label_count;

	for (size_t i = 0; i < count; i++)
		rows->labels[i] = &rows->input->labels[i];
	if (count > 0)
		qsort(rows->labels, count, sizeof(*rows->labels), compare_labels);
	rows->count = 1;
	rows->row[0].labels = rows->labels;
	for (size_t i = 0; i < count; i++) {
		struct row *row = &rows->row[rows->count - 1];

		if (i > 0 ? compare_identity(rows->labels[i - 1], rows->labels[i]) != 0
			  : rows->labels[i]->name != NULL) {
			row = &rows->row[rows->count++];
			row->labels = &rows->labels[i];
		}
		row_add(row, rows->labels[i]);
	}
	for (size_t i = 0; i < rows->count; i++)
		rows->weight += rows->row[i].weight;
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
static int split_running(struct rows *rows)
{
	const uint64_t running_ns = rows->input->running_ns;
	struct remainder *remainders;
	uint64_t left = running_ns;

	if (rows->weight == 0) {
		rows->row[0].fine.running_ns = running_ns;
		return 0;
	}
	remainders = calloc(rows->count, sizeof(*remainders));
	if (!remainders)
		return -ENOMEM;
	for (size_t i = 0; i < rows->count; i++) {
		struct row *row = &rows->row[i];
		const u128 product = (u128)running_ns * row->weight;

		row->fine.running_ns = product / rows->weight;
		left -= row->fine.running_ns;
		remainders[i] = (struct remainder){product % rows->weight, row};
	}
	qsort(remainders, rows->count, sizeof(*remainders), compare_remainders);
	for (size_t i = 0; i < left; i++)
		remainders[i].row->fine.running_ns++;
	free(remainders);
	return 0;
}

/* One label: off the CPU as measured, on it scaled like running time. */
static uint64_t label_elapsed(const struct rows *rows, const struct model_label *label,
			      uint64_t duration_ns)
{
	uint64_t elapsed = label->elapsed_off_ns;

	if (rows->weight > 0) {
		const u128 product = (u128)rows->input->running_ns * label->elapsed_on_ns;
		const u128 on = product / rows->weight;

		elapsed = add(elapsed, on > UINT64_MAX ? UINT64_MAX : (uint64_t)on);
	}
	if (label->processes > 1)
		duration_ns = saturate__u64((u128)duration_ns * label->processes);
	return duration_ns > 0 ? min_u64(elapsed, duration_ns) : elapsed;
}

static void compute_times(struct rows *rows, uint64_t duration_ns)
{
	for (size_t i = 0; i < rows->count; i++) {
		struct row *row = &rows->row[i];
		struct profile_fine *fine = &row->fine;

		fine->thread_time_ns = add(fine->running_ns, row->wait);
		for (size_t k = 0; k < row->label_count; k++)
			fine->elapsed_ns = add(fine->elapsed_ns,
					       label_elapsed(rows, row->labels[k], duration_ns));
		fine->elapsed_ns = min_u64(fine->elapsed_ns, fine->thread_time_ns);
		fine->in_flight = rows__ratio(fine->thread_time_ns, fine->elapsed_ns);
		fine->per_call_ns = rows__ratio(fine->thread_time_ns, fine->calls);
	}
}

static void compute_totals(struct rows *rows)
{
	struct profile_totals *totals = &rows->totals;
	const struct profile_fine *unlabelled = &rows->row[0].fine;

	totals->running_ns = rows->input->running_ns;
	totals->stolen_ns = rows->input->stolen_ns;
	totals->unlabelled_ns = unlabelled->thread_time_ns;
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->row[i];
		const struct profile_fine *fine = &row->fine;

		totals->hits = add(totals->hits, fine->hits);
		totals->runnable_ns = add(totals->runnable_ns, fine->runnable_ns);
		totals->blocked_ns = add(totals->blocked_ns, fine->blocked_ns);
		totals->io_ns = add(totals->io_ns, fine->io_ns);
		if (fine->idle)
			totals->idle_ns = add(totals->idle_ns, fine->thread_time_ns);
		if (!row__in_shares(row))
			continue;
		totals->labelled_ns = add(totals->labelled_ns, fine->thread_time_ns);
		rows->hits_labelled = add(rows->hits_labelled, fine->hits);
		rows->weight_labelled = add(rows->weight_labelled, row->weight);
		rows->running_labelled = add(rows->running_labelled, fine->running_ns);
		rows->wait_labelled = add(rows->wait_labelled, row->wait);
	}
	totals->thread_time_ns = add(add(totals->running_ns, totals->runnable_ns),
				     add(totals->blocked_ns, totals->io_ns));
	totals->coverage = rows__ratio(totals->labelled_ns,
				       (double)totals->labelled_ns + totals->unlabelled_ns);
	totals->coverage_running = rows__ratio(
		rows->running_labelled, (double)rows->running_labelled + unlabelled->running_ns);
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
static double per_call_limit(const struct rows *rows, const struct row *row)
{
	return rows__ratio(row->fine.share_hi * rows->totals.labelled_ns, row->fine.calls);
}

/*
 * Glances that would have found another caller inside, if callers came independently of each other:
 * each of the others is inside for its part of the row's thread-time. Infinite if the duration is
 * not known.
 */
static double meetings_expected(const struct rows *rows, const struct row *row)
{
	double others = 1 - 1.0 / (double)row->fine.callers;

	if (!rows->duration_ns)
		return INFINITY;
	return (double)row->fine.glances * others *
	       rows__ratio((double)row->fine.thread_time_ns, rows->duration_ns);
}

/* Several callers, and never two inside at once though that would be no chance. */
static bool is_serialised(const struct rows *rows, const struct row *row)
{
	return row->fine.callers > 1 && row->fine.glances >= SERIALISED_GLANCES &&
	       row->fine.glances_shared == 0 && row->fine.in_flight <= SERIALISED_IN_FLIGHT &&
	       meetings_expected(rows, row) >= SERIALISED_MEETINGS;
}

static uint32_t row_flags(const struct rows *rows, const struct row *row)
{
	uint32_t flags = 0;

	if (!seen(row))
		flags |= PROFILE_FLAG_UNSAMPLED;
	if (row->fine.idle)
		return flags;
	if (per_call_limit(rows, row) < TINY_NS)
		flags |= PROFILE_FLAG_TINY;
	if (row->fine.long_hits >= LONG_HITS_MIN &&
	    row->fine.long_hits > LONG_FRACTION * row->fine.hits)
		flags |= PROFILE_FLAG_LONG;
	if (is_serialised(rows, row))
		flags |= PROFILE_FLAG_SERIALISED;
	return flags;
}

/* Rows in order: sorted, tied to a neighbour where the intervals overlap. */
static void sort_and_flag(struct rows *rows)
{
	qsort(rows->row + 1, rows->count - 1, sizeof(*rows->row), compare_rows);
	for (size_t i = 1; i < rows->count; i++) {
		struct row *row = &rows->row[i], *above = row - 1;

		row->fine.flags |= row_flags(rows, row);
		if (i > 1 && row_class(row) == 0 && above->fine.share_lo <= row->fine.share_hi) {
			above->fine.flags |= PROFILE_FLAG_TIED;
			row->fine.flags |= PROFILE_FLAG_TIED;
		}
	}
}

/* --- warnings --- */

static int warn_session(const struct rows *rows, struct profile *profile)
{
	const struct profile_totals *totals = &rows->totals;
	const unsigned long long hits = rows->hits_labelled;
	int err = 0;

	if (rows->count == 1)
		return profile__warn(profile, "no_labels", NULL,
				     "no fine label is registered: all of the time is in none");
	if (rows->weight == 0)
		err = profile__warn(profile, "no_hits", NULL,
				    "no tick found a thread running: running time counts as in no "
				    "label; run for longer");
	else if (hits < FEW_HITS)
		err = profile__warn(profile, "few_hits", NULL,
				    "only %llu hit%s landed in fine labels: run for longer", hits,
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

static int warn_tiny(const struct rows *rows, const struct row *row, struct profile *profile)
{
	const double limit_ns = per_call_limit(rows, row);

	return profile__warn(
		profile, "tiny", row->name,
		"at most %.*f ns per call: the label's own cost is a visible part of it",
		limit_ns < 10 ? 1 : 0, limit_ns);
}

static int warn_long(const struct row *row, struct profile *profile)
{
	const double waiting = rows__ratio(row->wait, row->fine.thread_time_ns);

	if (waiting >= WAITING_MOSTLY)
		return profile__warn(profile, "long", row->name,
				     "single executions last for several ticks, mostly waiting "
				     "(%.0f%%): make it coarse (TSN_COARSE), which times each one, "
				     "and label what is inside it",
				     100 * waiting);
	return profile__warn(profile, "long", row->name,
			     "its single executions run long, for several ticks: make it coarse "
			     "(TSN_COARSE), which times each one, and label what is inside it");
}

static int warn_row(const struct rows *rows, const struct row *row, struct profile *profile)
{
	int err = 0;

	if (row->fine.flags & PROFILE_FLAG_TINY)
		err = warn_tiny(rows, row, profile);
	if (!err && row->fine.flags & PROFILE_FLAG_LONG)
		err = warn_long(row, profile);
	if (!err && row->fine.flags & PROFILE_FLAG_SERIALISED)
		err = profile__warn(profile, "serialised", row->name,
				    "%" PRIu64
				    " threads call it, but never were two of them inside at once",
				    row->fine.callers);
	return err;
}

static int warn_all(const struct rows *rows, struct profile *profile)
{
	int err = warn_session(rows, profile);

	for (size_t i = 1; i < rows->count && !err; i++)
		err = warn_row(rows, &rows->row[i], profile);
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
static struct profile_fine *copy_rows(const struct rows *rows)
{
	const size_t count = rows->count - 1;
	struct profile_fine *fine = calloc(count ? count : 1, sizeof(*fine));

	for (size_t i = 0; fine && i < count; i++) {
		fine[i] = rows->row[i + 1].fine;
		fine[i].label = strdup(rows->row[i + 1].name);
		if (!fine[i].label) {
			free_fine(fine, i);
			return NULL;
		}
	}
	return fine;
}

static int write_profile(const struct rows *rows, struct profile *profile)
{
	struct profile_fine *fine = copy_rows(rows);
	int err = fine ? warn_all(rows, profile) : -ENOMEM;

	if (err) {
		free_fine(fine, fine ? rows->count - 1 : 0);
		return err;
	}
	free_fine(profile->fine, profile->fine_count);
	profile->fine = fine;
	profile->fine_count = rows->count - 1;
	profile->totals = rows->totals;
	return 0;
}

int rows__conclude(struct rows *rows, struct profile *profile)
{
	bounds__compute(rows);
	sort_and_flag(rows);
	return write_profile(rows, profile);
}

int model__compute(const struct model_input *input, struct profile *profile)
{
	struct rows rows = {.input = input};
	int err = -ENOMEM;

	if (!(input->alpha > 0 && input->alpha < 1))
		return -EINVAL;
	rows.labels = calloc(input->label_count + 1, sizeof(*rows.labels));
	rows.row = calloc(input->label_count + 1, sizeof(*rows.row));
	if (!rows.labels || !rows.row)
		goto free_rows;
	group_labels(&rows);
	err = split_running(&rows);
	if (err)
		goto free_rows;
	rows.duration_ns = profile->session.duration_ns;
	compute_times(&rows, profile->session.duration_ns);
	compute_totals(&rows);
	bounds__keep_sums(&rows);
	err = rows__conclude(&rows, profile);

free_rows:
	free(rows.labels);
	free(rows.row);
	return err;
}
