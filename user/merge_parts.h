/* SPDX-License-Identifier: MIT */
/*
 * merge_parts - what the files of merge share.
 */
#ifndef TICKSNICK_MERGE_PARTS_H
#define TICKSNICK_MERGE_PARTS_H

#include "merge.h"

/* Whether a report makes sense: no row holds more than what it is a part of. 0, or -EINVAL with a
 * clause. */
int merge_check__report(const struct profile *profile, char error[MERGE_ERROR_SIZE]);

/* Of a report that is not merged yet: makes it one that is merged of itself alone, as far as sums
 * go. 0 or -ENOMEM. */
int merge_leaf__prepare(struct profile *profile);

/* From sums and sources: everything else. Arrays are in order of what they are of. 0 or -ENOMEM. */
int merge_conclude__profile(struct profile *profile);

/* True for warnings that follow from what a report holds, so that merging makes them anew. */
bool merge_warnings__recomputed(const char *code);

/* Adds what there is to say of the reports as a whole; rows and totals are there. 0 or -ENOMEM. */
int merge_warnings__fill(struct profile *profile);

#endif
