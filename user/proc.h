/* SPDX-License-Identifier: MIT */
/*
 * proc - what /proc says of processes and threads.
 */
#ifndef TICKSNICK_PROC_H
#define TICKSNICK_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Of /proc/PID/status, or of one thread's. */
struct proc_status {
	char state; /* R, S, D, T, t, Z, X, I, P */
	pid_t tgid;
	uint32_t own_id; /* in the innermost pid namespace */
};

/* tid 0: the process itself. 0 or a negative errno (-ENOENT, -ESRCH: gone). */
int proc__status(pid_t pid, pid_t tid, struct proc_status *status);
/* Likewise, from what that file holds; -ESRCH: not what it should. */
int proc__parse_status(FILE *file, struct proc_status *status);

/* True once a thread is on its way out, or gone. */
bool proc__exiting(pid_t pid, pid_t tid);

/* PROC_PID_INIT_INO, include/linux/proc_ns.h. */
#define PROC_FIRST_PID_NAMESPACE "pid:[4026531836]"

/* Whether this is the machine's first pid namespace, whose ids the kernel itself uses. */
bool proc__in_first_namespace(void);

/* Its threads, in no order. 0 or a negative errno; the caller frees *tids. */
int proc__threads(pid_t pid, pid_t **tids, size_t *count);

/* The id of a thread that has not exited: pid itself, else, where the main thread has ended before
 * the others, one of these; 0: none. What /proc says of memory is to be had through it alone. */
pid_t proc__living(pid_t pid);

/* Its name without the newline, at most 15 bytes, any byte possible; NULL if it cannot be read. The
 * caller frees it. */
char *proc__comm(pid_t pid, pid_t tid);

/* Path of its executable as the kernel names it; pid may be any living thread's. NULL if it cannot
 * be read. The caller frees it. */
char *proc__exe(pid_t pid);

/* What its CLOCK_MONOTONIC is ahead of that outside of all time namespaces, ns
 * (time_namespaces(7)); 0 where it cannot be read. */
int64_t proc__clock_offset(pid_t pid);

#endif
