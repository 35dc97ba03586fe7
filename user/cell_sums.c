// SPDX-License-Identifier: MIT
#include "cell_sums.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_FIRST 256 /* a power of two, as all sizes are */

struct cell_sums_place {
	bool taken;
	struct snapshot_cell sum;
};

void cell_sums__free(struct cell_sums *sums)
{
	free(sums->places);
	*sums = (struct cell_sums){0};
}

static uint64_t hash(const struct tsn_cell_key *key)
{
	uint64_t a = (uint64_t)key->target << 32 | key->fine;
	uint64_t b = (uint64_t)key->coarse << 32 | key->role;

	a = (a ^ b * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
	return a ^ a >> 29;
}

/* The place of a key, or the free one where it would be; there is one free place at least. */
static struct cell_sums_place *place_of(struct cell_sums_place *places, size_t size,
					const struct tsn_cell_key *key)
{
	size_t at = hash(key) & (size - 1);

	while (places[at].taken && memcmp(&places[at].sum.key, key, sizeof(*key)) != 0)
		at = (at + 1) & (size - 1);
	return &places[at];
}

/* At most half full, so that searches are short. */
static int grow(struct cell_sums *sums)
{
	size_t size = sums->size ? sums->size * 2 : SIZE_FIRST, i;
	struct cell_sums_place *places = calloc(size, sizeof(*places));

	if (!places)
		return -ENOMEM;
	for (i = 0; i < sums->size; i++)
		if (sums->places[i].taken)
			*place_of(places, size, &sums->places[i].sum.key) = sums->places[i];
	free(sums->places);
	sums->places = places;
	sums->size = size;
	return 0;
}

int cell_sums__add(struct cell_sums *sums, const struct tsn_cell_key *key,
		   const struct tsn_cell *cell)
{
	struct cell_sums_place *place;
	struct tsn_cell *sum;

	if (2 * (sums->count + 1) > sums->size && sums->count < CELL_SUMS_MAX && grow(sums))
		return -ENOMEM;
	place = place_of(sums->places, sums->size, key);
	if (!place->taken && sums->count >= CELL_SUMS_MAX)
		return -ENOSPC;
	sums->count += !place->taken;
	place->taken = true;
	place->sum.key = *key;
	sum = &place->sum.cell;
	sum->hits_user += cell->hits_user;
	sum->hits_kernel += cell->hits_kernel;
	sum->weight_user_ns += cell->weight_user_ns;
	sum->weight_kernel_ns += cell->weight_kernel_ns;
	sum->runnable_ns += cell->runnable_ns;
	sum->blocked_ns += cell->blocked_ns;
	sum->io_ns += cell->io_ns;
	sum->elapsed_on_ns += cell->elapsed_on_ns;
	sum->long_hits += cell->long_hits;
	sum->glances += cell->glances;
	sum->glances_shared += cell->glances_shared;
	return 0;
}

const struct snapshot_cell *cell_sums__next(const struct cell_sums *sums, size_t *at)
{
	while (*at < sums->size)
		if (sums->places[(*at)++].taken)
			return &sums->places[*at - 1].sum;
	return NULL;
}
