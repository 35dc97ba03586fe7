// SPDX-License-Identifier: MIT
#include "render_fine.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render_share.h"
#include "units.h"
#include "utf8.h"

/* How much longer to record is a guess, the worse the greater it is: in tenths up to the first;
 * beyond the second, where shares differ by hardly more than chance has it, no more than that. */
#define TIMES_LONGER_TENTHS 3
#define TIMES_LONGER_MAX    10

enum {
	RANK,
	LABEL,
	SHARE,
	BOUND,
	CPU,
	RUN,
	READY,
	BLOCKED,
	IO,
	TIME,
	CALLS,
	PER_CALL,
	IN_FLIGHT,
	ELAPSED,
	NOTE,
	COLUMNS
};

/* Columns leave in the order of their drop numbers; docs/output.md states it. */
static const struct grid_column columns[COLUMNS] = {
	[RANK] = {.head = "#", .drop = 10},
	[LABEL] = {.head = "label", .left = true, .gap = 1, .cut = true},
	[SHARE] = {.head = "share%", .gap = 1},
	[BOUND] = {.head = "bound", .gap = 1},
	[CPU] = {.head = "cpu%", .gap = 2, .drop = 2},
	[RUN] = {.head = "run", .gap = 2, .drop = 9},
	[READY] = {.head = "rdy", .gap = 1, .drop = 6},
	[BLOCKED] = {.head = "blk", .gap = 1, .drop = 6},
	[IO] = {.head = "io", .gap = 1, .drop = 6},
	[TIME] = {.head = "time", .gap = 2, .drop = 5},
	[CALLS] = {.head = "calls", .gap = 2, .drop = 7},
	[PER_CALL] = {.head = "per call", .gap = 2, .drop = 8},
	[IN_FLIGHT] = {.head = "flight", .gap = 2, .drop = 4},
	[ELAPSED] = {.head = "elapsed", .gap = 2, .drop = 1},
	[NOTE] = {.head = "note", .left = true, .gap = 2, .drop = 3, .quiet = true},
};

static bool is_seen(const struct profile_fine *row)
{
	return row->hits || row->thread_time_ns;
}

static size_t collect(struct render_fine *fine, size_t at,
		      bool (*wanted)(const struct profile_fine *row))
{
	size_t i, count = 0;

	for (i = 0; i < fine->profile->fine_count; i++)
		if (wanted(&fine->profile->fine[i]))
			fine->rows[at + count++] = &fine->profile->fine[i];
	return count;
}

static bool is_ranked(const struct profile_fine *row)
{
	return is_seen(row) && !row->idle;
}

static bool is_seen_idle(const struct profile_fine *row)
{
	return is_seen(row) && row->idle;
}

static bool is_only_called(const struct profile_fine *row)
{
	return !is_seen(row) && row->calls;
}

static bool is_uncalled(const struct profile_fine *row)
{
	return !is_seen(row) && !row->calls;
}

static struct render_share share_of(const struct profile_fine *row)
{
	return (struct render_share){row->share, row->share_lo, row->share_hi};
}

