/* SPDX-License-Identifier: MIT */
/*
 * output - a file that appears complete or not at all.
 *
 * What is written to the stream is kept in memory; output__commit() puts it on disk. The file has
 * no name (O_TMPFILE) until it is complete and synced, so that even one who is killed leaves
 * nothing behind. If a file is there already, it is replaced by a rename: for an instant the new
 * one stands beside it under a hidden name. Where files without a name cannot be had, the file is
 * written under such a name (O_EXCL, so nobody can have put something there), with signals held
 * back. Everything happens in the directory that was opened first, wherever its path leads later.
 *
 * - A symbolic link is replaced itself, what it points to is never touched: a program run as root
 * must not write where somebody else's link points.
 * - "-", /dev/stdout, /dev/stderr and /dev/fd/N are this process's open descriptors. What exists
 * and is no regular file (a device, a fifo) is written directly, without a rename.
 * - The mode is 0644 less the umask, and where sudo started us, the owner is who called it.
 */
#ifndef TICKSNICK_OUTPUT_H
#define TICKSNICK_OUTPUT_H

#include <stdio.h>

struct output;

/*
 * Checks that path can be written. NULL: *error is a negative errno, and nothing was made or
 * changed. The caller ends it by output__commit() or output__abort().
 */
struct output *output__open(const char *path, int *error);

/* For writing; belongs to the output. */
FILE *output__stream(struct output *output);

/*
 * What is written directly is given up once fd is readable while nobody takes what is written (a
 * pipe whose reader stands still): output__commit() is then -EINTR. -1: waits for as long as it
 * takes.
 */
void output__stop_at(struct output *output, int fd);

/*
 * Writes all, and frees the output, whatever is returned: 0, or a negative errno such as -ENOSPC,
 * and then a regular file that was there is unchanged (unless only syncing its directory failed)
 * and there is no other.
 */
int output__commit(struct output *output);

/* Commits what was written without an error, else aborts. 0 or the error. */
int output__finish(struct output *output, int error);

/* Drops all, frees the output. NULL is fine. */
void output__abort(struct output *output);

#endif
