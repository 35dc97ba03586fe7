/* SPDX-License-Identifier: MIT */
/*
 * remains - memory of a process that has ended, as far as the exit hook has saved it: read like
 * that of one that lives.
 */
#ifndef TICKSNICK_REMAINS_H
#define TICKSNICK_REMAINS_H

#include "engine.h"
#include "table.h"

struct remains;

/*
 * What was saved of targets[index]. Its descriptor, at table->address, is table->process; what was
 * not saved is zero. table is borrowed. NULL: out of memory.
 */
struct remains *remains__new(const struct engine *engine, uint32_t index,
			     const struct table *table);
void remains__free(struct remains *remains); /* NULL is fine */

/* The descriptor at table->address as it was at the end; false: it was not saved. */
bool remains__descriptor(const struct remains *remains, struct tsn_process *process);

/* Valid for as long as the remains are. */
struct remote remains__remote(struct remains *remains);

#endif
