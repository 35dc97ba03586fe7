/* SPDX-License-Identifier: MIT */
/*
 * census - the threads that are there when a session begins: one that sleeps through all of it, or
 * runs without a single switch, is seen by no hook, and counts like any other.
 */
#ifndef TICKSNICK_CENSUS_H
#define TICKSNICK_CENSUS_H

#include "engine.h"
#include "target.h"

/*
 * Gives every thread of the target a record, with what it waits for and in which label, unless a
 * hook has met it already. To be called while the hooks are live. 0 or a negative errno.
 */
int census__take(struct engine *engine, const struct target *target, uint32_t index);

#endif
