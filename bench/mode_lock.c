// SPDX-License-Identifier: MIT
/* lock: threads that queue up for one mutex, and what their own stopwatches say they waited. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include <ticksnick/ticksnick.h>

#include "bench.h"
#include "outcome.h"
#include "random.h"
#include "recorder.h"
#include "stopwatch.h"

#define SECONDS_BRIEF	     4
#define SECONDS_FULL	     20
#define THREADS		     4
#define FREQUENCY_HZ	     997
#define HOLD_NS		     400000
#define PERIOD_NS	     2000000 /* of a thread, mean: together they want the mutex 80% of the time */
#define SPARE_SECONDS	     15 /* of laps: around the session */
#define WAITING_ERROR_MAX_PC 3
#define IN_FLIGHT_ERROR_MAX  0.01

TSN_FINE(label_acquire, "lock.acquire");
TSN_FINE(label_hold, "lock.hold");

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool over;

struct contender {
	pthread_t thread;
	uint64_t random;
	struct stopwatch acquiring, holding;
};

static void spin_until(uint64_t moment_ns)
{
	while (stopwatch__now() < moment_ns)
		;
}

/* The clocks are read as far outside as the label allows: the label's waiting is all of it. */
static void acquire(struct contender *contender)
{
	TSN_SCOPE(label_acquire);
	const uint64_t begin = stopwatch__now(), cpu = stopwatch__cpu();

	pthread_mutex_lock(&mutex);
	{
		const uint64_t cpu_end = stopwatch__cpu();

		stopwatch__add(&contender->acquiring, begin, stopwatch__now(), cpu_end - cpu);
	}
}

static void hold(struct contender *contender)
{
	TSN_SCOPE(label_hold);
	const uint64_t begin = stopwatch__now();

	spin_until(begin + HOLD_NS);
	stopwatch__add(&contender->holding, begin, stopwatch__now(), 0);
}

/* Appointments, not pauses: a thread that waited long is back at the mutex the sooner. They are
 * drawn, lest the threads find an order in which none waits. */
static void *contender_main(void *argument)
{
	struct contender *contender = argument;
	uint64_t due_ns = stopwatch__read(CLOCK_MONOTONIC);

	while (!atomic_load_explicit(&over, memory_order_relaxed)) {
		struct timespec due;

		due_ns += PERIOD_NS / 2 + random__below(&contender->random, PERIOD_NS);
		due = (struct timespec){(time_t)(due_ns / 1000000000), (long)(due_ns % 1000000000)};
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		acquire(contender);
		hold(contender);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void judge(const struct profile_fine *acquire_row, const struct profile_fine *hold_row,
		  const struct stopwatch_sum *acquiring, const struct stopwatch_sum *holding,
		  struct outcome *outcome)
{
	const double waited = acquiring->wall_ns - acquiring->cpu_ns;
	const double read = (double)acquire_row->runnable_ns + (double)acquire_row->blocked_ns +
			    (double)acquire_row->io_ns;

	outcome__text(
		outcome,
		"%.0f acquisitions waited %.3f s by their stopwatches; the report has %.3f s:\n"
		"%.3f s blocked, %.3f s runnable, %.3f s io\n"
		"the mutex was held for %.3f s; the report has %.3f s\n",
		acquiring->laps, waited / 1e9, read / 1e9, (double)acquire_row->blocked_ns / 1e9,
		(double)acquire_row->runnable_ns / 1e9, (double)acquire_row->io_ns / 1e9,
		holding->wall_ns / 1e9, (double)hold_row->thread_time_ns / 1e9);
	outcome__figure(outcome, "waiting of one acquisition", waited / acquiring->laps / 1e3,
			"us");
	outcome__figure(outcome, "time held, off by",
			100 * ((double)hold_row->thread_time_ns / holding->wall_ns - 1), "%");
	outcome__gate(outcome, "waiting to acquire, off by", 100 * fabs(read / waited - 1),
		      GATE_AT_MOST, WAITING_ERROR_MAX_PC, "%");
	outcome__gate(outcome, "in flight while held, off 1 by", fabs(hold_row->in_flight - 1),
		      GATE_AT_MOST, IN_FLIGHT_ERROR_MAX, "");
}

static int compare(const struct contender *contenders, unsigned threads,
		   const struct recording *recording, struct outcome *outcome)
{
	const struct profile_fine *acquire_row = recording__fine(recording, "lock.acquire");
	const struct profile_fine *hold_row = recording__fine(recording, "lock.hold");
	struct stopwatch_sum acquiring = {0}, holding = {0};
	int err = 0;

	if (!acquire_row || !hold_row)
		return -ENOENT;
	for (unsigned i = 0; i < threads && !err; i++) {
		err = stopwatch__cut(&contenders[i].acquiring, recording->profile, &acquiring);
		if (!err)
			err = stopwatch__cut(&contenders[i].holding, recording->profile, &holding);
	}
	if (!err)
		judge(acquire_row, hold_row, &acquiring, &holding, outcome);
	return err;
}

int mode_lock(const struct bench_options *options, struct outcome *outcome)
{
	const double seconds = bench__seconds(options, SECONDS_BRIEF, SECONDS_FULL);
	const double frequency = bench__frequency(options, FREQUENCY_HZ);
	const unsigned threads = options->threads ? options->threads : THREADS;
	const size_t laps_max = (size_t)((seconds + SPARE_SECONDS) * 1e9 / PERIOD_NS);
	struct contender contenders[threads];
	struct recording recording;
	int err;

	atomic_store(&over, false);
	for (unsigned i = 0; i < threads; i++) {
		contenders[i].random = random__seed(options->seed * threads + i);
		stopwatch__init(&contenders[i].acquiring, laps_max);
		stopwatch__init(&contenders[i].holding, laps_max);
		if (pthread_create(&contenders[i].thread, NULL, contender_main, &contenders[i]))
			exit(1);
	}
	err = recorder__record(options, outcome, getpid(), frequency, seconds, NULL, &recording);
	atomic_store(&over, true);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(contenders[i].thread, NULL);
	if (!err) {
		err = compare(contenders, threads, &recording, outcome);
		recording__free(&recording);
	}
	for (unsigned i = 0; i < threads; i++) {
		stopwatch__free(&contenders[i].acquiring);
		stopwatch__free(&contenders[i].holding);
	}
	return err;
}
