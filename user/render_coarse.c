// SPDX-License-Identifier: MIT
#include "render_coarse.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "render_share.h"
#include "units.h"
#include "utf8.h"

#define LABELS_SHOWN  8 /* with what they are made of */
#define PAIRS_SHOWN   8 /* of each of them */
#define NAMES_SHOWN   4 /* in a line */
#define OUTSIDE_SHOWN 0.01
#define STALE_SHOWN   0.001

enum {
	LABEL,
	EXECUTIONS,
	MEAN,
	P50,
	P90,
	P99,
	MAX,
	INSIDE,
	WORKING,
	BUSY,
	RUN,
	READY,
	BLOCKED,
	IO,
	NOTE,
	COLUMNS
};

/* Columns leave in the order of their drop numbers; docs/output.md states it. */
static const struct grid_column columns[COLUMNS] = {
	[LABEL] = {.head = "coarse", .left = true, .cut = true},
	[EXECUTIONS] = {.head = "execs", .gap = 1},
	[MEAN] = {.head = "mean", .gap = 2},
	[P50] = {.head = "p50", .gap = 1, .drop = 8},
	[P90] = {.head = "p90", .gap = 1, .drop = 3},
	[P99] = {.head = "p99", .gap = 1},
	[MAX] = {.head = "max", .gap = 1, .drop = 9},
	[INSIDE] = {.head = "inside", .gap = 1, .drop = 6},
	[WORKING] = {.head = "working", .gap = 1, .drop = 1},
	[BUSY] = {.head = "busy/exec", .gap = 1, .drop = 4},
	[RUN] = {.head = "run", .gap = 1, .drop = 7},
	[READY] = {.head = "rdy", .gap = 1, .drop = 5},
	[BLOCKED] = {.head = "blk", .gap = 1, .drop = 5},
	[IO] = {.head = "io", .gap = 1, .drop = 5},
	[NOTE] = {.head = "note", .left = true, .gap = 2, .drop = 2, .quiet = true},
};

enum {
	PART_LABEL,
	PART_SHARE,
	PART_BOUND,
	PART_TIME,
	PART_RUN,
	PART_READY,
	PART_BLOCKED,
	PART_IO,
	PART_COLUMNS
};

static const struct grid_column part_columns[PART_COLUMNS] = {
	[PART_LABEL] = {.head = "made of", .left = true, .cut = true},
	[PART_SHARE] = {.head = "share%", .gap = 2},
	[PART_BOUND] = {.head = "bound", .gap = 1},
	[PART_TIME] = {.head = "time", .gap = 2, .drop = 2},
	[PART_RUN] = {.head = "run", .gap = 2, .drop = 3},
	[PART_READY] = {.head = "rdy", .gap = 1, .drop = 1},
	[PART_BLOCKED] = {.head = "blk", .gap = 1, .drop = 1},
	[PART_IO] = {.head = "io", .gap = 1, .drop = 1},
};

static bool is_seen(const struct profile_coarse *row)
{
	return row->executions || row->open_start || row->open_end || row->thread_time_ns ||
	       row->stale_ns || row->stale_hits;
}

static void set_time(struct grid *grid, size_t column, uint64_t ns)
{
	char buffer[UNITS_SIZE];

	grid__cell(grid, column, "%s", units__time(buffer, ns ? (double)ns : NAN));
}

/* How the time of a row splits, into four columns from run on. */
static void set_states(struct grid *grid, size_t run, const uint64_t states[4], uint64_t all)
{
	char buffer[UNITS_SIZE];

	for (size_t i = 0; i < 4; i++)
		grid__cell(grid, run + i, "%s", units__percent(buffer, states[i], all));
}

static void set_note(struct grid *grid, uint32_t flags)
{
	static const uint32_t noted[] = {PROFILE_FLAG_TINY, PROFILE_FLAG_SERIALISED,
					 PROFILE_FLAG_STALE}; /* a line tells who is open */
	char note[64] = "";

	for (size_t i = 0; i < sizeof(noted) / sizeof(noted[0]); i++) {
		if (!(flags & noted[i]))
			continue;
		if (*note)
			strcat(note, ",");
		strcat(note, noted[i] == PROFILE_FLAG_SERIALISED ? "serial"
								 : profile__flag_name(noted[i]));
	}
	if (*note)
		grid__cell(grid, NOTE, "%s", note);
}

