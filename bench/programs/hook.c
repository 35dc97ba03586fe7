// SPDX-License-Identifier: MIT
/*
 * hook: what a label costs. Enter and exit with their count, beside two clock_gettime calls in the
 * same run, alternating.
 *
 * Usage: hook [ROUNDS]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <ticksnick/ticksnick.h>

TSN_FINE(scoped, "scoped");
TSN_FINE(paired, "paired");
TSN_FINE(outer, "outer");

#define CALLS  2000000
#define CLOCKS 200000

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double empty_loop(void)
{
	double begin = now_ns();
	int i;

	for (i = 0; i < CALLS; i++)
		TSN_KEEP(i);
	return (now_ns() - begin) / CALLS;
}

static double scope_loop(void)
{
	double begin = now_ns();
	int i;

	for (i = 0; i < CALLS; i++) {
		TSN_SCOPE(scoped);
		TSN_KEEP(i);
	}
	return (now_ns() - begin) / CALLS;
}

static double pair_loop(void)
{
	double begin = now_ns();
	int i;

	for (i = 0; i < CALLS; i++) {
		tsn_enter(paired);
		TSN_KEEP(i);
		tsn_exit(paired);
	}
	return (now_ns() - begin) / CALLS;
}

static double clock_loop(void)
{
	double begin = now_ns();
	struct timespec now;
	int i;

	for (i = 0; i < CLOCKS; i++) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		clock_gettime(CLOCK_MONOTONIC, &now);
	}
	return (now_ns() - begin) / CLOCKS;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), by_value);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 21, i;
	double *empty, *scope, *pair, *clocks, label, two;

	if (rounds < 1)
		return 2;
	empty = calloc((size_t)rounds * 4, sizeof(*empty));
	if (!empty)
		return 1;
	scope = empty + rounds;
	pair = scope + rounds;
	clocks = pair + rounds;
	TSN_SCOPE(outer);
	for (i = 0; i < rounds; i++) {
		empty[i] = empty_loop();
		scope[i] = scope_loop();
		pair[i] = pair_loop();
		clocks[i] = clock_loop();
	}
	label = median(scope, rounds) - median(empty, rounds);
	two = median(clocks, rounds);
	printf("label, enter + exit with count   %6.2f ns   (limit 0.8 ns)\n", label);
	printf("tsn_enter + tsn_exit             %6.2f ns\n",
	       median(pair, rounds) - median(empty, rounds));
	printf("two clock_gettime calls          %6.2f ns\n", two);
	printf("label / two clock_gettime calls  1/%.1f      (limit 1/20)\n", two / label);
	free(empty);
	return label <= 0.8 && label * 20 <= two ? 0 : 1;
}
