/* SPDX-License-Identifier: MIT */
#include "compare_fixture.h"
#include "compare_parts.h"
#include "diff_words.h"

/* --- states --- */

/* Hits and calls of the label "x" on each side; calls of -1: it is not there. */
static const struct {
	int64_t base_calls, base_hits, new_calls, new_hits;
	enum compare_state state;
	enum compare_verdict verdict;
} states[] = {
	{1000, 5000, 1000, 5000, COMPARE_BOTH, COMPARE_UNKNOWN},
	{1000, 5000, 1000, 9000, COMPARE_BOTH, COMPARE_SLOWER},
	{1000, 5000, 2000, 5000, COMPARE_BOTH, COMPARE_FASTER},
	{-1, 0, 1000, 5000, COMPARE_ADDED, COMPARE_NONE},
	{-1, 0, 0, 0, COMPARE_ADDED, COMPARE_NONE},
	{1000, 5000, -1, 0, COMPARE_REMOVED, COMPARE_NONE},
	{0, 0, 0, 0, COMPARE_UNCALLED, COMPARE_NONE},
	{0, 50, 0, 70, COMPARE_UNCALLED, COMPARE_NONE},
	{0, 0, 1000, 5000, COMPARE_UNCALLED_BASE, COMPARE_NONE},
	{1000, 5000, 0, 0, COMPARE_UNCALLED_NEW, COMPARE_NONE},
	{1000, 0, 1000, 0, COMPARE_UNSAMPLED, COMPARE_NONE},
	{1000, 0, 1000, 500, COMPARE_UNSAMPLED_BASE, COMPARE_SLOWER},
	{1000, 0, 1000, 1, COMPARE_UNSAMPLED_BASE, COMPARE_UNKNOWN},
	{1000, 500, 1000, 0, COMPARE_UNSAMPLED_NEW, COMPARE_FASTER},
	{1000, 1, 1000, 0, COMPARE_UNSAMPLED_NEW, COMPARE_UNKNOWN},
};

static void assert_no_nan_and_no_infinity_but_where_open(const struct compare_fine *row)
{
	const struct compare_test *test = &row->per_call;

	if (!test->estimate.comparable)
		return;
	ck_assert(test->limits.ratio.lo >= 0 && isfinite(test->limits.ratio.lo));
	ck_assert(row->state == COMPARE_UNSAMPLED_BASE || isfinite(test->limits.ratio.hi));
	ck_assert(isfinite(test->limits.difference.lo) && isfinite(test->limits.difference.hi));
	ck_assert(test->limits.difference.lo <= test->limits.difference.hi);
}

START_TEST(each_state_has_its_verdict)
{
	struct profile *base = report_with(states[_i].base_calls, states[_i].base_hits);
	struct profile *new = report_with(states[_i].new_calls, states[_i].new_hits);
	struct comparison *comparison = compare_two(base, new);
	const struct compare_fine *row = fine_row(comparison, "x");

	ck_assert_str_eq(compare__state_name(row->state), compare__state_name(states[_i].state));
	ck_assert_str_eq(compare__verdict_name(row->per_call.verdict),
			 compare__verdict_name(states[_i].verdict));
	assert_no_nan_and_no_infinity_but_where_open(row);
	compare__free(comparison);
	profile__free(base);
	profile__free(new);
}
END_TEST

/* The other label has all the time that there is, and so a smaller share than before. */
START_TEST(a_changed_share_alone_is_no_regression)
{
	const struct model_label before[] = {label_of("a", 10000, 1000),
					     label_of("b", 10000, 1000)};
	const struct model_label after[] = {label_of("a", 10000, 1000), label_of("b", 100, 10)};
	struct profile *base = report_of(before, 2), *new = report_of(after, 2);
	struct comparison *comparison = compare_two(base, new);
	const struct compare_fine *row = fine_row(comparison, "a");

	ck_assert_double_gt(row->side[ESTIMATE_NEW].share, 1.9 * row->side[ESTIMATE_BASE].share);
	ck_assert_uint_eq(comparison->verdicts[COMPARE_SLOWER], 0);
	compare__free(comparison);
	profile__free(base);
	profile__free(new);
}
END_TEST

