/* SPDX-License-Identifier: MIT */
/*
 * recordings - which recordings have been seen, and in which report: one that is counted twice
 * makes intervals narrower that should not be.
 */
#ifndef TICKSNICK_RECORDINGS_H
#define TICKSNICK_RECORDINGS_H

#include "profile.h"

/* Of an id: 16 hex digits and the end. */
#define RECORDINGS_ID_SIZE 17

struct recordings;

/* NULL: out of memory. */
struct recordings *recordings__new(void);
void recordings__free(struct recordings *recordings); /* NULL is fine */

/* The id of a report as it was recorded: a hash of what it holds. */
void recordings__id(const struct profile *profile, char id[RECORDINGS_ID_SIZE]);

/* The name of the report that brought any of the recordings in this one; NULL: none did. */
const char *recordings__seen_in(const struct recordings *recordings, const struct profile *profile);

/* name is borrowed for as long as the recordings live. 0 or -ENOMEM. */
int recordings__add(struct recordings *recordings, const struct profile *profile, const char *name);

#endif
