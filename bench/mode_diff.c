// SPDX-License-Identifier: MIT
/*
 * diff: does a comparison of real recordings find an operation that has become 5% slower, and is it
 * silent where nothing has, or too little? The two programs take turns, A B B A A B .., so that a
 * machine that gets slower meanwhile slows both.
 *
 * The operation with a gate has a twentieth of the time and is a coarse label, whose executions are
 * timed one by one: so few ticks hit it in some seconds that a fine label's time per call is
 * not known to 5%. What can be told of a fine label with two thirds of the time is a figure
 * besides.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "child.h"
#include "compare.h"
#include "outcome.h"
#include "recorder.h"

#define SECONDS_BRIEF 1 /* of one session */
#define SECONDS_FULL  5
#define TRIES_BRIEF   1
#define TRIES_FULL    10
#define FREQUENCY_HZ  997
#define REPEATS	      5
#define SLOWER_LARGE  5 /* percent */
#define SLOWER_SMALL  2 /* percent: below the threshold of 3% */
#define FOUND_MIN     0.9
#define ALARMS_MAX    0.05 /* of pairs of unchanged programs */
#define FINE	      "most"
#define FINE_SMALL    "first"
#define TIMED	      "timed"
#define WARM_UP_US    200000

/* Recordings of the unchanged program, in the order they were made. */
struct pool {
	struct profile **at;
	size_t count;
};

/* Tries of one slowdown of one operation, and how they ended. */
struct tries {
	const char *slowed;
	int percent;
	unsigned count;
	unsigned found;	 /* the slowed operation is called slower */
	unsigned others; /* another one is, or is called faster */
	unsigned alarms; /* anything is called slower */
	double change;	 /* as estimated, summed */
};

/* slowed NULL: the unchanged program. */
static int record(const struct bench_options *options, struct outcome *outcome,
		  const struct tries *slowed, struct profile **profile)
{
	const double seconds = bench__seconds(options, SECONDS_BRIEF, SECONDS_FULL);
	char program[4096], text[16], line[64];
	const char *const arguments[] = {program, text, slowed ? slowed->slowed : FINE, NULL};
	struct recording recording;
	struct child child;
	int err;

	snprintf(program, sizeof(program), "%s/steady", options->programs);
	snprintf(text, sizeof(text), "%d", slowed ? slowed->percent : 0);
	err = child__start(arguments, &child);
	if (err) {
		outcome__broken(outcome, "%s: %s", program, strerror(-err));
		return err;
	}
	if (!fgets(line, sizeof(line), child.out)) {
		outcome__broken(outcome, "%s did not begin", program);
		child__end(&child, SIGKILL);
		return -EPROTO;
	}
	usleep(WARM_UP_US);
	err = recorder__record(options, outcome, child.pid, bench__frequency(options, FREQUENCY_HZ),
			       seconds, NULL, &recording);
	child__end(&child, SIGKILL);
	if (err)
		return err;
	*profile = recording.profile;
	recording.profile = NULL;
	recording__free(&recording);
	return 0;
}

/* What is judged of a label: a fine one's time per call, that duration of a coarse one. NULL: it is
 * in no report. */
static const struct compare_test *test_of(const struct comparison *comparison, const char *label,
					  int duration)
{
	for (size_t i = 0; i < comparison->fine_count; i++)
		if (!strcmp(comparison->fine[i].label, label))
			return &comparison->fine[i].per_call;
	for (size_t i = 0; i < comparison->coarse_count; i++)
		if (!strcmp(comparison->coarse[i].label, label))
			return &comparison->coarse[i].duration[duration];
	return NULL;
}

static struct comparison *compare(struct profile *const *base, struct profile *const *new,
				  size_t count)
{
	const struct compare_input input[ESTIMATE_SIDES] = {
		{(const struct profile *const *)base, count, NULL},
		{(const struct profile *const *)new, count, NULL}};

	return compare__new(input, COMPARE_THRESHOLD, COMPARE_ALPHA);
}

