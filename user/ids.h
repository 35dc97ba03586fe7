/* SPDX-License-Identifier: MIT */
/*
 * ids - the ids of threads as the kernel side has them. Those are the ones of the machine's first
 * pid namespace, and so are a recorder's there. To a recorder in a container /proc shows the
 * container's, so that it has to ask the kernel for both.
 */
#ifndef TICKSNICK_IDS_H
#define TICKSNICK_IDS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <ticksnick/cells.h>

struct bpf_link;

struct ids {
	struct tsn_id *at; /* by seen; NULL: an id here is the same there */
	size_t count;
};

/* Asks the iterator that link is of (NULL: this is the first namespace). 0 or a negative errno; the
 * caller frees by ids__free(). */
int ids__read(struct bpf_link *link, struct ids *ids);
void ids__free(struct ids *ids);

/* The machine's id of a thread, or of a process, that is seen here as tid; 0: it is gone. */
uint32_t ids__find(const struct ids *ids, pid_t tid);

#endif
