/* SPDX-License-Identifier: MIT */
/*
 * remote - reads memory that somebody else controls, through a callback, so that everything that
 * interprets it can be fed bytes without a process.
 */
#ifndef TICKSNICK_REMOTE_H
#define TICKSNICK_REMOTE_H

#include <stddef.h>
#include <stdint.h>

#include "reader.h"

struct remote {
	/*
	 * Reads count pieces of size bytes each, stride bytes apart from address on, into to, one
	 * after the other. All or nothing: 0 or a negative errno (-EFAULT: not mapped; -ETIMEDOUT:
	 * it takes too long).
	 */
	int (*read)(void *context, uint64_t address, size_t stride, size_t size, size_t count,
		    void *to);
	void *context;
};

/* Memory of a process; valid for as long as the reader is. */
struct remote remote__process(struct reader *reader);

/* One piece. Refuses an address range that wraps around: -EFAULT. */
int remote__read(const struct remote *remote, uint64_t address, void *to, size_t size);

/* Several; size <= stride. */
int remote__gather(const struct remote *remote, uint64_t address, size_t stride, size_t size,
		   size_t count, void *to);

#endif
