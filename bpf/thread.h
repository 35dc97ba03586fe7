/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * thread.h - the state machine of one thread. Every interval ends where the next begins, so that
 * running + runnable + blocked + io is the thread's lifetime in the session. No event is trusted to
 * arrive: what one finds out of order it repairs, with the kernel's own account of running time,
 * and counts.
 */
#ifndef TICKSNICK_BPF_THREAD_H
#define TICKSNICK_BPF_THREAD_H

#include "context_read.h"

/* The part of [start, end] that lies in the session, ns. */
static __always_inline __u64 thread_span(__u64 start, __u64 end)
{
	if (start < control.start_ns)
		start = control.start_ns;
	if (end > start)
		return end - start;
	return 0;
}

/* True if an interval would end before it began; before the session that is so by design, and no
 * step. */
static __always_inline bool clock_stepped(__u64 since, __u64 now)
{
	if (now >= since)
		return false;
	if (now >= control.start_ns)
		count(TSN_COUNT_CLOCK_STEPPED);
	return true;
}

/* ---- S(l): threads off the CPU inside a label ---- */

static __always_inline struct tsn_presence *presence_of(__u32 target, __u32 fine)
{
	__u32 index = target * TSN_LABELS_MAX + fine;

	return bpf_map_lookup_elem(&presence, &index);
}

static __always_inline __u64 presence_time(__u64 now)
{
	return now < control.start_ns ? control.start_ns : now;
}

static __always_inline void presence_enter(struct tsn_thread *thread, __u32 fine, __u64 now)
{
	struct tsn_presence *p;

	if (!fine || thread->present)
		return;
	p = presence_of(thread->target, fine);
	if (!p)
		return;
	thread->present = fine;
	if (__sync_fetch_and_add(&p->outside, 1) == 0)
		__sync_fetch_and_add(&p->off_ns, -presence_time(now));
}

static __always_inline void presence_leave(struct tsn_thread *thread, __u64 now)
{
	__u32 fine = thread->present;
	struct tsn_presence *p;

	if (!fine)
		return;
	thread->present = 0;
	p = presence_of(thread->target, fine);
	if (!p)
		return;
	if (__sync_fetch_and_add(&p->outside, -1) == 1)
		__sync_fetch_and_add(&p->off_ns, presence_time(now));
}

/* ---- charging ---- */

/* What one tick or one wait adds to a cell. */
struct charge {
	__u64 hits_user;
	__u64 hits_kernel;
	__u64 weight_user_ns;
	__u64 weight_kernel_ns;
	__u64 runnable_ns;
	__u64 blocked_ns;
	__u64 io_ns;
};

static __always_inline void charge_add(struct tsn_cell *cell, const struct charge *charge)
{
	if (charge->hits_user) {
		__sync_fetch_and_add(&cell->hits_user, charge->hits_user);
		__sync_fetch_and_add(&cell->weight_user_ns, charge->weight_user_ns);
	}
	if (charge->hits_kernel) {
		__sync_fetch_and_add(&cell->hits_kernel, charge->hits_kernel);
		__sync_fetch_and_add(&cell->weight_kernel_ns, charge->weight_kernel_ns);
	}
	if (charge->runnable_ns)
		__sync_fetch_and_add(&cell->runnable_ns, charge->runnable_ns);
	if (charge->blocked_ns)
		__sync_fetch_and_add(&cell->blocked_ns, charge->blocked_ns);
	if (charge->io_ns)
		__sync_fetch_and_add(&cell->io_ns, charge->io_ns);
}

/* To the cells of the outer coarse labels. Global, so that the verifier looks at it once. */
__weak __noinline int charge_outer(__u32 target, __u32 fine, const struct tsn_chain *chain,
				   const struct charge *charge)
{
	struct tsn_cell *cell;
	__u32 i;

	if (!chain || !charge)
		return 0;
	for (i = 0; i < TSN_CHAIN_MAX && i < chain->places; i++) {
		if (!chain->outer[i])
			continue;
		cell = cell_get(target, fine, chain->outer[i], TSN_CELL_OUTER);
		if (cell)
			charge_add(cell, charge);
		else
			count(TSN_COUNT_TABLE_FULL_OUTER);
	}
	return 0;
}

/* To the cell of (fine, coarse), which is returned (NULL: the table is full), and along the chain.
 */
static __always_inline struct tsn_cell *charge_all(__u32 target, __u32 fine, __u32 coarse,
						   const struct tsn_chain *chain,
						   const struct charge *charge)
{
	struct tsn_cell *cell = cell_get(target, fine, coarse, chain->role);

	if (cell)
		charge_add(cell, charge);
	if (chain->places) {
		/* A copy, so that without a chain nothing need be in memory. */
		struct charge passed = *charge;

		charge_outer(target, fine, chain, &passed);
	}
	return cell;
}

/* Waiting of [start, end], by its kinds. wait: enum tsn_wait; woken: when it was woken, 0: it was
 * not. */
