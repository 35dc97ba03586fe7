/* SPDX-License-Identifier: MIT */
/*
 * render_share - a share and the interval that holds it, as two cells of a table.
 */
#ifndef TICKSNICK_RENDER_SHARE_H
#define TICKSNICK_RENDER_SHARE_H

#include "grid.h"

/* 0..1; NaN: not there. */
struct render_share {
	double share, lo, hi;
};

/* Two digits of a share's uncertainty: one decimal of a percentage, two where it is below one
 * percentage point. */
int render_share__decimals(struct render_share share);

/*
 * Sets the cells of the row under way; most: the most decimals that any row of the table has, so
 * that decimal points stand below each other. The interval as printed is never narrower than the
 * true one.
 */
void render_share__set(struct grid *grid, size_t share_column, size_t bound_column,
		       struct render_share share, int most, bool unicode);

/* Half of the interval as printed, around the share as printed, in percentage points; NaN: none. */
double render_share__half(struct render_share share);

/* To whole units, away from what is inside. */
double render_share__round_up(double value, double unit);
double render_share__round_down(double value, double unit);

#endif
