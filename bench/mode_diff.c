// SPDX-License-Identifier: MIT
/*
 * diff: does a comparison of real recordings find an operation that has become 5% slower, and is it
 * silent where nothing has, or too little? The two programs take turns, A B B A A B .., so that a
 * machine that gets slower meanwhile slows both.
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
#define SLOWED	      "most"
#define UNCHANGED     "first"
#define WARM_UP_US    200000

/* Recordings of the unchanged program, in the order they were made. */
struct pool {
	struct profile **at;
	size_t count;
};

/* How tries of one slowdown ended. */
struct tries {
	unsigned found;	 /* the slowed operation is called slower */
	unsigned others; /* another one is, or is called faster */
	unsigned alarms; /* anything is called slower */
	double change;	 /* as estimated, summed */
};

static int record(const struct bench_options *options, struct outcome *outcome, int percent,
		  struct profile **profile)
{
	const double seconds = bench__seconds(options, SECONDS_BRIEF, SECONDS_FULL);
	char program[4096], text[16], line[64];
	const char *const arguments[] = {program, text, NULL};
	struct recording recording;
	struct child child;
	int err;

	snprintf(program, sizeof(program), "%s/steady", options->programs);
	snprintf(text, sizeof(text), "%d", percent);
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

static const struct compare_fine *row_of(const struct comparison *comparison, const char *label)
{
	for (size_t i = 0; i < comparison->fine_count; i++)
		if (!strcmp(comparison->fine[i].label, label))
			return &comparison->fine[i];
	return NULL;
}

static struct comparison *compare(struct profile *const *base, struct profile *const *new,
				  size_t count)
{
	const struct compare_input input[ESTIMATE_SIDES] = {
		{(const struct profile *const *)base, count},
		{(const struct profile *const *)new, count}};

	return compare__new(input, COMPARE_THRESHOLD, COMPARE_ALPHA);
}

static int judge_try(struct profile *const *base, struct profile *const *new, struct tries *tries)
{
	struct comparison *comparison = compare(base, new, REPEATS);
	const struct compare_fine *row;

	if (!comparison)
		return -ENOMEM;
	row = row_of(comparison, SLOWED);
	tries->found += row && row->per_call.verdict == COMPARE_SLOWER;
	tries->alarms += comparison->verdicts[COMPARE_SLOWER] > 0;
	for (size_t i = 0; i < comparison->fine_count; i++) {
		const struct compare_fine *other = &comparison->fine[i];

		tries->others += other != row && (other->per_call.verdict == COMPARE_SLOWER ||
						  other->per_call.verdict == COMPARE_FASTER);
	}
	tries->change += row ? compare__change(&row->per_call) : NAN;
	compare__free(comparison);
	return 0;
}

static int try_once(const struct bench_options *options, struct outcome *outcome, int percent,
		    struct tries *tries, struct pool *pool)
{
	struct profile *new[REPEATS] = {NULL}, **base = pool->at + pool->count;
	size_t count[ESTIMATE_SIDES] = {0, 0};
	int err = 0;