START_TEST(worst_comes_first)
{
	const struct model_label before[] = {label_of("gain", 9000, 1000),
					     label_of("bad", 9000, 1000),
					     label_of("worse", 9000, 1000)};
	const struct model_label after[] = {label_of("gain", 5000, 1000),
					    label_of("bad", 13000, 1000),
					    label_of("worse", 20000, 1000)};
	struct profile *base = report_of(before, 3), *new = report_of(after, 3);
	struct comparison *comparison = compare_two(base, new);

	ck_assert_str_eq(comparison->fine[0].label, "worse");
	ck_assert_str_eq(comparison->fine[1].label, "bad");
	ck_assert_str_eq(comparison->fine[2].label, "gain");
	compare__free(comparison);
	profile__free(base);
	profile__free(new);
}
END_TEST

/* --- labels with several rows --- */

/* Before: idle alone. After: idle as before, and work of the same name. */
START_TEST(an_idle_row_hides_no_slower_one_of_its_name)
{
	struct model_label before[] = {label_of("other", 20000, 1000), label_of("x", 5000, 1000),
				       label_of("x", 5000, 1000)};
	struct model_label after[] = {label_of("other", 20000, 1000), label_of("x", 5000, 1000),
				      label_of("x", 9000, 1000)};
	struct profile *base, *new;
	struct comparison *comparison;
	size_t rows = 0;

	before[1].idle = after[1].idle = true;
	base = report_of(before, 3);
	new = report_of(after, 3);
	ck_assert_uint_eq(base->fine_count, 3);
	comparison = compare_two(base, new);
	ck_assert_uint_eq(comparison->verdicts[COMPARE_SLOWER], 1);
	for (size_t i = 0; i < comparison->fine_count; i++) {
		const struct compare_fine *row = &comparison->fine[i];

		if (strcmp(row->label, "x") != 0)
			continue;
		ck_assert_int_eq(row->state, row->per_call.verdict == COMPARE_SLOWER
						     ? COMPARE_BOTH
						     : COMPARE_IDLE);
		rows++;
	}
	ck_assert_uint_eq(rows, 2);
	compare__free(comparison);
	profile__free(base);
	profile__free(new);
}
END_TEST

/* As a file may have it. */
static void halve_rows(struct profile *report)
{
	struct profile_fine *fine = calloc(2 * report->fine_count, sizeof(*fine));
	struct profile_coarse *coarse = calloc(2, sizeof(*coarse));

	for (size_t i = 0; i < 2 * report->fine_count; i++) {
		fine[i] = report->fine[i / 2];
		fine[i].label = copy_of(fine[i].label);
		fine[i].hits /= 2;
		fine[i].calls /= 2;
		fine[i].running_ns /= 2;
		fine[i].thread_time_ns /= 2;
	}
	for (size_t i = 0; i < report->fine_count; i++)
		free(report->fine[i].label);
	free(report->fine);
	report->fine = fine;
	report->fine_count *= 2;
	for (size_t i = 0; i < 2; i++) {
		coarse[i] = report->coarse[0];
		coarse[i].label = copy_of("request");
		coarse[i].executions /= 2;
		coarse[i].sum_ns /= 2;
		coarse[i].histogram = NULL;
		coarse[i].histogram_count = 0;
		ck_assert_int_eq(histogram__merge(&coarse[i].histogram, &coarse[i].histogram_count,
						  report->coarse[0].histogram,
						  report->coarse[0].histogram_count),
				 0);
		for (size_t k = 0; k < coarse[i].histogram_count; k++)
			coarse[i].histogram[k].count /= 2;
	}
	free(report->coarse[0].label);
	free(report->coarse[0].histogram);
	free(report->coarse);
	report->coarse = coarse;
	report->coarse_count = 2;
}

static void assert_same_limits(const struct compare_test *test, const struct compare_test *expected)
{
	ck_assert_double_eq_tol(test->limits.ratio.lo, expected->limits.ratio.lo, 1e-3);
	ck_assert_double_eq_tol(test->limits.ratio.hi, expected->limits.ratio.hi, 1e-3);
}

/* --- Holm --- */

/* |z| of two-sided p-values, and how many of them Holm rejects at 0.05, by hand. */
static const struct {
	double z[3];
	size_t rejected;
	double level; /* of what is left; 0: nothing is */
} holm[] = {
	{{2.5758293, 2.3263479, 2.0537489}, 3, 0},	  /* p = 0.01, 0.02, 0.04 */
	{{2.0537489, 2.5758293, 2.3263479}, 3, 0},	  /* in any order */
	{{2.5758293, 2.1700904, 2.0537489}, 1, 0.05 / 2}, /* 0.03 is above 0.05 / 2 */
	{{2.3263479, 2.1700904, 2.0537489}, 0, 0.05 / 3}, /* 0.02 is above 0.05 / 3 */
};

