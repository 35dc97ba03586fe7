/* SPDX-License-Identifier: MIT */
/*
 * bench - what the modes of ticksnick-bench share: their options, and what they return.
 *
 * A mode holds the real recorder against a truth that it finds out without it, and decides by gates
 * of its own. It is run as a user would run it: `ticksnick record -p PID` on a process that works.
 */
#ifndef TICKSNICK_BENCH_H
#define TICKSNICK_BENCH_H

#include <stdbool.h>
#include <stdint.h>

struct outcome;

struct bench_options {
	const char *recorder; /* path of ticksnick */
	const char *programs; /* directory of the programs in bench/programs, built */
	double seconds;	      /* of one session; 0: the mode's own choice */
	unsigned threads;     /* workers; 0: one per CPU that this process may use */
	unsigned runs;	      /* sessions of each kind; 0: the mode's own choice */
	double frequency_hz;  /* of the recorder's timer; 0: the mode's own choice */
	uint64_t seed;
	bool escape; /* fanout: nothing but that */
	bool brief;  /* where nothing else is asked for, as short as still says something */
};

/*
 * A mode adds its gates, figures and text to the outcome. 0, or a negative errno if it could not be
 * carried out, which the outcome then explains (outcome__broken).
 */
typedef int (*bench_mode)(const struct bench_options *options, struct outcome *outcome);

int mode_run(const struct bench_options *options, struct outcome *outcome);
int mode_verify(const struct bench_options *options, struct outcome *outcome);
int mode_small(const struct bench_options *options, struct outcome *outcome);
int mode_sweep(const struct bench_options *options, struct outcome *outcome);
int mode_lockstep(const struct bench_options *options, struct outcome *outcome);
int mode_active(const struct bench_options *options, struct outcome *outcome);
int mode_lock(const struct bench_options *options, struct outcome *outcome);
int mode_leakcheck(const struct bench_options *options, struct outcome *outcome);
int mode_hook(const struct bench_options *options, struct outcome *outcome);
int mode_cost(const struct bench_options *options, struct outcome *outcome);
int mode_estimators(const struct bench_options *options, struct outcome *outcome);
int mode_coarse(const struct bench_options *options, struct outcome *outcome);
int mode_violate(const struct bench_options *options, struct outcome *outcome);
int mode_fanout(const struct bench_options *options, struct outcome *outcome);
int mode_diff(const struct bench_options *options, struct outcome *outcome);
int mode_all(const struct bench_options *options, struct outcome *outcome);

/* What the options leave to the mode: its choice when brief, and when not. */
double bench__seconds(const struct bench_options *options, double brief, double full);
unsigned bench__runs(const struct bench_options *options, unsigned brief, unsigned full);
double bench__frequency(const struct bench_options *options, double otherwise_hz);
unsigned bench__threads(const struct bench_options *options);
unsigned bench__cpus(void); /* that this process may run on */

#endif
