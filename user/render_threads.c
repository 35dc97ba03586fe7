// SPDX-License-Identifier: MIT
#include "render_threads.h"

#include <errno.h>
#include <stdlib.h>

#include "grid.h"
#include "units.h"

#define THREADS_SHOWN	 8
#define NAME_COLUMNS_MIN 8

enum { NAME, TID, PID, TIME, RUN, READY, BLOCKED, IO, HITS, COLUMNS };

static const struct grid_column columns[COLUMNS] = {
	[NAME] = {.head = "thread", .left = true, .cut = true},
	[TID] = {.head = "tid", .gap = 2},
	[PID] = {.head = "pid", .gap = 2, .drop = 1, .quiet = true},
	[TIME] = {.head = "time", .gap = 2},
	[RUN] = {.head = "run", .gap = 2},
	[READY] = {.head = "rdy", .gap = 1},
	[BLOCKED] = {.head = "blk", .gap = 1},
	[IO] = {.head = "io", .gap = 1},
	[HITS] = {.head = "hits", .gap = 2, .drop = 2},
};

static void add_row(struct grid *grid, struct page *page, const struct profile_thread *thread,
		    bool with_pid)
{
	uint64_t all = thread->lifetime_ns;
	char buffer[UNITS_SIZE], *comm = page__printable(page, thread->comm);

	if (!comm)
		return;
	grid__row(grid);
	grid__cell(grid, NAME, "%s", comm);
	grid__cell(grid, TID, "%d", thread->tid);
	if (with_pid)
		grid__cell(grid, PID, "%d", thread->pid);
	grid__cell(grid, TIME, "%s", units__time(buffer, (double)all));
	grid__cell(grid, RUN, "%s", units__percent(buffer, thread->running_ns, all));
	grid__cell(grid, READY, "%s", units__percent(buffer, thread->runnable_ns, all));
	grid__cell(grid, BLOCKED, "%s", units__percent(buffer, thread->blocked_ns, all));
	grid__cell(grid, IO, "%s", units__percent(buffer, thread->io_ns, all));
	grid__cell(grid, HITS, "%s", units__short(buffer, thread->hits));
	free(comm);
}

static void write_rest(struct page *page, const struct profile *profile)
{
	double time = 0;
	char buffer[UNITS_SIZE];
	size_t i, count = profile->thread_count - THREADS_SHOWN;

	for (i = THREADS_SHOWN; i < profile->thread_count; i++)
		time += (double)profile->threads[i].lifetime_ns;
	page__write(page, PAGE_PLAIN, NULL, "... and %zu more thread%s, %s together", count,
		    count == 1 ? "" : "s", units__time(buffer, time));
}

void render_threads__write(struct page *page, const struct profile *profile)
{
	struct grid *grid;
	size_t i;
	int error;

	if (profile->thread_count == 0)
		return;
	grid = grid__new(columns, COLUMNS);
	if (!grid) {
		page->error = -ENOMEM;
		return;
	}
	for (i = 0; i < profile->thread_count && i < THREADS_SHOWN; i++)
		add_row(grid, page, &profile->threads[i], profile->target_count > 1);
	fputc('\n', page->out);
	error = grid__fit(grid, page->columns, NAME_COLUMNS_MIN);
	if (!error)
		error = grid__write(grid, page__on(page, PAGE_BOLD), page__off(page, PAGE_BOLD),
				    page->unicode, page->out);
	if (error)
		page->error = error;
	if (profile->thread_count > THREADS_SHOWN)
		write_rest(page, profile);
	grid__free(grid);
}