static void add_note(struct grid *grid, uint32_t flags)
{
	static const uint32_t noted[] = {PROFILE_FLAG_TINY, PROFILE_FLAG_LONG,
					 PROFILE_FLAG_SERIALISED};
	char note[64] = "";
	size_t i;

	for (i = 0; i < sizeof(noted) / sizeof(noted[0]); i++) {
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
static double per_call_ns(const struct profile_fine *row)
{
	return row->calls ? (double)row->thread_time_ns / (double)row->calls : NAN;
}

/* All but rank, share and bound, which an idle row does not have. */
static void add_row(const struct render_fine *fine, const struct profile_fine *row)
{
	uint64_t all = row->thread_time_ns;
	char buffer[UNITS_SIZE], *label = page__printable(fine->page, row->label);

	grid__row(fine->grid);
	grid__cell(fine->grid, LABEL, "%s", label ? label : "");
	free(label);
	if (!isnan(row->cpu_share))
		grid__cell(fine->grid, CPU, "%.1f", 100 * row->cpu_share);
	else if (!row->idle)
		grid__cell(fine->grid, CPU, "-");
	grid__cell(fine->grid, RUN, "%s", units__percent(buffer, row->running_ns, all));
	grid__cell(fine->grid, READY, "%s", units__percent(buffer, row->runnable_ns, all));
	grid__cell(fine->grid, BLOCKED, "%s", units__percent(buffer, row->blocked_ns, all));
	grid__cell(fine->grid, IO, "%s", units__percent(buffer, row->io_ns, all));
	grid__cell(fine->grid, TIME, "%s", units__time(buffer, (double)all));
	grid__cell(fine->grid, CALLS, "%s", units__short(buffer, row->calls));
	grid__cell(fine->grid, PER_CALL, "%s", units__time(buffer, per_call_ns(row)));
	grid__cell(fine->grid, IN_FLIGHT, "%s", units__real(buffer, row->in_flight));
	grid__cell(fine->grid, ELAPSED, "%s", units__time(buffer, (double)row->elapsed_ns));
	add_note(fine->grid, row->flags);
}

static void add_rows(struct render_fine *fine)
{
	size_t i;

	for (i = 0; i < fine->ranked; i++) {
		add_row(fine, fine->rows[i]);
		render_share__set(fine->grid, SHARE, BOUND, share_of(fine->rows[i]), fine->decimals,
				  fine->page->unicode);
		if (fine->ranks[i].best == fine->ranks[i].worst)
			grid__cell(fine->grid, RANK, "%zu", fine->ranks[i].best);
		else
			grid__cell(fine->grid, RANK, "%zu-%zu", fine->ranks[i].best,
				   fine->ranks[i].worst);
	}
	if (fine->idle)
		grid__line(fine->grid, "idle, not in the shares:");
	for (i = 0; i < fine->idle; i++)
		add_row(fine, fine->rows[fine->ranked + i]);
}

/* 12 at 40 columns, 24 at 100: rather a column less than names that cannot be told apart. */
static unsigned label_columns_min(const struct page *page)
{
	return page->columns / 5 + 4;
}

int render_fine__new(struct render_fine *fine, const struct profile *profile, struct page *page)
{
	size_t count = profile->fine_count ? profile->fine_count : 1, i;

	*fine = (struct render_fine){.profile = profile, .page = page};
	fine->rows = calloc(count, sizeof(*fine->rows));
	fine->ranks = calloc(count, sizeof(*fine->ranks));
	fine->grid = grid__new(columns, COLUMNS);
	if (!fine->rows || !fine->ranks || !fine->grid)
		goto free_fine;
	fine->ranked = collect(fine, 0, is_ranked);
	fine->idle = collect(fine, fine->ranked, is_seen_idle);
	fine->called = collect(fine, fine->ranked + fine->idle, is_only_called);
	fine->uncalled = collect(fine, fine->ranked + fine->idle + fine->called, is_uncalled);
	if (ranks__compute(fine->rows, fine->ranked, fine->ranks))
		goto free_fine;
	for (i = 0; i < fine->ranked; i++)
		if (render_share__decimals(share_of(fine->rows[i])) > fine->decimals)
			fine->decimals = render_share__decimals(share_of(fine->rows[i]));
	add_rows(fine);
	if (grid__fit(fine->grid, page->columns, label_columns_min(page)))
		goto free_fine;
	return 0;

free_fine:
	render_fine__free(fine);
	return -ENOMEM;
}

void render_fine__free(struct render_fine *fine)
{
	free(fine->rows);
	free(fine->ranks);
	grid__free(fine->grid);
}

/* Writes text if it fits in the columns left. */
static bool write_fitting(const struct render_fine *fine, size_t *columns_left, const char *text)
{
	size_t width = utf8__width(text);

	if (width > *columns_left)
		return false;
	fputs(text, fine->page->out);
	*columns_left -= width;
	return true;
}

/* Writes as many names as fit in the columns left, and returns how many that were. */
static size_t write_names(const struct render_fine *fine, const struct profile_fine *const *rows,
			  size_t count, size_t *columns_left)
{
	size_t i;
	bool fits = true;
	char *name;

	for (i = 0; i < count && fits; i++) {
		name = page__printable(fine->page, rows[i]->label);
		if (!name)
			break;
		fits = utf8__width(name) + 2 <= *columns_left &&
		       write_fitting(fine, columns_left, i ? ", " : " ") &&
		       write_fitting(fine, columns_left, name);
		free(name);
	}
	return fits ? i : i - 1;
}

/* One line for all labels without a hit and without a wait, the called ones first. */
static void write_never_sampled(const struct render_fine *fine)
{
	const struct profile_fine **rows = fine->rows + fine->ranked + fine->idle;
	size_t count = fine->called + fine->uncalled, left = fine->page->columns, i, written;
	bool wide = left >= 60;
	char head[96], tail[32];
	double most = 0;

	if (!count)
		return;
	for (i = 0; i < count; i++)
		most = fmax(most, rows[i]->share_hi); /* NaN is passed over */
	if (most > 0)
		snprintf(head, sizeof(head),
			 wide ? "never sampled (%zu), at most %.2f%% each:"
			      : "never sampled (%zu), <= %.2f%%:",
			 count, render_share__round_up(100 * most, 0.01));
	else /* nothing is labelled, so no share has a limit */
		snprintf(head, sizeof(head), "never sampled (%zu):", count);
	left -= (size_t)snprintf(tail, sizeof(tail), " ... %zu more", count);
	write_fitting(fine, &left, head);
	written = write_names(fine, rows, fine->called, &left);
	if (written == fine->called && fine->uncalled &&
	    (!written || write_fitting(fine, &left, wide ? "; not called:" : ";")))
		written += write_names(fine, rows + written, fine->uncalled, &left);
	if (written < count)
		fprintf(fine->page->out, " ... %zu more", count - written);
	fputc('\n', fine->page->out);
}

void render_fine__write_table(const struct render_fine *fine)
{
	struct page *page = fine->page;
	int error;

	if (fine->ranked + fine->idle == 0) {
		page__write(page, PAGE_PLAIN, NULL,
			    "No fine label was seen: no tick and no wait was inside one.");
	} else {
		error = grid__write(fine->grid, page__on(page, PAGE_BOLD),
				    page__off(page, PAGE_BOLD), page->unicode, page->out);
		if (error)
			page->error = error;
	}
	write_never_sampled(fine);
}

static bool is_settled(const struct render_fine *fine, size_t i)
{
	return fine->ranks[i].best == fine->ranks[i].worst;
}

static void write_verdict(const struct render_fine *fine)
{
	size_t i, tied = 0, leading = 0;
	double longer;
	char advice[128] = "";

	for (i = 0; i < fine->ranked; i++)
		tied += !is_settled(fine, i);
	while (leading < fine->ranked && is_settled(fine, leading))
		leading++;
	if (fine->ranked < 2 || tied == 0) {
		page__write(fine->page, PAGE_BOLD, "verdict", "%s",
			    fine->ranked == 0 ? "nothing to rank"
			    : fine->ranked == 1
				    ? "one label, nothing to rank it against"
				    : "the ranking is settled: no two rows' bounds overlap");
		return;
	}
	longer = leading + 1 < fine->ranked
			 ? ranks__times_longer(fine->rows[leading], fine->rows[leading + 1])
			 : NAN;
	if (longer > TIMES_LONGER_MAX)
		snprintf(advice, sizeof(advice),
			 "; to part rows %zu and %zu, record over %d times as long", leading + 1,
			 leading + 2, TIMES_LONGER_MAX);
	else if (longer > 0) {
		const bool tenths = longer < TIMES_LONGER_TENTHS;

		snprintf(advice, sizeof(advice),
			 "; to part rows %zu and %zu, record about %.*f times as long", leading + 1,
			 leading + 2, tenths,
			 fmax(render_share__round_up(longer, tenths ? 0.1 : 1), 1.1));
	}
	if (leading)
		page__write(fine->page, PAGE_BOLD, "verdict",
			    "%s %zu %s settled; %zu of %zu rows are tied%s",
			    leading == 1 ? "rank" : "ranks 1 to", leading,
			    leading == 1 ? "is" : "are", tied, fine->ranked, advice);
	else
		page__write(fine->page, PAGE_BOLD, "verdict",
			    "the first rank is not settled: %zu of %zu rows are tied%s", tied,
			    fine->ranked, advice);
}

/* Of all rows as printed, in percentage points; as computed where some row has none. */
static double greatest_bound(const struct render_fine *fine)
{
	double most = 0;

	for (size_t i = 0; i < fine->profile->fine_count; i++) {
		const struct profile_fine *row = &fine->profile->fine[i];
		const bool known = !isnan(row->share_lo) && !isnan(row->share_hi);

		if (row->idle)
			continue;
		if (!known)
			return 100 * fine->profile->totals.bound;
		most = fmax(most, is_seen(row) ? render_share__half(share_of(row))
					       : render_share__round_up(100 * row->share_hi, 0.01));
	}
	return most > 0 ? most : 100 * fine->profile->totals.bound;
}

void render_fine__write_basis(const struct render_fine *fine)
{
	const struct profile_totals *totals = &fine->profile->totals;
	char time[UNITS_SIZE];
	const double most = greatest_bound(fine), unit = most < 1 ? 0.01 : 0.1;

	if (!totals->labelled_ns) {
		page__write(fine->page, PAGE_BOLD, "shares", "none: no thread-time is labelled");
		return;
	}
	page__write(fine->page, PAGE_BOLD, "shares",
		    "of %s labelled thread-time; idle labels are left out",
		    units__time(time, (double)totals->labelled_ns));
	if (isnan(totals->bound))
		page__write(fine->page, PAGE_BOLD, "bound", "no share, so no bound");
	else
		page__write(fine->page, PAGE_BOLD, "bound",
			    "every share is within %s%.*f percentage points, all rows at once, "
			    "with 95%% confidence",
			    fine->page->unicode ? "\u00b1" : "+-", unit < 0.1 ? 2 : 1,
			    render_share__round_up(most, unit));
	write_verdict(fine);
}

void render_fine__write_legend(const struct render_fine *fine)
{
	static const struct {
		int column;
		const char *text;
	} entries[] = {
		{RANK, "#: rank, or the ranks the bounds allow"},
		{SHARE, "share%: of labelled thread-time"},
		{BOUND, "bound: holds for all rows at once"},
		{CPU, "cpu%: share of labelled running time"},
		{READY,
		 "run rdy blk io: % of its time running, waiting for a CPU, blocked, in I/O"},
		{TIME, "time: thread-time, running and waiting"},
		{PER_CALL, "per call: time / calls"},
		{IN_FLIGHT, "flight: threads inside at once, while any was"},
		{ELAPSED, "elapsed: clock time with any inside"},
		{NOTE, "note: see warnings"},
	};
	char text[1024] = "";
	size_t i;

	if (fine->ranked + fine->idle == 0)
		return;
	for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		if (!grid__shows(fine->grid, (size_t)entries[i].column))
			continue;
		if (*text)
			strcat(text, "; ");
		strcat(text, entries[i].text);
	}
	if (grid__shows(fine->grid, RUN) && !grid__shows(fine->grid, READY))
		strcat(text, "; run: % of its time running, the rest it waits");
	fputc('\n', fine->page->out);
	page__write(fine->page, PAGE_DIM, NULL, "%s", text);
}
