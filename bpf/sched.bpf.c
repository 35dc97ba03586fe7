// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * sched.bpf.c - the scheduler's side: who runs where, and how long each thread of a target waited,
 * for what, in which label.
 *
 * The hooks run for every thread of the machine; whatever is no target's leaves after one bit test
 * per thread.
 */
#include "follow.h"

struct tsn_control control = {};

/* 1: children of targets are targets. Constant, so that where it is 0 nothing of it is in the
 * programs.
 */
const volatile __u32 follow_children = 0;

static __always_inline void switch_out(struct task_struct *prev, struct tsn_target *target,
				       __u32 index, bool preempt, const struct tsn_cpu *cpu,
				       __u64 now)
{
	__u32 tid = prev->pid, state;
	struct slot_head head;
	struct tsn_thread *thread = bpf_map_lookup_elem(&threads, &tid);
	__u64 misses = 0, switches;

	if (!thread) {
		if (prev->flags & PF_EXITING)
			return;
		thread = thread_new(prev, index, TSN_THREAD_RUNNING, thread_earliest(prev));
		if (!thread)
			return;
	} else if (thread->state != TSN_THREAD_WAITING) {
		switches = kernel__switches(prev);
		if (thread->exec_known && switches > thread->switches + 1)
			misses = switches - thread->switches - 1;
		ticks_missed(thread, cpu, now);
	}
	wait_revise(thread);
	thread_close(thread, prev, now, misses, true);
	wait_revise(thread);	/* that one, too, whose end fired no event */
	thread->target = index; /* another one since its process has replaced its image */

	thread->unknown = 1;
	switch (slot_read(target, prev, thread->ns_tid, &thread->slot, &head)) {
	case SLOT_UNREADABLE:
		count(TSN_COUNT_SLOT_UNREADABLE_SWITCH);
		break;
	case SLOT_FOREIGN:
		count(TSN_COUNT_SLOT_FOREIGN_SWITCH);
		break;
	default:
		thread->unknown = 0;
		break;
	}
	thread->fine = head.fine;
	thread->coarse = head.coarse;
	thread->chain.role = TSN_CELL_OWN;
	thread->chain.places = 0;
	thread->context = head.context;
	thread->waited_until = 0;
	if (head.coarse)
		context_read(index, head.context, head.coarse, &thread->chain);

	state = kernel__task_state(prev);
	if (preempt || !(state & ~TASK_NOLOAD) || (state & TASK_WAKING))
		thread->wait = TSN_WAIT_RUNNABLE;
	else if ((state & TASK_UNINTERRUPTIBLE) && !(state & TASK_NOLOAD))
		thread->wait = TSN_WAIT_IO;
	else
		thread->wait = TSN_WAIT_BLOCKED;
	thread->state = TSN_THREAD_WAITING;
	thread->since = now;
	thread->woken = 0;
	thread->tick_seen = 0;
	thread_note_account(thread, prev);
	presence_enter(thread, head.fine, now);
}

/* Returns the record; NULL: none. */
static __always_inline struct tsn_thread *switch_in(struct task_struct *next, __u32 index,
						    __u64 now)
{
	__u32 tid = next->pid;
	struct tsn_thread *thread = bpf_map_lookup_elem(&threads, &tid);
	__u64 since, ran;

	if (!thread) {
		if (next->flags & PF_EXITING)
			return NULL;
		thread = thread_new(next, index, TSN_THREAD_WAITING, thread_earliest(next));
		if (!thread)
			return NULL;
		count(TSN_COUNT_SWITCH_MISSED);
	}
	since = thread->since;
	if (clock_stepped(since, now))
		now = since;
	if (thread->state == TSN_THREAD_UNSEEN) {
		thread->wait = TSN_WAIT_RUNNABLE;
		thread->woken = 0;
	} else if (thread->state == TSN_THREAD_RUNNING) {
		/* Its switch-out fired no event: the account says how long it ran, and that it ran
		 * first. */
		count(TSN_COUNT_SWITCH_MISSED);
		ran = thread->exec_known ? thread_account(thread, next, now - since) : now - since;
		thread->running_ns += thread_span(since, since + ran);
		since += ran;
		thread->wait = thread->woken ? TSN_WAIT_BLOCKED : TSN_WAIT_RUNNABLE;
		thread_note_account(thread, next);
	}
	charge_wait(thread, since, now);
	presence_leave(thread, now);
	thread->state = TSN_THREAD_RUNNING;
	thread->since = now;
	thread->woken = 0;
	return thread;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u32 out_index = 0, in_index = 0, cpu_index;
	struct tsn_target *out, *in;
	struct tsn_cpu *cpu;
	__u64 now;

	out = target_find(prev->tgid, &out_index);
	in = target_find(next->tgid, &in_index);
	if (control.stop_ns)
		return 0;
	/* The barrier keeps the compiler from joining the two tests into pointer arithmetic, which
	 * is refused. */
	barrier_var(out);
	if (!out) {
		barrier_var(in);
		if (!in)
			return 0;
	}
	cpu_index = bpf_get_smp_processor_id();
	cpu = bpf_map_lookup_elem(&cpus, &cpu_index);
	if (!cpu)
		return 0;
	now = bpf_ktime_get_ns();
	cpu->tgid = 0;
	if (out)
		switch_out(prev, out, out_index, preempt, cpu, now);
	if (in)
		cpu_occupy(cpu, next, switch_in(next, in_index, now));

	if (cpu->switch_runs++ % TSN_TIMED_EVERY == 0) {
		cpu->switch_timed_ns += bpf_ktime_get_ns() - now;
		cpu->switch_timed++;
	}
	return 0;
}

