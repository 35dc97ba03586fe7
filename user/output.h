/* SPDX-License-Identifier: MIT */
/*
 * output - a file that appears complete or not at all.
 *
 * What is written to the stream is kept in memory; output__commit() puts it on disk. The file is
 * written beside its final place under a hidden temporary name (O_EXCL, so nobody can have put
 * something there), synced, and renamed; until then the file that was there stays as it is.
 * Everything happens in the directory that was opened first, wherever its path leads later.
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
 * Checks that path can be written and reserves the temporary file. NULL: *error is a negative
 * errno, and nothing was made or changed. The caller ends it by output__commit() or
 * output__abort().
 */
struct output *output__open(const char *path, int *error);

/* For writing; belongs to the output. */
FILE *output__stream(struct output *output);

/*
 * Writes all, and frees the output, whatever is returned: 0, or a negative errno such as -ENOSPC,
 * and then a regular file that was there is unchanged (unless only syncing its directory failed)
 * and the temporary one is gone.
 */
int output__commit(struct output *output);

/* Drops all, removes the temporary file, frees the output. NULL is fine. */
void output__abort(struct output *output);

#endif
