/* SPDX-License-Identifier: MIT */
/* Shares, rounding, elapsed time and order. Expected values are worked by hand in the comments. */
#include <stdlib.h>

#include "model_fixture.h"

/* --- shares --- */

START_TEST(running_time_is_split_by_hits)
{
	const struct model_label labels[] = {hit("a", 70), hit("b", 30)};

	compute(labels, COUNT(labels), SECOND);
	ck_assert_uint_eq(profile->fine_count, 2);
	ck_assert_str_eq(profile->fine[0].label, "a");
	ck_assert_uint_eq(row("a")->running_ns, 700 * MS);
	ck_assert_uint_eq(row("b")->running_ns, 300 * MS);
	ck_assert_double_eq(row("a")->share, 0.7);
	ck_assert_double_eq(row("b")->share, 0.3);
	ck_assert_double_eq(row("a")->cpu_share, 0.7);
	ck_assert_double_eq(row("a")->per_call_ns, 10000); /* 700 ms / 70,000 */
	ck_assert_uint_eq(profile->totals.hits, 100);
	ck_assert_uint_eq(profile->totals.labelled_ns, SECOND);
	ck_assert_double_eq(profile->totals.coverage, 1);
	/* Clopper-Pearson of 70 in 100 at 0.05 / 3 (SciPy 1.10); no waiting, so the labelled part
	 * cancels */
	ck_assert_double_eq_tol(row("a")->share_lo, 0.5785172, 1e-6);
	ck_assert_double_eq_tol(row("a")->share_hi, 0.8042293, 1e-6);
	ck_assert_double_eq_tol(profile->totals.bound, 0.7 - 0.5785172, 1e-6);
}
END_TEST

START_TEST(weights_count_not_hits)
{
	struct model_label labels[] = {hit("a", 100), hit("b", 100)};

	labels[0].weight_ns *= 3;
	compute(labels, COUNT(labels), SECOND);
	ck_assert_double_eq(row("a")->share, 0.75);
}
END_TEST

/* One thread of nine runs, eight sleep in "sleep" for as long. */
START_TEST(sleepers_have_their_share)
{
	struct model_label labels[] = {hit("work", 1000), hit("sleep", 0)};

	labels[1].blocked_ns = 8 * SECOND;
	compute(labels, COUNT(labels), SECOND);
	ck_assert_double_eq(row("sleep")->share, 8 / 9.);
	ck_assert_double_eq(row("sleep")->cpu_share, 0);
	ck_assert_double_eq(row("work")->share, 1 / 9.);
	ck_assert_double_eq(row("work")->cpu_share, 1);
	ck_assert_uint_eq(row("sleep")->flags & PROFILE_FLAG_UNSAMPLED, 0);
	/* 1 - 0.0125^(1 / 1000) = 0.0044 of 1 s may be in no label, and as much in "sleep": of 9 s
	 */
	ck_assert_double_le(profile->totals.bound, 2 * 0.0044 / 9);
}
END_TEST

START_TEST(waiting_alone_is_exact)
{
	static const double expected[] = {0.5, 0.3, 0.2};
	struct model_label labels[] = {hit("a", 0), hit("b", 0), hit("c", 0)};

	labels[0].blocked_ns = 5 * SECOND;
	labels[1].io_ns = 3 * SECOND;
	labels[2].runnable_ns = 2 * SECOND;
	compute(labels, COUNT(labels), 0);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_double_eq(profile->fine[i].share, expected[i]);
		ck_assert_double_eq(profile->fine[i].share_lo, profile->fine[i].share);
		ck_assert_double_eq(profile->fine[i].share_hi, profile->fine[i].share);
		ck_assert_uint_eq(profile->fine[i].flags, 0);
		ck_assert(isnan(profile->fine[i].cpu_share));
	}
	ck_assert_double_eq(profile->totals.bound, 0);
}
END_TEST

