// SPDX-License-Identifier: MIT
#include <errno.h>

#include "fuzz.h"

static int piece_copy(const struct fuzz_region *region, uint64_t offset, size_t size, uint8_t *to)
{
	uint64_t place, within, n;

	while (size) {
		place = offset / region->element_size;
		within = offset % region->element_size;
		n = region->element_size - within;
		n = n < size ? n : size;
		memcpy(to,
		       region->bytes + place % region->element_kept * region->element_size + within,
		       n);
		to += n;
		offset += n;
		size -= n;
	}
	return 0;
}

static int piece_read(const struct fuzz_memory *memory, uint64_t address, size_t size, uint8_t *to)
{
	size_t i;

	for (i = 0; i < memory->count; i++) {
		const struct fuzz_region *region = &memory->regions[i];
		uint64_t whole = region->element_size * region->element_count;

		if (!region->gone && address >= region->address && size <= whole &&
		    address - region->address <= whole - size)
			return piece_copy(region, address - region->address, size, to);
	}
	return -EFAULT;
}

static int memory_read(void *context, uint64_t address, size_t stride, size_t size, size_t count,
		       void *to)
{
	struct fuzz_memory *memory = context;
	size_t i;
	int err = 0;

	fuzz_assert(size && count && stride >= size);
	memory->reads++;
	memory->bytes_asked += size * count;
	if (size * count > memory->bytes_left) {
		memory->bytes_left = 0;
		return -ETIMEDOUT;
	}
	memory->bytes_left -= size * count;
	if (memory->before)
		memory->before(address);
	for (i = 0; i < count && !err; i++)
		err = piece_read(memory, address + i * stride, size, (uint8_t *)to + i * size);
	return err;
}

struct remote fuzz_remote(struct fuzz_memory *memory)
{
	memory->bytes_left = FUZZ_BYTES_MAX;
	return (struct remote){.read = memory_read, .context = memory};
}
