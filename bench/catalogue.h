/* SPDX-License-Identifier: MIT */
/*
 * catalogue - the twenty operations whose true cost is known: names, self times, who calls whom,
 * and how often each is called first (a root). The shares follow from these tables alone.
 */
#ifndef TICKSNICK_BENCH_CATALOGUE_H
#define TICKSNICK_BENCH_CATALOGUE_H

#include <stdint.h>

#define CATALOGUE_OPERATIONS 20
#define CATALOGUE_CHILDREN   3
#define CATALOGUE_CYCLE	     4096 /* roots of one cycle */

/*
 * OPERATION(id, name, self time asked for in ns and without children, roots per cycle, children),
 * children as CALL(id) each, called once in this order. What an operation calls stands before it.
 */
#define CATALOGUE(OPERATION, CALL)                                   \
	OPERATION(0, nodeLookup, 20, 600, )                          \
	OPERATION(1, hashProbe, 25, 0, )                             \
	OPERATION(2, edgeScan, 45, 0, )                              \
	OPERATION(3, degreeCheck, 70, 0, )                           \
	OPERATION(4, markVisited, 110, 0, )                          \
	OPERATION(5, pushFrontier, 170, 0, )                         \
	OPERATION(6, popFrontier, 260, 0, )                          \
	OPERATION(7, filterNode, 400, 80, )                          \
	OPERATION(8, scoreNode, 620, 0, )                            \
	OPERATION(9, compact, 950, 0, )                              \
	OPERATION(10, rehash, 1400, 0, )                             \
	OPERATION(11, serialize, 2000, 4, )                          \
	OPERATION(12, expandNode, 35, 0, CALL(0) CALL(2) CALL(4))    \
	OPERATION(13, visitNeighbor, 30, 300, CALL(1) CALL(3))       \
	OPERATION(14, frontierStep, 80, 0, CALL(5) CALL(6) CALL(12)) \
	OPERATION(15, rankBatch, 120, 180, CALL(7) CALL(8))          \
	OPERATION(16, maintain, 210, 24, CALL(9) CALL(10))           \
	OPERATION(17, checkpoint, 150, 8, CALL(11) CALL(16))         \
	OPERATION(18, tinyStep, 20, 2000, )                          \
	OPERATION(19, traverse, 60, 900, CALL(13) CALL(14))

struct catalogue_operation {
	const char *name;
	double self_ns;
	uint16_t roots;
	int8_t child_count;
	int8_t children[CATALOGUE_CHILDREN];
};

extern const struct catalogue_operation catalogue[CATALOGUE_OPERATIONS];

/* Calls of each operation in roots[i] root calls of each. */
void catalogue__calls(const uint64_t roots[CATALOGUE_OPERATIONS],
		      uint64_t calls[CATALOGUE_OPERATIONS]);

/* Roots of one cycle by operation, CATALOGUE_CYCLE in all: the catalogue's own. */
void catalogue__roots(uint16_t roots[CATALOGUE_OPERATIONS]);

/* The same with other proportions, drawn from that seed: each of the catalogue's times something
 * between a quarter and four. */
void catalogue__vary(uint64_t seed, uint16_t roots[CATALOGUE_OPERATIONS]);

/* One cycle: every root as often as roots says, in the random order of that seed. */
void catalogue__shuffle(uint64_t seed, const uint16_t roots[CATALOGUE_OPERATIONS],
			uint8_t cycle[CATALOGUE_CYCLE]);

#endif