/* Not rounded, as it is in a report that was read. */
static double busy_ns(const struct profile_coarse *row)
{
	const double executions = (double)row->executions + (double)row->open_end;

	return executions > 0 ? (double)row->running_ns / executions : NAN;
}

static void add_row(const struct render_coarse *coarse, const struct profile_coarse *row)
{
	const uint64_t states[] = {row->running_ns, row->runnable_ns, row->blocked_ns, row->io_ns};
	char buffer[UNITS_SIZE], *label = page__printable(coarse->page, row->label);
	struct grid *grid = coarse->table;

	grid__row(grid);
	grid__cell(grid, LABEL, "%s", label ? label : "");
	free(label);
	grid__cell(grid, EXECUTIONS, "%s", units__short(buffer, row->executions));
	set_time(grid, MEAN, row->mean_ns);
	set_time(grid, P50, row->p50_ns);
	set_time(grid, P90, row->p90_ns);
	set_time(grid, P99, row->p99_ns);
	set_time(grid, MAX, row->max_ns);
	grid__cell(grid, INSIDE, "%s", units__real(buffer, row->inside));
	grid__cell(grid, WORKING, "%s", units__real(buffer, row->working));
	grid__cell(grid, BUSY, "%s", units__time(buffer, busy_ns(row)));
	set_states(grid, RUN, states, row->thread_time_ns);
	set_note(grid, row->flags);
}

/* --- what they are made of --- */

static struct render_share share_of(const struct profile_pair *pair)
{
	return (struct render_share){pair->part, pair->part_lo, pair->part_hi};
}

static void add_pair(const struct render_coarse *coarse, const struct profile_pair *pair,
		     int decimals)
{
	const uint64_t states[] = {pair->running_ns, pair->runnable_ns, pair->blocked_ns,
				   pair->io_ns};
	char *label = pair->fine ? page__printable(coarse->page, pair->fine) : strdup("(itself)");
	struct grid *grid = coarse->inside;

	if (!label)
		coarse->page->error = -ENOMEM;
	grid__row(grid);
	grid__cell(grid, PART_LABEL, "  %s", label ? label : "");
	free(label);
	render_share__set(grid, PART_SHARE, PART_BOUND, share_of(pair), decimals,
			  coarse->page->unicode);
	set_time(grid, PART_TIME, pair->thread_time_ns);
	set_states(grid, PART_RUN, states, pair->thread_time_ns);
}

static void add_line(const struct render_coarse *coarse, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void add_line(const struct render_coarse *coarse, const char *format, ...)
{
	va_list arguments;
	char *text;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0) {
		coarse->page->error = -ENOMEM;
		return;
	}
	grid__line(coarse->inside, text);
	free(text);
}

/* The pairs of one label: the greatest, and a line for the rest. */
static void add_parts(const struct render_coarse *coarse, const struct profile_coarse *row,
		      const struct profile_pair *pairs, size_t count, int decimals)
{
	char *label = page__printable(coarse->page, row->label);
	char time[UNITS_SIZE], part[UNITS_SIZE];
	double rest_ns = 0;
	size_t i;

	add_line(coarse, "%s, %s:", label ? label : "",
		 units__time(time, (double)row->thread_time_ns));
	free(label);
	for (i = 0; i < count && i < PAIRS_SHOWN; i++)
		add_pair(coarse, &pairs[i], decimals);
	for (; i < count; i++)
		rest_ns += (double)pairs[i].thread_time_ns;
	if (count > PAIRS_SHOWN)
		add_line(coarse, "  ... and %zu more, %s together", count - PAIRS_SHOWN,
			 units__part(part, row->thread_time_ns
						   ? rest_ns / (double)row->thread_time_ns
						   : NAN));
}

/* Pairs stand in the order of their labels. */
static size_t pairs_of(const struct profile *profile, const struct profile_coarse *row, size_t at)
{
	size_t count = 0;

	while (at + count < profile->pair_count &&
	       strcmp(profile->pairs[at + count].coarse, row->label) == 0)
		count++;
	return count;
}

