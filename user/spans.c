// SPDX-License-Identifier: MIT
#include "spans.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accounts.h"
#include "histogram.h"
#include "stats.h"

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* NaN: a part of nothing. */
static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

/* value x part / whole, to the nearest; 0 of nothing. Monotone in part. */
static uint64_t scale(uint64_t value, u128 part, u128 whole)
{
	u128 product, rest;
	unsigned shift = 0;

	while (whole >> shift > UINT64_MAX)
		shift++;
	whole >>= shift;
	if (whole == 0)
		return 0;
	product = (u128)value * saturate__u64(part >> shift);
	rest = product % whole;
	return saturate__u64(product / whole + (rest >= whole - rest));
}

bool spans__stale_violates(uint64_t stale_hits, uint64_t hits)
{
	return stale_hits > 20 && (u128)stale_hits * 100 > hits;
}

/* --- accounts: coarse labels of several processes with the same name are one --- */

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Accounts by name, of every label that is registered or has time. */
static int open_accounts(struct accounts *accounts)
{
	const struct spans_input *input = accounts->input;
	const size_t most = input->label_count + input->cell_count;
	const char **names = calloc(most + 1, sizeof(*names));
	size_t count = 0;

	accounts->at = calloc(most + 1, sizeof(*accounts->at));
	if (!names || !accounts->at) {
		free(names);
		return -ENOMEM;
	}
	for (size_t i = 0; i < input->label_count; i++)
		names[count++] = input->labels[i].name;
	for (size_t i = 0; i < input->cell_count; i++)
		if (input->cells[i].coarse)
			names[count++] = input->cells[i].coarse;
	qsort(names, count, sizeof(*names), compare_names);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || strcmp(names[i - 1], names[i]) != 0)
			accounts->at[accounts->count++].name = names[i];
	free(names);
	return 0;
}

static int compare_account_to_name(const void *name, const void *account)
{
	return strcmp(name, ((const struct account *)account)->name);
}

static struct account *find_account(const struct accounts *accounts, const char *name)
{
	return bsearch(name, accounts->at, accounts->count, sizeof(*accounts->at),
		       compare_account_to_name);
}

/* --- durations --- */

/* How long its executions took; without any, whatever else there is means nothing. */
static int add_durations(struct profile_coarse *row, const struct spans_label *label)
{
	struct profile_bucket *histogram = NULL;
	uint64_t longest_ns;
	size_t count = 0;
	int err = 0;

	if (label->executions == 0)
		return 0;
	if (label->buckets)
		err = histogram__add_units(&histogram, &count, label->buckets, label->unit_ns,
					   label->longest_units);
	if (err)
		return err;
	longest_ns = saturate__round((long double)label->longest_units * label->unit_ns);
	if (label->longest_units == 0 && count > 0)
		longest_ns = histogram__middle(histogram[count - 1].bucket);
	if (longest_ns > row->max_ns)
		row->max_ns = longest_ns;
	row->executions = saturate__add(row->executions, label->executions);
	row->sum_ns = saturate__add(
		row->sum_ns, saturate__round((long double)label->sum_units * label->unit_ns));
	err = histogram__merge(&row->histogram, &row->histogram_count, histogram, count);
	free(histogram);
	return err;
}

/*
 * Time from begin to end of executions, of it what lies in the session: that of an execution which
 * began before is less by what it had been by then, one that goes on has been for so long.
 */
static uint64_t span_ns(const struct spans_label *label)
{
	const __int128 units = (__int128)label->sum_units + label->open_last_units -
			       (__int128)label->open_first_units;

	return saturate__round((long double)units * label->unit_ns * label->stretch);
}