START_TEST(idle_time_is_kept_out_of_shares)
{
	struct model_label labels[] = {hit("a", 60), hit("b", 20), hit("poll", 100), hit(NULL, 20)};

	labels[2].idle = true;
	labels[2].blocked_ns = 100 * SECOND;
	compute(labels, COUNT(labels), 2 * SECOND);
	ck_assert_double_eq(row("a")->share, 0.75);
	ck_assert(isnan(row("poll")->share) && isnan(row("poll")->cpu_share));
	ck_assert_str_eq(profile->fine[2].label, "poll");
	ck_assert_uint_eq(profile->totals.idle_ns, 101 * SECOND);
	ck_assert_uint_eq(profile->totals.labelled_ns, 800 * MS);
	ck_assert_uint_eq(profile->totals.unlabelled_ns, 200 * MS);
	ck_assert_double_eq(profile->totals.coverage, 0.8);
	ck_assert_double_eq(profile->totals.coverage_running, 0.8);
}
END_TEST

START_TEST(coverage_counts_waiting_and_running_apart)
{
	struct model_label labels[] = {hit(NULL, 50), hit("a", 150)};

	labels[0].blocked_ns = 4 * SECOND; /* 4.5 s in no label, 1.5 s in one */
	compute(labels, COUNT(labels), 2 * SECOND);
	ck_assert_double_eq(profile->totals.coverage, 0.25);
	ck_assert_double_eq(profile->totals.coverage_running, 0.75);
	ck_assert_ptr_nonnull(warning("coverage_low"));
}
END_TEST

START_TEST(rows_of_several_processes_merge_by_name_and_kind)
{
	struct model_label labels[] = {hit("a", 10), hit(NULL, 5),  hit("b", 20), hit("a", 30),
				       hit(NULL, 5), hit("a", 100), hit("b", 30)};

	labels[0].runnable_ns = labels[3].runnable_ns = 3;
	labels[3].hits_user = 10;
	labels[3].hits_kernel = 20;
	labels[5].idle = true;
	compute(labels, COUNT(labels), 200 * MS);
	ck_assert_uint_eq(profile->fine_count, 3);
	ck_assert_str_eq(profile->fine[0].label, "b");
	ck_assert_str_eq(profile->fine[1].label, "a");
	ck_assert(!profile->fine[1].idle);
	ck_assert_uint_eq(profile->fine[1].hits, 40);
	ck_assert_uint_eq(profile->fine[1].hits_user, 20);
	ck_assert_uint_eq(profile->fine[1].hits_kernel, 20);
	ck_assert_uint_eq(profile->fine[1].calls, 40000);
	ck_assert_uint_eq(profile->fine[1].runnable_ns, 6);
	ck_assert_uint_eq(profile->fine[1].running_ns, 40 * MS);
	ck_assert(profile->fine[2].idle);
	ck_assert_uint_eq(profile->totals.unlabelled_ns, 10 * MS);
}
END_TEST

/* --- rounding and boundaries --- */

static const struct {
	uint64_t weights[4], running_ns, expected[4];
} roundings[] = {
	{{0, 0, 0, 1}, 0, {0, 0, 0, 0}},
	{{0, 0, 0, 1}, 1, {0, 0, 0, 1}},
	{{1, 1, 1, 1}, 3, {1, 1, 1, 0}}, /* equal remainders: in the order of the names */
	{{1, 1, 1, 0}, 100, {34, 33, 33, 0}},
	{{1, 2, 3, 4}, 9, {1, 2, 3, 3}}, /* 0.9 1.8 2.7 3.6: two down, from the rest */
	{{6, 1, 1, 1}, 7, {4, 1, 1, 1}}, /* 4.67 .78 .78 .78: 3 left over, none for the 4.67 */
	{{UINT64_MAX, 0, 0, 0}, UINT64_MAX, {UINT64_MAX, 0, 0, 0}},
	{{UINT64_MAX, UINT64_MAX, 0, 0}, UINT64_MAX, {UINT64_MAX / 2 + 1, UINT64_MAX / 2, 0, 0}},
};

START_TEST(running_time_adds_up_exactly)
{
	struct model_label labels[] = {hit("a", 1), hit("b", 1), hit("c", 1), hit("d", 1)};

	for (size_t i = 0; i < COUNT(labels); i++)
		labels[i].weight_ns = roundings[_i].weights[i];
	compute(labels, COUNT(labels), roundings[_i].running_ns);
	for (size_t i = 0; i < COUNT(labels); i++)
		ck_assert_uint_eq(row(labels[i].name)->running_ns, roundings[_i].expected[i]);
}
END_TEST

