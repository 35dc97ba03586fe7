/* SPDX-License-Identifier: MIT */
/*
 * operations - the catalogue's operations as functions, all static: whoever includes this has a
 * copy of its own, with labels or, with TICKSNICK_DISABLE, without.
 */
#ifndef TICKSNICK_BENCH_OPERATIONS_H
#define TICKSNICK_BENCH_OPERATIONS_H

#include <stdint.h>

#include "burn.h"
#include "catalogue.h"

/* By operation. */
static tsn_fine_t operation_labels[CATALOGUE_OPERATIONS];
static uint32_t operation_iterations[CATALOGUE_OPERATIONS];

/*
 * The operations, each inlined into what calls it: between the end of one label and the begin of
 * the next there should be next to nothing, for that is time outside of both, while the chain of
 * work goes on.
 */
#define CALL(id) state = operation_##id(state);
#define DEFINE(id, name, self_ns, roots, children)                                           \
	static inline __attribute__((always_inline)) uint64_t operation_##id(uint64_t state) \
	{                                                                                    \
		TSN_SCOPE(operation_labels[id]);                                             \
		state = burn(state, operation_iterations[id]);                               \
		children return state;                                                       \
	}
CATALOGUE(DEFINE, CALL)

#define ADDRESS(id, name, self_ns, roots, children) &&root_##id,
#define NEXT()                                                               \
	do {                                                                 \
		next = left ? targets[cycle[at % CATALOGUE_CYCLE]] : &&done; \
		at += stride;                                                \
		left--;                                                      \
		TSN_KEEP(at);                                                \
		TSN_KEEP(left);                                              \
		TSN_KEEP(next);                                              \
	} while (0)
#define ROOT(id, name, self_ns, roots, children)               \
	root_##id:                                             \
	{                                                      \
		TSN_SCOPE(operation_labels[id]);               \
		NEXT();                                        \
		state = burn(state, operation_iterations[id]); \
		children                                       \
	}                                                      \
	goto *next;

/*
 * All roots of one cycle, in the order that begins at `at` and goes in steps of an odd number. What
 * comes next is found out inside the label, while the chain is at work: outside there is a jump.
 */
static __attribute__((noinline)) uint64_t
operation_cycle(const uint8_t cycle[CATALOGUE_CYCLE], uint32_t at, uint32_t stride, uint64_t state)
{
	static const void *const targets[] = {CATALOGUE(ADDRESS, )};
	uint32_t left = CATALOGUE_CYCLE;
	const void *next;

	NEXT();
	goto *next;
	CATALOGUE(ROOT, CALL)
done:
	return state;
}

#undef CALL
#undef DEFINE
#undef ADDRESS
#undef NEXT
#undef ROOT

/* 0, or a negative errno if a label cannot be registered. */
static inline int operation_prepare(const uint32_t iterations[CATALOGUE_OPERATIONS])
{
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++) {
		operation_iterations[id] = iterations[id];
#ifdef TSN_ENABLED
		operation_labels[id] = tsn_register_fine(catalogue[id].name);
		if (!operation_labels[id].id)
			return -errno;
#endif
	}
	return 0;
}

#endif
