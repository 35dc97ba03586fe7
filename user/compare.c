// SPDX-License-Identifier: MIT
#include "compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_parts.h"
#include "saturate.h"

#define PACE_RUNS_MIN  100
#define PACE_TICKS_MAX 16 /* for each time it was taken: in parts of merged reports it was not */

const char *compare__verdict_name(enum compare_verdict verdict)
{
	static const char *const names[COMPARE_VERDICTS] = {
		[COMPARE_SLOWER] = "slower", [COMPARE_UNKNOWN] = "cannot-say",
		[COMPARE_FASTER] = "faster", [COMPARE_SAME] = "same",
		[COMPARE_NONE] = "none",
	};

	return names[verdict];
}

const char *compare__state_name(enum compare_state state)
{
	static const char *const names[COMPARE_STATES] = {
		[COMPARE_BOTH] = "compared",
		[COMPARE_ADDED] = "added",
		[COMPARE_REMOVED] = "removed",
		[COMPARE_UNCALLED] = "uncalled",
		[COMPARE_UNCALLED_BASE] = "uncalled-base",
		[COMPARE_UNCALLED_NEW] = "uncalled-new",
		[COMPARE_UNSAMPLED] = "unsampled",
		[COMPARE_UNSAMPLED_BASE] = "unsampled-base",
		[COMPARE_UNSAMPLED_NEW] = "unsampled-new",
		[COMPARE_IDLE] = "idle",
	};

	return names[state];
}

double compare__change(const struct compare_test *test)
{
	const struct estimate_side *side = test->estimate.side;

	if (!test->estimate.comparable || isnan(side[ESTIMATE_BASE].value))
		return NAN;
	if (side[ESTIMATE_BASE].value == 0)
		return side[ESTIMATE_NEW].value > 0 ? INFINITY : NAN;
	return side[ESTIMATE_NEW].value / side[ESTIMATE_BASE].value - 1;
}

struct interval compare__change_limits(const struct compare_test *test)
{
	return (struct interval){test->limits.ratio.lo - 1, test->limits.ratio.hi - 1};
}

enum compare_verdict compare__coarse_verdict(const struct compare_coarse *row)
{
	enum compare_verdict worst = COMPARE_NONE;

	for (int i = 0; i < COMPARE_DURATIONS; i++)
		if (row->duration[i].verdict < worst)
			worst = row->duration[i].verdict;
	return worst;
}

static size_t rows_of(const struct profile *profile, bool fine)
{
	return fine ? profile->fine_count : profile->coarse_count;
}

/* The middle of a report's session since the start of another one's, s. */
static double middle_s(const struct profile *profile, const struct profile *since)
{
	const double apart =
		(double)(int64_t)(profile->session.start_unix_ns - since->session.start_unix_ns);

	return (apart + (double)profile->session.duration_ns / 2) / 1e9;
}

double compare__pace(const struct profile *profile)
{
	const struct profile_session *session = &profile->session;
	const uint64_t least = profile->overhead.ticks / PACE_TICKS_MAX;

	return session->pace_runs >= PACE_RUNS_MIN && session->pace_runs >= least &&
			       session->pace_ns > 0
		       ? (double)session->pace_ns / (double)session->pace_runs
		       : NAN;
}

/* A report's covariate; since: the report that times count from. */
static double covariate(enum estimate_covariate which, const struct profile *profile,
			const struct profile *since)
{
	switch (which) {
	case ESTIMATE_PACE:
		return log(compare__pace(profile));
	case ESTIMATE_TIME:
		return middle_s(profile, since);
	default:
		return NAN;
	}
}

/* All rows of one table, one for each label and kind of a run. NULL: out of memory. */
static struct compare_entry *collect(const struct comparison *comparison,
				     const struct compare_input *input, bool fine, size_t *count)
{
	struct compare_entry *entries;
	size_t total = 0;

	for (int side = 0; side < ESTIMATE_SIDES; side++)
		for (size_t run = 0; run < input[side].count; run++)
			total += rows_of(input[side].reports[run], fine);
	entries = calloc(total + 1, sizeof(*entries));
	if (!entries)
		return NULL;
	*count = 0;
	for (int side = 0; side < ESTIMATE_SIDES; side++) {
		for (size_t run = 0; run < input[side].count; run++) {
			const struct profile *profile = input[side].reports[run];

			for (size_t i = 0; i < rows_of(profile, fine); i++)
				entries[(*count)++] = (struct compare_entry){
					.label = fine ? profile->fine[i].label
						      : profile->coarse[i].label,
					.idle = fine && profile->fine[i].idle,
					.side = side,
					.run = run,
					.x = covariate(comparison->adjusted, profile,
						       input->reports[0]),
					.row = fine ? (const void *)&profile->fine[i]
						    : &profile->coarse[i],
				};
		}
	}
	qsort(entries, total, sizeof(*entries), compare__order_entries);
	if (compare__add_up_entries(entries, count, fine)) {
		compare__free_entries(entries, *count, fine);
		return NULL;
	}
	return entries;
}

