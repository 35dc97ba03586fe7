// SPDX-License-Identifier: MIT
#include "catalogue.h"

#include <string.h>

#include "random.h"

const struct catalogue_operation catalogue[CATALOGUE_OPERATIONS] = {
	{"nodeLookup", 20, {-1, -1, -1}, 600}, {"hashProbe", 25, {-1, -1, -1}, 0},
	{"edgeScan", 45, {-1, -1, -1}, 0},     {"degreeCheck", 70, {-1, -1, -1}, 0},
	{"markVisited", 110, {-1, -1, -1}, 0}, {"pushFrontier", 170, {-1, -1, -1}, 0},
	{"popFrontier", 260, {-1, -1, -1}, 0}, {"filterNode", 400, {-1, -1, -1}, 80},
	{"scoreNode", 620, {-1, -1, -1}, 0},   {"compact", 950, {-1, -1, -1}, 0},
	{"rehash", 1400, {-1, -1, -1}, 0},     {"serialize", 2000, {-1, -1, -1}, 4},
	{"expandNode", 35, {0, 2, 4}, 0},      {"visitNeighbor", 30, {1, 3, -1}, 300},
	{"frontierStep", 80, {5, 6, 12}, 0},   {"rankBatch", 120, {7, 8, -1}, 180},
	{"maintain", 210, {9, 10, -1}, 24},    {"checkpoint", 150, {11, 16, -1}, 8},
	{"tinyStep", 20, {-1, -1, -1}, 2000},  {"traverse", 60, {13, 14, -1}, 900},
};

void catalogue__calls(const uint64_t roots[CATALOGUE_OPERATIONS],
		      uint64_t calls[CATALOGUE_OPERATIONS])
{
	/* The tree of each root, node by node; it has no cycle. */
	memset(calls, 0, CATALOGUE_OPERATIONS * sizeof(*calls));
	for (int root = 0; root < CATALOGUE_OPERATIONS; root++) {
		int8_t stack[CATALOGUE_OPERATIONS * CATALOGUE_CHILDREN];
		int depth = 0;

		stack[depth++] = (int8_t)root;
		while (depth > 0) {
			const int8_t id = stack[--depth];

			calls[id] += roots[root];
			for (int i = 0; i < CATALOGUE_CHILDREN && catalogue[id].children[i] >= 0;
			     i++)
				stack[depth++] = catalogue[id].children[i];
		}
	}
}

void catalogue__shuffle(uint64_t seed, uint8_t cycle[CATALOGUE_CYCLE])
{
	uint64_t state = random__seed(seed);
	int count = 0;

	for (int id = 0; id < CATALOGUE_OPERATIONS; id++)
		for (int i = 0; i < catalogue[id].roots; i++)
			cycle[count++] = (uint8_t)id;
	for (int i = count - 1; i > 0; i--) {
		const int other = (int)random__below(&state, (uint64_t)i + 1);
		const uint8_t moved = cycle[i];

		cycle[i] = cycle[other];
		cycle[other] = moved;
	}
}