START_TEST(holm_steps_down)
{
	struct compare_test tests[3] = {0}, *list[3];
	size_t slower = 0;

	for (int i = 0; i < 3; i++) {
		const double variance = 1e-4;

		tests[i].estimate.kind = ESTIMATE_MEAN;
		tests[i].estimate.comparable = true;
		tests[i].estimate.df = INFINITY;
		tests[i].estimate.side[0] = (struct estimate_side){.value = 1};
		tests[i].estimate.side[1] = (struct estimate_side){
			.value = exp(holm[_i].z[i] * sqrt(variance)), .variance = variance};
		list[i] = &tests[i];
	}
	compare__judge(list, 3, 0, 0.05);
	for (int i = 0; i < 3; i++) {
		slower += tests[i].verdict == COMPARE_SLOWER;
		if (tests[i].verdict != COMPARE_SLOWER)
			ck_assert_double_eq_tol(tests[i].alpha, holm[_i].level, 1e-15);
		ck_assert((tests[i].verdict == COMPARE_SLOWER) == (tests[i].limits.ratio.lo > 1));
	}
	ck_assert_uint_eq(slower, holm[_i].rejected);
}
END_TEST

/* --- what hits in runs tell --- */

START_TEST(intervals_twice_as_wide_count_a_quarter_of_the_hits)
{
	struct profile *report = report_with(1000, 4000);
	const double before = compare__effect(report);

	for (size_t i = 0; i < report->fine_count; i++) {
		struct profile_fine *row = &report->fine[i];
		const double middle = (row->share_lo + row->share_hi) / 2;

		row->share_lo = middle - 2 * (middle - row->share_lo);
		row->share_hi = middle + 2 * (row->share_hi - middle);
	}
	ck_assert_double_eq_tol(before, 1, 0.01);
	ck_assert_double_eq_tol(compare__effect(report), 4, 0.04);
	profile__free(report);
}
END_TEST

/* --- coarse labels --- */

/* Executions of 100 us to 200 us, evenly, `slower` times as long. */
static struct profile *report_of_requests(uint64_t executions, double slower)
{
	struct profile *report = report_with(1000, 5000);
	struct profile_coarse *row = calloc(1, sizeof(*row));

	ck_assert_ptr_nonnull(row);
	report->coarse = row;
	report->coarse_count = 1;
	row->label = copy_of("request");
	row->executions = executions;
	for (uint64_t i = 0; i < executions; i++) {
		const uint64_t ns = (uint64_t)(slower * (100000 + i * 100000. / executions));
		struct profile_bucket bucket = {histogram__bucket(ns), 1};

		row->sum_ns += ns;
		row->max_ns = ns;
		ck_assert_int_eq(
			histogram__merge(&row->histogram, &row->histogram_count, &bucket, 1), 0);
	}
	return report;
}

/* Two halves of a run differ by nothing, so runs would seem to be alike. */
START_TEST(rows_of_one_name_are_no_runs)
{
	struct profile *base = report_of_requests(2000, 1), *new = report_of_requests(2000, 1);
	struct comparison *whole, *halves;

	for (size_t i = 0; i < base->coarse[0].histogram_count; i++) {
		base->coarse[0].histogram[i].count *= 2;
		new->coarse[0].histogram[i].count *= 2;
	}
	base->coarse[0].executions = new->coarse[0].executions = 4000;
	base->coarse[0].sum_ns = new->coarse[0].sum_ns *= 2;
	whole = compare_two(base, new);
	halve_rows(base);
	halve_rows(new);
	halves = compare_two(base, new);
	ck_assert_uint_eq(halves->fine_count, whole->fine_count);
	ck_assert_uint_eq(halves->coarse_count, 1);
	ck_assert_uint_eq(halves->coarse[0].side[ESTIMATE_NEW].executions, 4000);
	for (int k = 0; k < COMPARE_DURATIONS; k++)
		assert_same_limits(&halves->coarse[0].duration[k], &whole->coarse[0].duration[k]);
	for (size_t i = 0; i < whole->fine_count; i++)
		assert_same_limits(&fine_row(halves, whole->fine[i].label)->per_call,
				   &whole->fine[i].per_call);
	compare__free(halves);
	compare__free(whole);
	profile__free(base);
	profile__free(new);
}
END_TEST

