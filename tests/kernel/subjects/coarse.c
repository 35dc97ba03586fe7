// SPDX-License-Identifier: MIT
/*
 * coarse MODE [LIE | tsc]: publishes executions of coarse labels by hand, right or wrong, until
 * killed. Its worker thread spins and sleeps in turn. Prints "ready 1" when it is in the state that
 * MODE names.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "subject.h"

TSN_FINE(read_row, "readRow");
TSN_FINE(sort_rows, "sortRows");
TSN_FINE(asleep, "asleep");

#define HANDLE(place) ((uint64_t)pool[place].generation << 32 | (place))

static struct tsn_context *pool;
static struct tsn_durations *blocks;
static uint32_t request, query, level[TSN_CHAIN_MAX];
static bool by_tsc;

/* In the process's clock. */
static uint64_t moment(void)
{
#ifdef __x86_64__
	if (by_tsc)
		return __builtin_ia32_rdtsc();
#endif
	return subject_now();
}

static void publish(void)
{
	struct tsn_process *process = &tsn_process_descriptor;
	size_t pool_size = TSN_CONTEXTS_MAX * sizeof(*pool);
	char *memory = mmap(NULL, pool_size + 2 * sizeof(*blocks), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	pool = (void *)memory;
	blocks = (void *)(memory + pool_size);
	process->clock = by_tsc ? TSN_CLOCK_TSC : TSN_CLOCK_MONOTONIC;
	process->durations = (uint64_t)blocks;
	process->durations_max = process->durations_used = 2;
	process->durations_stride = sizeof(*blocks);
	process->contexts_max = TSN_CONTEXTS_MAX;
	process->context_stride = sizeof(*pool);
	process->contexts_used = 8;
	process->contexts = (uint64_t)pool;
}

static void labels_register(void)
{
	char name[32];
	int i;

	request = tsn_register("request", TSN_KIND_COARSE, 0);
	query = tsn_register("query", TSN_KIND_COARSE, 0);
	for (i = 0; i < TSN_CHAIN_MAX; i++) {
		snprintf(name, sizeof(name), "chain%d", i);
		level[i] = tsn_register(name, TSN_KIND_COARSE, 0);
	}
	blocks[0].label = request;
	blocks[1].label = query;
}

static struct tsn_slot *slot(void)
{
	return &tsn_thread.slot->head;
}

/* Opens an execution at a place of the pool, inside of what the thread is in. */
static void open_execution(uint32_t place, uint32_t label)
{
	struct tsn_context *entry = &pool[place];
	uint32_t parent = (uint32_t)slot()->context;

	entry->generation++;
	entry->tid = slot()->tid;
	entry->depth = 1;
	entry->chain[0] = (uint16_t)label;
	if (parent) {
		entry->depth = pool[parent].depth + 1;
		memcpy(&entry->chain[1], pool[parent].chain,
		       pool[parent].depth * sizeof(entry->chain[0]));
	}
	entry->parent = parent;
	entry->opened = moment();
	__atomic_store_n(&entry->state, TSN_CONTEXT_OPEN, __ATOMIC_SEQ_CST);
	__atomic_store_n(&slot()->context, HANDLE(place), __ATOMIC_SEQ_CST);
	__atomic_store_n(&slot()->coarse, label, __ATOMIC_SEQ_CST);
}

static void close_execution(uint32_t place, struct tsn_durations *block)
{
	struct tsn_context *entry = &pool[place];
	uint64_t now = moment(), units = now - entry->opened;
	struct tsn_duration_maximum *maximum =
		&block->maxima[(now >> TSN_DURATION_EPOCH_SHIFT) % TSN_DURATION_MAXIMA];
	uint32_t parent = entry->parent;

	__atomic_store_n(&slot()->coarse, parent ? pool[parent].chain[0] : 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&slot()->context, parent ? HANDLE(parent) : 0, __ATOMIC_SEQ_CST);
	entry->opened = now;
	__atomic_store_n(&entry->state, TSN_CONTEXT_FREE, __ATOMIC_SEQ_CST);
	block->buckets[tsn_duration_bucket(units)]++;
	if (now >> TSN_DURATION_EPOCH_SHIFT != maximum->at >> TSN_DURATION_EPOCH_SHIFT ||
	    units > maximum->longest)
		*maximum = (struct tsn_duration_maximum){units, now};
	block->sum += units;
	__atomic_store_n(&block->count, block->count + 1, __ATOMIC_RELEASE);
}

static void spin(uint64_t ns)
{
	subject_spin_until(subject_now() + ns);
}

static void ready(void)
{
	printf("ready 1\n");
	fflush(stdout);
}

/* In turns of 7: 2 readRow in request, 3 sortRows in query in it, 2 readRow in neither. */
static void pairs(void)
{
	for (;;) {
		open_execution(1, request);
		{
			TSN_SCOPE(read_row);
			spin(200000);
		}
		open_execution(2, query);
		{
			TSN_SCOPE(sort_rows);
			spin(300000);
		}
		close_execution(2, &blocks[1]);
		close_execution(1, &blocks[0]);
		{
			TSN_SCOPE(read_row);
			spin(200000);
		}
	}
}

/* 200 queries in a request that is never closed, the last of them just before the end. */
static void end_soon(void)
{
	int i;

	usleep(300000);
	open_execution(1, request);
	for (i = 0; i < 200; i++) {
		open_execution(2, query);
		spin(1000000);
		close_execution(2, &blocks[1]);
	}
	exit(0);
}

/* Spins and sleeps in one fine label and whatever the slot says of coarse ones. */
static void work(void)
{
	TSN_SCOPE(read_row);
	for (;;) {
		spin(2000000);
		usleep(500);
	}
}

static void *sleep_inside(void *argument)
{
	TSN_SCOPE(asleep);
	open_execution(3, request);
	open_execution(4, query);
	for (;;)
		pause();
	return argument;
}

/* A request with a query in it, and a lie about the query's context. */
static void lie(int which)
{
	open_execution(1, request);
	open_execution(2, query);
	switch (which) {
	case 0:
		slot()->context = HANDLE(2) + TSN_CONTEXTS_MAX;
		break;
	case 1:
		slot()->context = HANDLE(2) | 0xffffffff;
		break;
	case 2:
		slot()->context = 0;
		break;
	case 3:
		pool[2].depth = 1000;
		break;
	case 4:
		pool[2].depth = 0;
		break;
	case 5:
		pool[2].chain[1] = 0xffff;
		break;
	case 6:
		munmap(pool, TSN_CONTEXTS_MAX * sizeof(*pool));
		break;
	case 7:
		tsn_process_descriptor.contexts = 0xffffffff81000000; /* the kernel's */
		break;
	case 8:
		tsn_process_descriptor.context_stride = 4;
		break;
	case 9:
		pool[2].generation = 0xffffffff;
		break;
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	pthread_t thread;
	uint32_t i;

	by_tsc = argc > 2 && !strcmp(argv[2], "tsc");
	publish();
	labels_register();
	{
		TSN_SCOPE(read_row); /* claims the slot */
	}
	if (!strcmp(mode, "pairs")) {
		ready();
		pairs();
	} else if (!strcmp(mode, "finite")) {
		ready();
		end_soon();
	} else if (!strcmp(mode, "sleep")) {
		pthread_create(&thread, NULL, sleep_inside, NULL);
		usleep(50000);
		open_execution(1, request);
		open_execution(2, query);
	} else if (!strcmp(mode, "stale")) {
		open_execution(1, request);
		open_execution(2, query);
		pool[2].state = TSN_CONTEXT_CLOSED;
	} else if (!strcmp(mode, "reused")) {
		open_execution(1, request);
		open_execution(2, query);
		pool[2].generation++;
	} else if (!strcmp(mode, "chain")) {
		for (i = 0; i < TSN_CHAIN_MAX; i++)
			open_execution(TSN_CHAIN_MAX - i, level[TSN_CHAIN_MAX - 1 - i]);
	} else if (!strcmp(mode, "caught")) {
		open_execution(1, level[2]);
		open_execution(2, level[1]);
		open_execution(3, level[0]);
		slot()->coarse = level[1];
	} else if (!strcmp(mode, "lie") && argc > 2) {
		lie(atoi(argv[2]));
	}
	ready();
	work();
}
