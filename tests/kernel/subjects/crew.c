// SPDX-License-Identifier: MIT
/*
 * crew [stays|leaves|left]: the main thread, one that spins in "work" and one that sleeps in
 * "rest". Prints "main", "worker", "sleeper" (thread ids) and "ready 1". SIGUSR1: 23 calls of
 * "counted" by the worker; then the main thread "leaves", if it is to (or has "left" before
 * "ready"); prints "counted 23". SIGUSR1 again: ends, and prints the worker's CPU time since it had
 * counted, cpu_ns, and the time that passed, wall_ns.
 */
#include <string.h>

#include "subject.h"

TSN_FINE(lead, "lead");
TSN_FINE(work, "work");
TSN_FINE(rest, "rest");
TSN_FINE(counted, "counted");

static pthread_barrier_t barrier;
static const char *mode = "stays";

static void count(int times)
{
	while (times--) {
		TSN_SCOPE(counted);
		TSN_KEEP(times);
	}
}

static void spin_until_step(int step)
{
	TSN_SCOPE(work);
	if (step == 2) /* said from inside the label */
		subject_say("counted", 23);
	while (subject_step < step)
		subject_spin_until(subject_now() + 50000);
}

static void *worker(void *argument)
{
	uint64_t cpu, wall;

	subject_say("worker", (uint64_t)subject_tid());
	pthread_barrier_wait(&barrier);
	spin_until_step(1);
	count(23);
	cpu = subject_clock(CLOCK_THREAD_CPUTIME_ID);
	wall = subject_now();
	spin_until_step(2);
	subject_say("wall_ns", subject_now() - wall);
	subject_say("cpu_ns", subject_clock(CLOCK_THREAD_CPUTIME_ID) - cpu);
	return argument;
}

static void *sleeper(void *argument)
{
	TSN_SCOPE(rest);
	subject_say("sleeper", (uint64_t)subject_tid());
	pthread_barrier_wait(&barrier);
	subject_wait_step(2);
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	if (argc > 1)
		mode = argv[1];
	subject_steps();
	pthread_barrier_init(&barrier, NULL, 3);
	subject_say("main", (uint64_t)subject_tid());
	pthread_create(&threads[0], NULL, worker, NULL);
	pthread_create(&threads[1], NULL, sleeper, NULL);
	pthread_barrier_wait(&barrier);
	{
		TSN_SCOPE(lead);
		usleep(20000);
	}
	if (strcmp(mode, "left"))
		subject_say("ready", 1);
	else
		/* Whoever waits for this finds a main thread that has ended, or is about to. */
		subject_say("ready", 2);
	if (!strcmp(mode, "left"))
		pthread_exit(NULL);
	{
		TSN_SCOPE(lead);
		subject_wait_step(1);
		if (strcmp(mode, "leaves"))
			subject_wait_step(2);
	}
	if (!strcmp(mode, "leaves"))
		pthread_exit(NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