/* The caller frees it. NULL: out of memory. */
static struct compare_run *runs_of(const struct compare_input *input)
{
	struct compare_run *runs = calloc(input->count, sizeof(*runs));

	for (size_t i = 0; i < input->count && runs; i++) {
		const struct profile_totals *totals = &input->reports[i]->totals;

		runs[i].profile = input->reports[i];
		runs[i].effect = compare__effect(input->reports[i]);
		runs[i].ns_per_hit =
			totals->hits > 0 ? (double)totals->running_ns / (double)totals->hits : NAN;
	}
	return runs;
}

static int fill_rows(struct comparison *comparison, const struct compare_input *input)
{
	struct compare_run *base = runs_of(&input[ESTIMATE_BASE]);
	struct compare_run *new = runs_of(&input[ESTIMATE_NEW]);
	const struct compare_run *const runs[ESTIMATE_SIDES] = {base, new};
	size_t fine_count = 0, coarse_count = 0;
	struct compare_entry *fine = collect(comparison, input, true, &fine_count);
	struct compare_entry *coarse = collect(comparison, input, false, &coarse_count);
	int error = -1;

	if (base && new &&fine && coarse)
		error = compare__fine_rows(comparison, fine, fine_count, runs);
	if (!error)
		error = compare__coarse_rows(comparison, coarse, coarse_count);
	free(base);
	free(new);
	compare__free_entries(fine, fine_count, true);
	compare__free_entries(coarse, coarse_count, false);
	return error;
}

/* Whether the reports are to be adjusted by it. Less than 0: out of memory. */
static int serves(const struct compare_input *input, enum estimate_covariate which)
{
	const size_t most = input[ESTIMATE_BASE].count + input[ESTIMATE_NEW].count;
	double *ones = calloc(2 * most, sizeof(*ones)), *x;
	struct estimate_runs runs[ESTIMATE_SIDES];
	size_t at = 0;
	int result;

	if (!ones)
		return -ENOMEM;
	x = ones + most;
	for (int side = 0; side < ESTIMATE_SIDES; side++) {
		const size_t first = at;

		for (size_t i = 0; i < input[side].count; i++, at++) {
			ones[at] = 1;
			x[at] = covariate(which, input[side].reports[i], input->reports[0]);
		}
		runs[side] = (struct estimate_runs){ones + first, ones + first, x + first,
						    input[side].count};
	}
	result = estimate__serves(runs, which);
	free(ones);
	return result;
}

/* How fast the CPUs were, and whether that, or the time, is taken out. */
static int fill_covariate(struct comparison *comparison, const struct compare_input *input)
{
	int served = 0;

	for (int side = 0; side < ESTIMATE_SIDES; side++) {
		double sum = 0;

		for (size_t i = 0; i < input[side].count; i++)
			sum += compare__pace(input[side].reports[i]);
		comparison->pace_ns[side] = sum / (double)input[side].count;
	}
	for (int which = ESTIMATE_NOTHING + 1; which < ESTIMATE_COVARIATES && !served; which++) {
		served = serves(input, which);
		if (served > 0)
			comparison->adjusted = which;
	}
	return served < 0 ? served : 0;
}

size_t compare__judged_labels(const struct comparison *comparison)
{
	size_t judged = 0;

	for (int i = 0; i < COMPARE_NONE; i++)
		judged += comparison->labels[i];
	return judged;
}