START_TEST(nothing_at_all_is_no_number)
{
	compute(NULL, 0, 0);
	ck_assert_uint_eq(profile->fine_count, 0);
	ck_assert(isnan(profile->totals.coverage) && isnan(profile->totals.coverage_running));
	ck_assert(isnan(profile->totals.bound));
	ck_assert_ptr_nonnull(warning("no_labels"));
	ck_assert_uint_eq(profile->warning_count, 1);
}
END_TEST

START_TEST(without_labels_all_time_is_unlabelled)
{
	const struct model_label labels[] = {hit(NULL, 100)};

	compute(labels, COUNT(labels), SECOND);
	ck_assert_uint_eq(profile->totals.unlabelled_ns, SECOND);
	ck_assert_uint_eq(profile->totals.hits, 100);
	ck_assert_double_eq(profile->totals.coverage, 0);
	ck_assert_ptr_nonnull(warning("no_labels"));
	ck_assert_uint_eq(profile->warning_count, 1);
}
END_TEST

START_TEST(without_hits_running_time_is_unlabelled_and_anywhere)
{
	struct model_label labels[] = {hit("a", 0), hit("b", 0)};

	labels[0].blocked_ns = SECOND;
	labels[1].blocked_ns = 3 * SECOND;
	compute(labels, COUNT(labels), SECOND);
	ck_assert_uint_eq(profile->totals.unlabelled_ns, SECOND);
	ck_assert_ptr_nonnull(warning("no_hits"));
	ck_assert_ptr_null(warning("few_hits"));
	ck_assert_double_eq(row("a")->share, 0.25);
	ck_assert_double_eq(row("a")->share_lo, 1 / 5.); /* the second was all in b */
	ck_assert_double_eq(row("a")->share_hi, 2 / 5.); /* or all in a */
}
END_TEST

START_TEST(a_label_never_hit_has_an_exact_upper_limit)
{
	struct model_label labels[] = {hit("a", 1000), hit("never", 0)};

	labels[1].calls = 5;
	compute(labels, COUNT(labels), SECOND);
	ck_assert_uint_eq(row("never")->flags, PROFILE_FLAG_UNSAMPLED);
	ck_assert_double_eq(row("never")->share, 0);
	ck_assert_double_eq(row("never")->share_lo, 0);
	/* one row with hits: at 0.05 / 2, so each side at 0.0125 */
	ck_assert_double_eq_tol(row("never")->share_hi, 1 - pow(0.0125, 1 / 1000.), 1e-12);
	ck_assert_double_eq(row("never")->per_call_ns, 0);
}
END_TEST

START_TEST(only_other_time_was_hit)
{
	struct model_label labels[] = {hit(NULL, 1000), hit("a", 0), hit("b", 0)};

	compute(labels, COUNT(labels), SECOND);
	ck_assert(isnan(row("a")->share) && isnan(profile->totals.bound));
	ck_assert_uint_eq(row("a")->flags, PROFILE_FLAG_UNSAMPLED);
	ck_assert_double_eq(profile->totals.coverage, 0);
}
END_TEST

START_TEST(a_row_without_calls_has_no_per_call)
{
	struct model_label labels[] = {hit("a", 100), hit("b", 100)};

	labels[0].calls = 0;
	compute(labels, COUNT(labels), SECOND);
	ck_assert(isnan(row("a")->per_call_ns));
	ck_assert_uint_eq(row("a")->flags & PROFILE_FLAG_TINY, 0);
}
END_TEST

START_TEST(sums_saturate)
{
	struct model_label labels[] = {hit("a", 1), hit("a", 1), hit(NULL, 1)};

	labels[0].blocked_ns = labels[1].io_ns = labels[0].calls = UINT64_MAX - 1;
	labels[2].blocked_ns = labels[1].weight_ns = labels[1].elapsed_on_ns = UINT64_MAX;
	compute(labels, COUNT(labels), UINT64_MAX);
	ck_assert_uint_eq(row("a")->thread_time_ns, UINT64_MAX);
	ck_assert_uint_eq(row("a")->calls, UINT64_MAX);
	ck_assert_uint_eq(profile->totals.thread_time_ns, UINT64_MAX);
	ck_assert_double_eq(row("a")->share, 1);
}
END_TEST

