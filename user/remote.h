/* SPDX-License-Identifier: MIT */
/*
 * remote - reads memory that somebody else controls, through a callback, so that everything that
 * interprets it can be fed bytes without a process.
 */
#ifndef TICKSNICK_REMOTE_H
#define TICKSNICK_REMOTE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct remote {
	/*
	 * Reads count pieces of size bytes each, stride bytes apart from address on, into to, one
	 * after the other. All or nothing: 0 or a negative errno (-EFAULT: not mapped).
	 */
	int (*read)(void *context, uint64_t address, size_t stride, size_t size, size_t count,
		    void *to);
	void *context;
};

/* A process whose memory is read through one of its threads: a main thread that has ended has none
 * any more. */
struct remote_process {
	pid_t pid;
	pid_t through; /* a thread that lived when it was last looked at */
};

/* Its memory, through process_vm_readv; *process must outlive it. Reading fails with -ESRCH once
 * no thread lives. */
struct remote remote__process(struct remote_process *process);

/* One piece. Refuses an address range that wraps around: -EFAULT. */
int remote__read(const struct remote *remote, uint64_t address, void *to, size_t size);

/* Several; size <= stride. */
int remote__gather(const struct remote *remote, uint64_t address, size_t stride, size_t size,
		   size_t count, void *to);

#endif