static __always_inline int wakeup(struct task_struct *task)
{
	__u32 index, tid;
	struct tsn_thread *thread;

	if (control.stop_ns || !target_find(task->tgid, &index))
		return 0;
	tid = task->pid;
	thread = bpf_map_lookup_elem(&threads, &tid);
	/* The first wakeup ends the wait; one that finds the thread running tells of a switch-out
	 * that fired no event. */
	if (thread && !thread->woken)
		thread->woken = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task)
{
	return wakeup(task);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 index, tid;
	struct tsn_target *target;
	struct tsn_thread *thread;
	__u64 now;

	if (control.stop_ns)
		return 0;
	target = target_find(parent->tgid, &index);
	if (child->tgid != parent->tgid) {
		target_forget(child->tgid);
		if (!target)
			return 0;
		__sync_fetch_and_add(&target->forks, 1);
		if (follow_children)
			child_follow(child, target, index);
		return 0;
	}
	if (!target)
		return 0;
	now = bpf_ktime_get_ns();
	tid = child->pid;
	thread = bpf_map_lookup_elem(&threads, &tid);
	if (thread) {
		/* A record under this tid can only be of a thread whose exit fired no event. */
		count(TSN_COUNT_THREAD_UNTRACKED);
		struct tsn_target *former = bpf_map_lookup_elem(&targets, &thread->target);

		presence_leave(thread, thread->since);
		if (former)
			fold_exited(former, thread, thread->since);
		bpf_map_delete_elem(&threads, &tid);
	}
	thread = thread_new(child, index, TSN_THREAD_WAITING, presence_time(now));
	if (thread)
		thread_note_account(thread, child);
	return 0;
}

/* ---- the end of threads, images and processes ---- */

struct calls_reader {
	__u64 from;   /* user address of uint64_t[TSN_LABELS_MAX] */
	__u32 target; /* index */
	__u32 failed;
};

static long calls_add_one(__u32 label, struct calls_reader *reader)
{
	__u32 index = reader->target * TSN_LABELS_MAX + label;
	__u64 n, *sum;

	if (bpf_probe_read_user(&n, sizeof(n), (void *)(reader->from + label * sizeof(n)))) {
		reader->failed = 1;
		return 1;
	}
	sum = label ? bpf_map_lookup_elem(&final_calls, &index) : NULL;
	if (sum && n)
		__sync_fetch_and_add(sum, n);
	return 0;
}

/* Adds the calls that stand at one user address to final_calls. bpf_loop: from 5.17, and the caller
 * needs 6.16 anyway. */
static __always_inline bool calls_add(__u64 from, __u32 target, __u32 labels)
{
	struct calls_reader reader = {.from = from, .target = target};

	bpf_loop(labels < TSN_LABELS_MAX ? labels : TSN_LABELS_MAX, calls_add_one, &reader, 0);
	return !reader.failed;
}

struct pieces_reader {
	__u64 from; /* user address */
	__u32 target;
	__u32 serial;
	__u32 blocks; /* handed in */
	__u32 failed;
	__u32 pad;
};

/* Nothing at all stands for zeros, and for pages that were never touched. */
static long piece_copy(__u32 number, struct pieces_reader *reader)
{
	__u64 words[8], at = reader->from + number * sizeof(words);
	struct tsn_piece *piece;
	__u64 place;
	__u32 slot;

	if (bpf_probe_read_user(words, sizeof(words), (void *)at) ||
	    !(words[0] | words[1] | words[2] | words[3] | words[4] | words[5] | words[6] |
	      words[7]))
		return 0;
	place = __sync_fetch_and_add(&control.pieces, 1);
	slot = place % TSN_PIECES_MAX;
	piece = bpf_map_lookup_elem(&pieces, &slot);
	if (!piece || place - control.pieces_done >= TSN_PIECES_MAX) {
		reader->failed = 1;
		return 1;
	}
	piece->address = at;
	piece->target = reader->target;
	piece->serial = reader->serial;
	__builtin_memcpy(piece->words, words, sizeof(words));
	return 0;
}

