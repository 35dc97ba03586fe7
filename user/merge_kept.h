/* SPDX-License-Identifier: MIT */
/*
 * merge_kept - rows that merging keeps as they are: recordings, threads, targets. Of threads and of
 * targets there is an end, or the report would be larger than what is read back.
 *
 * Which are kept is by a total order, and of the others how many there are is added. So both are
 * the same whatever the order and the grouping of the reports: the greatest of all are among the
 * greatest of any part.
 */
#ifndef TICKSNICK_MERGE_KEPT_H
#define TICKSNICK_MERGE_KEPT_H

#include "profile.h"

/* As many as a recording keeps of threads that exited, and names of processes that ended. */
#define MERGE_THREADS_MAX 4096
#define MERGE_TARGETS_MAX 4096

/* How many rows fit into the arrays of a sum; zero at first. */
struct merge_room {
	size_t sources, threads, targets;
};

/* Moves the rows of from to those of to. 0 or -ENOMEM. */
int merge_kept__add(struct profile *to, struct merge_room *room, struct profile *from);

/* Sorts all of them; counts threads and targets beyond the above in the losses, and frees them. */
void merge_kept__conclude(struct profile *profile);

#endif
