// SPDX-License-Identifier: MIT
/*
 * lockstep: programs that keep step with a timer, which is what a sampler must not be led by. One
 * burns 2 ms at the start of every 10 ms, beside a thread that burns all the time. One alternates
 * between two labels, once around in exactly one period of the recorder's timer, by appointments.
 * One does so by stays of a set length, each begun when the last has ended: a tick that falls on
 * the end of a stay delays it, and all that follow, by what a tick costs. So ticks a little further
 * apart than the program's period pull it into step with themselves, until the period is redrawn.
 * That is no bias, for the end they catch is that of each label as often as the label is long; but
 * it scatters, at 20 us a tick more than twice as wide as independent hits. The bound has to know.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <ticksnick/ticksnick.h>

#include "bench.h"
#include "outcome.h"
#include "recorder.h"
#include "stopwatch.h"

#define SECONDS_BRIEF 2
#define SECONDS_FULL  10
#define RUNS	      5
#define FREQUENCY_HZ  1000

#define BURST_PERIOD_NS 10000000
#define BURST_NS	2000000
#define STEADY_NS	10000000 /* of one lap */
#define FIRST_PART	0.3	 /* of the period, in the first of the two labels */
#define SPARE_SECONDS	15	 /* of laps: around the session */
#define LABELS		2	 /* of a program */

/* Of the burst, which takes whole ticks one by one and in step would be seen by all or none. */
#define BURST_ERROR_MAX_PP 1
/* In standard deviations of as many independent hits: in step, a session would be off by dozens. */
#define ERROR_MAX_SD 4

TSN_FINE(label_burst, "lockstep.burst");
TSN_FINE(label_steady, "lockstep.steady");
TSN_FINE(label_first, "lockstep.first");
TSN_FINE(label_second, "lockstep.second");

static atomic_bool over;

struct stepper {
	pthread_t thread;
	int cpu;	    /* index among those this process may use */
	uint64_t period_ns; /* of the alternation */
	struct stopwatch watches[LABELS];
};

static bool is_over(void)
{
	return atomic_load_explicit(&over, memory_order_relaxed);
}

static void pin(int index)
{
	cpu_set_t allowed, one;

	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed) && index-- == 0)
			CPU_SET(cpu, &one);
	if (CPU_COUNT(&one) == 1)
		sched_setaffinity(0, sizeof(one), &one);
}

/* In that label until then, by the clock of the stopwatch. */
static void stay(tsn_fine_t label, struct stopwatch *stopwatch, uint64_t until_ns)
{
	TSN_SCOPE(label);
	const uint64_t begin = stopwatch__now();
	uint64_t now;

	do
		now = stopwatch__now();
	while (now < until_ns);
	stopwatch__add(stopwatch, begin, now, 0);
}

static void *burst_main(void *argument)
{
	struct stepper *stepper = argument;
	uint64_t due_ns = stopwatch__now();

	pin(stepper->cpu);
	while (!is_over()) {
		struct timespec due;

		due_ns += BURST_PERIOD_NS;
		due = (struct timespec){(time_t)(due_ns / 1000000000), (long)(due_ns % 1000000000)};
		clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &due, NULL);
		stay(label_burst, &stepper->watches[0], due_ns + BURST_NS);
	}
	return NULL;
}

static void *steady_main(void *argument)
{
	struct stepper *stepper = argument;

	pin(stepper->cpu);
	while (!is_over())
		stay(label_steady, &stepper->watches[0], stopwatch__now() + STEADY_NS);
	return NULL;
}

/* Each stay ends when it is due, whatever happened before. */
static void *alternate_main(void *argument)
{
	struct stepper *stepper = argument;
	const uint64_t first_ns = (uint64_t)(FIRST_PART * (double)stepper->period_ns);
	uint64_t due_ns = stopwatch__now();

	pin(stepper->cpu);
	while (!is_over()) {
		stay(label_first, &stepper->watches[0], due_ns + first_ns);
		due_ns += stepper->period_ns;
		stay(label_second, &stepper->watches[1], due_ns);
	}
	return NULL;
}

/* Each stay is counted from when the last one ended. */
static void *chain_main(void *argument)
{
	struct stepper *stepper = argument;
	const uint64_t first_ns = (uint64_t)(FIRST_PART * (double)stepper->period_ns);

	pin(stepper->cpu);
	while (!is_over()) {
		stay(label_first, &stepper->watches[0], stopwatch__now() + first_ns);
		stay(label_second, &stepper->watches[1],
		     stopwatch__now() + stepper->period_ns - first_ns);
	}
	return NULL;
}

/* A program of one or two threads in two labels; the first one's share of both is what is read. */
struct program {
	const char *name;
	const char *labels[LABELS];
	void *(*mains[LABELS])(void *); /* NULL: one thread has both labels */
	bool scatters; /* more than independent hits would: the bound alone can judge */
	/* What its sessions found: */
	double inside, worst_pp, worst_sd, half_width_pp;
};

