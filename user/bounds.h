/* SPDX-License-Identifier: MIT */
/*
 * bounds - shares and the intervals that hold them, all rows at once. docs/output.md has the
 * formulas.
 */
#ifndef TICKSNICK_BOUNDS_H
#define TICKSNICK_BOUNDS_H

#include "rows.h"

/* Fills share, share_lo, share_hi and cpu_share of every row, and totals.bound. Times, weights and
 * totals are there already. */
void bounds__compute(struct rows *rows);

#endif
