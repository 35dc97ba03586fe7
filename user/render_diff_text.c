// SPDX-License-Identifier: MIT
/* A comparison for people: what it comes to, the labels worst first, what it rests on. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff_words.h"
#include "grid.h"
#include "page.h"
#include "render_diff.h"
#include "units.h"

enum { LABEL, BASE, NEW, CHANGE, LIMITS, VERDICT, WAIT, WAIT_CHANGE, SHARE, CALLS, COLUMNS };

/* Columns leave in the order of their drop numbers; docs/diff.md states it. */
static const struct grid_column columns[COLUMNS] = {
	[LABEL] = {.head = "label", .left = true, .cut = true},
	[BASE] = {.head = "base", .gap = 1, .drop = 5},
	[NEW] = {.head = "new", .gap = 1, .drop = 5},
	[CHANGE] = {.head = "change", .gap = 1},
	[LIMITS] = {.head = "interval", .gap = 1, .drop = 6},
	[VERDICT] = {.head = "verdict", .left = true, .gap = 2},
	[WAIT] = {.head = "waiting", .gap = 2, .drop = 3},
	[WAIT_CHANGE] = {.head = "", .gap = 1, .drop = 3},
	[SHARE] = {.head = "share%", .gap = 2, .drop = 2},
	[CALLS] = {.head = "calls", .gap = 2, .drop = 4},
};

static const struct grid_column coarse_columns[] = {
	[LABEL] = {.head = "coarse label", .left = true, .cut = true},
	[BASE] = {.head = "base", .gap = 1, .drop = 5},
	[NEW] = {.head = "new", .gap = 1, .drop = 5},
	[CHANGE] = {.head = "change", .gap = 1},
	[LIMITS] = {.head = "interval", .gap = 1, .drop = 6},
	[VERDICT] = {.head = "verdict", .left = true, .gap = 2},
	[WAIT] = {.head = "executions", .gap = 2, .drop = 3},
	[WAIT_CHANGE] = {.head = "", .gap = 1, .drop = 3},
};
#define COARSE_COLUMNS (WAIT_CHANGE + 1)

#define EXECUTIONS_MAX 9e18 /* that fit a number */

/* Room for " p50" behind what is cut. */
#define LABEL_COLUMNS_MIN 14

static void paint(struct page *page, struct grid *grid, enum compare_verdict verdict)
{
	static const enum page_style styles[COMPARE_VERDICTS] = {
		[COMPARE_SLOWER] = PAGE_BAD,  [COMPARE_UNKNOWN] = PAGE_WARNING,
		[COMPARE_FASTER] = PAGE_GOOD, [COMPARE_SAME] = PAGE_PLAIN,
		[COMPARE_NONE] = PAGE_DIM,
	};

	grid__paint(grid, page__on(page, styles[verdict]), page__off(page, styles[verdict]));
}

static void add_test(struct page *page, struct grid *grid, const struct compare_test *test,
		     enum compare_state state)
{
	char buffer[DIFF_WORDS_SIZE];

	grid__cell(grid, BASE, "%s", diff_words__value(buffer, test, ESTIMATE_BASE));
	grid__cell(grid, NEW, "%s", diff_words__value(buffer, test, ESTIMATE_NEW));
	grid__cell(grid, CHANGE, "%s", diff_words__change(buffer, compare__change(test)));
	grid__cell(grid, LIMITS, "%s", diff_words__limits(buffer, compare__change_limits(test)));
	grid__cell(grid, VERDICT, "%s", diff_words__verdict(test->verdict, state));
	paint(page, grid, test->verdict);
}

static void add_fine(struct page *page, struct grid *grid, const struct comparison *comparison,
		     const struct compare_fine *row)
{
	const struct compare_fine_side *base = &row->side[ESTIMATE_BASE];
	const struct compare_fine_side *new = &row->side[ESTIMATE_NEW];
	const double wait = compare__wait_per_call(base), wait_new = compare__wait_per_call(new);
	char time[UNITS_SIZE], buffer[DIFF_WORDS_SIZE], *label = page__printable(page, row->label);

	grid__row(grid);
	grid__cell(grid, LABEL, "%s", label ? label : "");
	free(label);
	add_test(page, grid, &row->per_call, row->state);
	grid__cell(grid, WAIT, "%s", units__time(time, wait_new));
	if (!isnan(wait) && !isnan(wait_new) && (wait > 0 || wait_new > 0))
		grid__cell(grid, WAIT_CHANGE, "%s",
			   diff_words__change(buffer, diff_words__ratio(wait, wait_new)));
	if (!isnan(new->share))
		grid__cell(grid, SHARE, "%.1f", 100 * new->share);
	else
		grid__cell(grid, SHARE, "-");
	grid__cell(
		grid, CALLS, "%s",
		diff_words__change(
			buffer,
			diff_words__ratio(
				diff_words__per_recording(comparison, ESTIMATE_BASE, base->calls),
				diff_words__per_recording(comparison, ESTIMATE_NEW, new->calls))));
}

