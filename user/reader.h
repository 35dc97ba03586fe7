/* SPDX-License-Identifier: MIT */
/*
 * reader - reads the memory of one process, and what is mapped there, through a child of the
 * recorder, so that a read can be given up. Memory may be such that reading it never ends: its
 * owner decides when a page of it is there (userfaultfd, a file system in user space). Whoever
 * waits for such a page is deaf to all but SIGKILL, and may be to that, so it must not be the
 * recorder.
 *
 * Waiting has an allowance (allowance.h). What the child works is not waiting, nor is that it has
 * no CPU, up to READER_EXCUSES times the whole allowance for each read. A read that takes longer is
 * given up, its child killed, and no other is begun before the allowance is whole again. So a
 * process that makes its reader wait, be it for ever or a little each time, takes no more than
 * that. Where the child cannot even be killed, no other read of that family is ever begun.
 */
#ifndef TICKSNICK_READER_H
#define TICKSNICK_READER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define READER_EXCUSES	  3
#define READER_HURRY_NS	  1000000000u
#define READER_KILLED_MAX 8 /* children that were killed and have not ended */

struct mappings;
struct reader;

/* All readers have one child, made at the first read. For one thread. relative: the reader of a
 * process of the same family, with one allowance for both; NULL: none. NULL: out of memory. */
struct reader *reader__new(pid_t pid, const struct reader *relative);
void reader__free(struct reader *reader); /* NULL is fine */

/*
 * As struct remote's read. -ETIMEDOUT: it was given up, or not begun for one before was, or for too
 * many children that cannot be killed; -ESRCH, -EPERM: there is no such process, or it may not be
 * read; else -EFAULT or what making a child failed with.
 */
int reader__gather(struct reader *reader, uint64_t address, size_t stride, size_t size,
		   size_t count, void *to);

/* Likewise, what the process has mapped. -EACCES: it may not be looked at. */
int reader__mappings(struct reader *reader, struct mappings *mappings);

/*
 * Once this descriptor is readable there is a hurry: what is left of each allowance shrinks to
 * ALLOWANCE_HURRY_NS, and of all of them together to READER_HURRY_NS, until this is called again.
 * -1: never.
 */
void reader__hurry_at(int fd);

/* CPU time that all children have taken so far, ns. */
uint64_t reader__taken_ns(void);

#endif