static long block_copy(__u32 number, struct pieces_reader *reader)
{
	struct pieces_reader block = {
		.from = reader->from + (__u64)number * TSN_DURATIONS_STRIDE,
		.target = reader->target,
		.serial = reader->serial,
	};
	struct {
		__u32 label, owner;
		__u64 count;
	} head;

	if (bpf_probe_read_user(&head, sizeof(head), (void *)block.from) || !head.label ||
	    !head.count)
		return 0;
	if (reader->blocks++ >= TSN_FINAL_BLOCKS_MAX) {
		reader->failed = 1;
		return 1;
	}
	bpf_loop(TSN_DURATIONS_STRIDE / sizeof(((struct tsn_piece *)0)->words), piece_copy, &block,
		 0);
	reader->failed |= block.failed;
	return block.failed != 0;
}

/* Ids that the process has given to labels, as it says itself. */
static __always_inline __u32 labels_registered(const struct tsn_target *target)
{
	__u32 count;

	if (bpf_probe_read_user(
		    &count, sizeof(count),
		    (void *)(target->process + offsetof(struct tsn_process, labels_count))))
		return target->labels_count;
	return count < TSN_LABELS_MAX ? count : TSN_LABELS_MAX;
}

/* The descriptor of a process that ends, and the names that the recorder has not read yet. */
static __always_inline void descriptor_take(struct tsn_target *target, __u32 index, __u32 labels)
{
	struct pieces_reader reader = {
		.from = target->process, .target = index, .serial = target->serial};
	__u32 known = target->labels_count;
	__u64 names;

	bpf_loop(sizeof(struct tsn_process) / sizeof(((struct tsn_piece *)0)->words), piece_copy,
		 &reader, 0);
	if (labels > known && labels <= TSN_LABELS_MAX &&
	    !bpf_probe_read_user(
		    &names, sizeof(names),
		    (void *)(target->process + offsetof(struct tsn_process, labels)))) {
		reader.from = names + known * sizeof(struct tsn_label);
		bpf_loop((labels - known) * sizeof(struct tsn_label) /
					 sizeof(((struct tsn_piece *)0)->words) +
				 1,
			 piece_copy, &reader, 0);
	}
	target->described = reader.failed ? 2 : 1;
}

/* The executions of a process that ends, and what it has open. */
static __always_inline void final_take(struct tsn_target *target, __u32 index)
{
	struct tsn_final *final = &target->final;
	struct pieces_reader reader = {.target = index, .serial = target->serial};
	__u64 from = target->process;
	__u32 n;

	if (bpf_probe_read_user(&final->contexts, 16,
				(void *)(from + offsetof(struct tsn_process, contexts))) ||
	    bpf_probe_read_user(&final->durations, 32,
				(void *)(from + offsetof(struct tsn_process, durations))) ||
	    !final->durations || final->durations_stride != TSN_DURATIONS_STRIDE)
		return;
	reader.from = final->durations;
	n = final->durations_used;
	/* Nothing else runs on this CPU meanwhile. */
	if (n > TSN_FINAL_HEADS_MAX) {
		n = TSN_FINAL_HEADS_MAX;
		reader.failed = 1;
	}
	bpf_loop(n, block_copy, &reader, 0);
	reader.from = final->contexts;
	n = final->contexts_used;
	bpf_loop(n < TSN_CONTEXTS_MAX ? n + 1 : TSN_CONTEXTS_MAX, piece_copy, &reader, 0);
	final->state = reader.failed ? TSN_FINAL_PARTIAL : TSN_FINAL_COMPLETE;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	__u32 index, tid = task->pid;
	struct tsn_target *target;
	struct tsn_thread *thread;
	__u64 now;

	if (control.stop_ns)
		return 0;
	target = target_find(task->tgid, &index);
	if (!target)
		return 0;
	thread = bpf_map_lookup_elem(&threads, &tid);
	if (!thread) {
		thread = thread_new(task, index, TSN_THREAD_RUNNING, thread_earliest(task));
		if (!thread)
			return 0;
	}
	now = bpf_ktime_get_ns();
	thread_close(thread, task, now, 0, false);
	bpf_get_current_comm(thread->comm, sizeof(thread->comm));
	if (tid == target->tgid)
		__builtin_memcpy(target->comm, thread->comm, sizeof(target->comm));
	fold_exited(target, thread, now);
	bpf_map_delete_elem(&threads, &tid);
	return 0;
}

