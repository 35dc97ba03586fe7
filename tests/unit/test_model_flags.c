/* SPDX-License-Identifier: MIT */
/* What a row or a session wants said about it. */
#include "model_fixture.h"

static const struct {
	uint64_t hits[4];
	const char *tied; /* those of a, b, c, d that are */
} ties[] = {
	{{1000, 1000, 0, 0}, "ab"},
	{{8000, 1000, 0, 0}, ""},
	{{5000, 2000, 1900, 500}, "bc"},
	{{5000, 4900, 500, 490}, "abcd"},
	{{1, 0, 0, 0}, ""}, /* rows never seen tie with nothing */
	{{2, 1, 0, 0}, "ab"},
};

START_TEST(rows_whose_intervals_overlap_are_tied)
{
	const struct model_label labels[] = {hit("a", ties[_i].hits[0]), hit("b", ties[_i].hits[1]),
					     hit("c", ties[_i].hits[2]),
					     hit("d", ties[_i].hits[3])};

	compute(labels, COUNT(labels), 10 * SECOND);
	for (size_t i = 0; i < COUNT(labels); i++)
		ck_assert_int_eq(!!(row(labels[i].name)->flags & PROFILE_FLAG_TIED),
				 !!strchr(ties[_i].tied, labels[i].name[0]));
}
END_TEST

START_TEST(exact_rows_are_tied_only_when_equal)
{
	struct model_label labels[] = {hit("a", 0), hit("b", 0), hit("c", 0)};

	labels[0].blocked_ns = SECOND + 1;
	labels[1].blocked_ns = labels[2].blocked_ns = SECOND;
	compute(labels, COUNT(labels), 0);
	ck_assert_uint_eq(row("a")->flags, 0);
	ck_assert_uint_eq(row("b")->flags, PROFILE_FLAG_TIED);
	ck_assert_uint_eq(row("c")->flags, PROFILE_FLAG_TIED);
}
END_TEST

/* 100,000 hits in 100 s, half in each: q_hi = 0.5038 at 0.05 / 3, so at most 50.38 s per row. */
static const struct {
	uint64_t calls;
	bool idle, tiny;
} tinies[] = {
	{0, false, false},	    {1, false, false},
	{1000000000, false, false}, /* 50.4 ns */
	{1007000000, false, false}, /* 50.03 ns */
	{1008000000, false, true},  /* 49.98 ns */
	{5000000000, false, true},  {5000000000, true, false},
};

START_TEST(a_row_below_50_ns_per_call_is_tiny)
{
	struct model_label labels[] = {hit("a", 50000), hit("b", 50000), hit("c", 50000)};

	labels[0].calls = tinies[_i].calls;
	labels[1].calls = 1;
	labels[2].calls = 1;
	labels[0].idle = tinies[_i].idle;
	compute(labels, tinies[_i].idle ? 3 : 2, tinies[_i].idle ? 150 * SECOND : 100 * SECOND);
	ck_assert_int_eq(!!(row("a")->flags & PROFILE_FLAG_TINY), tinies[_i].tiny);
	ck_assert_int_eq(!!warning("tiny"), tinies[_i].tiny);
}
END_TEST

START_TEST(tiny_warning_names_label_and_limit)
{
	struct model_label labels[] = {hit("a", 50000), hit("b", 50000)};

	labels[0].calls = 2190000000; /* 50.38 s / 2.19e9 = 23.0 ns */
	compute(labels, COUNT(labels), 100 * SECOND);
	ck_assert_ptr_nonnull(warning("tiny"));
	ck_assert_str_eq(warning("tiny")->label, "a");
	ck_assert_ptr_nonnull(strstr(warning("tiny")->text, "at most 23 ns per call"));
}
END_TEST

static const struct {
	uint64_t long_hits, hits, blocked_ms;
	const char *text; /* in the warning; NULL: none */
} longs[] = {
	{0, 100, 0, NULL},
	{19, 100, 0, NULL},
	{20, 100, 0, "its single executions run long"},
	{20, 1000, 0, NULL}, /* 2.0%, and it takes more */
	{21, 1000, 0, "its single executions run long"},
	{50, 95, 5, "its single executions run long"}, /* 5% waiting */
	{50, 94, 6, "make it coarse (TSN_COARSE), which times each one"},
	{50, 51, 49, "its single executions run long"},
	{50, 50, 50, "mostly waiting (50%): make it coarse (TSN_COARSE)"},
};

START_TEST(executions_longer_than_a_tick_are_flagged)
{
	struct model_label labels[] = {hit("a", longs[_i].hits)};

	labels[0].long_hits = longs[_i].long_hits;
	labels[0].blocked_ns = longs[_i].blocked_ms * MS;
	compute(labels, COUNT(labels), longs[_i].hits * MS);
	ck_assert_int_eq(!!(row("a")->flags & PROFILE_FLAG_LONG), longs[_i].text != NULL);
	ck_assert_int_eq(!!warning("long"), longs[_i].text != NULL);
	if (longs[_i].text)
		ck_assert_ptr_nonnull(strstr(warning("long")->text, longs[_i].text));
}
END_TEST

