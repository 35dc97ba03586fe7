// SPDX-License-Identifier: MIT
#include "compare_parts.h"

static enum compare_verdict verdict_of(struct interval ratio, double threshold)
{
	if (ratio.lo > 1 + threshold)
		return COMPARE_SLOWER;
	if (ratio.hi < 1 - threshold)
		return COMPARE_FASTER;
	if (ratio.lo >= 1 - threshold && ratio.hi <= 1 + threshold)
		return COMPARE_SAME;
	return COMPARE_UNKNOWN;
}

static bool is_settled(const struct compare_test *test)
{
	return test->verdict == COMPARE_SLOWER || test->verdict == COMPARE_FASTER;
}

/* Settles what an interval at this level settles; returns how many that were. */
static size_t settle(struct compare_test **tests, size_t count, double threshold, double alpha)
{
	size_t settled = 0;

	for (size_t i = 0; i < count; i++) {
		struct compare_test *test = tests[i];

		if (!test->estimate.comparable || is_settled(test))
			continue;
		test->alpha = alpha;
		test->verdict = verdict_of(estimate__ratio(&test->estimate, alpha), threshold);
		settled += is_settled(test);
	}
	return settled;
}

/*
 * Holm: with m hypotheses left, the most certain one is rejected at alpha / m; then m is one less.
 * An interval beyond the threshold at alpha / m is such a rejection, so all of those can be taken
 * in one step. What remains at the end has the level at which nothing was rejected any more.
 */
double compare__judge(struct compare_test **tests, size_t count, double threshold, double alpha)
{
	size_t left = 0, settled;
	double level = alpha;

	for (size_t i = 0; i < count; i++) {
		left += tests[i]->estimate.comparable;
		tests[i]->verdict = COMPARE_NONE;
		tests[i]->alpha = alpha;
	}
	while (left > 0) {
		level = alpha / (double)left;
		settled = settle(tests, count, threshold, level);
		if (settled == 0)
			break;
		left -= settled;
	}
	for (size_t i = 0; i < count; i++)
		estimate__limits(&tests[i]->estimate, tests[i]->alpha, &tests[i]->limits);
	return level;
}
