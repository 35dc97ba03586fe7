// SPDX-License-Identifier: MIT
#include "grid.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

/* How a row looks: one text over the whole width, and what stands around it (colour). */
struct look {
	bool line;
	const char *on, *off;
};

/* A row has count texts, NULL where empty; a line has its text in the first. */
struct grid {
	const struct grid_column *columns;
	size_t count;
	char **texts;
	struct look *looks;
	size_t rows, rows_max;
	bool *shown;
	unsigned *widths;
	unsigned width;
	bool out_of_memory;
};

struct grid *grid__new(const struct grid_column *columns, size_t count)
{
	struct grid *grid = calloc(1, sizeof(*grid));

	if (!grid)
		return NULL;
	grid->columns = columns;
	grid->count = count;
	grid->shown = calloc(count, sizeof(*grid->shown));
	grid->widths = calloc(count, sizeof(*grid->widths));
	if (grid->shown && grid->widths)
		return grid;
	grid__free(grid);
	return NULL;
}

void grid__free(struct grid *grid)
{
	size_t i;

	if (!grid)
		return;
	for (i = 0; i < grid->rows * grid->count; i++)
		free(grid->texts[i]);
	free(grid->texts);
	free(grid->looks);
	free(grid->shown);
	free(grid->widths);
	free(grid);
}

static bool grow(struct grid *grid)
{
	size_t rows_max = grid->rows_max ? grid->rows_max * 2 : 32;
	char **texts = reallocarray(grid->texts, rows_max, grid->count * sizeof(*texts));
	struct look *looks;

	if (!texts)
		return false;
	grid->texts = texts;
	looks = reallocarray(grid->looks, rows_max, sizeof(*looks));
	if (!looks)
		return false;
	grid->looks = looks;
	grid->rows_max = rows_max;
	return true;
}

void grid__row(struct grid *grid)
{
	if (grid->rows == grid->rows_max && !grow(grid)) {
		grid->out_of_memory = true;
		return;
	}
	memset(grid->texts + grid->rows * grid->count, 0, grid->count * sizeof(*grid->texts));
	grid->looks[grid->rows++] = (struct look){.on = "", .off = ""};
}

void grid__line(struct grid *grid, const char *text)
{
	grid__row(grid);
	grid__cell(grid, 0, "%s", text);
	if (!grid->out_of_memory)
		grid->looks[grid->rows - 1].line = true;
}

void grid__paint(struct grid *grid, const char *on, const char *off)
{
	if (grid->out_of_memory)
		return;
	grid->looks[grid->rows - 1].on = on;
	grid->looks[grid->rows - 1].off = off;
}

void grid__cell(struct grid *grid, size_t column, const char *format, ...)
{
	va_list arguments;
	char *text;
	int length;

	if (grid->out_of_memory)
		return;
	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0) {
		grid->out_of_memory = true;
		return;
	}
	free(grid->texts[(grid->rows - 1) * grid->count + column]);
	grid->texts[(grid->rows - 1) * grid->count + column] = text;
}

static const char *text_at(const struct grid *grid, size_t row, size_t column)
{
	const char *text = grid->texts[row * grid->count + column];

	return text ? text : "";
}

static void measure(struct grid *grid, size_t column)
{
	size_t row, width, widest = 0;

	for (row = 0; row < grid->rows; row++) {
		if (grid->looks[row].line)
			continue;
		width = utf8__width(text_at(grid, row, column));
		if (width > widest)
			widest = width;
	}
	grid->shown[column] = widest || !grid->columns[column].quiet;
	width = utf8__width(grid->columns[column].head);
	if (width > widest)
		widest = width;
	grid->widths[column] = widest < INT_MAX ? (unsigned)widest : INT_MAX;
}

