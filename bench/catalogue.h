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

struct catalogue_operation {
	const char *name;
	double self_ns;			     /* asked for, children not included */
	int8_t children[CATALOGUE_CHILDREN]; /* called once each, in this order; -1: none */
	uint16_t roots;			     /* times a root per cycle */
};

extern const struct catalogue_operation catalogue[CATALOGUE_OPERATIONS];

/* Calls of each operation in roots[i] root calls of each. */
void catalogue__calls(const uint64_t roots[CATALOGUE_OPERATIONS],
		      uint64_t calls[CATALOGUE_OPERATIONS]);

/* One cycle: every root as often as the table says, in the random order of that seed. */
void catalogue__shuffle(uint64_t seed, uint8_t cycle[CATALOGUE_CYCLE]);

#endif
