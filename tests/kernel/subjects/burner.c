// SPDX-License-Identifier: MIT
/*
 * burner [SECONDS]: one thread spins, others of the process get in its way on the same CPUs. Prints
 * the spinner's thread id and CPU time by its own clock, read as its last act.
 */
#include <sys/syscall.h>

#include "subject.h"

TSN_FINE(burn, "burn");

static uint64_t end_ns;

static void *spinner(void *argument)
{
	(void)argument;
	TSN_SCOPE(burn);
	subject_spin_until(end_ns);
	printf("tid %ld\ncpu_ns %llu\n", syscall(SYS_gettid),
	       (unsigned long long)subject_clock(CLOCK_THREAD_CPUTIME_ID));
	return NULL;
}

/* Wakes and works in bursts, so that the spinner is preempted often and migrates. */
static void *intruder(void *argument)
{
	struct timespec pause = {0, 700000 + (long)(intptr_t)argument * 130000};

	while (subject_now() < end_ns) {
		nanosleep(&pause, NULL);
		subject_spin_until(subject_now() + 200000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];
	intptr_t i;

	end_ns = subject_now() + subject_seconds(argc, argv, 1, 3);
	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, i ? intruder : spinner, (void *)i);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
