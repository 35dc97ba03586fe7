/* SPDX-License-Identifier: MIT */
/*
 * target - one process that is recorded: who it is, and what it publishes.
 */
#ifndef TICKSNICK_TARGET_H
#define TICKSNICK_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "table.h"

#define TARGET_ERROR_SIZE 256

struct target {
	pid_t pid;
	pid_t thread_id;  /* what the user gave, where that was a thread of the process; else 0 */
	uint32_t own_pid; /* what the process calls itself, in its own pid namespace */
	int pidfd;	  /* -1: it has ended */
	char *comm;
	char *exe;	/* NULL: not readable */
	char *build_id; /* NULL: none */
	struct reader *reader;
	struct remote remote; /* through reader */
	bool located;	      /* table is that of the image that runs */
	struct table table;
	bool changed;	       /* its image was replaced since comm, exe and build id were read */
	uint64_t hurry_due_ns; /* for whoever looks for its labels: no hurry before */
};

/*
 * Opens process pid; the id of a thread is resolved to its process. Returns 0 or a negative errno
 * (-ESRCH: no such process; -EPERM, -EACCES) and puts one sentence into error. The caller frees
 * *target.
 */
int target__open(pid_t pid, struct target **target, char error[TARGET_ERROR_SIZE]);
/* A process that was forked, or replaced its image, in the session, as the kernel side tells of it.
 */
struct target_news {
	pid_t pid;
	int pidfd; /* the new target's from here on; -1: it has ended, or cannot be watched */
	uint32_t own_pid; /* as in struct target */
	const char *comm;
	const struct target *original; /* that it is a copy of: it has its program, and ... */
	bool located;		       /* ... its labels; NULL: none that is known */
	const struct target *relative; /* of its family; NULL: none that is known */
};

/* NULL: out of memory; pidfd is closed then, too. */
struct target *target__follow(const struct target_news *news);
void target__free(struct target *target); /* NULL is fine */

/*
 * Looks for the slot table. 0: found, or found before. -EAGAIN: a module has the note, but nothing
 * is registered yet. -ENOENT: no module has it. -ENODATA: there are no modules, as it is ending.
 * -EPROTONOSUPPORT: it is of another ABI or contradicts itself. -ESTALE: it belongs to the process
 * this one was forked from. Else what reading failed with.
 */
int target__locate(struct target *target);

/* The image was replaced: forgets the table. What else is known of it is read anew when its table
 * is looked for next, or by target__identify(): an image may not last that long. */
void target__forget(struct target *target);

/* Reads comm, exe and build id, unless they are of the image that runs. */
void target__identify(struct target *target);

/* True once all its threads have exited. */
bool target__gone(const struct target *target);

#endif