static void add_coarse(struct page *page, struct grid *grid, const struct comparison *comparison,
		       const struct compare_coarse *row)
{
	const double base = diff_words__per_recording(comparison, ESTIMATE_BASE,
						      row->side[ESTIMATE_BASE].executions);
	const double new = diff_words__per_recording(comparison, ESTIMATE_NEW,
						     row->side[ESTIMATE_NEW].executions);
	char count[UNITS_SIZE], buffer[DIFF_WORDS_SIZE], *label = page__printable(page, row->label);

	for (int i = 0; i < COMPARE_DURATIONS; i++) {
		grid__row(grid);
		grid__cell(grid, LABEL, "%s %s", label ? label : "", compare_duration_names[i]);
		add_test(page, grid, &row->duration[i], row->state);
		if (i > 0)
			continue;
		grid__cell(grid, WAIT, "%s",
			   new < 10 && new != floor(new)
				   ? units__real(count, new)
				   : units__short(count, (uint64_t)fmin(new, EXECUTIONS_MAX)));
		grid__cell(grid, WAIT_CHANGE, "%s",
			   diff_words__change(buffer, diff_words__ratio(base, new)));
	}
	free(label);
}

static void write_grid(struct page *page, struct grid *grid)
{
	int error = grid__fit(grid, page->columns, LABEL_COLUMNS_MIN);

	fputc('\n', page->out);
	if (!error)
		error = grid__write(grid, page__on(page, PAGE_BOLD), page__off(page, PAGE_BOLD),
				    page->unicode, page->out);
	if (error)
		page->error = error;
}

static void write_fine(struct page *page, const struct comparison *comparison)
{
	struct grid *grid = grid__new(columns, COLUMNS);

	if (!grid) {
		page->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < comparison->fine_count; i++)
		add_fine(page, grid, comparison, &comparison->fine[i]);
	if (comparison->fine_count > 0)
		write_grid(page, grid);
	grid__free(grid);
}

static void write_coarse(struct page *page, const struct comparison *comparison)
{
	struct grid *grid = grid__new(coarse_columns, COARSE_COLUMNS);

	if (!grid) {
		page->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < comparison->coarse_count; i++)
		add_coarse(page, grid, comparison, &comparison->coarse[i]);
	if (comparison->coarse_count > 0)
		write_grid(page, grid);
	grid__free(grid);
}

static void write_sentence(struct page *page, enum page_style style, const char *key, char *text)
{
	if (text)
		page__write(page, style, key, "%s", text);
	else
		page->error = -ENOMEM;
	free(text);
}

static void write_sides(struct page *page, const struct comparison *comparison)
{
	static const char *const keys[ESTIMATE_SIDES] = {"base", "new"};
	char time[UNITS_SIZE];

	for (int side = 0; side < ESTIMATE_SIDES; side++)
		page__write(page, PAGE_BOLD, keys[side], "%zu report%s, %s in all",
			    comparison->reports[side], comparison->reports[side] == 1 ? "" : "s",
			    units__time(time, (double)comparison->duration_ns[side]));
}

static void write_page(struct page *page, const struct comparison *comparison)
{
	const enum page_style style =
		comparison->verdicts[COMPARE_SLOWER] > 0 ? PAGE_BAD : PAGE_BOLD;
	const bool coarse = comparison->coarse_count > 0;

	write_sentence(page, style, "verdict", diff_words__summary(comparison));
	write_fine(page, comparison);
	write_coarse(page, comparison);
	fputc('\n', page->out);
	write_sides(page, comparison);
	write_sentence(page, PAGE_BOLD, "judged", diff_words__basis(comparison));
	page__write(page, PAGE_BOLD, "shares", "%s", diff_words_shares);
	for (size_t i = 0; i < comparison->warning_count; i++) {
		char *text = page__printable(page, comparison->warnings[i].text);

		page__write(page, PAGE_WARNING, "warning", "[%s] %s", comparison->warnings[i].code,
			    text ? text : "");
		free(text);
	}
	fputc('\n', page->out);
	page__write(
		page, PAGE_DIM, NULL,
		"base, new: running time for each call%s; change with the interval that holds it; "
		"waiting: for each call, measured, new and its change; share%%: new; calls: "
		"change of their number for each recording%s",
		coarse ? ", or the duration of an execution" : "",
		coarse ? "; executions: for each recording, new and their change" : "");
}

static int write_text(const struct comparison *comparison, const struct render_options *options,
		      FILE *out)
{
	struct page page = page__new(options, out);
	struct render_numbers numbers;
	int error = render__plain_numbers(&numbers);

	if (error)
		return error;
	write_page(&page, comparison);
	render__restore_numbers(&numbers);
	return page.error ? page.error : ferror(out) ? -EIO : 0;
}

const struct render_diff_format render_diff_text = {"text", write_text};
