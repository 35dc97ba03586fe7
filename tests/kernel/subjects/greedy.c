// SPDX-License-Identifier: MIT
/*
 * greedy [fifo]: one thread spins on CPU 1 (or the last one there is) in "greedy" and never lets
 * go, under SCHED_FIFO if that is wanted, and another one wants the same CPU, in "starved". Prints
 * "greedy", "starved" (thread ids) and "ready 1"; runs until killed.
 */
#include <string.h>

#include "subject.h"

TSN_FINE(greedy, "greedy");
TSN_FINE(starved, "starved");

static volatile int wanting;

static void pin(void)
{
	subject_pin(sysconf(_SC_NPROCESSORS_ONLN) > 1);
}

static void *starve(void *argument)
{
	TSN_SCOPE(starved);
	pin();
	subject_say("starved", (uint64_t)subject_tid());
	wanting = 1;
	for (;;)
		TSN_KEEP(argument);
	return argument;
}

static void *hog(void *argument)
{
	struct sched_param first = {.sched_priority = 1};

	pin();
	if (argument && pthread_setschedparam(pthread_self(), SCHED_FIFO, &first))
		perror("pthread_setschedparam");
	subject_say("greedy", (uint64_t)subject_tid());
	subject_say("ready", 1);
	TSN_SCOPE(greedy);
	for (;;)
		TSN_KEEP(argument);
	return argument;
}

int main(int argc, char **argv)
{
	int fifo = argc > 1 && !strcmp(argv[1], "fifo");
	pthread_t thread;

	if (fifo) {
		pthread_create(&thread, NULL, starve, NULL);
		while (!wanting)
			usleep(1000);
	}
	pthread_create(&thread, NULL, hog, fifo ? argv[1] : NULL);
	for (;;)
		pause();
}
