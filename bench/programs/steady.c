// SPDX-License-Identifier: MIT
/*
 * steady: a fixed mix of four operations on every CPU, one of which can be made slower, to see
 * whether that is found. It has 70% of the work, the others 10% each. Prints "ready" and works
 * until it is killed.
 *
 * Usage: steady [PERCENT]   the first operation takes so many percent more steps
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <ticksnick/ticksnick.h>

#define STEPS 100

TSN_FINE(most, "most");
TSN_FINE(first, "first");
TSN_FINE(second, "second");
TSN_FINE(third, "third");

static uint32_t most_steps = 7 * STEPS;

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

static void *run(void *argument)
{
	uint64_t state = (uintptr_t)argument * 2 + 1;

	for (;;) {
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
	}
	return NULL;
}

int main(int argc, char **argv)
{
	double percent = argc > 1 ? strtod(argv[1], NULL) : 0;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), i;
	pthread_t thread;

	most_steps = (uint32_t)(7 * STEPS * (1 + percent / 100) + 0.5);
	for (i = 1; i < cpus; i++)
		if (pthread_create(&thread, NULL, run, (void *)(uintptr_t)i))
			return 1;
	printf("ready\n");
	fflush(stdout);
	run(NULL);
	return 0;
}
