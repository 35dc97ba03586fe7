// SPDX-License-Identifier: MIT
/* What is made of a report before it is added. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "field_rows.h"
#include "histogram.h"
#include "merge_parts.h"
#include "recordings.h"
#include "saturate.h"

/* --- does it make sense --- */

static int complain(char *error, const char *what, size_t row, const char *why)
{
	snprintf(error, MERGE_ERROR_SIZE, "it contradicts itself: %s[%zu] %s", what, row, why);
	return -EINVAL;
}

/* A whole at the limit of what a report holds may stand for more, so its parts may, too. */
static bool exceeds(u128 parts, uint64_t whole)
{
	return whole < INT64_MAX && parts > whole;
}

/* Running time and hits of the rows are parts of those of all. */
static int check_fine(const struct profile *profile, char *error)
{
	u128 running_ns = 0, hits = 0;

	for (size_t i = 0; i < profile->fine_count; i++) {
		running_ns += profile->fine[i].running_ns;
		hits += profile->fine[i].hits;
		if (exceeds(running_ns, profile->totals.running_ns))
			return complain(error, "fine", i,
					"and those above run for longer than totals.running_ns");
		if (exceeds(hits, profile->totals.hits))
			return complain(error, "fine", i,
					"and those above have more hits than totals.hits");
	}
	return 0;
}

/* A report read from a file has its pairs in the order of coarse, and those of a label together. */
static int check_pairs(const struct profile *profile, char *error)
{
	size_t k = 0;

	for (size_t i = 0; i < profile->coarse_count; i++) {
		const struct profile_coarse *row = &profile->coarse[i];
		u128 running_ns = 0, time_ns = 0, hits = 0;

		for (; k < profile->pair_count && strcmp(profile->pairs[k].coarse, row->label) == 0;
		     k++) {
			running_ns += profile->pairs[k].running_ns;
			time_ns += profile->pairs[k].thread_time_ns;
			hits += profile->pairs[k].hits;
		}
		if (exceeds(running_ns, row->running_ns) || exceeds(time_ns, row->thread_time_ns) ||
		    exceeds(hits, row->hits))
			return complain(error, "coarse", i, "is less than the sum of its pairs");
		if (exceeds(histogram__total(row->histogram, row->histogram_count),
			    row->executions))
			return complain(error, "coarse", i,
					"has more durations in its histogram than executions");
	}
	return 0;
}

int merge_check__report(const struct profile *profile, char error[MERGE_ERROR_SIZE])
{
	const int err = check_fine(profile, error);

	return err ? err : check_pairs(profile, error);
}

/* --- sums that reports have not by themselves --- */

static uint64_t clamp(u128 value)
{
	return value > INT64_MAX ? INT64_MAX : (uint64_t)value;
}

static uint64_t rounded(uint64_t ns)
{
	return ns / PROFILE_SQUARE_NS + (ns % PROFILE_SQUARE_NS >= PROFILE_SQUARE_NS / 2);
}

/* Of running times, ns, in units of PROFILE_SQUARE_NS squared. */
static uint64_t product(uint64_t a, uint64_t b)
{
	return clamp((u128)rounded(a) * rounded(b));
}

/* Running time in labels that are not idle. */
static uint64_t labelled_ns(const struct profile *profile)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < profile->fine_count; i++)
		if (!profile->fine[i].idle)
			sum = field_rows__add_u64(sum, profile->fine[i].running_ns);
	return sum;
}

/* Before anything is added: the least of two sums is no sum. */
static void clip_elapsed(struct profile_fine *row)
{
	const uint64_t time_ns =
		clamp((u128)row->running_ns + row->runnable_ns + row->blocked_ns + row->io_ns);

	if (row->elapsed_ns > time_ns)
		row->elapsed_ns = time_ns;
}

/* Each report as one window. */
static void count_reports(struct profile *profile)
{
	const uint64_t labelled = labelled_ns(profile);

	profile->totals.report_squares = product(labelled, labelled);
	for (size_t i = 0; i < profile->fine_count; i++) {
		struct profile_fine *row = &profile->fine[i];

		row->reports = 1;
		clip_elapsed(row);
		if (row->idle)
			continue;
		row->report_squares = product(row->running_ns, row->running_ns);
		row->report_products = product(row->running_ns, labelled);
	}
	for (size_t i = 0; i < profile->coarse_count; i++)
		profile->coarse[i].reports = 1;
}

/*
 * A report without sums of windows: it counts as one window, its hits as alike. What it does not
 * tell of what was lost is as bad as it can be.
 */
static void stand_in(struct profile *profile)
{
	struct profile_totals *totals = &profile->totals;
	const struct profile_losses *losses = &profile->losses;
	const uint64_t weight = totals->running_ns / PROFILE_WEIGHT_NS + 1;
	const uint64_t labelled = labelled_ns(profile);

	totals->weight_squares =
		clamp((u128)weight * weight / (totals->hits ? totals->hits : 1) + 1);
	totals->window_squares = product(labelled, labelled);
	totals->window_products = product(labelled, totals->running_ns);
	totals->window_all_squares = product(totals->running_ns, totals->running_ns);
	totals->lost_hits = field_rows__add_u64(
		field_rows__add_u64(losses->slot_unreadable, losses->slot_foreign),
		field_rows__add_u64(losses->table_full, losses->tick_missed));
	totals->coarse_hits = totals->hits;
	for (size_t i = 0; i < profile->fine_count; i++) {
		struct profile_fine *row = &profile->fine[i];

		if (row->idle)
			continue;
		row->window_squares = product(row->running_ns, row->running_ns);
		row->window_products = product(row->running_ns, labelled);
	}
}

/* --- where it is from --- */

static bool copy(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return *to || !from;
}

static int add_source(struct profile *profile, bool windowed)
{
	struct profile_source *source = calloc(1, sizeof(*source));
	char id[RECORDINGS_ID_SIZE];

	if (!source)
		return -ENOMEM;
	recordings__id(profile, id);
	profile->sources = source;
	profile->source_count = 1;
	source->start_unix_ns = profile->session.start_unix_ns;
	source->duration_ns = profile->session.duration_ns;
	source->frequency_hz = profile->session.frequency_hz;
	source->strict = profile->session.strict;
	source->follow_children = profile->session.follow_children;
	source->windowed = windowed;
	source->abi = profile->tool_abi;
	source->cpus = profile->host.cpus;
	if (!copy(&source->id, id) ||
	    !copy(&source->ended_by, profile->session.ended_by ? profile->session.ended_by : "") ||
	    !copy(&source->version, profile->tool_version ? profile->tool_version : "") ||
	    !copy(&source->kernel, profile->host.kernel ? profile->host.kernel : "") ||
	    !copy(&source->machine, profile->host.machine ? profile->host.machine : "") ||
	    !copy(&source->cpu_model, profile->host.cpu_model) ||
	    !copy(&source->virtualization, profile->host.virtualization))
		return -ENOMEM;
	return 0;
}

int merge_leaf__prepare(struct profile *profile)
{
	const struct profile_totals *totals = &profile->totals;
	struct profile_overhead *overhead = &profile->overhead;
	const bool windowed = totals->weight_squares > 0 || totals->hits == 0;
	int err;

	if (profile->source_count)
		return 0;
	err = add_source(profile, windowed);
	if (totals->weight_squares == 0)
		stand_in(profile);
	count_reports(profile);
	overhead->tick_total_ns = clamp((u128)overhead->ticks * overhead->tick_ns);
	overhead->switch_total_ns = clamp((u128)overhead->switches * overhead->switch_ns);
	return err;
}
