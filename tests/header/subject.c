// SPDX-License-Identifier: MIT
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "expect.h"
#include "inspect.h"
#include "subject.h"

TSN_FINE(big, "big");
TSN_FINE(small, "small");
TSN_FINE(counted, "counted");
TSN_COARSE(whole, "work");

struct worker {
	pthread_t thread;
	unsigned calls;
	unsigned ms;
	uint32_t big, small, counted;
	int restored; /* what it works for, after a batch inside of it */
};

static void *work(void *argument)
{
	struct worker *worker = (struct worker *)argument;
	tsn_context_t context;
	unsigned ms;

	TSN_SCOPE(whole);
	context = tsn_capture();
	{
		TSN_WITH_CONTEXT(context);
		worker->counted = subject_counted(worker->calls);
		worker->restored = context.context && tsn_capture().context == context.context;
	}
	for (ms = 0; ms < worker->ms; ms++) {
		worker->big = subject_big(700);
		worker->small = subject_small(300);
	}
	return NULL;
}

static int run(struct worker *worker, unsigned calls, unsigned ms)
{
	worker->calls = calls;
	worker->ms = ms;
	worker->big = worker->small = worker->counted = 0;
	worker->restored = 0;
	return pthread_create(&worker->thread, NULL, work, worker);
}

int subject_run(unsigned calls, unsigned ms)
{
	struct worker early, spinning[2];

	/* Gone before the others begin. */
	EXPECT(run(&early, 3, 0) == 0);
	EXPECT(pthread_join(early.thread, NULL) == 0);
	EXPECT(run(&early, 2, 0) == 0);
	EXPECT(pthread_join(early.thread, NULL) == 0);
	EXPECT(run(&spinning[0], 4, ms) == 0);
	EXPECT(run(&spinning[1], calls - 9, ms) == 0);
	EXPECT(pthread_join(spinning[0].thread, NULL) == 0);
	EXPECT(pthread_join(spinning[1].thread, NULL) == 0);
	/* One table: the name has one id wherever it is used. */
	EXPECT(big.id && small.id && counted.id);
	EXPECT(spinning[1].big == big.id);
	EXPECT(spinning[1].small == small.id);
	EXPECT(spinning[1].counted == counted.id && early.counted == counted.id);
	EXPECT(spinning[1].restored && early.restored);
	return 0;
}

struct census {
	unsigned tables, followers;
};

static int count_module(struct tsn_elf_module *module, size_t size, void *data)
{
	struct tsn_process *process = tsn_elf_descriptor(module);
	struct census *census = (struct census *)data;

	(void)size;
	if (process && process->state == TSN_STATE_READY)
		census->tables++;
	if (process && process->state == TSN_STATE_FOLLOWER)
		census->followers++;
	return 0;
}

unsigned subject_references(void)
{
	struct tsn_slot_full *slot;
	unsigned i, references = 0;

	{
		TSN_SCOPE_N(counted, 0);
		slot = tsn_thread.slot;
	}
	for (i = 0; slot && i < TSN_MODULES_MAX; i++)
		references += slot->references[i] != 0;
	return references;
}

int subject_print(void)
{
	struct census census = {0, 0};
	unsigned references;

	tsn_dl_iterate_phdr(count_module, &census);
	EXPECT(inspect__process());
	references = subject_references();
	printf("big %llu\n", (unsigned long long)inspect__calls(big.id));
	printf("small %llu\n", (unsigned long long)inspect__calls(small.id));
	printf("counted %llu\n", (unsigned long long)inspect__calls(counted.id));
	printf("tables %u followers %u references %u\n", census.tables, census.followers,
	       references);
	fflush(stdout);
	EXPECT(inspect__all_violations() == 0);
	EXPECT(inspect__process()->calls_lost == 0);
	EXPECT(inspect__claimed() == 1);
	EXPECT(inspect__calls(big.id) > 0 && inspect__calls(small.id) > 0);
	EXPECT(inspect__calls(counted.id) == SUBJECT_CALLS);
	/* Four threads a run; a library's "batch" is this module's. */
	EXPECT(whole.id && inspect__executions(whole.id) % 4 == 0);
	EXPECT(inspect__executions(whole.id) == inspect__calls(whole.id));
	EXPECT(inspect__executions(whole.id) <= inspect__executions(inspect__find("batch")));
	EXPECT(inspect__open() == 0);
	return 0;
}

#ifndef SUBJECT_PLUGIN
int main(void)
{
	return subject_run(SUBJECT_CALLS, SUBJECT_MS) || subject_print();
}
#endif