static int add_label(struct account *account, const struct spans_label *label)
{
	struct profile_coarse *row = &account->row;

	if (label->callers > row->callers)
		row->callers = label->callers;
	row->readings = saturate__add(row->readings, label->readings);
	row->readings_shared = saturate__add(row->readings_shared, label->readings_shared);
	row->open_end_ns = saturate__add(
		row->open_end_ns,
		saturate__round((long double)label->open_last_units * label->unit_ns));
	row->open_start = saturate__add(row->open_start, label->open_first);
	row->open_end = saturate__add(row->open_end, label->open_last);
	row->span_ns = saturate__add(row->span_ns, span_ns(label));
	return add_durations(row, label);
}

static int add_labels(struct accounts *accounts)
{
	int err = 0;

	for (size_t i = 0; i < accounts->input->label_count && !err; i++) {
		const struct spans_label *label = &accounts->input->labels[i];

		err = add_label(find_account(accounts, label->name), label);
	}
	return err;
}

/* --- cells --- */

static uint64_t wait_of(const struct spans_cell *cell)
{
	return saturate__add(saturate__add(cell->runnable_ns, cell->blocked_ns), cell->io_ns);
}

/* Under executions that were over. */
static void add_stale(struct accounts *accounts, const struct spans_cell *cell)
{
	struct account *account = cell->coarse ? find_account(accounts, cell->coarse) : NULL;

	if (account) {
		account->row.stale_hits = saturate__add(account->row.stale_hits, cell->hits);
		account->stale_weight = saturate__add(account->stale_weight, cell->weight_ns);
		account->row.stale_ns = saturate__add(account->row.stale_ns, wait_of(cell));
		accounts->stale_hits = saturate__add(accounts->stale_hits, cell->hits);
	}
	if (!cell->idle) {
		accounts->stale_weight = saturate__add(accounts->stale_weight, cell->weight_ns);
		accounts->stale_ns = saturate__add(accounts->stale_ns, wait_of(cell));
	}
}

/* Inside no coarse label. */
static void add_outside(struct accounts *accounts, const struct spans_cell *cell)
{
	if (cell->idle)
		return;
	accounts->outside_weight = saturate__add(accounts->outside_weight, cell->weight_ns);
	accounts->outside_ns = saturate__add(accounts->outside_ns, wait_of(cell));
}

static bool is_pairs(const struct spans_cell *cell)
{
	return cell->coarse && (cell->role == TSN_CELL_OWN || cell->role == TSN_CELL_OUTER) &&
	       (cell->hits || cell->weight_ns || wait_of(cell));
}

static void add_to_pair(struct account_pair *pair, const struct spans_cell *cell)
{
	struct profile_pair *row = &pair->row;

	pair->fine = cell->fine;
	pair->weight = saturate__add(pair->weight, cell->weight_ns);
	pair->wait_ns = saturate__add(pair->wait_ns, wait_of(cell));
	row->hits = saturate__add(row->hits, cell->hits);
	row->runnable_ns = saturate__add(row->runnable_ns, cell->runnable_ns);
	row->blocked_ns = saturate__add(row->blocked_ns, cell->blocked_ns);
	row->io_ns = saturate__add(row->io_ns, cell->io_ns);
}

