// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * tick.bpf.c - one firing of a CPU's timer: which label the thread that runs here is in, and, as a
 * glance, how many of the process's other running threads are in the same one.
 */
#include "pace.h"
#include "thread.h"

const volatile __u32 cpu_count __weak = TSN_CPUS_MAX; /* possible CPUs */

/*
 * The task that runs on that CPU at this instant if it is a thread of the process, else NULL. Not
 * what the switch hook noted, if that can be helped: an event that was lost leaves a thread there
 * that has gone, or hides one that has come.
 */
static __always_inline struct task_struct *thread_there(const struct tsn_cpu *cpu, __u32 cpu_index,
							__u32 tgid)
{
	struct task_struct *task;

	if (cpu->runqueue) {
		task = kernel__current_of(cpu->runqueue);
		return (__u32)BPF_CORE_READ(task, tgid) == tgid ? task : NULL;
	}
	task = (struct task_struct *)cpu->task;
	if (cpu->tgid != tgid || (__u32)BPF_CORE_READ(task, pid) != cpu->tid ||
	    !kernel__runs_on(task, cpu_index))
		return NULL;
	return task;
}

/*
 * The two functions below are global so that the verifier looks at each once, not once per turn of
 * the loops that call them.
 */

/* 1 if a thread of the process runs on that CPU, else 0. */
__noinline int runs_there(__u32 cpu_index, __u32 tgid)
{
	struct tsn_cpu *cpu = bpf_map_lookup_elem(&cpus, &cpu_index);

	return cpu && thread_there(cpu, cpu_index, tgid);
}

#define GLANCE_INSIDE  1
#define GLANCE_PARTIAL 2

/*
 * Looks at what runs on that CPU: GLANCE_INSIDE if it is a thread of the target in that label,
 * GLANCE_PARTIAL if it is one of the target whose slot could not be read. It runs in the current
 * address space, so its slot can be read from here.
 */
__noinline int glance_there(__u32 cpu_index, __u32 target_index, __u32 fine)
{
	struct tsn_cpu *cpu = bpf_map_lookup_elem(&cpus, &cpu_index);
	struct tsn_target *target = bpf_map_lookup_elem(&targets, &target_index);
	struct task_struct *task;
	struct slot_head head;
	enum slot_result result;
	__u32 ns_tid;
	__u64 slot;

	if (!cpu || !target)
		return 0;
	task = thread_there(cpu, cpu_index, target->tgid);
	if (!task)
		return 0;
	/* What the hook noted saves the way to the slot, where it is of this thread. */
	slot = cpu->slot;
	ns_tid = cpu->ns_tid;
	if ((__u32)BPF_CORE_READ(task, pid) != cpu->tid) {
		slot = 0;
		ns_tid = kernel__namespace_tid(task);
	}
	result = slot_read(target, task, ns_tid, &slot, &head);
	if (result == SLOT_UNREADABLE)
		return GLANCE_PARTIAL;
	return result == SLOT_OK && head.fine == fine ? GLANCE_INSIDE : 0;
}

/* Threads of the process that run now, the current one included. */
static __always_inline __u32 running_count(__u32 tgid, __u32 self_cpu)
{
	__u32 i, n = 0;

	for (i = 0; i < TSN_CPUS_MAX && i < cpu_count; i++)
		if (i != self_cpu)
			n += runs_there(i, tgid);
	return n + 1;
}

/* Threads of the process that run now in that label, the current one included. */
static __always_inline __u32 glance_take(__u32 target_index, __u32 self_cpu, __u32 fine)
{
	__u32 i, seen, inside = 1, partial = 0;

	for (i = 0; i < TSN_CPUS_MAX && i < cpu_count; i++) {
		if (i == self_cpu)
			continue;
		seen = glance_there(i, target_index, fine);
		inside += seen & GLANCE_INSIDE;
		partial |= seen & GLANCE_PARTIAL;
	}
	if (partial)
		count(TSN_COUNT_GLANCE_PARTIAL);
	return inside;
}

/*
 * A glance costs as much as threads run, and as many ticks take one; beyond TSN_GLANCE_MAX running
 * threads r, one tick in r / TSN_GLANCE_MAX takes it and counts for as many, so a tick costs the
 * same on any machine.
 */
static __always_inline void glance(const struct tsn_target *target, struct tsn_cell *cell,
				   __u32 index, __u32 self_cpu, __u32 fine, __u64 period)
{
	struct tsn_presence *off = presence_of(index, fine);
	__u32 running = running_count(target->tgid, self_cpu), inside = 1;
	__u64 weight = period;

	if (running > TSN_GLANCE_MAX) {
		if (bpf_get_prandom_u32() % running >= TSN_GLANCE_MAX)
			return;
		weight = period * running / TSN_GLANCE_MAX;
	}
	if (running > 1)
		inside = glance_take(index, self_cpu, fine);
	__sync_fetch_and_add(&cell->glances, 1);
	count(TSN_COUNT_GLANCES);
	if (off && off->outside > 0) {
		__sync_fetch_and_add(&cell->glances_shared, 1);
		return;
	}
	if (inside > 1)
		__sync_fetch_and_add(&cell->glances_shared, 1);
	__sync_fetch_and_add(&cell->elapsed_on_ns, weight / inside);
}