/* Columns that what is shown takes, with cuttable texts of at most cut_min. */
static size_t width_needed(const struct grid *grid, unsigned cut_min)
{
	size_t i, width = 0, needed = 0;

	for (i = 0; i < grid->count; i++) {
		const struct grid_column *column = &grid->columns[i];

		if (!grid->shown[i])
			continue;
		width = grid->widths[i];
		if (column->cut && cut_min < width)
			width = cut_min;
		needed += width + (needed ? column->gap : 0);
	}
	return needed;
}

/* All columns with the least drop number that still are there leave together. False: none can. */
static bool drop_next(struct grid *grid)
{
	unsigned least = UINT_MAX;
	size_t i;

	for (i = 0; i < grid->count; i++)
		if (grid->shown[i] && grid->columns[i].drop && grid->columns[i].drop < least)
			least = grid->columns[i].drop;
	for (i = 0; i < grid->count; i++)
		if (grid->columns[i].drop == least)
			grid->shown[i] = false;
	return least != UINT_MAX;
}

int grid__fit(struct grid *grid, unsigned width, unsigned cut_min)
{
	size_t i, needed;

	if (grid->out_of_memory)
		return -ENOMEM;
	grid->width = width;
	for (i = 0; i < grid->count; i++)
		measure(grid, i);
	while (width_needed(grid, cut_min) > width && drop_next(grid))
		;
	needed = width_needed(grid, UINT_MAX);
	for (i = 0; i < grid->count && needed > width; i++) {
		if (!grid->shown[i] || !grid->columns[i].cut)
			continue;
		if (needed - width < grid->widths[i])
			grid->widths[i] -= (unsigned)(needed - width);
		else
			grid->widths[i] = 1;
		needed = width_needed(grid, UINT_MAX);
	}
	return 0;
}

bool grid__shows(const struct grid *grid, size_t column)
{
	return grid->shown[column];
}

/* One text in its column; blanks are owed until something follows, so that no line ends in them. */
static int write_cell(const struct grid *grid, size_t i, const char *text, bool unicode,
		      size_t *owed, FILE *out)
{
	char *fitted = utf8__fit(text, grid->widths[i], unicode);
	size_t width, blanks;

	if (!fitted)
		return -ENOMEM;
	width = utf8__width(fitted);
	blanks = width < grid->widths[i] ? grid->widths[i] - width : 0;
	if (!grid->columns[i].left)
		*owed += blanks;
	if (width) {
		fprintf(out, "%*s%s", (int)*owed, "", fitted);
		*owed = 0;
	}
	if (grid->columns[i].left)
		*owed += blanks;
	free(fitted);
	return 0;
}

/* row of SIZE_MAX: the head */
static int write_row(const struct grid *grid, size_t row, bool unicode, FILE *out)
{
	size_t i, owed = 0;
	bool first = true;
	int error = 0;

	for (i = 0; i < grid->count && !error; i++) {
		if (!grid->shown[i])
			continue;
		owed += first ? 0 : grid->columns[i].gap;
		first = false;
		error = write_cell(grid, i,
				   row == SIZE_MAX ? grid->columns[i].head : text_at(grid, row, i),
				   unicode, &owed, out);
	}
	return error;
}

static int write_line(const struct grid *grid, size_t row, bool unicode, FILE *out)
{
	char *fitted = utf8__fit(text_at(grid, row, 0), grid->width, unicode);

	if (!fitted)
		return -ENOMEM;
	fputs(fitted, out);
	free(fitted);
	return 0;
}

int grid__write(const struct grid *grid, const char *head_on, const char *head_off, bool unicode,
		FILE *out)
{
	size_t row;
	int error;

	fputs(head_on, out);
	error = write_row(grid, SIZE_MAX, unicode, out);
	fprintf(out, "%s\n", head_off);
	for (row = 0; row < grid->rows && !error; row++) {
		fputs(grid->looks[row].on, out);
		error = grid->looks[row].line ? write_line(grid, row, unicode, out)
					      : write_row(grid, row, unicode, out);
		fprintf(out, "%s\n", grid->looks[row].off);
	}
	return error;
}