static int compare_fine(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int compare_cells(const void *left, const void *right)
{
	const struct spans_cell *a = *(const struct spans_cell *const *)left;
	const struct spans_cell *b = *(const struct spans_cell *const *)right;
	const int order = strcmp(a->coarse, b->coarse);

	return order ? order : compare_fine(a->fine, b->fine);
}

/* Cells of pairs, in order of accounts and fine labels. */
static void add_pairs(struct accounts *accounts, const struct spans_cell **cells, size_t count)
{
	struct account *account = NULL;

	qsort(cells, count, sizeof(*cells), compare_cells);
	for (size_t i = 0; i < count; i++) {
		const bool same = i > 0 && compare_cells(&cells[i - 1], &cells[i]) == 0;

		if (!same && (!account || strcmp(account->name, cells[i]->coarse) != 0)) {
			account = find_account(accounts, cells[i]->coarse);
			account->pairs = &accounts->pairs[accounts->pair_count];
		}
		if (!same) {
			account->pair_count++;
			accounts->pair_count++;
		}
		add_to_pair(&account->pairs[account->pair_count - 1], cells[i]);
	}
}

static int add_cells(struct accounts *accounts)
{
	const struct spans_input *input = accounts->input;
	const struct spans_cell **paired = calloc(input->cell_count + 1, sizeof(*paired));
	size_t count = 0;

	accounts->pairs = calloc(input->cell_count + 1, sizeof(*accounts->pairs));
	if (!paired || !accounts->pairs) {
		free(paired);
		return -ENOMEM;
	}
	for (size_t i = 0; i < input->cell_count; i++) {
		const struct spans_cell *cell = &input->cells[i];

		if (cell->role != TSN_CELL_OUTER) {
			accounts->weight += cell->weight_ns;
			accounts->hits =
				saturate__add(accounts->hits, cell->coarse ? cell->hits : 0);
		}
		if (cell->role == TSN_CELL_STALE)
			add_stale(accounts, cell);
		else if (is_pairs(cell))
			paired[count++] = cell;
		else if (cell->role == TSN_CELL_OWN && !cell->coarse)
			add_outside(accounts, cell);
	}
	add_pairs(accounts, paired, count);
	free(paired);
	return 0;
}

/* --- times --- */

/*
 * The running time of an account is split by weight in integers that add up to it: each pair gets
 * what the rounded sum grows by when it is added.
 */
static void split_running(struct account *account)
{
	u128 weight = 0;
	uint64_t given = 0;

	for (size_t i = 0; i < account->pair_count; i++) {
		struct account_pair *pair = &account->pairs[i];
		uint64_t sum;

		weight += pair->weight;
		sum = scale(account->row.running_ns, weight, account->weight);
		pair->row.running_ns = sum - given;
		pair->row.thread_time_ns = saturate__add(pair->row.running_ns, pair->wait_ns);
		given = sum;
	}
}

static void sum_pairs(const struct accounts *accounts, struct account *account)
{
	struct profile_coarse *row = &account->row;

	for (size_t i = 0; i < account->pair_count; i++) {
		const struct account_pair *pair = &account->pairs[i];

		account->weight += pair->weight;
		account->wait_ns = saturate__add(account->wait_ns, pair->wait_ns);
		row->hits = saturate__add(row->hits, pair->row.hits);
		row->runnable_ns = saturate__add(row->runnable_ns, pair->row.runnable_ns);
		row->blocked_ns = saturate__add(row->blocked_ns, pair->row.blocked_ns);
		row->io_ns = saturate__add(row->io_ns, pair->row.io_ns);
	}
	row->running_ns = scale(accounts->input->running_ns, account->weight, accounts->weight);
	row->thread_time_ns = saturate__add(row->running_ns, account->wait_ns);
	split_running(account);
}

/* The share of a pair if it has q of the label's running time. */
static double part_at(const struct account *account, const struct account_pair *pair, double q)
{
	return ((double)account->row.running_ns * q + (double)pair->wait_ns) /
	       (double)account->row.thread_time_ns;
}

/* Only the running part is uncertain: the exact interval of the pair's hits among the label's. */
static void bound_parts(struct account *account, double alpha)
{
	for (size_t i = 0; i < account->pair_count; i++) {
		struct account_pair *pair = &account->pairs[i];
		struct profile_pair *row = &pair->row;
		struct interval q;

		row->part = row->part_lo = row->part_hi =
			ratio((double)row->thread_time_ns, (double)account->row.thread_time_ns);
		if (isnan(row->part))
			continue;
		q = stats__binomial_interval((double)row->hits, (double)account->row.hits,
					     alpha / (double)account->pair_count);
		row->part_lo = fmax(0, fmin(row->part, part_at(account, pair, q.lo)));
		row->part_hi = fmin(1, fmax(row->part, part_at(account, pair, q.hi)));
	}
}

static void compute_row(const struct accounts *accounts, struct account *account)
{
	struct profile_coarse *row = &account->row;
	const uint64_t stale_ns =
		scale(accounts->input->running_ns, account->stale_weight, accounts->weight);

	sum_pairs(accounts, account);
	row->stale_ns = saturate__add(row->stale_ns, stale_ns);
}

static void compute_ratios(const struct accounts *accounts, struct account *account)
{
	struct profile_coarse *row = &account->row;

	bound_parts(account, accounts->input->alpha);
	row->mean_ns = 0;
	row->inside = ratio((double)row->thread_time_ns, (double)row->span_ns);
	row->working = ratio((double)row->running_ns, (double)row->span_ns);
	if (row->executions > 0)
		row->mean_ns = saturate__round((long double)row->sum_ns / row->executions);
	/* By whole executions, where edges of the session cut some. */
	row->busy_per_exec_ns =
		row->executions > 0 ? row->working * ((double)row->sum_ns / (double)row->executions)
				    : ratio((double)row->running_ns, (double)row->open_end);
	row->p50_ns = histogram__percentile(row->histogram, row->histogram_count, 50, row->max_ns);
	row->p90_ns = histogram__percentile(row->histogram, row->histogram_count, 90, row->max_ns);
	row->p99_ns = histogram__percentile(row->histogram, row->histogram_count, 99, row->max_ns);
}

static void compute_totals(struct accounts *accounts)
{
	const uint64_t running_ns = accounts->input->running_ns;
	const uint64_t outside_ns =
		accounts->weight ? scale(running_ns, accounts->outside_weight, accounts->weight)
				 : running_ns; /* as the model has it: in no label */

	accounts->outside_ns = saturate__add(accounts->outside_ns, outside_ns);
	accounts->stale_ns = saturate__add(
		accounts->stale_ns, scale(running_ns, accounts->stale_weight, accounts->weight));
	if (accounts->count == 0)
		accounts->outside_ns = accounts->stale_ns = 0;
}

/* --- order and flags --- */

static int compare_pairs(const void *left, const void *right)
{
	const struct account_pair *a = left, *b = right;
	int order = compare_u64(b->row.thread_time_ns, a->row.thread_time_ns);

	if (!order)
		order = compare_u64(b->row.hits, a->row.hits);
	return order ? order : compare_fine(a->fine, b->fine);
}

static int compare_accounts(const void *left, const void *right)
{
	const struct account *a = left, *b = right;
	int order = compare_u64(b->row.thread_time_ns, a->row.thread_time_ns);

	if (!order)
		order = compare_u64(b->row.executions, a->row.executions);
	return order ? order : strcmp(a->name, b->name);
}

static uint32_t flags_of(const struct accounts *accounts, const struct account *account,
			 double all_ns)
{
	const struct profile_coarse *row = &account->row;
	uint32_t flags = 0;

	if (!row->executions && !row->open_end && !row->thread_time_ns && !row->hits)
		flags |= PROFILE_FLAG_UNSAMPLED;
	if (account__is_small(account, accounts->input->cost_ns, all_ns))
		flags |= PROFILE_FLAG_TINY;
	if (account__is_serialised(account))
		flags |= PROFILE_FLAG_SERIALISED;
	if (row->open_end)
		flags |= PROFILE_FLAG_OPEN;
	if (accounts__is_stale(accounts, account))
		flags |= PROFILE_FLAG_STALE;
	return flags;
}

static void sort_and_flag(struct accounts *accounts, double all_ns)
{
	for (size_t i = 0; i < accounts->count; i++) {
		struct account *account = &accounts->at[i];

		if (account->pair_count)
			qsort(account->pairs, account->pair_count, sizeof(*account->pairs),
			      compare_pairs);
		account->row.flags = flags_of(accounts, account, all_ns);
	}
	if (accounts->count)
		qsort(accounts->at, accounts->count, sizeof(*accounts->at), compare_accounts);
}

/* --- the profile --- */

/* Takes the histograms over; NULL: out of memory, and then it has not. */
static struct profile_coarse *coarse_rows(struct accounts *accounts)
{
	struct profile_coarse *rows = calloc(accounts->count + 1, sizeof(*rows));

	for (size_t i = 0; rows && i < accounts->count; i++) {
		rows[i].label = strdup(accounts->at[i].name);
		if (!rows[i].label) {
			profile__free_coarse(rows, i);
			return NULL;
		}
	}
	for (size_t i = 0; rows && i < accounts->count; i++) {
		accounts->at[i].row.label = rows[i].label;
		rows[i] = accounts->at[i].row;
		accounts->at[i].row.histogram = NULL;
	}
	return rows;
}

/* NULL: out of memory. */
static struct profile_pair *pair_rows(const struct accounts *accounts)
{
	struct profile_pair *rows = calloc(accounts->pair_count + 1, sizeof(*rows));
	size_t count = 0;

	for (size_t i = 0; rows && i < accounts->count; i++) {
		const struct account *account = &accounts->at[i];

		for (size_t k = 0; k < account->pair_count; k++) {
			struct profile_pair *row = &rows[count++];

			*row = account->pairs[k].row;
			row->coarse = strdup(account->name);
			row->fine = account->pairs[k].fine ? strdup(account->pairs[k].fine) : NULL;
			if (!row->coarse || (account->pairs[k].fine && !row->fine)) {
				profile__free_pairs(rows, count);
				return NULL;
			}
		}
	}
	return rows;
}

static int write_profile(struct accounts *accounts, struct profile *profile)
{
	struct profile_pair *pairs = pair_rows(accounts);
	struct profile_coarse *coarse;
	int err = pairs ? accounts__warn(accounts, profile) : -ENOMEM;

	coarse = err ? NULL : coarse_rows(accounts);
	if (!coarse) {
		profile__free_pairs(pairs, pairs ? accounts->pair_count : 0);
		return -ENOMEM;
	}
	profile__free_coarse(profile->coarse, profile->coarse_count);
	profile__free_pairs(profile->pairs, profile->pair_count);
	profile->coarse = coarse;
	profile->coarse_count = accounts->count;
	profile->pairs = pairs;
	profile->pair_count = accounts->pair_count;
	profile->totals.outside_ns = accounts->outside_ns;
	profile->totals.stale_ns = accounts->stale_ns;
	profile->totals.coarse_hits = accounts->hits;
	return 0;
}

void accounts__free(struct accounts *accounts)
{
	for (size_t i = 0; i < accounts->count; i++)
		free(accounts->at[i].row.histogram);
	free(accounts->at);
	free(accounts->pairs);
}

static bool is_sound(const struct spans_input *input)
{
	for (size_t i = 0; i < input->label_count; i++)
		if (!(input->labels[i].unit_ns > 0) || isinf(input->labels[i].unit_ns) ||
		    !(input->labels[i].stretch > 0) || isinf(input->labels[i].stretch))
			return false;
	return input->alpha > 0 && input->alpha < 1;
}

int accounts__conclude(struct accounts *accounts, struct profile *profile)
{
	const double all_ns =
		(double)profile->totals.labelled_ns + (double)profile->totals.unlabelled_ns;

	for (size_t i = 0; i < accounts->count; i++)
		compute_ratios(accounts, &accounts->at[i]);
	sort_and_flag(accounts, all_ns);
	return write_profile(accounts, profile);
}

int spans__compute(const struct spans_input *input, struct profile *profile)
{
	struct accounts accounts = {.input = input};
	int err;

	if (!is_sound(input))
		return -EINVAL;
	err = open_accounts(&accounts);
	if (!err)
		err = add_labels(&accounts);
	if (!err)
		err = add_cells(&accounts);
	if (err)
		goto free_accounts;
	for (size_t i = 0; i < accounts.count; i++)
		compute_row(&accounts, &accounts.at[i]);
	compute_totals(&accounts);
	err = accounts__conclude(&accounts, profile);

free_accounts:
	accounts__free(&accounts);
	return err;
}
