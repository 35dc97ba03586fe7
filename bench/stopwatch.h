/* SPDX-License-Identifier: MIT */
/*
 * stopwatch - a thread's own account of when it was inside something, kept lap by lap with times of
 * day, so that it can be cut to the very window of a session afterwards: a report says when its
 * session began and how long it was, by the same clock.
 */
#ifndef TICKSNICK_BENCH_STOPWATCH_H
#define TICKSNICK_BENCH_STOPWATCH_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct profile;

struct stopwatch_lap {
	uint64_t begin_ns, end_ns; /* CLOCK_REALTIME */
	uint64_t cpu_ns;	   /* CPU time of the thread in the lap; 0 where it is not asked */
};

struct stopwatch {
	struct stopwatch_lap *laps; /* in the order of time */
	size_t count, max;
};

/* Time inside, of one or several stopwatches. A lap across an edge counts by its part inside. */
struct stopwatch_sum {
	double wall_ns, cpu_ns;
	double laps;
};

/* Room for so many laps, in memory from the start: a page fault would be part of a lap. Exits the
 * program where there is none. */
void stopwatch__init(struct stopwatch *stopwatch, size_t laps_max);
void stopwatch__free(struct stopwatch *stopwatch);

/* Adds what that stopwatch saw while the session of that profile went on. -ENOSPC: it ran out of
 * laps before the session's end, so it does not know. */
int stopwatch__cut(const struct stopwatch *stopwatch, const struct profile *profile,
		   struct stopwatch_sum *sum);

static inline uint64_t stopwatch__read(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t stopwatch__now(void)
{
	return stopwatch__read(CLOCK_REALTIME);
}

/* CPU time of the calling thread: neither preemption nor a stolen CPU is part of it. */
static inline uint64_t stopwatch__cpu(void)
{
	return stopwatch__read(CLOCK_THREAD_CPUTIME_ID);
}

/* Once it is full, later laps are dropped. */
static inline void stopwatch__add(struct stopwatch *stopwatch, uint64_t begin_ns, uint64_t end_ns,
				  uint64_t cpu_ns)
{
	if (stopwatch->count < stopwatch->max)
		stopwatch->laps[stopwatch->count++] =
			(struct stopwatch_lap){begin_ns, end_ns, cpu_ns};
}

#endif