static void compare_share(struct program *program, const struct profile_fine *row, double hits,
			  double truth, const struct profile *profile, struct outcome *outcome)
{
	const double off_pp = 100 * (row->share - truth);
	const double sd_pp = 100 * sqrt(truth * (1 - truth) / hits);
	const bool inside = row->share_lo <= truth && truth <= row->share_hi;

	outcome__text(outcome,
		      "%-10s true %6.2f%%, read %6.2f%%: off %+5.2f pp; %.2f to %.2f%% %s\n",
		      program->name, 100 * truth, 100 * row->share, off_pp, 100 * row->share_lo,
		      100 * row->share_hi, inside ? "holds" : "DOES NOT HOLD");
	outcome__row(outcome, "sessions",
		     json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:b, s:I}", "program", program->name,
			       "true_share", truth, "share", row->share, "share_lo", row->share_lo,
			       "share_hi", row->share_hi, "hits", hits, "inside", inside, "lost",
			       (json_int_t)profile__losses(&profile->losses)));
	program->inside += inside;
	program->worst_pp = fmax(program->worst_pp, fabs(off_pp));
	program->worst_sd = fmax(program->worst_sd, fabs(off_pp) / sd_pp);
	program->half_width_pp = fmax(program->half_width_pp, 50 * (row->share_hi - row->share_lo));
}

/* The truth is all the time from begin to end of a stay, whatever the thread did meanwhile, which
 * is what thread-time is. */
static int compare(struct program *program, const struct stopwatch *const watches[LABELS],
		   const struct recording *recording, struct outcome *outcome)
{
	const struct profile_fine *rows[LABELS];
	struct stopwatch_sum sums[LABELS] = {0};
	int err;

	for (int i = 0; i < LABELS; i++) {
		rows[i] = recording__fine(recording, program->labels[i]);
		if (!rows[i])
			return -ENOENT;
		err = stopwatch__cut(watches[i], recording->profile, &sums[i]);
		if (err)
			return err;
	}
	compare_share(program, rows[0], (double)(rows[0]->hits + rows[1]->hits),
		      sums[0].wall_ns / (sums[0].wall_ns + sums[1].wall_ns), recording->profile,
		      outcome);
	return 0;
}

static unsigned steppers_start(const struct program *program, struct stepper steppers[LABELS],
			       double frequency, double seconds)
{
	const unsigned threads = program->mains[1] ? 2 : 1;
	const size_t laps_max = (size_t)((seconds + SPARE_SECONDS) * frequency);

	atomic_store(&over, false);
	for (unsigned i = 0; i < threads; i++) {
		steppers[i] = (struct stepper){.cpu = (int)(i % bench__cpus()),
					       .period_ns = (uint64_t)(1e9 / frequency)};
		for (int j = 0; j < LABELS; j++)
			stopwatch__init(&steppers[i].watches[j], laps_max);
		if (pthread_create(&steppers[i].thread, NULL, program->mains[i], &steppers[i]))
			exit(1);
	}
	return threads;
}

static int record(struct program *program, const struct bench_options *options,
		  struct outcome *outcome)
{
	const double seconds = bench__seconds(options, SECONDS_BRIEF, SECONDS_FULL);
	const double frequency = bench__frequency(options, FREQUENCY_HZ);
	struct stepper steppers[LABELS];
	const unsigned threads = steppers_start(program, steppers, frequency, seconds);
	const struct stopwatch *const watches[LABELS] = {&steppers[0].watches[0],
							 threads > 1 ? &steppers[1].watches[0]
								     : &steppers[0].watches[1]};
	struct recording recording;
	int err =
		recorder__record(options, outcome, getpid(), frequency, seconds, NULL, &recording);

	atomic_store(&over, true);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(steppers[i].thread, NULL);
	if (!err) {
		err = compare(program, watches, &recording, outcome);
		recording__free(&recording);
	}
	for (unsigned i = 0; i < threads; i++)
		for (int j = 0; j < LABELS; j++)
			stopwatch__free(&steppers[i].watches[j]);
	return err;
}

static void judge(const struct program *program, unsigned runs, struct outcome *outcome)
{
	char holds[64], off[64], wide[64];

	snprintf(holds, sizeof(holds), "%s: sessions whose bound holds", program->name);
	snprintf(off, sizeof(off), "%s: farthest off", program->name);
	snprintf(wide, sizeof(wide), "%s: half the widest bound", program->name);
	outcome__gate(outcome, holds, program->inside, GATE_AT_LEAST, runs, "");
	if (program->scatters)
		outcome__figure(outcome, off, program->worst_sd, "sd");
	else
		outcome__gate(outcome, off, program->worst_sd, GATE_AT_MOST, ERROR_MAX_SD, "sd");
	outcome__figure(outcome, off, program->worst_pp, "pp");
	outcome__figure(outcome, wide, program->half_width_pp, "pp");
}

int mode_lockstep(const struct bench_options *options, struct outcome *outcome)
{
	const unsigned runs = bench__runs(options, RUNS, RUNS);
	struct program programs[] = {
		{"burst", {"lockstep.burst", "lockstep.steady"}, {burst_main, steady_main}},
		{"alternate", {"lockstep.first", "lockstep.second"}, {alternate_main}},
		{"chain", {"lockstep.first", "lockstep.second"}, {chain_main}, true},
	};
	const size_t count = sizeof(programs) / sizeof(programs[0]);
	int err = 0;

	for (unsigned run = 0; run < runs && !err; run++)
		for (size_t i = 0; i < count && !err; i++)
			err = record(&programs[i], options, outcome);
	if (err)
		return err;
	for (size_t i = 0; i < count; i++)
		judge(&programs[i], runs, outcome);
	outcome__gate(outcome, "burst: farthest off", programs[0].worst_pp, GATE_AT_MOST,
		      BURST_ERROR_MAX_PP, "pp");
	return 0;
}
