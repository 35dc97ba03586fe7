/* SPDX-License-Identifier: MIT */
/* child - a program that runs beside this one, with pipes to its standard input and output. */
#ifndef TICKSNICK_BENCH_CHILD_H
#define TICKSNICK_BENCH_CHILD_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct child {
	pid_t pid;
	int in;	   /* what is written here it reads; -1: closed */
	FILE *out; /* what it prints */
};

/* arguments ends with NULL; its first is the program, looked for in PATH. 0 or a negative errno. */
int child__start(const char *const *arguments, struct child *child);

/* Closes both pipes, sends the signal (0: none) and waits. Exit code, or 128 + the signal. */
int child__end(struct child *child, int signal);

/* Whether the process has a file open whose link in /proc/PID/fd begins so. */
bool child__has_open(pid_t pid, const char *link_prefix);

/* CPU time of all its threads that are alive, ns; NaN if it cannot be read. */
double child__cpu_ns(pid_t pid);

#endif
