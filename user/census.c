// SPDX-License-Identifier: MIT
#include "census.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "proc.h"

static int by_own_tid(const void *a, const void *b)
{
	const struct tsn_thread *x = a, *y = b;

	return x->ns_tid < y->ns_tid ? -1 : x->ns_tid > y->ns_tid;
}

/* Why a thread in that state does not run; 0: it does, or is about to. */
static uint32_t wait_of(char state)
{
	switch (state) {
	case 'R':
		return 0;
	case 'D':
		return TSN_WAIT_IO;
	default:
		return TSN_WAIT_BLOCKED;
	}
}

/* The state of each thread. Returns how many. */
static size_t threads_look(const struct engine *engine, const struct target *target, uint32_t index,
			   const pid_t *tids, size_t count, struct tsn_thread *threads)
{
	size_t i, n = 0;

	for (i = 0; i < count; i++) {
		struct tsn_thread *thread = &threads[n];
		struct proc_status status;
		char *comm;

		if (proc__status(target->pid, tids[i], &status) || status.state == 'Z' ||
		    status.state == 'X')
			continue;
		thread->target = index;
		thread->tgid = (uint32_t)target->pid;
		thread->tid = (uint32_t)tids[i];
		thread->ns_tid = status.own_id;
		thread->wait = wait_of(status.state);
		thread->state = thread->wait ? TSN_THREAD_WAITING : TSN_THREAD_UNSEEN;
		thread->born = thread->since = engine->control->start_ns;
		comm = proc__comm(target->pid, tids[i]);
		strncpy(thread->comm, comm ? comm : "", sizeof(thread->comm) - 1);
		free(comm);
		n++;
	}
	return n;
}

/* The labels of those that sleep. A thread that wakes meanwhile is met by a hook, and then its
 * entry here is void. */
static void labels_look(struct engine *engine, const struct target *target,
			struct tsn_thread *threads, size_t count)
{
	struct tsn_slot *heads;
	size_t used, i;

	if (!target->located || table__read_heads(&target->table, &target->remote, &heads, &used))
		return;
	qsort(threads, count, sizeof(*threads), by_own_tid);
	for (i = 0; i < used; i++) {
		struct tsn_thread key = {.ns_tid = heads[i].tid}, *thread;

		if (!heads[i].tid || heads[i].fine >= TSN_LABELS_MAX ||
		    heads[i].coarse >= TSN_LABELS_MAX)
			continue;
		thread = bsearch(&key, threads, count, sizeof(*threads), by_own_tid);
		if (!thread)
			continue;
		thread->fine = heads[i].fine;
		thread->coarse = heads[i].coarse;
		thread->context = heads[i].context;
		if (table__read_chain(&target->table, &target->remote, &heads[i], &thread->chain))
			__atomic_fetch_add(&engine->control->counters[TSN_COUNT_CONTEXT_UNREADABLE],
					   1, __ATOMIC_RELAXED);
	}
	free(heads);
}

static void thread_enrol(struct engine *engine, struct tsn_thread *thread)
{
	struct tsn_presence *presence =
		&engine->presence[thread->target * TSN_LABELS_MAX + thread->fine];
	bool counted = thread->state == TSN_THREAD_WAITING && thread->fine;

	thread->present = counted ? thread->fine : 0;
	if (bpf_map_update_elem(engine->threads_fd, &thread->tid, thread, BPF_NOEXIST)) {
		if (errno != EEXIST)
			__atomic_fetch_add(&engine->control->counters[TSN_COUNT_THREAD_UNTRACKED],
					   1, __ATOMIC_RELAXED);
		return;
	}
	/* As the hooks do it; see struct tsn_presence. */
	if (counted && !__atomic_fetch_add(&presence->outside, 1, __ATOMIC_SEQ_CST))
		__atomic_fetch_sub(&presence->off_ns, engine->control->start_ns, __ATOMIC_SEQ_CST);
}

int census__take(struct engine *engine, const struct target *target, uint32_t index)
{
	struct tsn_thread *threads;
	size_t count, n, i;
	pid_t *tids;
	int err = proc__threads(target->pid, &tids, &count);

	if (err)
		return err;
	threads = calloc(count ? count : 1, sizeof(*threads));
	if (!threads) {
		free(tids);
		return -ENOMEM;
	}
	n = threads_look(engine, target, index, tids, count, threads);
	labels_look(engine, target, threads, n);
	for (i = 0; i < n; i++)
		thread_enrol(engine, &threads[i]);
	free(threads);
	free(tids);
	return 0;
}
