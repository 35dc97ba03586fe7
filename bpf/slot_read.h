/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * slot_read.h - reads the slot of a thread from user memory, which somebody else controls: a slot
 * is believed only if it lies in its process's slot table and names the thread as its owner.
 */
#ifndef TICKSNICK_BPF_SLOT_READ_H
#define TICKSNICK_BPF_SLOT_READ_H

#include "maps.h"

enum slot_result {
	SLOT_OK,
	SLOT_NONE, /* the thread has no slot, or the target has published none, or not registered
		      anew since it was forked: it is in no label */
	SLOT_UNREADABLE, /* a page is not there */
	SLOT_FOREIGN,	 /* the pointer leads to no slot of this thread */
};

/* The first words of struct tsn_slot. */
struct slot_head {
	__u32 fine;
	__u32 coarse;
	__u64 context;
	__u32 tid;
	__u32 generation;
};

static __always_inline bool slot_in_table(const struct tsn_target *target, __u64 slot)
{
	return slot >= target->slots && slot < target->slots_end;
}

/*
 * Reads the slot of a thread that shares the current address space. *slot is where it was when last
 * read (0: not known), and is brought up to date. On anything but SLOT_OK the head is all zero.
 */
static __always_inline enum slot_result slot_read(struct tsn_target *target, const void *task,
						  __u32 ns_tid, __u64 *slot, struct slot_head *head)
{
	__u64 at = *slot;

	if (!target->ready) {
		*slot = 0;
		goto none;
	}
	if (at && slot_in_table(target, at) &&
	    !bpf_probe_read_user(head, sizeof(*head), (void *)at) && head->tid == ns_tid)
		goto check;

	*slot = 0;
	if (bpf_probe_read_user(&at, sizeof(at),
				(void *)(kernel__thread_pointer(task) + target->tls_offset))) {
		__builtin_memset(head, 0, sizeof(*head));
		return target->inherited ? SLOT_NONE : SLOT_UNREADABLE;
	}
	if (!at)
		goto none;
	if (!slot_in_table(target, at))
		goto foreign;
	if (bpf_probe_read_user(head, sizeof(*head), (void *)at)) {
		__builtin_memset(head, 0, sizeof(*head));
		return target->inherited ? SLOT_NONE : SLOT_UNREADABLE;
	}
	/* One that replaces the image has the leader's tid already, and still its own slot. */
	if (head->tid != ns_tid && !kernel__in_execve(task))
		goto foreign;
	*slot = at;
	if (target->inherited)
		target->inherited = 0;
check:
	if (head->fine >= TSN_LABELS_MAX || head->coarse >= TSN_LABELS_MAX)
		goto foreign;
	return SLOT_OK;
none:
	__builtin_memset(head, 0, sizeof(*head));
	return SLOT_NONE;
foreign:
	__builtin_memset(head, 0, sizeof(*head));
	return target->inherited ? SLOT_NONE : SLOT_FOREIGN;
}

#endif