START_TEST(an_impossible_level_is_refused)
{
	static const double levels[] = {0, 1, -1, NAN};
	const struct model_label labels[] = {hit("a", 1)};
	struct model_input input = input_of(labels, 1, SECOND);

	input.alpha = levels[_i];
	ck_assert_int_eq(model__compute(&input, profile), -EINVAL);
	ck_assert_uint_eq(profile->fine_count, 0);
}
END_TEST

START_TEST(computing_again_replaces_the_rows)
{
	const struct model_label labels[] = {hit("a", 100), hit("b", 100)};

	compute(labels, 2, SECOND);
	compute(labels, 1, SECOND);
	ck_assert_uint_eq(profile->fine_count, 1);
	ck_assert_double_eq(row("a")->share, 1);
}
END_TEST

/* --- elapsed --- */

START_TEST(elapsed_is_measured_off_the_cpu_and_scaled_on_it)
{
	struct model_label labels[] = {hit("a", 100), hit(NULL, 100)};

	labels[0].blocked_ns = 4 * SECOND;
	labels[0].elapsed_off_ns = SECOND;
	labels[0].elapsed_on_ns = 50 * MS; /* of 200 ms of weight, so a quarter of running time */
	compute(labels, COUNT(labels), 2 * SECOND);
	ck_assert_uint_eq(row("a")->elapsed_ns, 1500 * MS);
	ck_assert_double_eq(row("a")->in_flight, 5 / 1.5);
}
END_TEST

START_TEST(elapsed_has_caps)
{
	struct model_label labels[] = {hit("a", 100), hit("a", 100)};

	labels[0].blocked_ns = 10 * SECOND;
	labels[0].elapsed_off_ns = 4 * SECOND;
	compute(labels, 1, SECOND); /* duration not known */
	ck_assert_uint_eq(row("a")->elapsed_ns, 4 * SECOND);
	profile->session.duration_ns = 3 * SECOND;
	compute(labels, 1, SECOND);
	ck_assert_uint_eq(row("a")->elapsed_ns, 3 * SECOND);
	labels[1].elapsed_off_ns = 2 * SECOND; /* another process: adds up */
	compute(labels, 2, SECOND);
	ck_assert_uint_eq(row("a")->elapsed_ns, 5 * SECOND);
	labels[0].blocked_ns = SECOND; /* never more than thread-time */
	compute(labels, 2, SECOND);
	ck_assert_uint_eq(row("a")->elapsed_ns, 2 * SECOND);
	ck_assert_double_eq(row("a")->in_flight, 1);
}
END_TEST

START_TEST(nothing_elapsed_has_no_in_flight)
{
	const struct model_label labels[] = {hit("a", 100)};

	compute(labels, COUNT(labels), SECOND);
	ck_assert_uint_eq(row("a")->elapsed_ns, 0);
	ck_assert(isnan(row("a")->in_flight));
}
END_TEST

/* --- order --- */

START_TEST(rows_are_in_order)
{
	static const char *const order[] = {"big",   "tie1",   "tie2",	 "idle2",
					    "idle1", "called", "never1", "never2"};
	struct model_label labels[] = {hit("never2", 0), hit("idle1", 10), hit("called", 0),
				       hit("tie2", 20),	 hit("never1", 0), hit("big", 100),
				       hit("tie1", 20),	 hit("idle2", 10)};

	labels[1].idle = labels[7].idle = true;
	labels[7].blocked_ns = 1000 * SECOND;
	labels[2].calls = 1;
	compute(labels, COUNT(labels), SECOND);
	ck_assert_uint_eq(profile->fine_count, COUNT(order));
	for (size_t i = 0; i < COUNT(order); i++)
		ck_assert_str_eq(profile->fine[i].label, order[i]);
}
END_TEST

START_TEST(differences_beyond_31_bits_are_in_order)
{
	struct model_label labels[] = {hit("a", 0), hit("b", 0), hit("c", 0)};

	labels[0].blocked_ns = 1;
	labels[1].blocked_ns = 1ull << 63;
	labels[2].blocked_ns = (1ull << 32) + 1;
	compute(labels, COUNT(labels), 0);
	ck_assert_str_eq(profile->fine[0].label, "b");
	ck_assert_str_eq(profile->fine[1].label, "c");
	ck_assert_str_eq(profile->fine[2].label, "a");
}
END_TEST

/* --- random input, fixed seed --- */

