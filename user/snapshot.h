/* SPDX-License-Identifier: MIT */
/*
 * snapshot - copies of the BPF maps, and the closing of what was still under way when the session
 * ended.
 */
#ifndef TICKSNICK_SNAPSHOT_H
#define TICKSNICK_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "engine.h"

struct snapshot_cell {
	struct tsn_cell_key key;
	struct tsn_cell cell;
};

/* What the hits of a cell stand for together, ns. */
static inline uint64_t snapshot__weight_ns(const struct tsn_cell *cell)
{
	return cell->weight_user_ns + cell->weight_kernel_ns;
}

struct snapshot {
	struct snapshot_cell *cells; /* a key may stand there more than once: the parts add up */
	size_t cell_count, cell_capacity;
	struct tsn_thread *threads;
	size_t thread_count, thread_capacity;
};

void snapshot__free(struct snapshot *snapshot); /* what it holds; the struct is the caller's, zeroed
						   before first use */

/* Replaces the cells. 0 or a negative errno. */
int snapshot__read_cells(struct snapshot *snapshot, const struct engine *engine);

/* Appends the threads that have a record. 0 or a negative errno. */
int snapshot__read_threads(struct snapshot *snapshot, const struct engine *engine);

/* Appends a cell. 0 or -ENOMEM. */
int snapshot__add_cell(struct snapshot *snapshot, const struct tsn_cell_key *key,
		       const struct tsn_cell *cell);

/* Appends a thread that has exited. 0 or -ENOMEM. */
int snapshot__add_thread(struct snapshot *snapshot, const struct tsn_thread *thread);

/*
 * Charges the interval that each thread from index first on is in, up to stop_ns, to the thread and
 * to its cells, and brings since to stop_ns unless it is later. Waiting of threads whose label was
 * not known is added to *lost_wait_ns. 0 or -ENOMEM.
 */
int snapshot__close(struct snapshot *snapshot, size_t first, uint64_t start_ns, uint64_t stop_ns,
		    uint64_t *lost_wait_ns);

#endif
