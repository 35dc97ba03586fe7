// SPDX-License-Identifier: MIT
#include "census.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "ids.h"
#include "proc.h"

/* Times that the list is read at most, until it has nobody new. */
#define ROUNDS_MAX 3

struct tids {
	pid_t *at;
	size_t count;
};

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

static int by_number(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The state of each thread, those in known[] (sorted) left out. Returns how many. */
static size_t threads_look(const struct engine *engine, const struct target *target, uint32_t index,
			   const struct ids *ids, const struct tids *known,
			   const struct tids *listed, struct tsn_thread *threads)
{
	size_t i, n = 0;

	for (i = 0; i < listed->count; i++) {
		const pid_t *seen = &listed->at[i];
		struct tsn_thread *thread = &threads[n];
		uint32_t tid = ids__find(ids, *seen);
		struct proc_status status;
		char *comm;

		if (!tid || (known->count &&
			     bsearch(seen, known->at, known->count, sizeof(*seen), by_number)))
			continue;
		if (proc__status(target->pid, *seen, &status) || status.state == 'Z' ||
		    status.state == 'X')
			continue;
		thread->target = index;
		thread->tgid = engine->targets[index].tgid;
		thread->tid = tid;
		thread->seen_tid = (uint32_t)*seen;
		thread->ns_tid = status.own_id;
		thread->wait = wait_of(status.state);
		thread->state = thread->wait ? TSN_THREAD_WAITING : TSN_THREAD_UNSEEN;
		thread->born = thread->since = engine->control->start_ns;
		comm = proc__comm(target->pid, *seen);
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

/*
 * A thread that ended after it was looked at, before it was enrolled, is met by no hook again: its
 * record is taken back. If it still is there now, the exit hook will find the record.
 */
static void thread_verify(struct engine *engine, const struct target *target,
			  const struct tsn_thread *thread, struct tsn_presence *presence)
{
	if (!proc__exiting(target->pid, (pid_t)thread->seen_tid))
		return;
	if (bpf_map_delete_elem(engine->threads_fd, &thread->tid))
		return;
	if (presence && __atomic_fetch_sub(&presence->outside, 1, __ATOMIC_SEQ_CST) == 1)
		__atomic_fetch_add(&presence->off_ns, engine->control->start_ns, __ATOMIC_SEQ_CST);
}

static void thread_enrol(struct engine *engine, const struct target *target,
			 struct tsn_thread *thread)
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
	thread_verify(engine, target, thread, counted ? presence : NULL);
}

/* Enrols those that are listed and not known. 0 or -ENOMEM. */
static int round_take(struct engine *engine, const struct target *target, uint32_t index,
		      const struct tids *known, const struct tids *listed, size_t *taken)
{
	struct tsn_thread *threads;
	struct ids ids;
	size_t n, i;
	int err = engine__ids(engine, &ids);

	if (err)
		return err;
	threads = calloc(listed->count + 1, sizeof(*threads));
	if (!threads) {
		ids__free(&ids);
		return -ENOMEM;
	}
	n = threads_look(engine, target, index, &ids, known, listed, threads);
	if (n)
		labels_look(engine, target, threads, n);
	for (i = 0; i < n; i++)
		thread_enrol(engine, target, &threads[i]);
	free(threads);
	ids__free(&ids);
	*taken = n;
	return 0;
}

/* The list is no snapshot: where threads end while it is read, others may be left out. So it is
 * read again, until it has nobody new. */
int census__take(struct engine *engine, const struct target *target, uint32_t index)
{
	struct tids known = {0}, listed;
	size_t taken = 1;
	int round, err = 0;

	for (round = 0; round < ROUNDS_MAX && taken && !err; round++) {
		err = proc__threads(target->pid, &listed.at, &listed.count);
		if (err)
			break;
		err = round_take(engine, target, index, &known, &listed, &taken);
		qsort(listed.at, listed.count, sizeof(*listed.at), by_number);
		free(known.at);
		known = listed;
	}
	free(known.at);
	return round ? (err == -ENOMEM ? err : 0) : err;
}