/* One second of thread-time of which `elapsed` ms had a thread inside. */
static const struct {
	unsigned callers;
	uint64_t glances, shared, elapsed_ms;
	bool serialised;
} glances[] = {
	{2, 25, 0, 1000, true},	   {2, 24, 0, 1000, false},
	{1, 1000, 0, 1000, false}, {0, 1000, 0, 1000, false},
	{2, 1000, 1, 1000, false}, {2, 1000, 0, 996, true}, /* in flight 1.004 */
	{2, 1000, 0, 994, false}, /* in flight 1.006: two were inside off the CPU */
	{2, 1000, 0, 0, false},	  /* not known */
};

START_TEST(callers_that_take_turns_are_serialised)
{
	struct model_label labels[] = {hit("a", 1000)};

	labels[0].callers = glances[_i].callers;
	labels[0].glances = glances[_i].glances;
	labels[0].glances_shared = glances[_i].shared;
	labels[0].elapsed_on_ns = glances[_i].elapsed_ms * MS;
	compute(labels, COUNT(labels), SECOND);
	ck_assert_int_eq(!!(row("a")->flags & PROFILE_FLAG_SERIALISED), glances[_i].serialised);
	ck_assert_int_eq(!!warning("serialised"), glances[_i].serialised);
}
END_TEST

/* 49 glances at 1 s of thread-time: callers that come at random would have met 12 times in 2 s, but
 * not in 100 s. */
static const struct {
	uint64_t duration_s;
	bool serialised;
} rare[] = {{2, true}, {4, true}, {5, false}, {100, false}};

START_TEST(callers_that_are_hardly_ever_inside_are_not_called_serialised)
{
	struct model_label labels[] = {hit("a", 1000)};

	labels[0].callers = 2;
	labels[0].glances = 49;
	labels[0].elapsed_on_ns = SECOND;
	profile->session.duration_ns = rare[_i].duration_s * SECOND;
	compute(labels, COUNT(labels), SECOND);
	ck_assert_int_eq(!!(row("a")->flags & PROFILE_FLAG_SERIALISED), rare[_i].serialised);
}
END_TEST

START_TEST(callers_of_different_processes_cannot_meet)
{
	struct model_label labels[] = {hit("a", 1000), hit("a", 1000)};

	for (size_t i = 0; i < 2; i++) {
		labels[i].callers = 1;
		labels[i].glances = 1000;
		labels[i].elapsed_on_ns = SECOND;
	}
	compute(labels, COUNT(labels), 2 * SECOND);
	ck_assert_uint_eq(row("a")->flags & PROFILE_FLAG_SERIALISED, 0);
}
END_TEST

static const struct {
	uint64_t hits;
	bool few;
} hit_counts[] = {{1, true}, {49, true}, {50, false}, {51, false}};

START_TEST(few_hits_are_warned_about)
{
	struct model_label labels[] = {hit("a", hit_counts[_i].hits), hit("poll", 1000)};

	labels[1].idle = true;
	compute(labels, COUNT(labels), SECOND);
	ck_assert_int_eq(!!warning("few_hits"), hit_counts[_i].few);
	ck_assert_ptr_null(warning("no_hits"));
}
END_TEST

START_TEST(low_coverage_is_warned_about)
{
	static const uint64_t labelled[] = {499, 500};
	const struct model_label labels[] = {hit("a", labelled[_i]),
					     hit(NULL, 1000 - labelled[_i])};

	compute(labels, COUNT(labels), SECOND);
	ck_assert_int_eq(!!warning("coverage_low"), _i == 0);
}
END_TEST

static void add_flags(TCase *tcase)
{
	tcase_add_loop_test(tcase, rows_whose_intervals_overlap_are_tied, 0, COUNT(ties));
	tcase_add_test(tcase, exact_rows_are_tied_only_when_equal);
	tcase_add_loop_test(tcase, a_row_below_50_ns_per_call_is_tiny, 0, COUNT(tinies));
	tcase_add_test(tcase, tiny_warning_names_label_and_limit);
	tcase_add_loop_test(tcase, executions_longer_than_a_tick_are_flagged, 0, COUNT(longs));
	tcase_add_loop_test(tcase, callers_that_take_turns_are_serialised, 0, COUNT(glances));
	tcase_add_loop_test(tcase, callers_that_are_hardly_ever_inside_are_not_called_serialised, 0,
			    COUNT(rare));
	tcase_add_test(tcase, callers_of_different_processes_cannot_meet);
	tcase_add_loop_test(tcase, few_hits_are_warned_about, 0, COUNT(hit_counts));
	tcase_add_loop_test(tcase, low_coverage_is_warned_about, 0, 2);
}

Suite *model_flags_suite(void)
{
	Suite *suite = suite_create("model-flags");

	add_flags(add_tcase(suite, "flags"));
	return suite;
}
