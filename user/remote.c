// SPDX-License-Identifier: MIT
#include "remote.h"

#include <errno.h>

static int process_read(void *context, uint64_t address, size_t stride, size_t size, size_t count,
			void *to)
{
	return reader__gather(context, address, stride, size, count, to);
}

struct remote remote__process(struct reader *reader)
{
	return (struct remote){.read = process_read, .context = reader};
}

int remote__gather(const struct remote *remote, uint64_t address, size_t stride, size_t size,
		   size_t count, void *to)
{
	uint64_t bytes, end;

	if (!size || !count)
		return 0;
	if (__builtin_mul_overflow((uint64_t)stride, (uint64_t)(count - 1), &bytes) ||
	    __builtin_add_overflow(address, bytes, &end) ||
	    __builtin_add_overflow(end, (uint64_t)size, &end))
		return -EFAULT;
	return remote->read(remote->context, address, stride, size, count, to);
}

int remote__read(const struct remote *remote, uint64_t address, void *to, size_t size)
{
	return remote__gather(remote, address, size, size, 1, to);
}