/*
 * Whether the memory is still as the parent of the process left it: it has never registered, so it
 * has no calls of its own.
 */
static __always_inline bool unregistered(const struct tsn_target *target)
{
	__u32 pid = 0;

	return target->inherited &&
	       (bpf_probe_read_user(
			&pid, sizeof(pid),
			(void *)(target->process + offsetof(struct tsn_process, pid))) ||
		pid != target->own_pid);
}

/*
 * What the current thread has to say when it ends, or its process's image does: its own calls, if
 * all threads end with it; last: those of threads that are gone, the executions of coarse labels
 * and the descriptor, too.
 */
static __noinline int last_words(struct task_struct *task, struct tsn_target *target, __u32 index,
				 bool ends_all, bool last)
{
	__u32 labels = labels_registered(target);
	struct slot_head head;
	__u64 folds[2] = {}, slot = 0;

	if (unregistered(target)) {
		if (last)
			target->calls_final = 1;
		return 0;
	}
	if (slot_read(target, task, kernel__namespace_tid(task), &slot, &head) == SLOT_OK) {
		/* A thread that ends alone has given its slot back, unless it has gone round its
		 * library: then its calls stay there, and are in no final sum. */
		if (!ends_all || !calls_add(slot + TSN_SLOT_COUNTS_OFFSET, index, labels))
			target->calls_final = 2;
	}
	if (!last)
		return 0;
	if (!calls_add(target->retired, index, labels) ||
	    bpf_probe_read_user(
		    folds, sizeof(folds),
		    (void *)(target->process + offsetof(struct tsn_process, folds_begun))) ||
	    folds[0] != folds[1])
		target->calls_final = 2;
	if (!target->calls_final)
		target->calls_final = 1;
	descriptor_take(target, index, labels);
	final_take(target, index);
	return 0;
}

/*
 * The calls of a process that ends as a whole: each thread hands in its own slot's, the last one
 * the retired ones and the executions of coarse labels. Loaded only where the event says which
 * thread is the last, because there (from 6.16) it also still finds the address space; on older
 * kernels the latest periodic reading must do.
 */
SEC("?tp_btf/sched_process_exit")
int BPF_PROG(on_exit_calls, struct task_struct *task, bool group_dead)
{
	__u32 index;
	struct tsn_target *target;
	bool ends_all = group_dead || task->signal->flags & SIGNAL_GROUP_EXIT;

	if (control.stop_ns)
		return 0;
	target = target_find(task->tgid, &index);
	if (!target || !target->ready)
		return 0;
	return last_words(task, target, index, ends_all, group_dead);
}

/*
 * The same of an image that is about to be replaced by its only thread. (Of several, the others
 * still run here, and have no say later.) Loaded where there is this event, from 6.10 on.
 */
SEC("?tp_btf/sched_prepare_exec")
int BPF_PROG(on_prepare_exec, struct task_struct *task)
{
	__u32 index;
	struct tsn_target *target;

	if (control.stop_ns || !follow_children)
		return 0;
	target = target_find(task->tgid, &index);
	if (!target || !target->ready || task->signal->nr_threads != 1)
		return 0;
	return last_words(task, target, index, true, true);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_tid)
{
	__u32 index, from = old_tid, tid = task->pid;
	struct tsn_target *target;
	struct tsn_thread *thread, *interim;

	if (control.stop_ns)
		return 0;
	target = target_find(task->tgid, &index);
	if (!target)
		return 0;
	if (follow_children && image_follow(task, target, index, from))
		return 0;
	/* The addresses are of an image that is gone. */
	target->ready = 0;
	__sync_fetch_and_add(&target->execs, 1);
	bpf_ringbuf_output(&replaced, &index, sizeof(index), BPF_RB_FORCE_WAKEUP);
	thread = bpf_map_lookup_elem(&threads, &from);
	if (!thread)
		return 0;
	thread->slot = 0;
	thread->tick_fine = 0;
	thread->waited_until = 0;
	bpf_get_current_comm(thread->comm, sizeof(thread->comm));
	if (from == tid)
		return 0;
	/* Another thread than the leader has replaced the image: it goes on under the leader's tid.
	 */
	interim = bpf_map_lookup_elem(&threads, &tid);
	if (interim)
		thread_rejoin(thread, interim);
	thread->tid = tid;
	thread->ns_tid = kernel__namespace_tid(task);
	thread->seen_tid = kernel__tid_at(task, control.level);
	bpf_map_update_elem(&threads, &tid, thread, BPF_ANY);
	bpf_map_delete_elem(&threads, &from);
	return 0;
}

char LICENSE[] __weak SEC("license") = "Dual MIT/GPL";
