// SPDX-License-Identifier: MIT
/* From sums and sources to a report. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounts.h"
#include "field_rows.h"
#include "merge_kept.h"
#include "merge_parts.h"
#include "rows.h"

/* Of all names in a list; ", " takes as much again at most. A string that is read back has 16 KiB.
 */
#define NAMES_BYTES_MAX 4000

/* --- from sources --- */

static int compare_strings(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* All of these, or as many as there is room for and how many more there are. */
static void write_names(FILE *out, const char *const *names, size_t count)
{
	size_t room = NAMES_BYTES_MAX, shown = 0;

	for (; shown < count; shown++) {
		const size_t length = strlen(names[shown]);

		if (length > room && count > 1)
			break;
		fprintf(out, "%s%s", shown ? ", " : "", names[shown]);
		room -= length < room ? length : room;
	}
	if (shown < count)
		fprintf(out, "%s%zu more", shown ? " and " : "", count - shown);
}

/* The different strings at this offset of the sources, sorted, with ", " between them; NULL is
 * none. *text is NULL if there is none at all. 0 or -ENOMEM. */
static int different(const struct profile *profile, size_t offset, char **text)
{
	const char **strings = calloc(profile->source_count + 1, sizeof(*strings));
	size_t count = 0, kinds = 0, length;
	FILE *out;

	*text = NULL;
	if (!strings)
		return -ENOMEM;
	for (size_t i = 0; i < profile->source_count; i++) {
		const char *string = *(char *const *)fields__at(&profile->sources[i], offset);

		if (string)
			strings[count++] = string;
	}
	qsort(strings, count, sizeof(*strings), compare_strings);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || strcmp(strings[kinds - 1], strings[i]) != 0)
			strings[kinds++] = strings[i];
	out = kinds ? open_memstream(text, &length) : NULL;
	if (out)
		write_names(out, strings, kinds);
	free(strings);
	if (kinds == 0)
		return 0;
	return out && fclose(out) == 0 ? 0 : -ENOMEM;
}

static int conclude_names(struct profile *profile)
{
	struct profile_host *host = &profile->host;
	const struct profile_source *sources = profile->sources;
	char **ended_by = &profile->session.ended_by;
	int err = different(profile, offsetof(struct profile_source, kernel), &host->kernel);

	if (!err)
		err = different(profile, offsetof(struct profile_source, machine), &host->machine);
	if (!err)
		err = different(profile, offsetof(struct profile_source, cpu_model),
				&host->cpu_model);
	if (!err)
		err = different(profile, offsetof(struct profile_source, virtualization),
				&host->virtualization);
	if (!err)
		err = different(profile, offsetof(struct profile_source, version),
				&profile->tool_version);
	if (err)
		return err;
	*ended_by = strdup(sources[0].ended_by);
	for (size_t i = 1; *ended_by && i < profile->source_count; i++)
		if (strcmp(sources[0].ended_by, sources[i].ended_by) != 0) {
			free(*ended_by);
			*ended_by = strdup("merged");
			break;
		}
	return *ended_by ? 0 : -ENOMEM;
}

/* The mean rate over all of the time. */
static double mean_frequency(const struct profile *profile)
{
	const struct profile_source *sources = profile->sources;
	double ticks = 0, seconds = 0;
	bool same = true;

	for (size_t i = 0; i < profile->source_count; i++) {
		same &= sources[i].frequency_hz == sources[0].frequency_hz;
		ticks += sources[i].frequency_hz * (double)sources[i].duration_ns;
		seconds += (double)sources[i].duration_ns;
	}
	return same ? sources[0].frequency_hz : rows__ratio(ticks, seconds);
}

static void conclude_session(struct profile *profile)
{
	struct profile_session *session = &profile->session;

	session->start_unix_ns = profile->sources[0].start_unix_ns; /* they are sorted by it */
	session->frequency_hz = mean_frequency(profile);
	session->strict = true;
	for (size_t i = 0; i < profile->source_count; i++) {
		const struct profile_source *source = &profile->sources[i];

		session->strict &= source->strict;
		session->follow_children |= source->follow_children;
		if (source->cpus > profile->host.cpus)
			profile->host.cpus = source->cpus;
		if (source->abi > profile->tool_abi)
			profile->tool_abi = source->abi;
	}
}