/* True if the thread's previous tick found the same execution of the same label. */
static __always_inline bool still_inside(struct tsn_thread *thread, __u32 fine)
{
	bool same = false;
	__u64 calls;

	if (bpf_probe_read_user(
		    &calls, sizeof(calls),
		    (void *)(thread->slot + TSN_SLOT_COUNTS_OFFSET + fine * sizeof(calls)))) {
		thread->tick_fine = 0;
		return false;
	}
	same = thread->tick_fine == fine && thread->tick_count == calls;
	thread->tick_fine = fine;
	thread->tick_count = calls;
	return same;
}

/* The record of the running thread, made or repaired where an event is missing. */
static __always_inline struct tsn_thread *thread_at_tick(struct task_struct *task, __u32 index,
							 __u64 now)
{
	__u32 tid = task->pid;
	struct tsn_thread *thread = bpf_map_lookup_elem(&threads, &tid);

	if (!thread)
		return thread_new(task, index, TSN_THREAD_RUNNING, thread_earliest(task));
	if (thread->state == TSN_THREAD_UNSEEN) {
		thread->state = TSN_THREAD_RUNNING;
	} else if (thread->state == TSN_THREAD_WAITING && !thread->tick_seen) {
		/* Its switch-in fired no event; the next switch-out settles the time, S(l) cannot
		 * wait for it. */
		thread->tick_seen = now;
		presence_leave(thread,
			       thread->exec_known && now > thread->since
				       ? now - thread_account(thread, task, now - thread->since)
				       : now);
	}
	return thread;
}

static __always_inline void tick_target(struct bpf_perf_event_data *ctx, struct task_struct *task,
					struct tsn_target *target, __u32 index, struct tsn_cpu *cpu,
					__u32 cpu_index, __u64 now)
{
	__u64 period = cpu->period_ns, weight = period >> 10;
	struct tsn_thread *thread = thread_at_tick(task, index, now);
	bool kernel = (__s64)PT_REGS_IP(&ctx->regs) < 0;
	struct charge charge = {};
	struct tsn_chain chain = {};
	struct slot_head head;
	struct tsn_cell *cell;

	if (!thread)
		return;
	if (thread->state == TSN_THREAD_RUNNING)
		ticks_missed(thread, cpu, now - period);
	wait_revise(thread);
	switch (slot_read(target, task, thread->ns_tid, &thread->slot, &head)) {
	case SLOT_UNREADABLE:
		count(TSN_COUNT_SLOT_UNREADABLE_TICK);
		break;
	case SLOT_FOREIGN:
		count(TSN_COUNT_SLOT_FOREIGN_TICK);
		break;
	default:
		break;
	}
	if (head.coarse)
		context_read(index, head.context, head.coarse, &chain);
	cpu_occupy(cpu, task, thread);
	thread->hits++;
	__sync_fetch_and_add(&target->weight_square_sum, weight * weight);

	if (kernel) {
		charge.hits_kernel = 1;
		charge.weight_kernel_ns = period;
	} else {
		charge.hits_user = 1;
		charge.weight_user_ns = period;
	}
	cell = charge_all(index, head.fine, head.coarse, &chain, &charge);
	if (!cell) {
		count(TSN_COUNT_TABLE_FULL_TICK);
		return;
	}
	if (!head.fine) {
		thread->tick_fine = 0;
		return;
	}
	if (still_inside(thread, head.fine))
		__sync_fetch_and_add(&cell->long_hits, 1);
	glance(target, cell, index, cpu_index, head.fine, period);
}

SEC("perf_event")
int on_tick(struct bpf_perf_event_data *ctx)
{
	__u32 cpu_index = bpf_get_smp_processor_id(), index;
	struct tsn_cpu *cpu = bpf_map_lookup_elem(&cpus, &cpu_index);
	struct task_struct *task;
	struct tsn_target *target;
	__u64 now;

	if (!cpu || control.stop_ns)
		return 0;
	task = bpf_get_current_task_btf();
	cpu->runqueue = kernel__runqueue(task);
	now = bpf_ktime_get_ns();
	if (now < control.start_ns)
		return 0;
	target = target_find(task->tgid, &index);
	if (!target) {
		cpu->tgid = 0;
	} else if (!(task->flags & PF_EXITING)) {
		tick_target(ctx, task, target, index, cpu, cpu_index, now);
		if (cpu->tick_runs % TSN_TIMED_EVERY == 0) {
			cpu->tick_timed_ns += bpf_ktime_get_ns() - now;
			cpu->tick_timed++;
		} else if (cpu->tick_runs % TSN_PACE_EVERY == 0 && cpu->pace_runs != ~0u) {
			cpu->pace_ns += pace_take();
			cpu->pace_runs++;
		}
		cpu->tick_runs++;
	}
	cpu->tick_ns = now;
	cpu->ticks++;
	return 0;
}

char LICENSE[] __weak SEC("license") = "Dual MIT/GPL";
