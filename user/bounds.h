/* SPDX-License-Identifier: MIT */
/*
 * bounds - shares and the intervals that hold them, all rows at once. docs/output.md has the
 * formulas.
 */
#ifndef TICKSNICK_BOUNDS_H
#define TICKSNICK_BOUNDS_H

#include "rows.h"

/* Fills share, share_lo, share_hi and cpu_share of every row, and totals.bound. Times, weights and
 * totals are there already. Without windows, the sums of squares say how much they vary. */
void bounds__compute(struct rows *rows);

/* What the windows say, in sums that reports keep: of every row and the totals the squares and
 * products, scaled from weights to running time; lost_hits and lost_wait_ns. */
void bounds__keep_sums(struct rows *rows);

#endif
