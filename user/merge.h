/* SPDX-License-Identifier: MIT */
/*
 * merge - several reports become one. Pure arithmetic on profiles: no files, no clock.
 *
 * What is added are integers, and sets in a total order; all else is recomputed from these, in one
 * order. So the result depends neither on the order of the reports nor on how they were grouped,
 * to the last bit, and merged reports merge like any other. docs/output.md has the rules.
 */
#ifndef TICKSNICK_MERGE_H
#define TICKSNICK_MERGE_H

#include <stdbool.h>

#include "profile.h"

#define MERGE_ERROR_SIZE 256

struct merge;

/* NULL: out of memory. */
struct merge *merge__new(void);
void merge__free(struct merge *merge); /* NULL is fine */

/*
 * Adds a report, and takes most of what it owns; the caller frees what is left of it. name is for
 * errors, and borrowed for as long as the merge lives. Returns 0 or a negative errno, with a clause
 * in error:
 * -EEXIST: a recording in it was added before, with another report (not with allow_same),
 * -EINVAL: it contradicts itself; both leave the merge as it was,
 * -ENOMEM: the merge is of no more use.
 */
int merge__add(struct merge *merge, struct profile *profile, const char *name, bool allow_same,
	       char error[MERGE_ERROR_SIZE]);

/* The merged report, which the caller frees; at least one was added. It may be called once. NULL:
 * out of memory. */
struct profile *merge__finish(struct merge *merge);

#endif
