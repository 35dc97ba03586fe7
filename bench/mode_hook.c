// SPDX-License-Identifier: MIT
/*
 * hook: what a label costs, enter and exit with their count: in an empty loop, beside two clock
 * readings, and in the twenty operations, with their labels against without. The variants take
 * turns, so that a machine whose speed drifts slows all alike. Nothing records meanwhile.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <ticksnick/ticksnick.h>

#include "bench.h"
#include "calibration.h"
#include "hook_cycle.h"
#include "numbers.h"
#include "operations.h"
#include "outcome.h"
#include "stopwatch.h"

#define ROUNDS_BRIEF 21
#define ROUNDS_FULL  101
#define CALLS	     1000000
#define CLOCKS	     100000
#define CYCLES	     4 /* of roots, in one measurement */
#define LABEL_NS_MAX 0.8
#define RATIO_MAX    0.05 /* to two clock readings */

TSN_FINE(label_scope, "hook.scope");
TSN_FINE(label_pair, "hook.pair");
TSN_FINE(label_around, "hook.around");

enum variant { EMPTY, SCOPE, PAIR, CLOCK, LABELLED, BARE, VARIANTS };

struct hook {
	uint8_t cycle[CATALOGUE_CYCLE];
	uint64_t state;
	double calls; /* of operations in one measurement of the workload */
	size_t rounds;
	double *ns[VARIANTS]; /* per call, by round */
};

static __attribute__((noinline)) void empty_loop(void)
{
	for (int i = 0; i < CALLS; i++)
		TSN_KEEP(i);
}

static __attribute__((noinline)) void scope_loop(void)
{
	for (int i = 0; i < CALLS; i++) {
		TSN_SCOPE(label_scope);
		TSN_KEEP(i);
	}
}

static __attribute__((noinline)) void pair_loop(void)
{
	for (int i = 0; i < CALLS; i++) {
		tsn_enter(label_pair);
		TSN_KEEP(i);
		tsn_exit(label_pair);
	}
}

static __attribute__((noinline)) void clock_loop(void)
{
	struct timespec now;

	for (int i = 0; i < CLOCKS; i++) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		clock_gettime(CLOCK_MONOTONIC, &now);
	}
}

static __attribute__((noinline)) uint64_t labelled(const uint8_t cycle[CATALOGUE_CYCLE],
						   uint64_t state)
{
	return operation_cycle(cycle, 0, 1, state);
}

/* ns per call of one measurement. */
static double measure(struct hook *hook, enum variant variant)
{
	static void (*const loops[])(void) = {empty_loop, scope_loop, pair_loop, clock_loop};
	static const double calls[] = {CALLS, CALLS, CALLS, CLOCKS};
	const uint64_t begin = stopwatch__cpu();

	if (variant < LABELLED) {
		loops[variant]();
		return (double)(stopwatch__cpu() - begin) / calls[variant];
	}
	for (int i = 0; i < CYCLES; i++)
		hook->state = variant == LABELLED ? labelled(hook->cycle, hook->state)
						  : hook_cycle__bare(hook->cycle, hook->state);
	return (double)(stopwatch__cpu() - begin) / hook->calls;
}

static int prepare(struct hook *hook, const struct bench_options *options)
{
	uint16_t mix[CATALOGUE_OPERATIONS];
	uint64_t roots[CATALOGUE_OPERATIONS], calls[CATALOGUE_OPERATIONS];
	struct calibration calibration;

	calibration__run(&calibration);
	hook_cycle__prepare_bare(calibration.iterations);
	catalogue__roots(mix);
	catalogue__shuffle(options->seed, mix, hook->cycle);
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++)
		roots[id] = CYCLES * mix[id];
	catalogue__calls(roots, calls);
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++)
		hook->calls += (double)calls[id];
	hook->state = 1;
	hook->rounds = bench__runs(options, ROUNDS_BRIEF, ROUNDS_FULL);
	for (int variant = 0; variant < VARIANTS; variant++) {
		hook->ns[variant] = calloc(hook->rounds, sizeof(double));
		if (!hook->ns[variant])
			return -ENOMEM;
	}
	return operation_prepare(calibration.iterations);
}

/* Median over the rounds of how much longer the one took. */
static double longer_by(const struct hook *hook, enum variant variant, enum variant without,
			double *scratch)
{
	for (size_t i = 0; i < hook->rounds; i++)
		scratch[i] = hook->ns[variant][i] - hook->ns[without][i];
	return numbers__median(scratch, hook->rounds);
}

static void judge(const struct hook *hook, double *scratch, struct outcome *outcome)
{
	const double label = longer_by(hook, SCOPE, EMPTY, scratch);
	const double pair = longer_by(hook, PAIR, EMPTY, scratch);
	const double visible = longer_by(hook, LABELLED, BARE, scratch);
	const double two = numbers__median(hook->ns[CLOCK], hook->rounds);
	const double bare = numbers__median(hook->ns[BARE], hook->rounds);

	outcome__text(
		outcome,
		"two clock_gettime calls take as long as %.0f labels; in operations of %.0f ns "
		"a label takes %+.2f ns\n",
		two / label, bare, visible);
	outcome__figure(outcome, "tsn_enter + tsn_exit", pair, "ns");
	outcome__figure(outcome, "two clock_gettime calls", two, "ns");
	outcome__figure(outcome, "an operation of the catalogue, mean", bare, "ns");
	outcome__figure(outcome, "its label, as far as it is not hidden", visible, "ns");
	outcome__gate(outcome, "a label, enter + exit with count", label, GATE_AT_MOST,
		      LABEL_NS_MAX, "ns");
	outcome__gate(outcome, "a label / two clock_gettime calls", label / two, GATE_AT_MOST,
		      RATIO_MAX, "");
}

int mode_hook(const struct bench_options *options, struct outcome *outcome)
{
	struct hook hook = {0};
	int err = prepare(&hook, options);
	double *scratch = calloc(hook.rounds, sizeof(*scratch));

	if (!err && !scratch)
		err = -ENOMEM;
	if (!err) {
		TSN_SCOPE(label_around); /* the thread has its slot, and labels are nested */

		for (size_t round = 0; round < hook.rounds; round++)
			for (int variant = 0; variant < VARIANTS; variant++)
				hook.ns[variant][round] = measure(&hook, variant);
		judge(&hook, scratch, outcome);
	}
	free(scratch);
	for (int variant = 0; variant < VARIANTS; variant++)
		free(hook.ns[variant]);
	return err;
}
