// SPDX-License-Identifier: MIT
/*
 * fixed: a fixed amount of labelled work on two threads, to see what recording it costs. Waits for
 * a line on standard input, works, and prints the time it took, in ns.
 *
 * Usage: fixed [MILLIONS]   labelled calls per thread, millions
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <ticksnick/ticksnick.h>

TSN_FINE_FAMILY(step, "step", 8);

static long calls;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *work(void *argument)
{
	uint64_t state = (uintptr_t)argument * 2 + 1;
	long i;
	int k;

	for (i = 0; i < calls; i++) {
		TSN_SCOPE(tsn_at(step, (uint32_t)i & 7));
		for (k = 0; k < 40; k++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
		}
		TSN_KEEP(state);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other;
	uint64_t begin;

	calls = (long)((argc > 1 ? strtod(argv[1], NULL) : 30) * 1e6);
	if (getchar() == EOF)
		return 1;
	begin = now_ns();
	pthread_create(&other, NULL, work, (void *)1);
	work((void *)2);
	pthread_join(other, NULL);
	printf("%llu\n", (unsigned long long)(now_ns() - begin));
	fflush(stdout);
	/* Whoever records it ends it. */
	return getchar() == EOF ? 0 : 1;
}