static __always_inline void wait_split(__u32 wait, __u64 woken, __u64 start, __u64 end,
				       struct charge *charge)
{
	__u64 total = thread_span(start, end), first;

	/* Before the wakeup it waits for whatever it waits for, after it for a CPU. */
	if (wait == TSN_WAIT_RUNNABLE || woken < start)
		first = wait == TSN_WAIT_RUNNABLE || woken ? 0 : total;
	else
		first = woken > end ? total : thread_span(start, woken);
	if (first > total)
		first = total;

	charge->runnable_ns = total - first;
	if (wait == TSN_WAIT_IO)
		charge->io_ns = first;
	else
		charge->blocked_ns = first;
}

/* Waiting of [start, end] to the labels of the latest switch-out. */
static __always_inline void charge_wait(struct tsn_thread *thread, __u64 start, __u64 end)
{
	__u64 total = thread_span(start, end);
	struct charge charge = {};

	if (!total)
		return;
	wait_split(thread->wait, thread->woken, start, end, &charge);
	thread->runnable_ns += charge.runnable_ns;
	thread->blocked_ns += charge.blocked_ns;
	thread->io_ns += charge.io_ns;
	thread->waited_since = start;
	thread->waited_until = end;
	thread->waited_woken = thread->woken;

	if (thread->unknown)
		count_add(TSN_COUNT_LOST_WAIT_NS, total);
	if (!charge_all(thread->target, thread->fine, thread->coarse, &thread->chain, &charge)) {
		count(TSN_COUNT_TABLE_FULL_SWITCH);
		count_add(TSN_COUNT_LOST_WAIT_NS, total);
	}
}

/*
 * The latest wait was charged as what it was when it began, for a thread's memory cannot be read
 * before it runs. Now it runs: if the execution that it waited under was closed meanwhile, the rest
 * of the wait was stale.
 */
static __always_inline void wait_revise(struct tsn_thread *thread)
{
	__u64 from = thread->waited_since, until = thread->waited_until, closed;
	struct tsn_chain stale = {.role = TSN_CELL_STALE};
	struct charge charge = {}, back = {};

	if (!until)
		return;
	thread->waited_until = 0;
	if (!thread->coarse || thread->chain.role != TSN_CELL_OWN)
		return;
	closed = context_closed(thread->target, thread->context);
	if (!closed || closed >= until)
		return;
	if (closed > from)
		from = closed;
	wait_split(thread->wait, thread->waited_woken, from, until, &charge);
	if (!charge_all(thread->target, thread->fine, thread->coarse, &stale, &charge))
		return;
	back.runnable_ns = -charge.runnable_ns;
	back.blocked_ns = -charge.blocked_ns;
	back.io_ns = -charge.io_ns;
	charge_all(thread->target, thread->fine, thread->coarse, &thread->chain, &back);
}

/* ---- records ---- */

/* When a thread without a record can at the earliest have begun to be in the session. */
static __always_inline __u64 thread_earliest(struct task_struct *task)
{
	__u64 start = task->start_time;

	return start > control.start_ns ? start : control.start_ns;
}

static const struct tsn_thread thread_zero;

/*
 * Makes the record of a thread seen for the first time. NULL: the table is full. Filled where it
 * stands, for it is half of a program's stack: nobody else looks at a thread that runs here, or
 * does not run yet.
 */
static __always_inline struct tsn_thread *thread_new(struct task_struct *task, __u32 target,
						     __u32 state, __u64 since)
{
	__u32 tid = task->pid;
	bool made = !bpf_map_update_elem(&threads, &tid, &thread_zero, BPF_NOEXIST);
	struct tsn_thread *thread = bpf_map_lookup_elem(&threads, &tid);

	if (!thread) {
		count(TSN_COUNT_THREAD_UNTRACKED);
		return NULL;
	}
	if (!made) /* the census was faster */
		return thread;
	thread->target = target;
	thread->tgid = task->tgid;
	thread->tid = tid;
	thread->ns_tid = kernel__namespace_tid(task);
	thread->seen_tid = kernel__tid_at(task, control.level);
	thread->state = state;
	thread->wait = TSN_WAIT_RUNNABLE;
	thread->born = since;
	thread->since = since;
	thread->switches = kernel__switches(task);
	bpf_probe_read_kernel_str(thread->comm, sizeof(thread->comm), task->comm);
	return thread;
}

/* ---- transitions ---- */

/* Notes the kernel's own account, which the next interval is reconciled with. */
static __always_inline void thread_note_account(struct tsn_thread *thread, struct task_struct *task)
{
	thread->exec_ns = task->se.sum_exec_runtime;
	thread->switches = kernel__switches(task);
	thread->exec_known = 1;
}

/* Running time by the kernel's account since the latest switch-out; at most the time that passed.
 */
static __always_inline __u64 thread_account(const struct tsn_thread *thread,
					    struct task_struct *task, __u64 passed)
{
	__u64 ran = task->se.sum_exec_runtime - thread->exec_ns;

	return ran < passed ? ran : passed;
}

