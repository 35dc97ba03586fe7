// SPDX-License-Identifier: MIT
#include "diff_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "units.h"

#define AS_FACTOR_FROM 4   /* "+300%" and more */
#define AS_OPEN_FROM   999 /* a thousand times */

const char diff_words_shares[] = "Shares sum to one: a label's share also changes when others do, "
				 "so a share alone is never a "
				 "regression.";

const char *diff_words__change(char buffer[DIFF_WORDS_SIZE], double change)
{
	if (isnan(change))
		return strcpy(buffer, "-");
	if (isinf(change))
		return strcpy(buffer, "from 0");
	if (change >= AS_FACTOR_FROM - 1)
		snprintf(buffer, DIFF_WORDS_SIZE, "x%.3g", change + 1);
	else
		snprintf(buffer, DIFF_WORDS_SIZE, "%+.1f%%", 100 * change);
	return buffer;
}

const char *diff_words__value(char buffer[DIFF_WORDS_SIZE], const struct compare_test *test,
			      int side)
{
	const double value = test->estimate.side[side].value, limit = test->limits.side[side].hi;
	char time[UNITS_SIZE];
	const bool unseen = value == 0 && limit > 0 && !isinf(limit);

	snprintf(buffer, DIFF_WORDS_SIZE, "%s%s", unseen ? "<" : "",
		 unseen ? units__time_limit(time, limit) : units__time(time, value));
	return buffer;
}

/* An end in percent, or as a factor where it is great; rounded away from the interval's inside. */
static void write_end(char *buffer, size_t size, double end, bool upper)
{
	const bool factor = end >= AS_FACTOR_FROM - 1;
	const double value = factor ? end + 1 : 100 * end;
	const double unit = factor    ? pow(10, floor(log10(value)) - 2) /* three digits */
			    : end < 1 ? 0.1
				      : 1;
	const double rounded =
		(upper ? ceil(value / unit - 1e-7) : floor(value / unit + 1e-7)) * unit;

	if (factor)
		snprintf(buffer, size, "x%.3g", rounded);
	else
		snprintf(buffer, size, "%+.*f", end < 1 ? 1 : 0, rounded == 0 ? 0 : rounded);
}

const char *diff_words__limits(char buffer[DIFF_WORDS_SIZE], struct interval limits)
{
	char lo[24], hi[24];

	if (isnan(limits.lo) || isnan(limits.hi))
		return strcpy(buffer, "-");
	if (limits.lo < -0.9995 && limits.hi >= AS_OPEN_FROM)
		return strcpy(buffer, "anything");
	write_end(lo, sizeof(lo), limits.lo, false);
	if (limits.hi >= AS_OPEN_FROM) {
		snprintf(buffer, DIFF_WORDS_SIZE, "%s%s..", lo,
			 limits.lo >= AS_FACTOR_FROM - 1 ? "" : "%");
		return buffer;
	}
	write_end(hi, sizeof(hi), limits.hi, true);
	snprintf(buffer, DIFF_WORDS_SIZE, "%s%s..%s%s", lo,
		 limits.hi >= AS_FACTOR_FROM - 1 && limits.lo < AS_FACTOR_FROM - 1 ? "%" : "", hi,
		 limits.hi >= AS_FACTOR_FROM - 1 ? "" : "%");
	return buffer;
}

const char *diff_words__verdict(enum compare_verdict verdict, enum compare_state state)
{
	static const char *const states[COMPARE_STATES] = {
		[COMPARE_BOTH] = "not judged",		[COMPARE_ADDED] = "added",
		[COMPARE_REMOVED] = "removed",		[COMPARE_UNCALLED] = "not called",
		[COMPARE_UNCALLED_BASE] = "called now", [COMPARE_UNCALLED_NEW] = "no calls",
		[COMPARE_UNSAMPLED] = "unsampled",	[COMPARE_UNSAMPLED_BASE] = "unsampled",
		[COMPARE_UNSAMPLED_NEW] = "unsampled",	[COMPARE_IDLE] = "idle",
	};

	if (verdict == COMPARE_NONE)
		return states[state];
	return verdict == COMPARE_UNKNOWN ? "cannot say" : compare__verdict_name(verdict);
}