	for (unsigned i = 0; i < 2 * REPEATS && !err; i++) {
		const bool slow = (i / 2 + i) % 2;

		if (slow)
			err = record(options, outcome, percent, &new[count[1]++]);
		else
			err = record(options, outcome, 0, &base[count[0]++]);
	}
	if (!err) {
		pool->count += REPEATS;
		err = judge_try(base, new, tries);
	}
	for (unsigned i = 0; i < REPEATS; i++)
		profile__free(new[i]);
	return err;
}

static int try_often(const struct bench_options *options, struct outcome *outcome, int percent,
		     unsigned count, struct tries *tries, struct pool *pool)
{
	int err = 0;

	*tries = (struct tries){0};
	for (unsigned i = 0; i < count && !err; i++)
		err = try_once(options, outcome, percent, tries, pool);
	if (!err)
		outcome__text(outcome,
			      "%d%% slower: found in %u of %u tries, estimated %.2f%% on average; "
			      "other labels called slower or faster: %u\n",
			      percent, tries->found, count, 100 * tries->change / count,
			      tries->others);
	return err;
}

/* Pairs of neighbours of the unchanged program: alarms, and how much they differ. */
static int judge_pairs(struct outcome *outcome, const struct pool *pool)
{
	unsigned pairs = 0, alarms = 0;
	double square = 0;

	for (size_t i = 0; i + 1 < pool->count; i += 2, pairs++) {
		struct comparison *comparison = compare(&pool->at[i], &pool->at[i + 1], 1);
		const struct compare_fine *row;
		double change;

		if (!comparison)
			return -ENOMEM;
		row = row_of(comparison, SLOWED);
		change = row ? log1p(compare__change(&row->per_call)) : NAN;
		square += change * change / 2;
		alarms += comparison->verdicts[COMPARE_SLOWER] +
				  comparison->verdicts[COMPARE_FASTER] >
			  0;
		compare__free(comparison);
	}
	outcome__text(outcome, "unchanged: %u of %u pairs raise an alarm\n", alarms, pairs);
	outcome__gate(outcome, "unchanged: pairs that raise an alarm", (double)alarms / pairs,
		      GATE_AT_MOST, ALARMS_MAX, "");
	outcome__figure(outcome, "unchanged: a run's time per call of most, relative deviation",
			sqrt(square / pairs), "");
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
		const struct compare_fine *row;
		struct interval limits;

		for (size_t i = 0; i < repeats; i++) {
			base[i] = pool->at[at + 2 * i];
			new[i] = pool->at[at + 2 * i + 1];
		}
		comparison = compare(base, new, repeats);
		if (!comparison)
			return -ENOMEM;
		row = row_of(comparison, label);
		limits = row ? compare__change_limits(&row->per_call) : (struct interval){NAN, NAN};
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

	outcome__text(outcome, "%-10s %18s %18s\n", "repeats", "70% of the time",
		      "10% of the time");
	for (size_t i = 0; i < sizeof(repeats) / sizeof(repeats[0]); i++) {
		double large, small;
		int err = half_width(pool, repeats[i], SLOWED, &large);

		if (!err)
			err = half_width(pool, repeats[i], UNCHANGED, &small);
		if (err)
			return err;
		if (!isfinite(large) || !isfinite(small))
			continue;
		outcome__text(outcome, "%-10zu %+17.2f%% %+17.2f%%\n", repeats[i], 100 * large,
			      100 * small);
		outcome__row(outcome, "widths",
			     json_pack("{s:i, s:f, s:f}", "repeats", (int)repeats[i], "large",
				       large, "small", small));
	}
	return 0;
}

int mode_diff(const struct bench_options *options, struct outcome *outcome)
{
	const unsigned count = bench__runs(options, TRIES_BRIEF, TRIES_FULL);
	struct pool pool = {calloc((size_t)count * 2 * REPEATS + 2, sizeof(*pool.at)), 0};
	struct tries large, small;
	int err;

	if (!pool.at)
		return -ENOMEM;
	err = try_often(options, outcome, SLOWER_LARGE, count, &large, &pool);
	if (!err)
		err = try_often(options, outcome, SLOWER_SMALL, count, &small, &pool);
	if (!err)
		err = judge_pairs(outcome, &pool);
	if (!err)
		err = show_widths(outcome, &pool);
	if (!err) {
		/* A second of each says too little. */
		if (options->brief)
			outcome__figure(outcome, "5% slower: found", (double)large.found / count,
					"");
		else
			outcome__gate(outcome, "5% slower: found", (double)large.found / count,
				      GATE_AT_LEAST, FOUND_MIN, "");
		outcome__gate(outcome, "2% slower: tries with an alarm", small.alarms, GATE_AT_MOST,
			      0, "");
	}
	for (size_t i = 0; i < (size_t)count * 2 * REPEATS; i++)
		profile__free(pool.at[i]);
	free(pool.at);
	return err;
}