static void conclude_overhead(struct profile *profile)
{
	struct profile_overhead *overhead = &profile->overhead;

	overhead->tick_ns = overhead->ticks ? overhead->tick_total_ns / overhead->ticks : 0;
	overhead->switch_ns =
		overhead->switches ? overhead->switch_total_ns / overhead->switches : 0;
	overhead->fraction =
		rows__ratio((double)overhead->kernel_ns, (double)profile->totals.running_ns);
}

/* --- the fine table --- */

static void row_from_sums(struct row *row, const struct profile_fine *sums)
{
	struct profile_fine *fine = &row->fine;

	*fine = *sums;
	row->name = sums->label;
	row->weight = fine->hits ? fine->running_ns : 0;
	row->wait = field_rows__add_u64(fine->runnable_ns, fine->blocked_ns);
	row->wait = field_rows__add_u64(row->wait, fine->io_ns);
	fine->flags = 0;
	fine->thread_time_ns = field_rows__add_u64(fine->running_ns, row->wait);
	fine->in_flight = rows__ratio((double)fine->thread_time_ns, (double)fine->elapsed_ns);
	fine->per_call_ns = rows__ratio((double)fine->thread_time_ns, (double)fine->calls);
}

static void sum_rows(struct rows *rows)
{
	struct profile_totals *totals = &rows->totals;
	uint64_t running_ns = 0;

	totals->labelled_ns = totals->idle_ns = 0;
	for (size_t i = 1; i < rows->count; i++) {
		const struct row *row = &rows->row[i];
		uint64_t *time = row->fine.idle ? &totals->idle_ns : &totals->labelled_ns;

		*time = field_rows__add_u64(*time, row->fine.thread_time_ns);
		running_ns = field_rows__add_u64(running_ns, row->fine.running_ns);
		if (!row__in_shares(row))
			continue;
		rows->hits_labelled = field_rows__add_u64(rows->hits_labelled, row->fine.hits);
		rows->weight_labelled = field_rows__add_u64(rows->weight_labelled, row->weight);
		rows->running_labelled =
			field_rows__add_u64(rows->running_labelled, row->fine.running_ns);
		rows->wait_labelled = field_rows__add_u64(rows->wait_labelled, row->wait);
	}
	totals->thread_time_ns =
		field_rows__add_u64(field_rows__add_u64(totals->running_ns, totals->runnable_ns),
				    field_rows__add_u64(totals->blocked_ns, totals->io_ns));
	totals->coverage = rows__ratio((double)totals->labelled_ns,
				       (double)totals->labelled_ns + (double)totals->unlabelled_ns);
	totals->coverage_running = rows__ratio((double)rows->running_labelled,
					       (double)rows->running_labelled +
						       (double)(totals->running_ns - running_ns));
}

static bool all_windowed(const struct profile *profile)
{
	for (size_t i = 0; i < profile->source_count; i++)
		if (!profile->sources[i].windowed)
			return false;
	return true;
}

static int conclude_fine(struct profile *profile)
{
	const struct profile_totals *totals = &profile->totals;
	const struct model_input input = {
		.running_ns = totals->running_ns,
		.weight_square_sum = totals->weight_squares,
		.lost_hits = totals->lost_hits,
		.lost_wait_ns = totals->lost_wait_ns,
		.alpha = MODEL_ALPHA,
	};
	struct rows rows = {
		.input = &input,
		.count = profile->fine_count + 1,
		.weight = totals->hits ? totals->running_ns : 0,
		.totals = *totals,
		.duration_ns = profile->session.duration_ns,
		.hits_may_do = !all_windowed(profile),
	};
	int err;

	rows.row = calloc(rows.count, sizeof(*rows.row));
	if (!rows.row)
		return -ENOMEM;
	for (size_t i = 1; i < rows.count; i++)
		row_from_sums(&rows.row[i], &profile->fine[i - 1]);
	sum_rows(&rows);
	err = rows__conclude(&rows, profile);
	free(rows.row);
	return err;
}

