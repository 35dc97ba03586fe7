/* SPDX-License-Identifier: MIT */
/*
 * grid - rows of cells laid out in as many columns as fit a width. Never wraps: columns leave in a
 * stated order, then one column's texts are cut.
 */
#ifndef TICKSNICK_GRID_H
#define TICKSNICK_GRID_H

#include <stdbool.h>
#include <stdio.h>

struct grid_column {
	const char *head;
	bool left;     /* aligned left; else right */
	bool quiet;    /* not shown where no row has a text in it */
	unsigned gap;  /* blanks in front of it */
	unsigned drop; /* what has the least number leaves first; 0: never leaves */
	bool cut;      /* its texts may be cut; one column of a grid */
};

struct grid;

/* The columns are borrowed. NULL: out of memory. */
struct grid *grid__new(const struct grid_column *columns, size_t count);
void grid__free(struct grid *grid); /* NULL is fine */

/* Starts a row; cells not set are empty. */
void grid__row(struct grid *grid);

/* Starts a row that is one text over the whole width. */
void grid__line(struct grid *grid, const char *text);

/* Sets a cell of the row under way, printf-style; the text must be printable. */
void grid__cell(struct grid *grid, size_t column, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* What stands around the row under way when it is written (colour); the texts are borrowed. */
void grid__paint(struct grid *grid, const char *on, const char *off);

/*
 * Decides which columns fit: they leave until the texts that may be cut have cut_min columns, or
 * all they want. 0, or -ENOMEM if any call before ran out of memory.
 */
int grid__fit(struct grid *grid, unsigned width, unsigned cut_min);

/* After grid__fit(): whether a column is shown. */
bool grid__shows(const struct grid *grid, size_t column);

/* Writes head and rows; head_on and head_off stand around the head (colour). 0 or -ENOMEM. */
int grid__write(const struct grid *grid, const char *head_on, const char *head_off, bool unicode,
		FILE *out);

#endif
