/* SPDX-License-Identifier: MIT */
/*
 * reader - reads the memory of one process through a child of the recorder, so that a read can be
 * given up. Memory may be such that reading it never ends: its owner decides when a page of it is
 * there (userfaultfd, a file system in user space). Whoever waits for such a page is deaf to all
 * but SIGKILL, so it must not be the recorder.
 *
 * Reading has an allowance of time: READER_ALLOWANCE_NS, of which the time that reads take is used
 * up (but not what the child has to wait for a CPU), and 1/READER_REFILL of all time comes back. A
 * read that has used it up is given up (and its child killed), and no other one is begun before the
 * allowance is whole again. So a process that makes its reader wait, be it for ever or a little
 * each time, takes no more than that.
 */
#ifndef TICKSNICK_READER_H
#define TICKSNICK_READER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define READER_ALLOWANCE_NS 1000000000u
#define READER_REFILL	    10

struct reader;

/* All readers have one child, made at the first read. For one thread. NULL: out of memory. */
struct reader *reader__new(pid_t pid);
void reader__free(struct reader *reader); /* NULL is fine */

/*
 * As struct remote's read. -ETIMEDOUT: it was given up, or not begun for one before was; -ESRCH,
 * -EPERM: there is no such process, or it may not be read; else -EFAULT or what making a child
 * failed with.
 */
int reader__gather(struct reader *reader, uint64_t address, size_t stride, size_t size,
		   size_t count, void *to);

/* CPU time that all children have taken so far, ns. */
uint64_t reader__taken_ns(void);

#endif