static void randomise(struct model_label *label, const char *name, size_t window_row)
{
	*label = (struct model_label){
		.name = name,
		.idle = random_u64() % 4 == 0,
		.hits_user = random_count() >> 20,
		.hits_kernel = random_count() >> 20,
		.weight_ns = random_count(),
		.runnable_ns = random_count(),
		.blocked_ns = random_count(),
		.io_ns = random_count(),
		.calls = random_count(),
		.elapsed_off_ns = random_count(),
		.elapsed_on_ns = random_count(),
		.long_hits = random_count() >> 20,
		.glances = random_count() >> 20,
		.callers = random_u64() % 3,
		.window_row = window_row,
	};
}

/* Not only the possible: hits without weight, windows that do not agree with them. */
START_TEST(any_input_gives_a_consistent_profile)
{
	static const char *const names[] = {NULL, "a", "b", "c", "d", "e", "f", "a", NULL, "b"};
	struct model_label labels[COUNT(names)];

	random_state = _i;
	for (size_t run = 0; run < 300; run++) {
		struct windows *windows = random_u64() % 2 ? windows__new() : NULL;
		struct model_input input =
			input_of(labels, random_u64() % (COUNT(labels) + 1), random_count());

		for (size_t i = 0; i < COUNT(labels); i++)
			randomise(&labels[i], names[i], i);
		for (size_t n = random_u64() % 100; windows && n > 0; n--) {
			double weights[COUNT(names)];

			for (size_t i = 0; i < COUNT(weights); i++)
				weights[i] = random_count();
			ck_assert_int_eq(windows__add(windows, weights, COUNT(weights)), 0);
		}
		input.windows = windows;
		input.weight_square_sum = random_count();
		input.lost_hits = random_count() >> 20;
		input.lost_wait_ns = random_count();
		profile->session.duration_ns = random_count();
		ck_assert_int_eq(model__compute(&input, profile), 0);
		assert_consistent(&input);
		windows__free(windows);
	}
}
END_TEST

static void add_shares(TCase *tcase)
{
	tcase_add_test(tcase, running_time_is_split_by_hits);
	tcase_add_test(tcase, weights_count_not_hits);
	tcase_add_test(tcase, sleepers_have_their_share);
	tcase_add_test(tcase, waiting_alone_is_exact);
	tcase_add_test(tcase, idle_time_is_kept_out_of_shares);
	tcase_add_test(tcase, coverage_counts_waiting_and_running_apart);
	tcase_add_test(tcase, rows_of_several_processes_merge_by_name_and_kind);
	tcase_add_test(tcase, rows_are_in_order);
	tcase_add_test(tcase, differences_beyond_31_bits_are_in_order);
}

static void add_boundaries(TCase *tcase)
{
	tcase_add_loop_test(tcase, running_time_adds_up_exactly, 0, COUNT(roundings));
	tcase_add_test(tcase, nothing_at_all_is_no_number);
	tcase_add_test(tcase, without_labels_all_time_is_unlabelled);
	tcase_add_test(tcase, without_hits_running_time_is_unlabelled_and_anywhere);
	tcase_add_test(tcase, a_label_never_hit_has_an_exact_upper_limit);
	tcase_add_test(tcase, only_other_time_was_hit);
	tcase_add_test(tcase, a_row_without_calls_has_no_per_call);
	tcase_add_test(tcase, sums_saturate);
	tcase_add_loop_test(tcase, an_impossible_level_is_refused, 0, 4);
	tcase_add_test(tcase, computing_again_replaces_the_rows);
}

static void add_elapsed(TCase *tcase)
{
	tcase_add_test(tcase, elapsed_is_measured_off_the_cpu_and_scaled_on_it);
	tcase_add_test(tcase, elapsed_has_caps);
	tcase_add_test(tcase, nothing_elapsed_has_no_in_flight);
}

Suite *model_suite(void)
{
	Suite *suite = suite_create("model");
	TCase *simulated;

	add_shares(add_tcase(suite, "shares"));
	add_boundaries(add_tcase(suite, "boundaries"));
	add_elapsed(add_tcase(suite, "elapsed"));
	simulated = add_tcase(suite, "simulated");
	tcase_set_timeout(simulated, 60);
	tcase_add_loop_test(simulated, any_input_gives_a_consistent_profile, 0, 4);
	return suite;
}