static const struct {
	uint64_t executions;
	double slower;
	enum compare_verdict verdict; /* of the mean, the median and p99 */
} requests[] = {
	{2000, 1, COMPARE_UNKNOWN}, {2000, 1.4, COMPARE_SLOWER}, {2000, 0.7, COMPARE_FASTER},
	{4, 1.25, COMPARE_UNKNOWN}, {1, 1.25, COMPARE_UNKNOWN},
};

START_TEST(durations_are_judged_by_their_histograms)
{
	struct profile *base = report_of_requests(requests[_i].executions, 1);
	struct profile *new = report_of_requests(requests[_i].executions, requests[_i].slower);
	struct comparison *comparison = compare_two(base, new);

	ck_assert_uint_eq(comparison->coarse_count, 1);
	for (int k = 0; k < COMPARE_DURATIONS; k++) {
		const struct compare_test *test = &comparison->coarse[0].duration[k];

		ck_assert_str_eq(compare__verdict_name(test->verdict),
				 compare__verdict_name(requests[_i].verdict));
		ck_assert_double_eq_tol(compare__change(test), requests[_i].slower - 1, 0.01);
	}
	compare__free(comparison);
	profile__free(base);
	profile__free(new);
}
END_TEST

/* Of two reports of each, one knows how long the longest took. */
START_TEST(percentiles_are_judged_where_the_longest_is_not_known)
{
	struct profile *base[] = {report_of_requests(2000, 1), report_of_requests(2000, 1)};
	struct profile *new[] = {report_of_requests(2000, 1.25), report_of_requests(2000, 1.25)};
	struct comparison *comparison;

	base[0]->coarse[0].max_ns = new[0]->coarse[0].max_ns = 0;
	/* Were it taken for all of them, it would cut the others. */
	new[1]->coarse[0].max_ns = 130000;
	comparison = comparison_of(base, 2, new, 2, COMPARE_THRESHOLD);
	for (int k = COMPARE_P50; k < COMPARE_DURATIONS; k++) {
		const struct compare_test *test = &comparison->coarse[0].duration[k];

		ck_assert(test->estimate.comparable);
		ck_assert_double_eq_tol(compare__change(test), 0.25, 0.01);
	}
	compare__free(comparison);
	for (int i = 0; i < 2; i++) {
		profile__free(base[i]);
		profile__free(new[i]);
	}
}
END_TEST

static void forget_durations(struct profile *report, bool sum)
{
	struct profile_coarse *row = report->coarse;

	if (sum)
		row->sum_ns = 0;
	row->histogram_count = 0;
	row->max_ns = 0;
}

/* Of two reports of the base, what is missing in the first, and in both; whether the mean can be
 * told then. */
static const struct {
	bool sum, both, mean;
} untimed[] = {
	{false, false, true}, {true, false, false}, {false, true, false}, {true, true, false}};

START_TEST(what_lacks_durations_cannot_be_said)
{
	struct profile *base[] = {report_of_requests(2000, 1), report_of_requests(2000, 1)};
	struct profile *new[] = {report_of_requests(2000, 1.25), report_of_requests(2000, 1.25)};
	struct comparison *comparison;

	for (int i = 0; i < 1 + untimed[_i].both; i++)
		forget_durations(base[i], untimed[_i].sum);
	comparison = comparison_of(base, 2, new, 2, COMPARE_THRESHOLD);
	ck_assert_str_eq(compare__state_name(comparison->coarse[0].state), "compared");
	for (int k = 0; k < COMPARE_DURATIONS; k++) {
		const struct compare_test *test = &comparison->coarse[0].duration[k];
		const bool told = k == COMPARE_MEAN && untimed[_i].mean;

		ck_assert_str_eq(compare__verdict_name(test->verdict),
				 told ? "slower" : "cannot-say");
		if (k == COMPARE_TM90) /* of all, or none */
			ck_assert(isnan(compare__change(test)));
		else if (told || !untimed[_i].both)
			ck_assert_double_eq_tol(compare__change(test), 0.25, 0.01);
		ck_assert(!isinf(compare__change(test)));
	}
	compare__free(comparison);
	for (int i = 0; i < 2; i++) {
		profile__free(base[i]);
		profile__free(new[i]);
	}
}
END_TEST

