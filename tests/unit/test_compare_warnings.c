/* SPDX-License-Identifier: MIT */
/* What makes reports hard to compare. */
#include "compare_fixture.h"
#include "diff_words.h"

static void other_model(struct profile *report)
{
	report->host.cpu_model[0] = 'A';
}

static void no_model(struct profile *report)
{
	free(report->host.cpu_model);
	report->host.cpu_model = NULL;
}

static void other_count(struct profile *report)
{
	report->host.cpus = 4;
	report->session.ticks_expected = 40000;
}

static void other_kernel(struct profile *report)
{
	report->host.kernel[0] = '5';
}

static void other_machine(struct profile *report)
{
	report->host.machine[0] = 'X';
}

static void other_virtualization(struct profile *report)
{
	report->host.virtualization[0] = 'k';
}

static void other_frequency(struct profile *report)
{
	report->session.frequency_hz = 500;
	report->session.ticks_expected = 10000;
}

static void other_period(struct profile *report)
{
	report->session.ticks_expected = 10000;
}

static void brief(struct profile *report)
{
	report->session.duration_ns = 1900000000;
	report->session.ticks_expected = 3800;
}

static void lossy(struct profile *report)
{
	report->losses.tick_missed = report->totals.hits / 1000 + 1;
}

static void without_calls(struct profile *report)
{
	report->losses.calls_lost = 1;
}

static void less_covered(struct profile *report)
{
	report->totals.coverage_running -= 0.03;
}

/* By a base that takes 800 ns. */
static void slow_cpus(struct profile *report)
{
	report->session.pace_ns = report->session.pace_runs * 809;
}

static void merge_of(struct profile *report, uint64_t first_ns, uint64_t second_ns)
{
	report->sources = calloc(2, sizeof(*report->sources));
	report->source_count = 2;
	report->sources[0].duration_ns = first_ns;
	report->sources[1].duration_ns = second_ns;
}

static void merged(struct profile *report)
{
	merge_of(report, 5 * SECOND, 5 * SECOND);
}

/* All together is long enough. */
static void merged_with_brief(struct profile *report)
{
	merge_of(report, 9 * SECOND, SECOND);
}

static void merged_of_itself(struct profile *report)
{
	merge_of(report, 10 * SECOND, 0);
	report->source_count = 1;
}

static void no_other(struct profile *report)
{
	report->losses.tick_missed = 1;
	report->totals.coverage -= 0.01;
	report->session.frequency_hz *= 1.001;
	report->session.pace_ns = report->session.pace_runs * 807;
}

static const struct {
	void (*change)(struct profile *report);
	const char *code;  /* NULL: none */
	const char *other; /* besides */
} warnings[] = {
	{no_other, NULL},
	{merged_of_itself, NULL},
	{merged, "merged_report"},
	{merged_with_brief, "merged_report", "duration_short"},
	{other_model, "cpu_model"},
	{no_model, "cpu_model"},
	{other_count, "cpu_count"},
	{other_kernel, "kernel"},
	{other_machine, "machine"},
	{other_virtualization, "virtualization"},
	{other_frequency, "frequency"},
	{other_period, "period"},
	{brief, "duration_short"},
	{lossy, "losses"},
	{without_calls, "calls_missing"},
	{less_covered, "coverage_moved"},
	{slow_cpus, "pace"},
};

START_TEST(what_makes_reports_hard_to_compare_is_told_once)
{
	struct profile *base = report_with(1000, 5000), *new = report_with(1000, 5000);
	struct comparison *comparison;

	warnings[_i].change(new);
	comparison = compare_two(base, new);
	ck_assert_uint_eq(comparison->warning_count,
			  (size_t)(warnings[_i].code != NULL) + (warnings[_i].other != NULL));
	if (warnings[_i].code)
		ck_assert_str_eq(comparison->warnings[0].code, warnings[_i].code);
	if (warnings[_i].other)
		ck_assert_str_eq(comparison->warnings[1].code, warnings[_i].other);
	compare__free(comparison);
	profile__free(base);
	profile__free(new);
}
END_TEST

/* With "new-2" behind it, the hundred bytes of a path that are shown. */
#define TEN	  "0123/5678/"
#define PATH_END  TEN TEN TEN TEN TEN TEN TEN TEN TEN "long/"
#define LONG_PATH "/a/long/path/" PATH_END

START_TEST(warnings_name_the_reports_that_they_are_about)
{
	struct profile *reports[6];
	const char *const base_names[] = {"base-1", "base-2"};
	const char *const new_names[] = {"new-1", LONG_PATH "new-2", "new-3", "new-4"};
	struct compare_input input[] = {
		{(const struct profile *const *)reports, 2, base_names},
		{(const struct profile *const *)reports + 2, 4, new_names},
	};
	struct comparison *comparison;

	for (size_t i = 0; i < COUNT(reports); i++)
		reports[i] = report_with(1000, 5000);
	without_calls(reports[1]);
	for (size_t i = 2; i < COUNT(reports); i++)
		lossy(reports[i]);
	other_kernel(reports[3]);
	comparison = compare__new(input, COMPARE_THRESHOLD, COMPARE_ALPHA);
	ck_assert_ptr_nonnull(comparison);
	ck_assert_uint_eq(comparison->warning_count, 3);
	ck_assert_str_eq(comparison->warnings[0].text,
			 "the reports are from different kernels: 6.1.0 (base-1) and 5.1.0 "
			 "(.." PATH_END "new-2)");
	ck_assert_str_eq(comparison->warnings[1].text,
			 "4 of 6 reports lost observations, more than one for 1,000 hits (new-1, "
			 ".." PATH_END "new-2, new-3, ..)");
	ck_assert_str_eq(comparison->warnings[2].text,
			 "1 of 6 reports miss calls, so times per call are too high there "
			 "(base-2)");
	compare__free(comparison);
	for (size_t i = 0; i < COUNT(reports); i++)
		profile__free(reports[i]);
}
END_TEST

START_TEST(calls_are_counted_for_each_recording)
{
	struct profile *base = report_with(1000, 5000), *new = report_with(2000, 10000);
	struct comparison *comparison;

	merged(new);
	comparison = compare_two(base, new);
	ck_assert_uint_eq(comparison->recordings[ESTIMATE_BASE], 1);
	ck_assert_uint_eq(comparison->recordings[ESTIMATE_NEW], 2);
	ck_assert_double_eq(diff_words__per_recording(comparison, ESTIMATE_NEW, 2000), 1000);
	compare__free(comparison);
	profile__free(base);
	profile__free(new);
}
END_TEST

Suite *compare_warnings_suite(void)
{
	Suite *suite = suite_create("compare_warnings");
	TCase *tcase = tcase_create("warnings");

	tcase_add_loop_test(tcase, what_makes_reports_hard_to_compare_is_told_once, 0,
			    COUNT(warnings));
	tcase_add_test(tcase, warnings_name_the_reports_that_they_are_about);
	tcase_add_test(tcase, calls_are_counted_for_each_recording);
	suite_add_tcase(suite, tcase);
	return suite;
}
