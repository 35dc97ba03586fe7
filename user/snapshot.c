// SPDX-License-Identifier: MIT
#include "snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#define BATCH 1024

void snapshot__free(struct snapshot *snapshot)
{
	free(snapshot->cells);
	free(snapshot->threads);
	*snapshot = (struct snapshot){0};
}

/* Room for one more item in an array. 0 or -ENOMEM. */
static int room(void *array, size_t count, size_t *capacity, size_t size)
{
	size_t wanted = *capacity ? *capacity * 2 : 64;
	void *grown;

	if (count < *capacity)
		return 0;
	grown = realloc(*(void **)array, wanted * size);
	if (!grown)
		return -ENOMEM;
	*(void **)array = grown;
	*capacity = wanted;
	return 0;
}

int snapshot__add_cell(struct snapshot *snapshot, const struct tsn_cell_key *key,
		       const struct tsn_cell *cell)
{
	int err = room(&snapshot->cells, snapshot->cell_count, &snapshot->cell_capacity,
		       sizeof(*snapshot->cells));

	if (!err)
		snapshot->cells[snapshot->cell_count++] =
			(struct snapshot_cell){.key = *key, .cell = *cell};
	return err;
}

int snapshot__add_thread(struct snapshot *snapshot, const struct tsn_thread *thread)
{
	int err = room(&snapshot->threads, snapshot->thread_count, &snapshot->thread_capacity,
		       sizeof(*snapshot->threads));

	if (!err)
		snapshot->threads[snapshot->thread_count++] = *thread;
	return err;
}

/* Calls take for every element of a hash map. 0 or a negative errno. */
static int map_walk(int fd, size_t key_size, size_t value_size,
		    int (*take)(struct snapshot *snapshot, const void *key, const void *value),
		    struct snapshot *snapshot)
{
	char *keys = malloc(BATCH * key_size), *values = malloc(BATCH * value_size);
	uint32_t from, next, count, i;
	int err = keys && values ? 0 : -ENOMEM;
	bool first = true, more = true;

	while (!err && more) {
		count = BATCH;
		if (bpf_map_lookup_batch(fd, first ? NULL : &from, &next, keys, values, &count,
					 NULL)) {
			more = false;
			if (errno != ENOENT)
				err = -errno;
		}
		for (i = 0; i < count && !err; i++)
			err = take(snapshot, keys + i * key_size, values + i * value_size);
		from = next;
		first = false;
	}
	free(keys);
	free(values);
	return err;
}

static int take_cell(struct snapshot *snapshot, const void *key, const void *value)
{
	return snapshot__add_cell(snapshot, key, value);
}

static int take_thread(struct snapshot *snapshot, const void *key, const void *value)
{
	(void)key;
	return snapshot__add_thread(snapshot, value);
}

int snapshot__read_cells(struct snapshot *snapshot, const struct engine *engine)
{
	snapshot->cell_count = 0;
	return map_walk(engine->cells_fd, sizeof(struct tsn_cell_key), sizeof(struct tsn_cell),
			take_cell, snapshot);
}

int snapshot__read_threads(struct snapshot *snapshot, const struct engine *engine)
{
	return map_walk(engine->threads_fd, sizeof(uint32_t), sizeof(struct tsn_thread),
			take_thread, snapshot);
}

/* ---- closing ---- */

static uint64_t span(uint64_t start, uint64_t end, uint64_t session_start)
{
	if (start < session_start)
		start = session_start;
	return end > start ? end - start : 0;
}

/* As charge_all() in bpf/thread.h. 0 or -ENOMEM. */
static int wait_charge(struct snapshot *snapshot, const struct tsn_thread *thread,
		       const struct tsn_cell *part)
{
	struct tsn_cell_key key = {
		.target = thread->target,
		.fine = thread->fine,
		.coarse = thread->coarse,
		.role = thread->chain.role,
	};
	int err = snapshot__add_cell(snapshot, &key, part);
	uint32_t i;

	key.role = TSN_CELL_OUTER;
	for (i = 0; i < TSN_CHAIN_MAX && i < thread->chain.places && !err; i++) {
		key.coarse = thread->chain.outer[i];
		if (key.coarse)
			err = snapshot__add_cell(snapshot, &key, part);
	}
	return err;
}

/* Splits the wait of [since, end] at the wakeup, as the hooks do. */
static int wait_close(struct snapshot *snapshot, struct tsn_thread *thread, uint64_t end,
		      uint64_t start_ns, uint64_t *lost_wait_ns)
{
	uint64_t total = span(thread->since, end, start_ns), first = total;
	struct tsn_cell part = {0};

	if (!total)
		return 0;
	if (thread->wait == TSN_WAIT_RUNNABLE)
		first = 0;
	else if (thread->woken && thread->woken < end)
		first = span(thread->since, thread->woken, start_ns);
	part.runnable_ns = total - first;
	if (thread->wait == TSN_WAIT_IO)
		part.io_ns = first;
	else
		part.blocked_ns = first;
	thread->runnable_ns += part.runnable_ns;
	thread->blocked_ns += part.blocked_ns;
	thread->io_ns += part.io_ns;
	if (thread->unknown)
		*lost_wait_ns += total;
	return wait_charge(snapshot, thread, &part);
}

int snapshot__close(struct snapshot *snapshot, size_t first, uint64_t start_ns, uint64_t stop_ns,
		    uint64_t *lost_wait_ns)
{
	size_t i;

	for (i = first; i < snapshot->thread_count; i++) {
		struct tsn_thread *thread = &snapshot->threads[i];
		uint64_t runs_from = thread->since;

		/* Neither a tick nor a switch has ever met it: it wanted a CPU and got none. */
		if (thread->state == TSN_THREAD_UNSEEN)
			thread->wait = TSN_WAIT_RUNNABLE;
		if (thread->state != TSN_THREAD_RUNNING) {
			/* A tick may have found it running since; then only its first part was
			 * waiting. */
			runs_from = thread->tick_seen && thread->tick_seen < stop_ns
					    ? thread->tick_seen
					    : stop_ns;
			if (wait_close(snapshot, thread, runs_from, start_ns, lost_wait_ns))
				return -ENOMEM;
		}
		thread->running_ns += span(runs_from, stop_ns, start_ns);
		/* A hook may have been a moment later than the reading of the clock that is the
		 * end: then its sums reach as far. */
		if (thread->since < stop_ns)
			thread->since = stop_ns;
	}
	return 0;
}
