// SPDX-License-Identifier: MIT
#include "remains.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES sizeof(((struct tsn_piece *)0)->words)

struct remains {
	const struct table *table;
	const struct tsn_piece *
		*pieces; /* by address; where those of one process overlap, they agree */
	size_t count;
};

static int by_address(const void *a, const void *b)
{
	const struct tsn_piece *const *x = a, *const *y = b;

	return (*x)->address < (*y)->address ? -1 : (*x)->address > (*y)->address;
}

struct remains *remains__new(const struct engine *engine, uint32_t index, const struct table *table)
{
	uint64_t taken = engine->control->pieces, done = engine->control->pieces_done, i;
	uint32_t serial = (uint32_t)engine->targets[index].serial;
	struct remains *remains = calloc(1, sizeof(*remains));

	if (!remains)
		return NULL;
	/* Beyond these there was no room. */
	if (taken - done > TSN_PIECES_MAX)
		taken = done + TSN_PIECES_MAX;
	remains->table = table;
	remains->pieces = malloc((taken - done + 1) * sizeof(*remains->pieces));
	if (!remains->pieces) {
		remains__free(remains);
		return NULL;
	}
	for (i = done; i < taken; i++) {
		const struct tsn_piece *piece = &engine->pieces[i % TSN_PIECES_MAX];

		if (piece->target == index && piece->serial == serial)
			remains->pieces[remains->count++] = piece;
	}
	qsort(remains->pieces, remains->count, sizeof(*remains->pieces), by_address);
	return remains;
}

void remains__free(struct remains *remains)
{
	if (!remains)
		return;
	free(remains->pieces);
	free(remains);
}

/* The first piece that ends beyond the address. */
static size_t first_beyond(const struct remains *remains, uint64_t address)
{
	size_t low = 0, high = remains->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (remains->pieces[middle]->address + PIECE_BYTES > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void one_read(const struct remains *remains, uint64_t address, size_t size, char *to)
{
	size_t i;

	memset(to, 0, size);
	for (i = first_beyond(remains, address); i < remains->count; i++) {
		const struct tsn_piece *piece = remains->pieces[i];
		uint64_t from = piece->address, end = from + PIECE_BYTES;

		if (from >= address + size)
			break;
		if (from < address)
			from = address;
		if (end > address + size)
			end = address + size;
		memcpy(to + (from - address), (const char *)piece->words + (from - piece->address),
		       end - from);
	}
}

bool remains__descriptor(const struct remains *remains, struct tsn_process *process)
{
	struct tsn_process read;

	one_read(remains, remains->table->address, sizeof(read), (char *)&read);
	if (read.magic != TSN_MAGIC)
		return false;
	*process = read;
	return true;
}

static int remains_read(void *context, uint64_t address, size_t stride, size_t size, size_t count,
			void *to)
{
	const struct remains *remains = context;
	size_t i;

	if (address == remains->table->address && size == sizeof(remains->table->process) &&
	    count == 1) {
		memcpy(to, &remains->table->process, size);
		return 0;
	}
	for (i = 0; i < count; i++)
		one_read(remains, address + i * stride, size, (char *)to + i * size);
	return 0;
}

struct remote remains__remote(struct remains *remains)
{
	return (struct remote){.read = remains_read, .context = remains};
}
