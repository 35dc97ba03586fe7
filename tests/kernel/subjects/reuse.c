// SPDX-License-Identifier: MIT
/*
 * reuse: a thread spins for 0.3 s in "first"; when it has ended another one gets its id, and spins
 * for 0.2 s in "second". Prints tid, first_ns and second_ns (CPU time), or "unable 1".
 */
#include "subject.h"

TSN_FINE_FAMILY(turn, "turn", 2);

static uint64_t cpu_ns[2];
static int tids[2], wanted;

static void *spin(void *argument)
{
	uintptr_t i = (uintptr_t)argument;

	tids[i] = subject_tid();
	if (i && tids[1] != wanted)
		return NULL;
	{
		TSN_SCOPE(tsn_at(turn, (uint32_t)i));
		subject_spin_until(subject_now() + (i ? 200000000 : 300000000));
	}
	cpu_ns[i] = subject_clock(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

/* The next thread's id, if nobody else takes it meanwhile. */
static void tid_want(int tid)
{
	FILE *file = fopen("/proc/sys/kernel/ns_last_pid", "w");

	if (!file)
		return;
	fprintf(file, "%d", tid - 1);
	fclose(file);
}

int main(void)
{
	pthread_t thread;
	int tries;

	pthread_create(&thread, NULL, spin, (void *)0);
	pthread_join(thread, NULL);
	wanted = tids[0];
	for (tries = 0; tries < 200 && tids[1] != wanted; tries++) {
		tid_want(wanted);
		pthread_create(&thread, NULL, spin, (void *)1);
		pthread_join(thread, NULL);
	}
	if (tids[1] != wanted)
		subject_say("unable", 1);
	subject_say("tid", (uint64_t)wanted);
	subject_say("first_ns", cpu_ns[0]);
	subject_say("second_ns", cpu_ns[1]);
	return 0;
}