static void add_all_parts(struct render_coarse *coarse)
{
	const struct profile *profile = coarse->profile;
	int decimals = 0;

	for (size_t i = 0; i < profile->pair_count; i++)
		if (render_share__decimals(share_of(&profile->pairs[i])) > decimals)
			decimals = render_share__decimals(share_of(&profile->pairs[i]));
	for (size_t i = 0, at = 0, count; i < profile->coarse_count; i++, at += count) {
		count = pairs_of(profile, &profile->coarse[i], at);
		if (count == 0)
			continue;
		if (coarse->parted++ >= LABELS_SHOWN)
			continue;
		coarse->parted_shown++;
		add_parts(coarse, &profile->coarse[i], &profile->pairs[at], count, decimals);
	}
}

/* --- the page --- */

/* 12 at 40 columns, 24 at 100, as the fine table. */
static unsigned label_columns_min(const struct page *page)
{
	return page->columns / 5 + 4;
}

int render_coarse__new(struct render_coarse *coarse, const struct profile *profile,
		       struct page *page)
{
	*coarse = (struct render_coarse){.profile = profile, .page = page};
	if (profile->coarse_count == 0)
		return 0;
	coarse->table = grid__new(columns, COLUMNS);
	coarse->inside = grid__new(part_columns, PART_COLUMNS);
	if (!coarse->table || !coarse->inside)
		goto free_coarse;
	for (size_t i = 0; i < profile->coarse_count; i++) {
		if (!is_seen(&profile->coarse[i]))
			continue;
		coarse->seen++;
		add_row(coarse, &profile->coarse[i]);
	}
	add_all_parts(coarse);
	if (grid__fit(coarse->table, page->columns, label_columns_min(page)) ||
	    grid__fit(coarse->inside, page->columns, label_columns_min(page)))
		goto free_coarse;
	return 0;

free_coarse:
	render_coarse__free(coarse);
	return -ENOMEM;
}

void render_coarse__free(struct render_coarse *coarse)
{
	grid__free(coarse->table);
	grid__free(coarse->inside);
}

static void write_grid(const struct render_coarse *coarse, const struct grid *grid)
{
	struct page *page = coarse->page;
	int error = grid__write(grid, page__on(page, PAGE_BOLD), page__off(page, PAGE_BOLD),
				page->unicode, page->out);

	if (error)
		page->error = error;
}

/*
 * Of the rows that are wanted: the first few, each as say writes it, and how many more there are.
 * NULL: none, or out of memory. The caller frees it.
 */
static char *list_rows(const struct render_coarse *coarse,
		       bool (*wanted)(const struct profile_coarse *row),
		       void (*say)(const struct profile_coarse *row, FILE *out), size_t *count)
{
	char *text = NULL, *label;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	*count = 0;
	if (!out) {
		coarse->page->error = -ENOMEM;
		return NULL;
	}
	for (size_t i = 0; i < coarse->profile->coarse_count; i++) {
		const struct profile_coarse *row = &coarse->profile->coarse[i];

		if (!wanted(row) || (*count)++ >= NAMES_SHOWN)
			continue;
		label = page__printable(coarse->page, row->label);
		fprintf(out, "%s%s", *count > 1 ? ", " : "", label ? label : "");
		say(row, out);
		free(label);
	}
	if (*count > NAMES_SHOWN)
		fprintf(out, " ... %zu more", *count - NAMES_SHOWN);
	if (fclose(out))
		coarse->page->error = -ENOMEM;
	if (*count > 0 && !coarse->page->error)
		return text;
	free(text);
	return NULL;
}

static bool is_unseen(const struct profile_coarse *row)
{
	return !is_seen(row);
}

static void say_nothing(const struct profile_coarse *row, FILE *out)
{
	(void)row;
	(void)out;
}

static void write_unseen(const struct render_coarse *coarse)
{
	size_t count;
	char *names = list_rows(coarse, is_unseen, say_nothing, &count);

	if (names)
		page__write(coarse->page, PAGE_PLAIN, NULL, "never seen (%zu): %s", count, names);
	free(names);
}

static double part_of_all(const struct profile_totals *totals, uint64_t ns)
{
	const double all = (double)totals->labelled_ns + (double)totals->unlabelled_ns;

	return all > 0 ? (double)ns / all : NAN;
}

