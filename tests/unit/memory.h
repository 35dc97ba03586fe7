/* SPDX-License-Identifier: MIT */
/*
 * memory - a process's memory that is not there: a few stretches of bytes at chosen addresses, read
 * through struct remote.
 */
#ifndef TICKSNICK_TESTS_MEMORY_H
#define TICKSNICK_TESTS_MEMORY_H

#include <errno.h>
#include <string.h>

#include "remote.h"

struct memory {
	struct {
		uint64_t address;
		const void *bytes;
		size_t size;
	} at[8];
	size_t count;
};

static inline void memory_map(struct memory *memory, uint64_t address, const void *bytes,
			      size_t size)
{
	memory->at[memory->count].address = address;
	memory->at[memory->count].bytes = bytes;
	memory->at[memory->count++].size = size;
}

static inline int memory_piece(const struct memory *memory, uint64_t address, size_t size, char *to)
{
	size_t i;

	for (i = 0; i < memory->count; i++) {
		uint64_t offset = address - memory->at[i].address;

		if (address < memory->at[i].address || offset > memory->at[i].size ||
		    size > memory->at[i].size - offset)
			continue;
		memcpy(to, (const char *)memory->at[i].bytes + offset, size);
		return 0;
	}
	return -EFAULT;
}

static inline int memory_read(void *context, uint64_t address, size_t stride, size_t size,
			      size_t count, void *to)
{
	char *out = to;
	size_t i;

	for (i = 0; i < count; i++)
		if (memory_piece(context, address + i * stride, size, out + i * size))
			return -EFAULT;
	return 0;
}

static inline struct remote memory_remote(struct memory *memory)
{
	return (struct remote){.read = memory_read, .context = memory};
}

#endif