/*
 * Closes the interval under way of a thread that is on the CPU now. misses: switches away that
 * fired no event meanwhile. fresh: the kernel has just brought its account up to date, as it does
 * before a switch.
 */
static __always_inline void thread_close(struct tsn_thread *thread, struct task_struct *task,
					 __u64 now, __u64 misses, bool fresh)
{
	__u64 since = thread->since, passed, ran, run_start = since;

	if (clock_stepped(since, now))
		return;
	passed = now - since;
	ran = thread->exec_known ? thread_account(thread, task, passed) : passed;

	if (thread->state == TSN_THREAD_WAITING || (misses && thread->exec_known)) {
		/* An event is missing: the account says how much of the interval was running, and
		 * that it came last. */
		count(TSN_COUNT_SWITCH_MISSED);
		run_start = now - ran;
		if (thread->state != TSN_THREAD_WAITING && thread->woken)
			thread->wait = TSN_WAIT_BLOCKED;
		else if (thread->state != TSN_THREAD_WAITING)
			thread->wait = TSN_WAIT_RUNNABLE;
		charge_wait(thread, since, run_start);
		presence_leave(thread, run_start);
	} else if (thread->exec_known && fresh) {
		__u64 seen = thread_span(since, now);

		thread->stolen_ns += passed > ran && seen > passed - ran ? passed - ran : 0;
	}
	thread->running_ns += thread_span(run_start, now);
}

/*
 * One thread under two tids: it has the leader's since a moment before the event of its exec, and
 * what happened in between made a record of its own, which took all time before its first event for
 * running. That time runs from where the first record stands instead; the sums of both are joined
 * there.
 */
static __always_inline void thread_rejoin(struct tsn_thread *thread,
					  const struct tsn_thread *interim)
{
	__u64 from = thread->since > control.start_ns ? thread->since : control.start_ns;
	__u64 running = thread->running_ns + interim->running_ns;

	if (interim->state != TSN_THREAD_RUNNING || thread->state != TSN_THREAD_RUNNING ||
	    interim->since < from || from < interim->born || running < from - interim->born)
		return;
	thread->running_ns = running - (from - interim->born);
	thread->stolen_ns += interim->stolen_ns;
	thread->runnable_ns += interim->runnable_ns;
	thread->blocked_ns += interim->blocked_ns;
	thread->io_ns += interim->io_ns;
	thread->hits += interim->hits;
	thread->since = interim->since;
	if (!interim->exec_known)
		return;
	thread->exec_known = 1;
	thread->exec_ns = interim->exec_ns;
	thread->switches = interim->switches;
}

/* Hands over the record of a thread that ended at end: its row to the recorder, its sums to the
 * target's totals. */
static __always_inline void fold_exited(struct tsn_target *target, const struct tsn_thread *thread,
					__u64 end)
{
	struct tsn_thread *row;

	__sync_fetch_and_add(&target->exited_threads, 1);
	__sync_fetch_and_add(&target->exited_lifetime_ns, thread_span(thread->born, end));
	__sync_fetch_and_add(&target->exited_running_ns, thread->running_ns);
	__sync_fetch_and_add(&target->exited_stolen_ns, thread->stolen_ns);
	__sync_fetch_and_add(&target->exited_runnable_ns, thread->runnable_ns);
	__sync_fetch_and_add(&target->exited_blocked_ns, thread->blocked_ns);
	__sync_fetch_and_add(&target->exited_io_ns, thread->io_ns);
	__sync_fetch_and_add(&target->exited_hits, thread->hits);

	row = bpf_ringbuf_reserve(&exited, sizeof(*row), 0);
	if (!row) {
		count(TSN_COUNT_EXIT_UNSENT);
		return;
	}
	__builtin_memcpy(row, thread, sizeof(*row));
	row->since = end;
	bpf_ringbuf_submit(row, BPF_RB_NO_WAKEUP);
}

/* Notes what runs on this CPU now; thread is its record, NULL if it has none. */
static __always_inline void cpu_occupy(struct tsn_cpu *cpu, struct task_struct *task,
				       const struct tsn_thread *thread)
{
	if (!thread)
		return;
	cpu->task = (__u64)task;
	cpu->slot = thread->slot;
	cpu->tid = thread->tid;
	cpu->ns_tid = thread->ns_tid;
	cpu->tgid = thread->tgid;
}

/* Counts the ticks that should have come on this CPU until now since the thread began to run there.
 */
static __always_inline void ticks_missed(const struct tsn_thread *thread, const struct tsn_cpu *cpu,
					 __u64 now)
{
	__u64 from = thread->since, period = cpu->period_ns;

	if (cpu->tick_ns > from)
		from = cpu->tick_ns;
	if (cpu->changed_ns > from)
		from = cpu->changed_ns;
	if (control.start_ns > from)
		from = control.start_ns;
	if (period && now > from + period + period / 2)
		count_add(TSN_COUNT_TICK_MISSED, (now - from - period / 2) / period);
}

#endif
