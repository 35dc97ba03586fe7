/* SPDX-License-Identifier: MIT */
/*
 * pids - a list of process ids as a user types it.
 */
#ifndef TICKSNICK_PIDS_H
#define TICKSNICK_PIDS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Reads "12" or "12,34,56" into pids, at most capacity, and counts them in *count; a repeated id
 * counts once. 0; -EINVAL: not a list of numbers from 1 to 4194304 (the kernel's limit of a pid);
 * -E2BIG: more than capacity. *count is untouched on failure.
 */
int pids__parse(const char *text, pid_t *pids, size_t capacity, size_t *count);

#endif
