/* SPDX-License-Identifier: MIT */
/* The bounds of merged reports: how wide they are, what widens them, and whether they hold. */
#include "merge_fixture.h"
#include "stats.h"

START_TEST(a_report_merged_alone_keeps_its_bounds)
{
	struct profile *of, *merged;
	char *text;

	random_state = 7;
	of = simulate(&usual);
	text = render(of);
	merged = merge_all(&text, 1);
	ck_assert_double_eq_tol(merged->totals.bound, of->totals.bound, 0.01 * of->totals.bound);
	for (size_t i = 0; i < of->fine_count; i++) {
		ck_assert_str_eq(merged->fine[i].label, of->fine[i].label);
		ck_assert_double_eq_tol(merged->fine[i].share_lo, of->fine[i].share_lo, 1e-3);
		ck_assert_double_eq_tol(merged->fine[i].share_hi, of->fine[i].share_hi, 1e-3);
		ck_assert_uint_eq(merged->fine[i].flags, of->fine[i].flags);
	}
	free(text);
	profile__free(merged);
	profile__free(of);
}
END_TEST

START_TEST(n_repeats_have_bounds_narrower_by_the_root_of_n)
{
	struct profile *one, *many;

	random_state = 8;
	one = repeats(&usual, 1);
	many = repeats(&usual, 16);
	for (size_t i = 0; i < 3; i++)
		ck_assert_double_eq_tol(width_in(one, names[i]) / width_in(many, names[i]), 4, 1.2);
	profile__free(one);
	profile__free(many);
}
END_TEST

START_TEST(bounds_are_never_narrower_than_those_of_all_hits)
{
	struct profile *merged;
	uint64_t hits = 0;

	random_state = (uint64_t)_i + 300;
	merged = repeats(&usual, 2 + (size_t)_i % 5);
	for (size_t i = 0; i < 3; i++)
		hits += merged->fine[i].hits;
	for (size_t i = 0; i < 3; i++) {
		const struct interval exact = stats__binomial_interval((double)merged->fine[i].hits,
								       (double)hits, 0.05 / 4);

		ck_assert_double_le(merged->fine[i].share_lo, exact.lo + 1e-6);
		ck_assert_double_ge(merged->fine[i].share_hi, exact.hi - 1e-6);
	}
	profile__free(merged);
}
END_TEST

/* All rows at once, in 95% of the merges; of 400, at least 92% (three standard deviations). */
START_TEST(bounds_of_repeats_hold)
{
	static const double parts[3] = {0.7, 0.02, 0.18};
	const struct simulated how = {
		.parts = {parts[0], parts[1], parts[2]}, .period_ns = MS, .ticks = 640};
	unsigned held = 0;

	random_state = 9;
	for (unsigned n = 0; n < 400; n++) {
		struct profile *merged = repeats(&how, 4);
		bool all = true;

		for (size_t i = 0; i < 3; i++)
			for (size_t k = 0; k < merged->fine_count; k++)
				if (strcmp(merged->fine[k].label, names[i]) == 0)
					all &= merged->fine[k].share_lo <= parts[i] / 0.9 &&
					       parts[i] / 0.9 <= merged->fine[k].share_hi;
		held += all;
		profile__free(merged);
	}
	ck_assert_uint_ge(held, 368);
}
END_TEST

/* With what hits weigh, but without windows: hits alone make the bounds. */
static char *unwindowed_text(const struct simulated *how)
{
	struct profile *of = simulate(how);
	char *text;

	of->totals.window_squares = 0;
	of->totals.window_products = of->totals.window_all_squares = 0;
	for (size_t i = 0; i < of->fine_count; i++)
		of->fine[i].window_squares = of->fine[i].window_products = 0;
	text = render(of);
	profile__free(of);
	return text;
}

