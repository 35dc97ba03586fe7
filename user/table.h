/* SPDX-License-Identifier: MIT */
/*
 * table - what a process publishes: its descriptor, its label names, the calls of its threads.
 * Reads through struct remote and believes nothing it has not checked against the ABI's own limits.
 */
#ifndef TICKSNICK_TABLE_H
#define TICKSNICK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ticksnick/cells.h>

#include "remote.h"

#define TABLE_NAME_SIZE (TSN_NAME_SIZE + 16) /* room for a family's [index] */

struct table_label {
	char name[TABLE_NAME_SIZE];
	uint32_t kind; /* enum tsn_kind; TSN_KIND_NONE: not read yet, or nonsense */
};

/* Copies of what the process published when last read; addresses are the process's. */
struct table {
	uint64_t address; /* of the leader's descriptor */
	/* contexts and durations are 0 where there are none, and where they contradict the ABI. */
	struct tsn_process process;
	struct table_label labels[TSN_LABELS_MAX];
	uint32_t label_count;	/* of labels[] that are read; 1 at least once a table is found */
	uint64_t distrusted;	/* labels whose entry was nonsense */
	bool coarse_distrusted; /* so was what it last said of contexts or durations */
};

/*
 * Reads the descriptor at address, or at the leader's address it names. pid: what the process calls
 * itself. 0; -EAGAIN: nothing is registered yet; -EINVAL: it is not a descriptor of this ABI, or
 * contradicts itself; -ESTALE: it is that of another process (a fork that bypassed the handlers);
 * else what reading failed with. *table is all zero or was opened before, and is not touched unless
 * the descriptor is found.
 */
int table__open(struct table *table, const struct remote *remote, uint64_t address, uint32_t pid);

/* Copies what is in use of it: tables are large, and mostly not touched. */
void table__copy(struct table *to, const struct table *from);

/* Reads the descriptor again. -EINVAL: it contradicts itself or what it said before, else 0 or what
 * reading failed with, and *process may be anything then. */
int table__read_process(const struct table *table, const struct remote *remote,
			struct tsn_process *process);

/* Reads the descriptor again and the labels that came since. 0 or a negative errno. */
int table__refresh(struct table *table, const struct remote *remote);

/* Takes over what a process that has ended said of its coarse labels last, as far as it makes
 * sense. */
void table__finish(struct table *table, const struct tsn_final *final);

/* Calls by label id, retired ones and those in slots, and in how many slots a label was called
 * (callers may be NULL). */
struct table_calls {
	uint64_t calls[TSN_LABELS_MAX];
	uint32_t callers[TSN_LABELS_MAX];
};

/*
 * Reads them. -EAGAIN: threads kept exiting while they were read, so the sums may count a thread's
 * calls twice or not at all; they are the best there is. Else 0 or a negative errno, and *calls is
 * untouched.
 */
int table__read_calls(struct table *table, const struct remote *remote, struct table_calls *calls);

/* Heads of slots 0 .. *count - 1; the caller frees *heads. 0 or a negative errno. */
int table__read_heads(const struct table *table, const struct remote *remote,
		      struct tsn_slot **heads, size_t *count);

/*
 * The accounts of a thread whose slot has that head, besides (fine, coarse) itself; all zero where
 * coarse is 0. -EINVAL: the context is none, or its entry is nonsense. Else 0 or what reading
 * failed with. The thread must not run meanwhile.
 */
int table__read_chain(const struct table *table, const struct remote *remote,
		      const struct tsn_slot *head, struct tsn_chain *chain);

#endif