START_TEST(a_coarse_label_without_executions_is_a_state)
{
	struct profile *base = report_of_requests(100, 1), *new = report_of_requests(0, 1);
	struct comparison *comparison = compare_two(base, new);

	ck_assert_int_eq(comparison->coarse[0].state, COMPARE_UNCALLED_NEW);
	for (int k = 0; k < COMPARE_DURATIONS; k++)
		ck_assert_int_eq(comparison->coarse[0].duration[k].verdict, COMPARE_NONE);
	compare__free(comparison);
	profile__free(base);
	profile__free(new);
}
END_TEST

/* --- the CPUs' pace --- */

#define PACED_RUNS 5

/* 3% to each side of 800 ns; both sides alike. */
static const double paces[PACED_RUNS] = {0.97, 1.02, 0.99, 1.03, 1};

static void set_pace(struct profile *report, double pace)
{
	report->session.pace_ns = (uint64_t)(800 * pace * (double)report->session.pace_runs);
}

/* Durations that are as long as the CPUs took, of the new build 5% longer, too. Without the pace
 * that is found in no mean. */
START_TEST(the_cpus_pace_is_taken_out_of_means)
{
	struct profile *base[PACED_RUNS], *new[PACED_RUNS];
	struct comparison *comparison;

	for (int i = 0; i < PACED_RUNS; i++) {
		base[i] = report_of_requests(20000, paces[i]);
		new[i] = report_of_requests(20000, 1.05 * paces[PACED_RUNS - 1 - i]);
		set_pace(base[i], paces[i]);
		set_pace(new[i], paces[PACED_RUNS - 1 - i]);
	}
	for (int known = 1; known >= 0; known--) {
		if (!known)
			base[2]->session.pace_runs = _i ? 99 : 0;
		comparison = comparison_of(base, PACED_RUNS, new, PACED_RUNS, COMPARE_THRESHOLD);
		ck_assert_int_eq(comparison->adjusted, known ? ESTIMATE_PACE : ESTIMATE_NOTHING);
		ck_assert_int_eq(isnan(comparison->pace_ns[ESTIMATE_BASE]), !known);
		for (int k = COMPARE_MEAN; k <= COMPARE_TM90; k++) {
			const struct compare_test *test = &comparison->coarse[0].duration[k];

			ck_assert_str_eq(compare__verdict_name(test->verdict),
					 known ? "slower" : "cannot-say");
			ck_assert_double_eq_tol(compare__change(test), 0.05, 0.001);
		}
		compare__free(comparison);
	}
	for (int i = 0; i < PACED_RUNS; i++) {
		profile__free(base[i]);
		profile__free(new[i]);
	}
}
END_TEST

/* Where nothing depends on the pace, the error of sampling is all there is; that of the slope,
 * which is not known, makes it wider. Sides that are d apart, with squares s: 1 + d^2 / s / (2 /
 * 5). */
START_TEST(a_pace_that_explains_nothing_makes_wider)
{
	struct profile *reports[ESTIMATE_SIDES][PACED_RUNS];
	double variance[2][2], squares = 0, mean = 0;

	for (int i = 0; i < PACED_RUNS; i++)
		mean += log(paces[i]) / PACED_RUNS;
	for (int i = 0; i < PACED_RUNS; i++) {
		squares += 2 * pow(log(paces[i]) - mean, 2);
		for (int side = 0; side < ESTIMATE_SIDES; side++)
			reports[side][i] = report_of_requests(100, 1);
	}
	for (int apart = 0; apart < 2; apart++) {
		struct comparison *comparison;

		for (int i = 0; i < PACED_RUNS; i++) {
			set_pace(reports[ESTIMATE_BASE][i], paces[i]);
			set_pace(reports[ESTIMATE_NEW][i], paces[i] * (apart ? 1.03 : 1));
		}
		comparison = comparison_of(reports[ESTIMATE_BASE], PACED_RUNS,
					   reports[ESTIMATE_NEW], PACED_RUNS, COMPARE_THRESHOLD);
		ck_assert_int_eq(comparison->adjusted, ESTIMATE_PACE);
		variance[apart][0] =
			fine_row(comparison, "x")->per_call.estimate.side[ESTIMATE_NEW].variance;
		variance[apart][1] = comparison->coarse[0]
					     .duration[COMPARE_MEAN]
					     .estimate.side[ESTIMATE_NEW]
					     .variance;
		compare__free(comparison);
	}
	for (int k = 0; k < 2; k++)
		ck_assert_double_eq_tol(variance[1][k] / variance[0][k],
					1 + pow(log(1.03), 2) / squares / (2. / 5), 1e-3);
	for (int i = 0; i < PACED_RUNS; i++) {
		profile__free(reports[ESTIMATE_BASE][i]);
		profile__free(reports[ESTIMATE_NEW][i]);
	}
}
END_TEST