static bool is_alarm(enum compare_verdict verdict)
{
	return verdict == COMPARE_SLOWER || verdict == COMPARE_FASTER;
}

static int judge_try(struct profile *const *base, struct profile *const *new, struct tries *tries)
{
	struct comparison *comparison = compare(base, new, REPEATS);
	const struct compare_test *test;

	if (!comparison)
		return -ENOMEM;
	test = test_of(comparison, tries->slowed, COMPARE_TM90);
	tries->change += test ? compare__change(test) : NAN;
	tries->alarms += comparison->verdicts[COMPARE_SLOWER] > 0;
	for (size_t i = 0; i < comparison->fine_count; i++) {
		const struct compare_fine *row = &comparison->fine[i];

		if (strcmp(row->label, tries->slowed))
			tries->others += is_alarm(row->per_call.verdict);
		else
			tries->found += row->per_call.verdict == COMPARE_SLOWER;
	}
	for (size_t i = 0; i < comparison->coarse_count; i++) {
		const struct compare_coarse *row = &comparison->coarse[i];
		const enum compare_verdict verdict = compare__coarse_verdict(row);

		if (strcmp(row->label, tries->slowed))
			tries->others += is_alarm(verdict);
		else
			tries->found += verdict == COMPARE_SLOWER;
	}
	compare__free(comparison);
	return 0;
}

static int try_once(const struct bench_options *options, struct outcome *outcome,
		    struct tries *tries, struct pool *pool)
{
	struct profile *new[REPEATS] = {NULL}, **base = pool->at + pool->count;
	size_t count[ESTIMATE_SIDES] = {0, 0};
	int err = 0;

	for (unsigned i = 0; i < 2 * REPEATS && !err; i++) {
		const bool slow = (i / 2 + i) % 2;

		if (slow)
			err = record(options, outcome, tries, &new[count[1]++]);
		else
			err = record(options, outcome, NULL, &base[count[0]++]);
	}
	if (!err) {
		pool->count += REPEATS;
		err = judge_try(base, new, tries);
	}
	for (unsigned i = 0; i < REPEATS; i++)
		profile__free(new[i]);
	return err;
}

static int try_often(const struct bench_options *options, struct outcome *outcome,
		     struct tries *tries, struct pool *pool)
{
	int err = 0;

	for (unsigned i = 0; i < tries->count && !err; i++)
		err = try_once(options, outcome, tries, pool);
	if (!err)
		outcome__text(outcome,
			      "%s %d%% slower: found in %u of %u tries, estimated %.2f%% on "
			      "average; other labels called slower or faster: %u\n",
			      tries->slowed, tries->percent, tries->found, tries->count,
			      100 * tries->change / tries->count, tries->others);
	return err;
}

/* What one run's value of an unchanged program deviates by, from neighbours in pairs. */
struct deviation {
	const char *label;
	int duration; /* of a coarse label */
	const char *name;
	const char *multiple; /* of the error of sampling; NULL: that is not one number */
	double noise;	      /* that a comparison of two reports adds */
	double square;	      /* half the sum of the squares of their relative differences */
	double products;      /* half the sum of their products with those of the CPUs' pace */
	double sampling;      /* half the sum of the variances of sampling */
};

/* Relative variance of sampling, without what a comparison of two reports adds. */
static double sampling_variance(const struct compare_test *test, double noise)
{
	double sum = 0;

	for (int side = 0; side < ESTIMATE_SIDES; side++)
		sum += test->estimate.side[side].variance - noise * noise;
	return sum / (COMPARE_SINGLE_WIDENING * COMPARE_SINGLE_WIDENING);
}