static void write_outside(const struct render_coarse *coarse)
{
	const struct profile_totals *totals = &coarse->profile->totals;
	const double part = part_of_all(totals, totals->outside_ns);
	char percent[UNITS_SIZE], time[UNITS_SIZE];

	if (part >= OUTSIDE_SHOWN)
		page__write(coarse->page, PAGE_BOLD, "outside",
			    "%s of thread-time, %s, is inside no coarse span; idle labels are left "
			    "out",
			    units__part(percent, part),
			    units__time(time, (double)totals->outside_ns));
}

static bool has_stale_hits(const struct profile_coarse *row)
{
	return row->stale_hits || row->stale_ns;
}

static void say_stale(const struct profile_coarse *row, FILE *out)
{
	char time[UNITS_SIZE], hits[UNITS_SIZE];

	fprintf(out, " (%s, %s hit%s)", units__time(time, (double)row->stale_ns),
		units__grouped(hits, row->stale_hits), row->stale_hits == 1 ? "" : "s");
}

/* A tick may catch a thread that is just leaving: that alone is no news. */
static void write_stale(const struct render_coarse *coarse)
{
	const struct profile_totals *totals = &coarse->profile->totals;
	const double part = part_of_all(totals, totals->stale_ns);
	char percent[UNITS_SIZE], *labels;
	size_t count;

	if (!(part >= STALE_SHOWN))
		return;
	labels = list_rows(coarse, has_stale_hits, say_stale, &count);
	page__write(coarse->page, PAGE_WARNING, "stale",
		    "%s of thread-time is work under executions that were over, and in no row%s%s",
		    units__part(percent, part), labels ? ": " : "", labels ? labels : "");
	free(labels);
}

static bool is_open(const struct profile_coarse *row)
{
	return row->open_start || row->open_end;
}

static void say_open(const struct profile_coarse *row, FILE *out)
{
	char first[UNITS_SIZE], last[UNITS_SIZE];

	fprintf(out, " %s and %s", units__grouped(first, row->open_start),
		units__grouped(last, row->open_end));
}

static void write_open(const struct render_coarse *coarse)
{
	size_t count;
	char *labels = list_rows(coarse, is_open, say_open, &count);

	if (labels)
		page__write(coarse->page, PAGE_BOLD, "open",
			    "executions going on when the session began and when it ended: %s",
			    labels);
	free(labels);
}

static void write_parts(const struct render_coarse *coarse)
{
	const size_t more = coarse->parted - coarse->parted_shown;

	if (coarse->parted == 0)
		return;
	fputc('\n', coarse->page->out);
	write_grid(coarse, coarse->inside);
	if (more)
		page__write(coarse->page, PAGE_PLAIN, NULL,
			    "... and %zu more coarse label%s; the JSON report has all", more,
			    more == 1 ? "" : "s");
}

void render_coarse__write(const struct render_coarse *coarse)
{
	if (!coarse->table)
		return;
	fputc('\n', coarse->page->out);
	if (coarse->seen)
		write_grid(coarse, coarse->table);
	else
		page__write(coarse->page, PAGE_PLAIN, NULL,
			    "No coarse label was seen: no execution was open in the session.");
	write_unseen(coarse);
	write_parts(coarse);
	fputc('\n', coarse->page->out);
	write_outside(coarse);
	write_stale(coarse);
	write_open(coarse);
}

void render_coarse__write_legend(const struct render_coarse *coarse)
{
	static const struct {
		int column;
		const char *text;
	} entries[] = {
		{EXECUTIONS, "execs: executions that ended in the session"},
		{MEAN, "mean to max: how long they took, begin to end"},
		{INSIDE, "inside: threads under it, for each execution that is open"},
		{WORKING, "working: of them on a CPU"},
		{BUSY, "busy/exec: running time of one"},
		{NOTE, "note: see warnings"},
	};
	char text[1024] = "";

	if (!coarse->table || !coarse->seen)
		return;
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		if (!grid__shows(coarse->table, (size_t)entries[i].column))
			continue;
		if (*text)
			strcat(text, "; ");
		strcat(text, entries[i].text);
	}
	if (coarse->parted)
		strcat(text,
		       "; made of: thread-time of a coarse label by fine labels, (itself): in "
		       "none; all bounds of one label hold at once");
	page__write(coarse->page, PAGE_DIM, NULL, "%s", text);
}
