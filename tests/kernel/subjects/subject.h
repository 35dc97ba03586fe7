/* SPDX-License-Identifier: MIT */
/*
 * subject - what the recorded programs with a known truth share. Each prints the truth as lines
 * "key value" on standard output.
 */
#ifndef TICKSNICK_TESTS_SUBJECT_H
#define TICKSNICK_TESTS_SUBJECT_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
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

static inline void subject_sleep(uint64_t ns)
{
	struct timespec left = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	while (nanosleep(&left, &left))
		;
}

static inline int subject_tid(void)
{
	return (int)syscall(SYS_gettid);
}

/* One line of the truth, or of the state of things. */
static inline void subject_say(const char *key, uint64_t value)
{
	printf("%s %llu\n", key, (unsigned long long)value);
	fflush(stdout);
}

/* Steps that the test calls by SIGUSR1. */
static volatile sig_atomic_t subject_step;

static inline void subject_step_take(int number)
{
	(void)number;
	subject_step++;
}

static inline void subject_steps(void)
{
	struct sigaction action = {.sa_handler = subject_step_take, .sa_flags = SA_RESTART};

	sigaction(SIGUSR1, &action, NULL);
}

static inline void subject_wait_step(int step)
{
	while (subject_step < step)
		usleep(1000);
}

/* Argument number n in seconds, as ns. */
static inline uint64_t subject_seconds(int argc, char **argv, int n, double otherwise)
{
	return (uint64_t)((argc > n ? strtod(argv[n], NULL) : otherwise) * 1e9);
}

#endif