static int judge(struct comparison *comparison)
{
	size_t count = 0,
	       most = comparison->fine_count + COMPARE_DURATIONS * comparison->coarse_count;
	struct compare_test **tests = calloc(most + 1, sizeof(struct compare_test *));

	if (!tests)
		return -1;
	for (size_t i = 0; i < comparison->fine_count; i++)
		tests[count++] = &comparison->fine[i].per_call;
	for (size_t i = 0; i < comparison->coarse_count; i++)
		for (int k = 0; k < COMPARE_DURATIONS; k++)
			tests[count++] = &comparison->coarse[i].duration[k];
	comparison->level = compare__judge(tests, count, comparison->threshold, comparison->alpha);
	for (size_t i = 0; i < count; i++) {
		comparison->verdicts[tests[i]->verdict]++;
		comparison->tests += tests[i]->verdict != COMPARE_NONE;
	}
	for (size_t i = 0; i < comparison->fine_count; i++)
		comparison->labels[comparison->fine[i].per_call.verdict]++;
	for (size_t i = 0; i < comparison->coarse_count; i++)
		comparison->labels[compare__coarse_verdict(&comparison->coarse[i])]++;
	free(tests);
	return 0;
}

/* Of two numbers: the greater one first; NaN last. */
static int order_by_size(double left, double right)
{
	if (isnan(left) || isnan(right))
		return isnan(left) - isnan(right);
	return left > right ? -1 : left < right;
}

/* The verdict; then what is worst of it: the greatest slowdown, or of what is faster the greatest
 * gain. */
static int order_of_tests(const struct compare_test *left, const struct compare_test *right)
{
	const double one = compare__change(left), other = compare__change(right);

	if (left->verdict != right->verdict)
		return left->verdict < right->verdict ? -1 : 1;
	return left->verdict == COMPARE_FASTER ? -order_by_size(one, other)
					       : order_by_size(one, other);
}

static int order_fine(const void *left, const void *right)
{
	const struct compare_fine *one = left, *other = right;
	int order = order_of_tests(&one->per_call, &other->per_call);

	if (!order && one->state != other->state)
		order = one->state < other->state ? -1 : 1;
	return order ? order : strcmp(one->label, other->label);
}

static const struct compare_test *worst_of(const struct compare_coarse *row)
{
	const struct compare_test *worst = &row->duration[0];

	for (int i = 1; i < COMPARE_DURATIONS; i++)
		if (order_of_tests(&row->duration[i], worst) < 0)
			worst = &row->duration[i];
	return worst;
}

static int order_coarse(const void *left, const void *right)
{
	const struct compare_coarse *one = left, *other = right;
	int order = order_of_tests(worst_of(one), worst_of(other));

	if (!order && one->state != other->state)
		order = one->state < other->state ? -1 : 1;
	return order ? order : strcmp(one->label, other->label);
}

struct comparison *compare__new(const struct compare_input input[ESTIMATE_SIDES], double threshold,
				double alpha)
{
	struct comparison *comparison = calloc(1, sizeof(*comparison));

	if (!comparison)
		return NULL;
	comparison->threshold = threshold;
	comparison->alpha = alpha;
	for (int side = 0; side < ESTIMATE_SIDES; side++) {
		comparison->reports[side] = input[side].count;
		for (size_t i = 0; i < input[side].count; i++) {
			const struct profile *report = input[side].reports[i];

			comparison->recordings[side] +=
				report->source_count ? report->source_count : 1;
			comparison->duration_ns[side] = saturate__add(comparison->duration_ns[side],
								      report->session.duration_ns);
		}
	}
	comparison->single =
		input[ESTIMATE_BASE].count + input[ESTIMATE_NEW].count == ESTIMATE_SIDES;
	if (fill_covariate(comparison, input) || fill_rows(comparison, input) ||
	    judge(comparison) || compare__warn(comparison, input)) {
		compare__free(comparison);
		return NULL;
	}
	qsort(comparison->fine, comparison->fine_count, sizeof(*comparison->fine), order_fine);
	qsort(comparison->coarse, comparison->coarse_count, sizeof(*comparison->coarse),
	      order_coarse);
	return comparison;
}

void compare__free(struct comparison *comparison)
{
	if (!comparison)
		return;
	for (size_t i = 0; i < comparison->fine_count; i++)
		free(comparison->fine[i].label);
	for (size_t i = 0; i < comparison->coarse_count; i++) {
		free(comparison->coarse[i].label);
		for (int side = 0; side < ESTIMATE_SIDES; side++)
			free(comparison->coarse[i].side[side].histogram);
	}
	for (size_t i = 0; i < comparison->warning_count; i++)
		free(comparison->warnings[i].text);
	free(comparison->fine);
	free(comparison->coarse);
	free(comparison->warnings);
	free(comparison);
}
