/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * maps.h - the maps and the control block; weak, so that each object file that includes this
 * defines the same ones.
 */
#ifndef TICKSNICK_BPF_MAPS_H
#define TICKSNICK_BPF_MAPS_H

#include "kernel.h"
#include <ticksnick/cells.h>

/* tgid -> index of targets, for those that share a place in control.watched */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TSN_TARGETS_MAX);
	__type(key, __u32);
	__type(value, __u32);
} target_index __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TSN_TARGETS_MAX);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct tsn_target);
} targets __weak SEC(".maps");

/* Free places of targets, where children are followed. The recorder fills it. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, TSN_FOLLOWED_MAX);
	__uint(key_size, 0);
	__uint(value_size, sizeof(__u32));
} free_targets __weak SEC(".maps");

/* tid in the initial namespace -> record */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TSN_THREADS_MAX);
	__type(key, __u32);
	__type(value, struct tsn_thread);
} threads __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TSN_CELLS_MAX);
	__type(key, struct tsn_cell_key);
	__type(value, struct tsn_cell);
} cells __weak SEC(".maps");

/* target index * TSN_LABELS_MAX + fine label */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TSN_TARGETS_MAX *TSN_LABELS_MAX);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct tsn_presence);
} presence __weak SEC(".maps");

/* by CPU */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TSN_CPUS_MAX);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct tsn_cpu);
} cpus __weak SEC(".maps");

/* Records of threads that exited: struct tsn_thread. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} exited __weak SEC(".maps");

/* The index of a target whose image was replaced, or that is new; wakes the recorder, for its
 * labels wait for that. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 12);
} replaced __weak SEC(".maps");

/* Calls by target index * TSN_LABELS_MAX + label, of a process that has ended; see struct
 * tsn_target.calls_final. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TSN_TARGETS_MAX *TSN_LABELS_MAX);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, __u64);
} final_calls __weak SEC(".maps");

/* What processes that ended leave of their durations and pools: a ring, see control.pieces. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TSN_PIECES_MAX);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct tsn_piece);
} pieces __weak SEC(".maps");

extern struct tsn_control control; /* defined in sched.bpf.c */

static __always_inline void count_add(enum tsn_counter counter, __u64 n)
{
	__sync_fetch_and_add(&control.counters[counter], n);
}

static __always_inline void count(enum tsn_counter counter)
{
	count_add(counter, 1);
}

/* The target that a process is, NULL if it is none. *index is its place in targets. */
static __always_inline struct tsn_target *target_find(__u32 tgid, __u32 *index)
{
	__u64 entry = control.watched[tgid % TSN_WATCHED];
	__u32 *found;

	if (entry == TSN_WATCHED_CROWDED) {
		found = bpf_map_lookup_elem(&target_index, &tgid);
		if (!found)
			return NULL;
		*index = *found;
	} else {
		if (!entry || entry >> 32 != tgid) /* tgid 0 is the idle task */
			return NULL;
		*index = (__u32)entry;
	}
	return bpf_map_lookup_elem(&targets, index);
}

/*
 * A process begins that is called tgid: a target of that name has ended, so it is none any more.
 * What its threads had was handed over as each of them ended.
 */
static __always_inline void target_forget(__u32 tgid)
{
	__u32 index;

	if (!target_find(tgid, &index))
		return;
	bpf_map_delete_elem(&target_index, &tgid);
	/* Unless others have come to share the place meanwhile. */
	__sync_val_compare_and_swap(&control.watched[tgid % TSN_WATCHED],
				    tsn_watched_entry(tgid, index), 0);
}

static const struct tsn_cell cell_zero;

/* The cell of (target, fine, coarse, role), made on first use; NULL: the table is full. */
static __always_inline struct tsn_cell *cell_get(__u32 target, __u32 fine, __u32 coarse, __u32 role)
{
	struct tsn_cell_key key = {.target = target, .fine = fine, .coarse = coarse, .role = role};
	struct tsn_cell *cell = bpf_map_lookup_elem(&cells, &key);

	if (cell)
		return cell;
	bpf_map_update_elem(&cells, &key, &cell_zero, BPF_NOEXIST);
	return bpf_map_lookup_elem(&cells, &key);
}

#endif