/* 320 ticks of 10 ms say less than 3200 of 1 ms, but of as much time. */
START_TEST(recordings_with_different_rates_weigh_by_time)
{
	struct simulated slow = usual, fast = usual;
	struct profile *merged, *fast_alone;
	struct profile_fine *a;
	char *texts[2];

	random_state = 10;
	slow.parts[0] = 0.1;
	slow.parts[1] = 0.7;
	slow.period_ns = 10 * MS;
	slow.ticks = 320;
	texts[0] = _i ? unwindowed_text(&slow) : simulated_text(&slow);
	texts[1] = _i ? unwindowed_text(&fast) : simulated_text(&fast);
	merged = merge_all(texts, 2);
	fast_alone = merge_all(&texts[1], 1);
	for (a = merged->fine; strcmp(a->label, "a") != 0; a++)
		;
	ck_assert_double_eq_tol(a->share, (0.1 + 0.5) / 2 / 0.9, 0.04);
	ck_assert_double_eq_tol(merged->session.frequency_hz, 550, 1e-6);
	/* As many hits as 2 / (1 / 3200 + 1 / 320), for they are of unequal weight. */
	ck_assert_double_gt(width_in(merged, "a"), 1.5 * width_in(fast_alone, "a"));
	free_texts(texts, 2);
	profile__free(merged);
	profile__free(fast_alone);
}
END_TEST

START_TEST(what_was_lost_in_one_widens_the_bounds_of_all)
{
	struct simulated lossy = usual;
	struct profile *merged;
	char *texts[2];

	random_state = 11;
	lossy.lost_hits = 3200;
	lossy.start_unix_ns = 1;
	texts[0] = simulated_text(&usual);
	texts[1] = simulated_text(&lossy);
	merged = merge_all(texts, 2);
	ck_assert_uint_eq(merged->totals.lost_hits, 3200);
	ck_assert_double_gt(width_in(merged, "a"), 3200 / (3200 + 6400.));
	free_texts(texts, 2);
	profile__free(merged);
}
END_TEST

/* A session may be as long as it likes: bounds get no narrower than what is known. */
START_TEST(sums_that_no_report_can_hold_bound_nothing)
{
	struct profile *of, *merged;
	char *text;

	random_state = 16;
	of = simulate(&usual);
	of->totals.window_squares = INT64_MAX;
	text = render(of);
	merged = merge_all(&text, 1);
	ck_assert_double_gt(width_in(merged, "a"), 0.9);
	free(text);
	profile__free(merged);
	profile__free(of);
}
END_TEST

/* Tables: S. Brandt; and F(1, n) is the square of t(n). */
START_TEST(quantiles_of_f_are_those_of_tables)
{
	ck_assert_double_eq_tol(stats__f_quantile(4, 10, 0.95), 3.4780, 1e-4);
	ck_assert_double_eq_tol(stats__f_quantile(10, 4, 0.99), 14.5459, 1e-4);
	ck_assert_double_eq_tol(stats__f_quantile(1, 7, 0.95), pow(stats__t_quantile(7, 0.975), 2),
				1e-9);
	ck_assert(isnan(stats__f_quantile(0, 7, 0.95)));
}
END_TEST

Suite *merge_bounds_suite(void)
{
	Suite *suite = suite_create("merge_bounds");
	TCase *bounds = tcase_create("bounds");

	suite_add_tcase(suite, bounds);
	tcase_set_timeout(bounds, 60);
	tcase_add_test(bounds, a_report_merged_alone_keeps_its_bounds);
	tcase_add_test(bounds, n_repeats_have_bounds_narrower_by_the_root_of_n);
	tcase_add_loop_test(bounds, bounds_are_never_narrower_than_those_of_all_hits, 0, 10);
	tcase_add_test(bounds, bounds_of_repeats_hold);
	tcase_add_loop_test(bounds, recordings_with_different_rates_weigh_by_time, 0, 2);
	tcase_add_test(bounds, what_was_lost_in_one_widens_the_bounds_of_all);
	tcase_add_test(bounds, sums_that_no_report_can_hold_bound_nothing);
	tcase_add_test(bounds, quantiles_of_f_are_those_of_tables);
	return suite;
}
