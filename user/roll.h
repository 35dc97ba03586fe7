/* SPDX-License-Identifier: MIT */
/*
 * roll - the processes of a session that follows children: which of them are in the report, and who
 * they are. Pure.
 *
 * A process is in the report if one of its images is. An image that never had a slot table of its
 * own is left out with all its time: a shell, a wrapper, a program without labels.
 */
#ifndef TICKSNICK_ROLL_H
#define TICKSNICK_ROLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ROLL_KEPT_MAX 4096 /* processes that have ended and are named in the report */

/* What is known of an image once it is over, or the session is. */
struct roll_facts {
	bool copied;	/* it began as a copy of a process with labels, by fork */
	bool owned;	/* it was seen to have a table of its own */
	bool looked_at; /* its modules were looked through, and none has labels */
	bool told;     /* its end has handed in what it had; without a table, that there was none */
	bool replaced; /* it ended by exec, not as a process */
	bool used;     /* it was seen in a label, or called one */
};

enum roll_fate {
	ROLL_KEPT,
	ROLL_UNLABELLED, /* left out: it has no labels of its own */
	ROLL_UNREAD,	 /* left out: it was over before it could be looked at */
};

/*
 * What becomes of an image. A copy that calls exec without having used a label is the beginning of
 * another program, and left out, too; the copy of a labelled process is taken to have registered
 * like it where nothing says otherwise.
 */
enum roll_fate roll__judge(const struct roll_facts *facts);

struct roll_process {
	pid_t pid;
	pid_t thread_id; /* what the user gave where that was a thread of it; else 0 */
	bool kept, unread;
	uint64_t serial;	     /* of the latest image that was kept */
	char *comm, *exe, *build_id; /* of that image; owned */
};

/* Zero before first use. */
struct roll {
	struct roll_process **processes; /* in the order they were seen */
	size_t count, capacity;
	size_t kept;	    /* of those that have ended, in processes */
	uint64_t kept_ever; /* processes */
	uint64_t folded;    /* kept, but beyond ROLL_KEPT_MAX: in the sums, but not in processes */
	uint64_t unlabelled, unread; /* left out */
	pid_t unlabelled_pid;	     /* the latest of them ... */
	char unlabelled_comm[64];    /* ... and its name */
};

void roll__free(struct roll *roll); /* what it holds */

/* A process that is recorded from now on; NULL: out of memory. */
struct roll_process *roll__enter(struct roll *roll, pid_t pid);

/* The process had an image with that fate, the one with the greatest serial last; strings may be
 * NULL and are copied. 0 or -ENOMEM. */
int roll__image(struct roll_process *process, enum roll_fate fate, uint64_t serial,
		const char *comm, const char *exe, const char *build_id);

/* The process has ended, after all its images; comm (may be NULL) is what it was called last. It is
 * freed, if it is not in the report. */
void roll__leave(struct roll *roll, struct roll_process *process, const char *comm);

#endif
