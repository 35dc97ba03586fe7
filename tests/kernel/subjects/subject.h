/* SPDX-License-Identifier: MIT */
/*
 * subject - what the recorded programs with a known truth share. Each prints the truth as lines
 * "key value" on standard output.
 */
#ifndef TICKSNICK_TESTS_SUBJECT_H
#define TICKSNICK_TESTS_SUBJECT_H

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <ticksnick/ticksnick.h>

static inline uint64_t subject_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t subject_now(void)
{
	return subject_clock(CLOCK_MONOTONIC);
}

/* Burns CPU until the moment; returns the first reading at or after it. */
static inline uint64_t subject_spin_until(uint64_t moment_ns)
{
	uint64_t now;

	do
		now = subject_now();
	while (now < moment_ns);
	return now;
}

static inline void subject_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		perror("sched_setaffinity");
}

/* Argument number n in seconds, as ns. */
static inline uint64_t subject_seconds(int argc, char **argv, int n, double otherwise)
{
	return (uint64_t)((argc > n ? strtod(argv[n], NULL) : otherwise) * 1e9);
}

#endif
