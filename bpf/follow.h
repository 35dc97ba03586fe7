/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * follow.h - makes targets of what a target forks and execs, where the session follows children.
 *
 * It is done at the fork and the exec themselves, so that nothing a child does is missed; the
 * recorder is told, and looks at what the child publishes later. A place of targets is for one
 * image of one process. The recorder gives places back when it has read what they hold.
 */
#ifndef TICKSNICK_BPF_FOLLOW_H
#define TICKSNICK_BPF_FOLLOW_H

#include "locate.h"
#include "thread.h"

/* From now on that process is targets[index]; as engine__watch(). */
static __always_inline void target_watch(__u32 tgid, __u32 index)
{
	__u64 *place = &control.watched[tgid % TSN_WATCHED];
	__u64 entry = tsn_watched_entry(tgid, index), old;

	bpf_map_update_elem(&target_index, &tgid, &index, BPF_ANY);
	old = __sync_val_compare_and_swap(place, 0, entry);
	if (!old)
		return;
	/* What stands there is another process, or an earlier image of this one. */
	if (old >> 32 != tgid || old == TSN_WATCHED_CROWDED ||
	    __sync_val_compare_and_swap(place, old, entry) != old)
		__sync_lock_test_and_set(place, TSN_WATCHED_CROWDED);
}

/* A free place, all zero; NULL: there is none, which is counted. */
static __always_inline struct tsn_target *target_take(__u32 *index)
{
	struct tsn_target *target = NULL;

	if (!bpf_map_pop_elem(&free_targets, index))
		target = bpf_map_lookup_elem(&targets, index);
	if (!target)
		count(TSN_COUNT_PROCESS_UNTRACKED);
	return target;
}

/* The place is filled; wakes the recorder, unless it is on its way already. */
static __always_inline void target_announce(struct tsn_target *target, __u32 index,
					    const struct tsn_target *from, __u32 from_index)
{
	target->from = from_index;
	target->from_serial = from->serial;
	target->serial = __sync_fetch_and_add(&control.serials, 1) + 1;
	/* An atomic one, so that all of the above is there before it. */
	__sync_lock_test_and_set(&target->state, TSN_TARGET_LIVE);
	if (__sync_fetch_and_add(&control.news, 1) == 0)
		bpf_ringbuf_output(&replaced, &index, sizeof(index), BPF_RB_FORCE_WAKEUP);
}

/* A target has forked a process, which does not run yet. */
static __noinline int child_follow(struct task_struct *child, struct tsn_target *parent,
				   __u32 parent_index)
{
	__u64 now = bpf_ktime_get_ns();
	struct tsn_thread *thread;
	struct tsn_target *target;
	__u32 index = 0;

	target = target_take(&index);
	if (!target)
		return 0;
	if (!parent->ready && !parent->execs)
		target_locate(bpf_get_current_task_btf(), parent);
	/* The child is a copy, or shares the memory: what there is lies where it lay. */
	target->tgid = child->tgid;
	target->tls_offset = parent->tls_offset;
	target->slots = parent->slots;
	target->slots_end = parent->slots_end;
	target->retired = parent->retired;
	target->labels_count = parent->labels_count;
	target->clock = parent->clock;
	target->clock_offset = parent->clock_offset;
	target->process = parent->process;
	target->contexts = parent->contexts;
	target->contexts_end = parent->contexts_end;
	target->ready = parent->ready;
	target->inherited = 1;
	target->forked = 1;
	target->own_pid = kernel__namespace_tid(child);
	target->seen_pid = kernel__tid_at(child, control.level);
	bpf_probe_read_kernel_str(target->comm, sizeof(target->comm), child->comm);
	target_watch(target->tgid, index);
	thread = thread_new(child, index, TSN_THREAD_WAITING, presence_time(now));
	if (thread)
		thread_note_account(thread, child);
	target_announce(target, index, parent, parent_index);
	return 0;
}

/*
 * A target has replaced its image, and only this thread, whose tid was old_tid, is left: its record
 * ends with the old image, and a new one begins. False: there is no place for the new image.
 */
static __noinline int image_follow(struct task_struct *task, struct tsn_target *old,
				   __u32 old_index, __u32 old_tid)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 index = 0, cpu_index = bpf_get_smp_processor_id();
	struct tsn_thread *thread = bpf_map_lookup_elem(&threads, &old_tid), *interim;
	struct tsn_target *target;
	struct tsn_cpu *cpu;
	__u32 tid = task->pid;

	target = target_take(&index);
	if (!target)
		return 0;
	/* Another thread than the leader is called as that one from here on. */
	if (old_tid != tid) {
		interim = bpf_map_lookup_elem(&threads, &tid);
		if (interim && thread)
			thread_rejoin(thread, interim);
		if (interim)
			bpf_map_delete_elem(&threads, &tid);
	}
	if (thread) {
		thread_close(thread, task, now, 0, false);
		presence_leave(thread, now);
		fold_exited(old, thread, now);
		bpf_map_delete_elem(&threads, &old_tid);
	}
	target->tgid = task->tgid;
	target->own_pid = old->own_pid;
	target->seen_pid = old->seen_pid;
	target->clock_offset = old->clock_offset;
	bpf_get_current_comm(target->comm, sizeof(target->comm));
	target_watch(target->tgid, index);
	thread = thread_new(task, index, TSN_THREAD_RUNNING, presence_time(now));
	if (thread)
		thread_note_account(thread, task);
	cpu = bpf_map_lookup_elem(&cpus, &cpu_index);
	if (cpu)
		cpu_occupy(cpu, task, thread);
	target_announce(target, index, old, old_index);
	__sync_lock_test_and_set(&old->state, TSN_TARGET_REPLACED);
	return 1;
}

#endif
