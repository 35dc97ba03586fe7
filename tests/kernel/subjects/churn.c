// SPDX-License-Identifier: MIT
/*
 * churn THREADS [AT_ONCE [hurry]]: so many threads, so many at once, each of which spins for 1 ms
 * and sleeps for 1 ms in "short". Prints their thread-time by their own clocks, inside_ns, and how
 * much of it was CPU time, cpu_ns. In a hurry it waits for SIGUSR1 first, and spins and sleeps
 * 1 us each.
 */
#include "subject.h"

TSN_FINE(brief, "short");

static int left;
static uint64_t each_ns = 1000000;
static uint64_t inside_ns, cpu_ns;

static void *live(void *argument)
{
	uint64_t then = subject_now();

	{
		TSN_SCOPE(brief);
		subject_spin_until(then + each_ns);
		subject_sleep(each_ns);
	}
	__atomic_fetch_add(&inside_ns, subject_now() - then, __ATOMIC_RELAXED);
	__atomic_fetch_add(&cpu_ns, subject_clock(CLOCK_THREAD_CPUTIME_ID), __ATOMIC_RELAXED);
	return argument;
}

static void *series(void *argument)
{
	pthread_t thread;

	while (__atomic_fetch_sub(&left, 1, __ATOMIC_RELAXED) > 0) {
		if (pthread_create(&thread, NULL, live, NULL)) {
			perror("pthread_create");
			exit(1);
		}
		pthread_join(thread, NULL);
	}
	return argument;
}

int main(int argc, char **argv)
{
	int at_once = argc > 2 ? atoi(argv[2]) : 12, i;
	pthread_t threads[64];

	left = argc > 1 ? atoi(argv[1]) : 3000;
	if (argc > 3) {
		each_ns = 1000;
		subject_steps();
		subject_say("ready", 1);
		subject_wait_step(1);
	}
	for (i = 0; i < at_once && i < 64; i++)
		pthread_create(&threads[i], NULL, series, NULL);
	for (i = 0; i < at_once && i < 64; i++)
		pthread_join(threads[i], NULL);
	subject_say("inside_ns", inside_ns);
	subject_say("cpu_ns", cpu_ns);
	return 0;
}
