// SPDX-License-Identifier: MIT
/*
 * steady: a fixed mix of five operations on every CPU, one of which can be made slower, to see
 * whether that is found. Four are fine labels: "most" has two thirds of the work, "first", "second"
 * and "third" a tenth each. The fifth, "timed", is a coarse one, whose executions take some 20 us
 * and have a twentieth of it together. Prints "ready" and works until it is killed.
 *
 * Usage: steady [PERCENT [most|timed]]   that operation (most) takes so many percent more steps
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ticksnick/ticksnick.h>

#define STEPS	     100
#define MOST_STEPS   (7 * STEPS)
#define TIMED_STEPS  (125 * STEPS)
#define TIMED_ROUNDS 190 /* of the others for each of it */

TSN_COARSE(timed, "timed");
TSN_FINE(most, "most");
TSN_FINE(first, "first");
TSN_FINE(second, "second");
TSN_FINE(third, "third");

static uint32_t most_steps = MOST_STEPS, timed_steps = TIMED_STEPS;

/* Each step waits for the one before it, through the whole thread. */
static inline __attribute__((always_inline)) uint64_t work(uint64_t state, uint32_t steps)
{
	TSN_KEEP(state);
	do {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		TSN_KEEP(state);
	} while (--steps);
	TSN_KEEP(state);
	return state;
}

static uint64_t work_round(uint64_t state)
{
	{
		TSN_SCOPE(most);
		state = work(state, most_steps);
	}
	{
		TSN_SCOPE(first);
		state = work(state, STEPS);
	}
	{
		TSN_SCOPE(second);
		state = work(state, STEPS);
	}
	{
		TSN_SCOPE(third);
		state = work(state, STEPS);
	}
	return state;
}

static void *run(void *argument)
{
	uint64_t state = (uintptr_t)argument * 2 + 1;
	int i;

	for (;;) {
		for (i = 0; i < TIMED_ROUNDS; i++)
			state = work_round(state);
		{
			TSN_SCOPE(timed);
			state = work(state, timed_steps);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	double slower = 1 + (argc > 1 ? strtod(argv[1], NULL) / 100 : 0);
	int timed_is = argc > 2 && !strcmp(argv[2], "timed");
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), i;
	pthread_t thread;

	if (timed_is)
		timed_steps = (uint32_t)(TIMED_STEPS * slower + 0.5);
	else
		most_steps = (uint32_t)(MOST_STEPS * slower + 0.5);
	for (i = 1; i < cpus; i++)
		if (pthread_create(&thread, NULL, run, (void *)(uintptr_t)i))
			return 1;
	printf("ready\n");
	fflush(stdout);
	run(NULL);
	return 0;
}