/* As where some of the reports that it was merged from had none. */
START_TEST(a_pace_of_a_part_of_a_report_is_none)
{
	struct profile *report = report_with(1000, 5000);

	report->overhead.ticks = 16 * report->session.pace_runs;
	ck_assert_double_eq(compare__pace(report), 800);
	report->overhead.ticks += 16;
	ck_assert(isnan(compare__pace(report)));
	report->overhead.ticks = 0;
	report->session.pace_ns = 0;
	ck_assert(isnan(compare__pace(report)));
	profile__free(report);
}
END_TEST

/* --- how often it is wrong, and how often right --- */

static bool first_label(int label)
{
	return label == 0;
}

static bool all_labels(int label)
{
	return label >= 0;
}

struct outcome {
	size_t alarms; /* pairs with any label slower or faster */
	size_t found;  /* pairs with the first label slower */
};

/* The turn-th recording of a series, on a machine that gets slower by that part with each. */
static struct profile *simulate_turn(const struct simulation *of, size_t turn, double drift)
{
	struct profile *report = simulate(of);

	report->session.start_unix_ns = 1000000000 * (uint64_t)(6 * turn);
	for (size_t i = 0; i < report->fine_count; i++) {
		uint64_t *running = &report->fine[i].running_ns;

		*running = (uint64_t)((double)*running * (1 + drift * (double)turn));
	}
	return report;
}

static struct outcome simulate_drift(const struct simulation *base, const struct simulation *new,
				     size_t runs, size_t pairs, double threshold, double drift)
{
	struct outcome outcome = {0};

	random_state = 20261202;
	for (size_t i = 0; i < pairs; i++) {
		struct profile *reports[ESTIMATE_SIDES][8];
		struct comparison *comparison;

		for (size_t k = 0; k < runs; k++) {
			/* A B B A A B .. */
			reports[ESTIMATE_BASE][k] = simulate_turn(base, 2 * k + k % 2, drift);
			reports[ESTIMATE_NEW][k] = simulate_turn(new, 2 * k + (k + 1) % 2, drift);
		}
		comparison = comparison_of(reports[ESTIMATE_BASE], runs, reports[ESTIMATE_NEW],
					   runs, threshold);
		outcome.alarms += comparison->verdicts[COMPARE_SLOWER] > 0 ||
				  comparison->verdicts[COMPARE_FASTER] > 0;
		outcome.found +=
			fine_row(comparison, "label[0]")->per_call.verdict == COMPARE_SLOWER;
		compare__free(comparison);
		for (size_t k = 0; k < runs; k++) {
			profile__free(reports[ESTIMATE_BASE][k]);
			profile__free(reports[ESTIMATE_NEW][k]);
		}
	}
	return outcome;
}

static struct outcome simulate_pairs(const struct simulation *base, const struct simulation *new,
				     size_t runs, size_t pairs, double threshold)
{
	return simulate_drift(base, new, runs, pairs, threshold, 0);
}

/* Runs, threshold, and how much runs differ besides: in 200 pairs 5% are 10. */
static const struct {
	size_t runs;
	double hits, threshold, run_noise, common_noise;
} unchanged[] = {
	{1, 20000, COMPARE_THRESHOLD, 0, 0}, {1, 20000, 0, 0, 0},	{1, 2000, 0, 0, 0},
	{1, 100000, 0, 0.005, 0.005},	     {3, 20000, 0, 0.02, 0.02}, {5, 100000, 0, 0.02, 0.02},
};

START_TEST(of_200_unchanged_pairs_at_most_5_percent_alarm)
{
	const struct simulation of = {.hits = unchanged[_i].hits,
				      .run_noise = unchanged[_i].run_noise,
				      .common_noise = unchanged[_i].common_noise};
	const struct outcome outcome =
		simulate_pairs(&of, &of, unchanged[_i].runs, 200, unchanged[_i].threshold);

	ck_assert_uint_le(outcome.alarms, 10);
}
END_TEST