/* --- the coarse table --- */

static void account_from_sums(struct account *account, struct profile_coarse *sums)
{
	struct profile_coarse *row = &account->row;

	account->name = sums->label;
	*row = *sums;
	sums->histogram = NULL;
	sums->histogram_count = 0;
	row->flags = 0;
	if (row->executions == 0)
		row->max_ns = 0;
	row->thread_time_ns =
		field_rows__add_u64(field_rows__add_u64(row->running_ns, row->runnable_ns),
				    field_rows__add_u64(row->blocked_ns, row->io_ns));
	for (size_t i = 0; i < row->histogram_count; i++)
		if (row->histogram[i].count > INT64_MAX)
			row->histogram[i].count = INT64_MAX;
}

static void pair_from_sums(struct account_pair *pair, const struct profile_pair *sums)
{
	pair->row = *sums;
	pair->fine = sums->fine;
	pair->wait_ns = field_rows__add_u64(
		field_rows__add_u64(sums->runnable_ns, sums->blocked_ns), sums->io_ns);
	pair->row.thread_time_ns = field_rows__add_u64(sums->running_ns, pair->wait_ns);
}

/* Both are sorted by the name of the coarse label. */
static void fill_accounts(struct accounts *accounts, struct profile *profile)
{
	size_t k = 0;

	for (size_t i = 0; i < profile->coarse_count; i++) {
		struct account *account = &accounts->at[i];

		account_from_sums(account, &profile->coarse[i]);
		accounts->stale_hits =
			field_rows__add_u64(accounts->stale_hits, account->row.stale_hits);
		while (k < profile->pair_count &&
		       strcmp(profile->pairs[k].coarse, account->name) < 0)
			k++;
		account->pairs = &accounts->pairs[accounts->pair_count];
		for (; k < profile->pair_count &&
		       strcmp(profile->pairs[k].coarse, account->name) == 0;
		     k++) {
			pair_from_sums(&accounts->pairs[accounts->pair_count++],
				       &profile->pairs[k]);
			account->pair_count++;
		}
	}
	accounts->count = profile->coarse_count;
}

static int conclude_coarse(struct profile *profile)
{
	const struct spans_input input = {.alpha = MODEL_ALPHA, .cost_ns = SPANS_COST_NS};
	struct accounts accounts = {
		.input = &input,
		.outside_ns = profile->totals.outside_ns,
		.stale_ns = profile->totals.stale_ns,
		.hits = profile->totals.coarse_hits,
	};
	int err = -ENOMEM;

	accounts.at = calloc(profile->coarse_count + 1, sizeof(*accounts.at));
	accounts.pairs = calloc(profile->pair_count + 1, sizeof(*accounts.pairs));
	if (accounts.at && accounts.pairs) {
		fill_accounts(&accounts, profile);
		err = accounts__conclude(&accounts, profile);
	}
	accounts__free(&accounts);
	return err;
}

/* --- all of it --- */

/* What the reports said comes after what follows from their sums. */
static int keep_warnings(struct profile *profile, struct profile_warning *said, size_t count)
{
	const size_t all = profile->warning_count + count;
	struct profile_warning *grown = reallocarray(profile->warnings, all + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	profile->warnings = grown;
	if (count)
		memcpy(grown + profile->warning_count, said, count * sizeof(*said));
	profile->warning_count = all;
	return 0;
}

int merge_conclude__profile(struct profile *profile)
{
	struct profile_warning *said = profile->warnings;
	const size_t said_count = profile->warning_count;
	int err;

	profile->warnings = NULL;
	profile->warning_count = 0;
	merge_kept__conclude(profile);
	conclude_session(profile);
	conclude_overhead(profile);
	err = conclude_names(profile);
	if (!err)
		err = conclude_fine(profile);
	if (!err)
		err = conclude_coarse(profile);
	if (!err)
		err = merge_warnings__fill(profile);
	if (!err)
		err = keep_warnings(profile, said, said_count);
	if (err)
		for (size_t i = 0; i < said_count; i++)
			field_rows__free(&fields_warnings.fields, &said[i]);
	free(said);
	return err;
}
