// SPDX-License-Identifier: MIT
/*
 * switches: two threads that hand a byte back and forth on one CPU: every hand-over is one
 * context switch. Waits for a line on standard input, works, and prints the time per switch, in ns.
 *
 * Usage: switches [THOUSANDS]   round trips, thousands
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <ticksnick/ticksnick.h>

TSN_FINE(handover, "handOver");

static int there[2], back[2];

static void *echo(void *argument)
{
	char byte;

	(void)argument;
	TSN_SCOPE(handover);
	while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
		;
	return NULL;
}

int main(int argc, char **argv)
{
	long trips = (long)((argc > 1 ? strtod(argv[1], NULL) : 150) * 1e3), i;
	struct timespec begin, end;
	pthread_t other;
	cpu_set_t set;
	char byte = 0;

	CPU_ZERO(&set);
	CPU_SET(1, &set);
	sched_setaffinity(0, sizeof(set), &set);
	if (pipe(there) || pipe(back) || getchar() == EOF)
		return 1;
	pthread_create(&other, NULL, echo, NULL);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	{
		TSN_SCOPE(handover);
		for (i = 0; i < trips; i++)
			if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
				return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.0f\n",
	       ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
		       (double)trips / 2);
	fflush(stdout);
	return getchar() == EOF ? 0 : 1;
}