START_TEST(identical_reports_never_alarm)
{
	const struct simulation of = {.hits = 300 << (3 * _i)};

	random_state = 1;
	for (int i = 0; i < 20; i++) {
		struct profile *report = simulate(&of), *list[] = {report, report, report};
		struct comparison *one = compare_two(report, report);
		struct comparison *three = comparison_of(list, 3, list, 3, 0);

		ck_assert_uint_eq(one->verdicts[COMPARE_SLOWER] + one->verdicts[COMPARE_FASTER], 0);
		ck_assert_uint_eq(three->verdicts[COMPARE_SLOWER] + three->verdicts[COMPARE_FASTER],
				  0);
		compare__free(one);
		compare__free(three);
		profile__free(report);
	}
}
END_TEST

START_TEST(five_percent_are_found_by_repeats_that_differ_little)
{
	const struct simulation base = {.hits = 400000, .run_noise = 0.002};
	const struct simulation new = {
		.hits = 400000, .run_noise = 0.002, .slow = first_label, .slowdown = 0.05};

	ck_assert_uint_ge(simulate_pairs(&base, &new, 5, 20, COMPARE_THRESHOLD).found, 16);
}
END_TEST

/* On a machine that gets 5% slower within the ten recordings, too. */
START_TEST(a_drift_neither_hides_a_slowdown_nor_is_one)
{
	const struct simulation base = {.hits = 400000, .run_noise = 0.002};
	const struct simulation new = {
		.hits = 400000, .run_noise = 0.002, .slow = first_label, .slowdown = 0.05};

	ck_assert_uint_ge(simulate_drift(&base, &new, 5, 20, COMPARE_THRESHOLD, 0.005).found, 16);
	ck_assert_uint_le(simulate_drift(&base, &base, 5, 100, 0, 0.005).alarms, 5);
}
END_TEST

/* On CPUs whose pace moves by 3% from run to run. */
START_TEST(the_cpus_pace_neither_hides_a_slowdown_nor_is_one)
{
	const struct simulation base = {.hits = 400000, .run_noise = 0.002, .pace_noise = 0.03};
	const struct simulation new = {.hits = 400000,
				       .run_noise = 0.002,
				       .pace_noise = 0.03,
				       .slow = first_label,
				       .slowdown = 0.05};

	ck_assert_uint_ge(simulate_pairs(&base, &new, 5, 20, COMPARE_THRESHOLD).found, 16);
	ck_assert_uint_le(simulate_pairs(&base, &base, 5, 200, 0).alarms, 10);
	ck_assert_uint_le(simulate_pairs(&base, &base, 3, 200, 0).alarms, 10);
}
END_TEST

START_TEST(a_label_that_doubles_is_found_by_one_report_each)
{
	const struct simulation base = {.hits = 20000};
	const struct simulation new = {.hits = 20000, .slow = first_label, .slowdown = 1};

	ck_assert_uint_eq(simulate_pairs(&base, &new, 1, 20, COMPARE_THRESHOLD).found, 20);
}
END_TEST

START_TEST(two_percent_are_no_alarm_at_a_threshold_of_three)
{
	const struct simulation base = {.hits = 400000};
	const struct simulation new = {.hits = 400000, .slow = all_labels, .slowdown = 0.02};

	ck_assert_uint_eq(simulate_pairs(&base, &new, 1, 20, COMPARE_THRESHOLD).alarms, 0);
	ck_assert_uint_eq(simulate_pairs(&base, &new, 5, 20, COMPARE_THRESHOLD).alarms, 0);
}
END_TEST

/* --- words --- */

static const struct {
	double lo, hi;
	const char *text;
} words[] = {
	{0.03, 0.05, "+3.0..+5.0%"},
	{0.0312, 0.0501, "+3.1..+5.1%"},
	{-0.0312, 0, "-3.2..+0.0%"},
	{-1, 0.5, "-100.0..+50.0%"},
	{0.5, 1.234, "+50.0..+124%"},
	{0.5, 9, "+50.0%..x10"},
	{4, 9, "x5..x10"},
	{0.5, INFINITY, "+50.0%.."},
	{12.06, INFINITY, "x13.."},
	{12.09, 98.96, "x13..x100"},
	{3.1251, 4.1251, "x4.12..x5.13"},
	{3.1249, 4.1249, "x4.12..x5.13"},
	{3.12, 4.12, "x4.12..x5.12"},
	{-1, INFINITY, "anything"},
	{NAN, NAN, "-"},
};

