// SPDX-License-Identifier: MIT
#include "remote.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#include "proc.h"

#define PIECES_MAX 256

/* Whether the thread read through is still one of the process's; the process itself is. */
static bool thread_ours(const struct remote_process *process)
{
	char path[64];

	if (process->through == process->pid)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/task/%d", process->pid, process->through);
	return !access(path, F_OK);
}

/* Another thread to read through; false: there is none. */
static bool thread_change(struct remote_process *process)
{
	pid_t tid = proc__living(process->pid);

	if (!tid || tid == process->through)
		return false;
	process->through = tid;
	return true;
}

static int process_read(void *context, uint64_t address, size_t stride, size_t size, size_t count,
			void *to)
{
	struct remote_process *process = context;
	struct iovec pieces[PIECES_MAX];
	char *out = to;

	if (!thread_ours(process))
		process->through = process->pid;
	while (count) {
		size_t n = count < PIECES_MAX ? count : PIECES_MAX, i;
		struct iovec whole = {.iov_base = out, .iov_len = n * size};
		ssize_t got;

		for (i = 0; i < n; i++) {
			pieces[i].iov_base = (void *)(uintptr_t)(address + i * stride);
			pieces[i].iov_len = size;
		}
		got = process_vm_readv(process->through, &whole, 1, pieces, n, 0);
		if (got < 0 && errno == ESRCH && thread_change(process))
			continue;
		if (got < 0)
			return -errno;
		if ((size_t)got != n * size)
			return -EFAULT;
		out += n * size;
		address += n * stride;
		count -= n;
	}
	return 0;
}

struct remote remote__process(struct remote_process *process)
{
	return (struct remote){.read = process_read, .context = process};
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
