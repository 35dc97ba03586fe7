// SPDX-License-Identifier: MIT
#include "catalogue.h"

#include <math.h>
#include <string.h>

#include "random.h"

/* A leading comma each, so that the number of children is the size of what they list, less one. */
#define CHILD(id)	 , id
#define COUNT(...)	 ((int8_t)(sizeof((int8_t[]){-1 __VA_ARGS__}) - 1))
#define REST(first, ...) __VA_ARGS__
#define ENTRY(id, text, ns, times, calls)    \
	[id] = {.name = #text,               \
		.self_ns = ns,               \
		.roots = times,              \
		.child_count = COUNT(calls), \
		.children = {REST(-1 calls, )}},

const struct catalogue_operation catalogue[CATALOGUE_OPERATIONS] = {CATALOGUE(ENTRY, CHILD)};

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
			for (int i = 0; i < catalogue[id].child_count; i++)
				stack[depth++] = catalogue[id].children[i];
		}
	}
}

void catalogue__roots(uint16_t roots[CATALOGUE_OPERATIONS])
{
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++)
		roots[id] = catalogue[id].roots;
}

void catalogue__vary(uint64_t seed, uint16_t roots[CATALOGUE_OPERATIONS])
{
	double weights[CATALOGUE_OPERATIONS], sum = 0;
	uint64_t state = random__seed(seed);
	int left = CATALOGUE_CYCLE, most = 0;

	for (int id = 0; id < CATALOGUE_OPERATIONS; id++) {
		weights[id] = catalogue[id].roots * pow(4, 2 * random__part(&state) - 1);
		sum += weights[id];
	}
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++) {
		roots[id] = (uint16_t)(weights[id] / sum * CATALOGUE_CYCLE);
		left -= roots[id];
		if (roots[id] > roots[most])
			most = id;
	}
	roots[most] = (uint16_t)(roots[most] + left);
}

void catalogue__shuffle(uint64_t seed, const uint16_t roots[CATALOGUE_OPERATIONS],
			uint8_t cycle[CATALOGUE_CYCLE])
{
	uint64_t state = random__seed(seed);
	int count = 0;

	for (int id = 0; id < CATALOGUE_OPERATIONS; id++)
		for (int i = 0; i < roots[id]; i++)
			cycle[count++] = (uint8_t)id;
	for (int i = count - 1; i > 0; i--) {
		const int other = (int)random__below(&state, (uint64_t)i + 1);
		const uint8_t moved = cycle[i];

		cycle[i] = cycle[other];
		cycle[other] = moved;
	}
}
