/* SPDX-License-Identifier: MIT */
/*
 * cell_sums - cells added up by key, in user space: what processes that have ended leave behind.
 */
#ifndef TICKSNICK_CELL_SUMS_H
#define TICKSNICK_CELL_SUMS_H

#include <stddef.h>

#include "snapshot.h"

/* A hash table; zero before first use. */
struct cell_sums {
	struct cell_sums_place *places;
	size_t size, count;
};

void cell_sums__free(struct cell_sums *sums); /* what it holds */

/*
 * Adds a cell to the sum of its key. 0 or -ENOMEM. -ENOSPC: there are CELL_SUMS_MAX keys, and this
 * is none of them. Processes without end that are in labels at random would take memory without
 * end.
 */
#define CELL_SUMS_MAX (4 * TSN_CELLS_MAX)
int cell_sums__add(struct cell_sums *sums, const struct tsn_cell_key *key,
		   const struct tsn_cell *cell);

/* The next sum from place *at on, which begins as 0 and is moved behind it; NULL: no more. */
const struct snapshot_cell *cell_sums__next(const struct cell_sums *sums, size_t *at);

#endif