static int judge_pair(const struct pool *pool, size_t at, struct deviation *deviations,
		      size_t count, unsigned *alarms, double *pace_square)
{
	struct comparison *comparison = compare(&pool->at[at], &pool->at[at + 1], 1);
	double pace;

	if (!comparison)
		return -ENOMEM;
	pace = log(comparison->pace_ns[ESTIMATE_NEW] / comparison->pace_ns[ESTIMATE_BASE]);
	*pace_square += pace * pace / 2;
	*alarms += comparison->verdicts[COMPARE_SLOWER] + comparison->verdicts[COMPARE_FASTER] > 0;
	for (size_t i = 0; i < count; i++) {
		const struct compare_test *test =
			test_of(comparison, deviations[i].label, deviations[i].duration);
		const double change = test ? log1p(compare__change(test)) : NAN;

		deviations[i].square += change * change / 2;
		deviations[i].products += change * pace / 2;
		if (deviations[i].multiple)
			deviations[i].sampling +=
				test ? sampling_variance(test, deviations[i].noise) / 2 : NAN;
	}
	compare__free(comparison);
	return 0;
}

/* Those pairs: alarms, and how much they differ. */
static int judge_pairs(struct outcome *outcome, const struct pool *pool)
{
	struct deviation deviations[] = {
		{.label = FINE,
		 .name = "unchanged: deviation of a run's time per call of most",
		 .multiple = "unchanged: that of most, by its error of sampling",
		 .noise = COMPARE_SINGLE_NOISE},
		{.label = FINE_SMALL,
		 .name = "unchanged: deviation of a run's time per call of first",
		 .multiple = "unchanged: that of first, by its error of sampling",
		 .noise = COMPARE_SINGLE_NOISE},
		{.label = TIMED,
		 .duration = COMPARE_MEAN,
		 .name = "unchanged: deviation of a run's mean of timed",
		 .multiple = "unchanged: that of timed's mean, by that of its executions",
		 .noise = COMPARE_SINGLE_NOISE_MEAN},
		{.label = TIMED,
		 .duration = COMPARE_TM90,
		 .name = "unchanged: deviation of a run's tm90 of timed",
		 .multiple = "unchanged: that of timed's tm90, by that of its executions",
		 .noise = COMPARE_SINGLE_NOISE_TM90},
		{.label = TIMED,
		 .duration = COMPARE_P50,
		 .name = "unchanged: deviation of a run's p50 of timed"},
		{.label = TIMED,
		 .duration = COMPARE_P99,
		 .name = "unchanged: deviation of a run's p99 of timed"},
	};
	const size_t count = sizeof(deviations) / sizeof(deviations[0]);
	unsigned pairs = 0, alarms = 0;
	double pace_square = 0;
	char name[128];

	for (size_t at = 0; at + 1 < pool->count; at += 2, pairs++)
		if (judge_pair(pool, at, deviations, count, &alarms, &pace_square))
			return -ENOMEM;
	outcome__text(outcome, "unchanged: %u of %u pairs raise an alarm\n", alarms, pairs);
	outcome__gate(outcome, "unchanged: pairs that raise an alarm", (double)alarms / pairs,
		      GATE_AT_MOST, ALARMS_MAX, "");
	outcome__figure(outcome, "unchanged: deviation of the CPUs' pace in a run",
			sqrt(pace_square / pairs), "");
	for (size_t i = 0; i < count; i++) {
		const struct deviation *of = &deviations[i];
		const double left = of->square - of->products * of->products / pace_square;

		outcome__figure(outcome, of->name, sqrt(of->square / pairs), "");
		snprintf(name, sizeof(name), "%s, beside the CPUs' pace", of->name);
		outcome__figure(outcome, name,
				left > 0 && pairs > 1 ? sqrt(left / (pairs - 1)) : NAN, "");
		if (of->multiple)
			outcome__figure(outcome, of->multiple, sqrt(of->square / of->sampling), "");
	}
	return 0;
}

/* Half of an interval's width, of comparisons of so many repeats with as many: the mean. NaN: there
 * are not enough. */