START_TEST(intervals_are_rounded_outwards)
{
	char buffer[DIFF_WORDS_SIZE];

	ck_assert_str_eq(diff_words__limits(buffer, (struct interval){words[_i].lo, words[_i].hi}),
			 words[_i].text);
}
END_TEST

static const struct {
	size_t slower, same;
	const char *text;
} summaries[] = {
	{0, 1,
	 "none of 1 label is slower by more than 3%; 0 faster, 1 the same, of 0 it cannot be said"},
	{0, 2,
	 "none of 2 labels is slower by more than 3%; 0 faster, 2 the same, of 0 it cannot be "
	 "said"},
	{1, 0,
	 "1 of 1 label is slower by more than 3%; 0 faster, 0 the same, of 0 it cannot be said"},
	{2, 3,
	 "2 of 5 labels are slower by more than 3%; 0 faster, 3 the same, of 0 it cannot be said"},
	{0, 0, "there is no label that both sides called and sampled: nothing to judge"},
};

START_TEST(a_comparison_comes_to_a_sentence)
{
	const struct comparison comparison = {
		.threshold = 0.03,
		.labels = {[COMPARE_SLOWER] = summaries[_i].slower,
			   [COMPARE_SAME] = summaries[_i].same},
	};
	char *text = diff_words__summary(&comparison);

	ck_assert_str_eq(text, summaries[_i].text);
	free(text);
}
END_TEST

START_TEST(a_limit_of_what_was_never_hit_is_rounded_up)
{
	const struct compare_test test = {.limits.side = {{0, 18.81}, {0, 18.89}}};
	char buffer[DIFF_WORDS_SIZE];

	for (int side = 0; side < ESTIMATE_SIDES; side++)
		ck_assert_str_eq(diff_words__value(buffer, &test, side), "<18.9 ns");
}
END_TEST

Suite *compare_suite(void)
{
	Suite *suite = suite_create("compare");
	TCase *tcase = tcase_create("rows");

	tcase_add_loop_test(tcase, each_state_has_its_verdict, 0, COUNT(states));
	tcase_add_test(tcase, a_changed_share_alone_is_no_regression);
	tcase_add_test(tcase, worst_comes_first);
	tcase_add_test(tcase, an_idle_row_hides_no_slower_one_of_its_name);
	tcase_add_test(tcase, rows_of_one_name_are_no_runs);
	tcase_add_loop_test(tcase, holm_steps_down, 0, COUNT(holm));
	tcase_add_test(tcase, intervals_twice_as_wide_count_a_quarter_of_the_hits);
	tcase_add_loop_test(tcase, durations_are_judged_by_their_histograms, 0, COUNT(requests));
	tcase_add_test(tcase, percentiles_are_judged_where_the_longest_is_not_known);
	tcase_add_loop_test(tcase, what_lacks_durations_cannot_be_said, 0, COUNT(untimed));
	tcase_add_test(tcase, a_coarse_label_without_executions_is_a_state);
	tcase_add_loop_test(tcase, the_cpus_pace_is_taken_out_of_means, 0, 2);
	tcase_add_test(tcase, a_pace_that_explains_nothing_makes_wider);
	tcase_add_test(tcase, a_pace_of_a_part_of_a_report_is_none);
	tcase_add_loop_test(tcase, a_comparison_comes_to_a_sentence, 0, COUNT(summaries));
	tcase_add_test(tcase, a_limit_of_what_was_never_hit_is_rounded_up);
	tcase_add_loop_test(tcase, intervals_are_rounded_outwards, 0, COUNT(words));
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("simulations");
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, of_200_unchanged_pairs_at_most_5_percent_alarm, 0,
			    COUNT(unchanged));
	tcase_add_loop_test(tcase, identical_reports_never_alarm, 0, 4);
	tcase_add_test(tcase, five_percent_are_found_by_repeats_that_differ_little);
	tcase_add_test(tcase, the_cpus_pace_neither_hides_a_slowdown_nor_is_one);
	tcase_add_test(tcase, a_drift_neither_hides_a_slowdown_nor_is_one);
	tcase_add_test(tcase, a_label_that_doubles_is_found_by_one_report_each);
	tcase_add_test(tcase, two_percent_are_no_alarm_at_a_threshold_of_three);
	suite_add_tcase(suite, tcase);
	return suite;
}