char *diff_words__summary(const struct comparison *comparison)
{
	const size_t slower = comparison->labels[COMPARE_SLOWER];
	const size_t judged = compare__judged_labels(comparison);
	char *text, count[24] = "none";
	int length;

	if (judged == 0)
		return strdup("there is no label that both sides called and sampled: nothing to "
			      "judge");
	if (slower > 0)
		snprintf(count, sizeof(count), "%zu", slower);
	length =
		asprintf(&text,
			 "%s of %zu label%s %s slower by more than %g%%; %zu faster, %zu the same, "
			 "of %zu it cannot be said",
			 count, judged, judged == 1 ? "" : "s", slower > 1 ? "are" : "is",
			 100 * comparison->threshold, comparison->labels[COMPARE_FASTER],
			 comparison->labels[COMPARE_SAME], comparison->labels[COMPARE_UNKNOWN]);
	return length < 0 ? NULL : text;
}

char *diff_words__basis(const struct comparison *comparison)
{
	static const char *const covariates[] = {
		[ESTIMATE_PACE] = "how fast the CPUs were meanwhile",
		[ESTIMATE_TIME] = "a drift over their time",
	};
	char adjusted[120] = "";
	char *text, runs[480];
	int length;

	if (comparison->adjusted != ESTIMATE_NOTHING)
		snprintf(adjusted, sizeof(adjusted),
			 "; %s is taken out of times per call and means",
			 covariates[comparison->adjusted]);
	if (comparison->single)
		snprintf(
			runs, sizeof(runs),
			"There is one report of each, so the variance between runs is unknown: the "
			"error within a run is taken %g times, and besides %g%% of a time per call "
			"(of a mean duration %g%%, tm90 %g%%, p50 %g%%, p99 %g%%). Repeats (--base "
			"A.. "
			"--new B..) tell it.",
			COMPARE_SINGLE_WIDENING, 100 * COMPARE_SINGLE_NOISE,
			100 * COMPARE_SINGLE_NOISE_MEAN, 100 * COMPARE_SINGLE_NOISE_TM90,
			100 * COMPARE_SINGLE_NOISE_P50, 100 * COMPARE_SINGLE_NOISE_P99);
	else
		snprintf(runs, sizeof(runs),
			 "The variance between the %zu and %zu runs is in the intervals%s.",
			 comparison->reports[ESTIMATE_BASE], comparison->reports[ESTIMATE_NEW],
			 adjusted);
	length = asprintf(
		&text,
		"Slower means that the whole interval lies beyond %+g%%. Corrected for %zu "
		"comparisons (Holm): the chance of any false alarm is at most %g%%%s. %s",
		100 * comparison->threshold, comparison->tests, 100 * comparison->alpha,
		comparison->single ? ", if runs differ no more than assumed" : "", runs);
	return length < 0 ? NULL : text;
}

const char *diff_words__test(char buffer[DIFF_WORDS_SENTENCE_SIZE], const char *what,
			     const struct compare_test *test)
{
	char base[DIFF_WORDS_SIZE], new[DIFF_WORDS_SIZE];
	char change[DIFF_WORDS_SIZE], limits[DIFF_WORDS_SIZE];

	snprintf(buffer, DIFF_WORDS_SENTENCE_SIZE, "%s %s, was %s: %s (%s)", what,
		 diff_words__value(new, test, ESTIMATE_NEW),
		 diff_words__value(base, test, ESTIMATE_BASE),
		 diff_words__change(change, compare__change(test)),
		 diff_words__limits(limits, compare__change_limits(test)));
	return buffer;
}

double diff_words__ratio(double base, double new)
{
	if (base > 0)
		return new / base - 1;
	return new > 0 ? INFINITY : NAN;
}

double diff_words__per_recording(const struct comparison *comparison, int side, uint64_t sum)
{
	return comparison->recordings[side] ? (double)sum / (double)comparison->recordings[side]
					    : NAN;
}