static int half_width(const struct pool *pool, size_t repeats, const char *label, double *half)
{
	double sum = 0;
	size_t groups = 0;

	for (size_t at = 0; at + 2 * repeats <= pool->count; at += 2 * repeats, groups++) {
		struct profile *base[64], *new[64];
		struct comparison *comparison;
		const struct compare_test *test;
		struct interval limits;

		for (size_t i = 0; i < repeats; i++) {
			base[i] = pool->at[at + 2 * i];
			new[i] = pool->at[at + 2 * i + 1];
		}
		comparison = compare(base, new, repeats);
		if (!comparison)
			return -ENOMEM;
		test = test_of(comparison, label, COMPARE_TM90);
		limits = test ? compare__change_limits(test) : (struct interval){NAN, NAN};
		sum += (limits.hi - limits.lo) / 2;
		compare__free(comparison);
	}
	*half = groups ? sum / (double)groups : NAN;
	return 0;
}

/* What can be told: a change beyond the threshold by half a width is found as often as not. */
static int show_widths(struct outcome *outcome, const struct pool *pool)
{
	static const size_t repeats[] = {1, 2, 3, 5, 10, 20};
	static const char *const labels[] = {TIMED, FINE, FINE_SMALL};

	outcome__text(outcome, "%-10s %14s %14s %14s\n", "repeats", "timed, 5%", "most, 67%",
		      "first, 10%");
	for (size_t i = 0; i < sizeof(repeats) / sizeof(repeats[0]); i++) {
		double half[3] = {0};
		int err = 0;

		for (size_t k = 0; k < 3 && !err; k++)
			err = half_width(pool, repeats[i], labels[k], &half[k]);
		if (err)
			return err;
		if (!isfinite(half[0]) || !isfinite(half[1]) || !isfinite(half[2]))
			continue;
		outcome__text(outcome, "%-10zu %+13.2f%% %+13.2f%% %+13.2f%%\n", repeats[i],
			      100 * half[0], 100 * half[1], 100 * half[2]);
		outcome__row(outcome, "widths",
			     json_pack("{s:i, s:f, s:f, s:f}", "repeats", (int)repeats[i], TIMED,
				       half[0], FINE, half[1], FINE_SMALL, half[2]));
	}
	return 0;
}

int mode_diff(const struct bench_options *options, struct outcome *outcome)
{
	const unsigned count = bench__runs(options, TRIES_BRIEF, TRIES_FULL);
	struct tries series[] = {
		{.slowed = TIMED, .percent = SLOWER_LARGE, .count = count},
		{.slowed = TIMED, .percent = SLOWER_SMALL, .count = count},
		{.slowed = FINE, .percent = SLOWER_LARGE, .count = count},
	};
	const size_t kinds = sizeof(series) / sizeof(series[0]), all = kinds * count * REPEATS;
	struct pool pool = {calloc(all + 1, sizeof(*pool.at)), 0};
	int err = 0;

	if (!pool.at)
		return -ENOMEM;
	for (size_t i = 0; i < kinds && !err; i++)
		err = try_often(options, outcome, &series[i], &pool);
	if (!err)
		err = judge_pairs(outcome, &pool);
	if (!err)
		err = show_widths(outcome, &pool);
	if (!err) {
		const double timed = (double)series[0].found / count;

		/* A second of each says too little. */
		if (options->brief)
			outcome__figure(outcome, "timed 5% slower: found", timed, "");
		else
			outcome__gate(outcome, "timed 5% slower: found", timed, GATE_AT_LEAST,
				      FOUND_MIN, "");
		outcome__gate(outcome, "timed 2% slower: tries with an alarm", series[1].alarms,
			      GATE_AT_MOST, 0, "");
		outcome__figure(outcome, "most 5% slower: found", (double)series[2].found / count,
				"");
	}
	for (size_t i = 0; i < all; i++)
		profile__free(pool.at[i]);
	free(pool.at);
	return err;
}
