/* SPDX-License-Identifier: MIT */
/*
 * spans - from observations to the coarse table: how long executions took, what ran inside them and
 * what did not, and the pairs of coarse and fine labels. Pure: no kernel, no clock. The formulas
 * stand in docs/output.md.
 */
#ifndef TICKSNICK_SPANS_H
#define TICKSNICK_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ticksnick/cells.h>

#include "profile.h"

/* What one enter and exit of a coarse label costs, as measured; mostly two readings of the clock.
 */
#define SPANS_COST_NS 65

/*
 * What was seen of one coarse label id of one process. Labels with the same name become one row.
 * Durations are in units of the process's clock.
 */
struct spans_label {
	const char *name; /* borrowed */
	double unit_ns;	  /* > 0 */
	double stretch;	  /* > 0: the session's time, by that between the first and the last reading
			   */

	uint64_t executions; /* that ended in the session */
	uint64_t sum_units;  /* of their whole durations, what lies before the session included */
	const uint64_t *buckets; /* of them, uint64_t[TSN_DURATION_BUCKETS]; NULL: none. Borrowed */
	uint64_t longest_units;	 /* the longest of them; 0: not known, the buckets must do */

	uint64_t open_first;	   /* executions open at the first reading ... */
	uint64_t open_first_units; /* ... and how long they had been, summed */
	uint64_t open_last;	   /* the same at the last one */
	uint64_t open_last_units;

	unsigned callers;	  /* threads that were seen to begin one */
	uint64_t readings;	  /* looks at the process that found one open ... */
	uint64_t readings_shared; /* ... that found several */
};

/* A cell of the kernel side; several may be the same. */
struct spans_cell {
	const char *coarse;	 /* NULL: in none */
	const char *fine;	 /* NULL: in none */
	bool idle;		 /* fine is an idle label */
	enum tsn_cell_role role; /* of coarse */
	uint64_t hits;
	uint64_t weight_ns; /* periods of the hits, summed */
	uint64_t runnable_ns, blocked_ns, io_ns;
};

struct spans_input {
	const struct spans_label *labels;
	size_t label_count;
	const struct spans_cell *cells;
	size_t cell_count;
	uint64_t running_ns; /* exact running time of all threads: T_on */
	double alpha;	/* of the pairs' intervals, for all pairs of one coarse label at once */
	double cost_ns; /* of one coarse enter + exit, for the floor */
};

/*
 * Fills profile->coarse, profile->pairs and totals.outside_ns and .stale_ns; after model__compute.
 * Adds the warnings that follow: coarse_outside, coarse_small, coarse_serialised, coarse_open,
 * coarse_stale. 0, -EINVAL (alpha, a unit or a stretch is out of range) or -ENOMEM; after an error
 * the profile is as before, though some warnings may have been added.
 *
 * The pairs of a coarse label add up to its thread-time exactly, in every state.
 */
int spans__compute(const struct spans_input *input, struct profile *profile);

/* True if stale work is over 20 hits and 1% of all hits inside coarse labels: what ends a strict
 * session. hits: of OWN and STALE cells with a coarse label. */
bool spans__stale_violates(uint64_t stale_hits, uint64_t hits);

#endif
