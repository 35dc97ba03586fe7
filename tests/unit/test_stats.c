/* SPDX-License-Identifier: MIT */
/*
 * Expected values, where a test names no other source, were worked out with mpmath 1.2 at 40 digits
 * (the continued fraction DLMF 8.17.22, Newton's method for quantiles), and compared with
 * SciPy 1.10.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "stats.h"
#include "suites.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void assert_close(double value, double expected, double relative)
{
	const double error = fabs(value - expected);

	ck_assert_msg(error <= relative * fabs(expected), "%.17g where %.17g is right: off by %.2g",
		      value, expected, error);
}

/* --- the incomplete beta function --- */

static const struct {
	double a, b, x, expected;
} beta_values[] = {
	{1, 1, 0, 0},
	{1, 1, 1, 1},
	{3, 7, 0, 0},
	{3, 7, 1, 1},
	{1, 1, 0.25, 0.25},
	{2, 3, 0.4, 0.5248},
	{0.5, 0.5, 0.1, 0.2048327646991335},
	{0.5, 10, 0.01, 0.3420718248432155},
	{10, 0.5, 0.999, 0.8888967091248603},
	{20, 5, 0.5, 0.000771939754486084},
	{0.001, 5, 0.2, 0.9997834456464277},
	{300, 700, 0.31, 0.7564186827315436},
	{1e4, 1e6, 0.0101, 0.9777875433046725},
	{1e6, 1e6, 0.4995, 0.07864957758090163},
	{5e8, 5e8, 0.50001, 0.7364553715353043},
	{2, 999999999, 1.5e-8, 0.9999951055633538},
	{1e9, 3, 0.999999995, 0.1246520205685101},
	{100, 100, 0.01, 1.690659363904334e-142},
};

START_TEST(beta_inc_agrees_with_reference)
{
	assert_close(stats__beta_inc(beta_values[_i].a, beta_values[_i].b, beta_values[_i].x),
		     beta_values[_i].expected, 1e-10);
}
END_TEST

START_TEST(beta_inc_of_complement_is_the_other_tail)
{
	for (double x = 0.0625; x < 1; x += 0.0625)
		ck_assert_double_eq_tol(
			stats__beta_inc(2.5, 17, x) + stats__beta_inc(17, 2.5, 1 - x), 1, 1e-14);
}
END_TEST

static const struct {
	double a, b, p, expected;
} beta_quantiles[] = {
	{2, 3, 0, 0},
	{2, 3, 1, 1},
	{1, 1, 0.3, 0.3},
	{2, 3, 0.5, 0.3857275681323895},
	{0.5, 0.5, 0.025, 0.001541333133436012},
	{5, 1, 1e-6, 0.06309573444801932},
	{1, 9, 0.975, 0.3362671168799428},
	{20, 80, 1e-9, 0.03816521037616382},
	{4.5, 1200.25, 0.9999, 0.01392871763556546},
	{1e3, 1e6, 5e-7, 0.0008520914580232061},
	{0.01, 2, 0.1, 3.697112123291231e-101},
	{3, 1e9, 0.0125, 4.740987954160117e-10},
	{2.5e8, 7.5e8, 0.999999, 0.2500650925418433},
};

START_TEST(beta_quantile_agrees_with_reference)
{
	assert_close(stats__beta_quantile(beta_quantiles[_i].a, beta_quantiles[_i].b,
					  beta_quantiles[_i].p),
		     beta_quantiles[_i].expected, 1e-12);
}
END_TEST

static const double shapes[] = {1e-3, 0.5, 1, 1.5, 10, 333.25, 1e5, 1e7, 1e9};
static const double probabilities[] = {1e-9, 1e-6, 0.00125, 0.025, 0.3, 0.5, 0.9, 0.99875};

/* Both ways through; where x rounds to an end of [0, 1] there is no way back. */
START_TEST(beta_quantile_inverts_beta_inc)
{
	const double a = shapes[_i / COUNT(shapes)], b = shapes[_i % COUNT(shapes)];

	for (size_t i = 0; i < COUNT(probabilities); i++) {
		const double x = stats__beta_quantile(a, b, probabilities[i]);

		ck_assert_double_ge(x, 0);
		ck_assert_double_le(x, 1);
		if (x < DBL_MIN || x > 0.999)
			continue;
		assert_close(stats__beta_inc(a, b, x), probabilities[i], 1e-7);
	}
}
END_TEST

/* --- quantiles of t and normal --- */

/* df = 1, 2 also in closed form: tan(pi (p - 1/2)), (2p - 1) / sqrt(2 p (1 - p)). */
static const struct {
	double df, p, expected;
} t_values[] = {
	{1, 0.5, 0},
	{1, 0.75, 1},
	{1, 0.975, 12.7062047361747},
	{2, 0.75, 0.816496580927726},
	{3.5, 0.9, 1.576576605136405},
	{9, 0.99875, 4.1457888284432427},
	{31, 0.0003, -3.8205316280009542},
	{63, 0.99875, 3.149630280881599},
	{63, 0.9999975, 4.9921642444866181},
	{200, 0.6, 0.25368437919014764},
	{1e6, 0.975, 1.959966356814107},
	{0.5, 0.9, 10.270324410234505},
};

START_TEST(t_quantile_agrees_with_reference)
{
	const double t = stats__t_quantile(t_values[_i].df, t_values[_i].p);

	ck_assert_double_eq_tol(t, t_values[_i].expected, 1e-12 * fmax(1, fabs(t)));
}
END_TEST

/* To three decimals, as in NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2. */
static const struct {
	double df, p, expected;
} t_table[] = {
	{1, 0.90, 3.078},  {2, 0.95, 2.920},   {3, 0.99, 4.541},
	{5, 0.975, 2.571}, {10, 0.975, 2.228}, {20, 0.95, 1.725},
	{30, 0.99, 2.457}, {60, 0.975, 2.000}, {100, 0.90, 1.290},
};

START_TEST(t_quantile_agrees_with_printed_table)
{
	ck_assert_double_eq_tol(stats__t_quantile(t_table[_i].df, t_table[_i].p),
				t_table[_i].expected, 0.00051);
}
END_TEST

START_TEST(t_quantile_approaches_normal_quantile)
{
	for (size_t i = 0; i < COUNT(probabilities); i++) {
		const double z = stats__normal_quantile(probabilities[i]);

		ck_assert_double_eq_tol(stats__t_quantile(1e9, probabilities[i]), z, 1e-6);
		ck_assert_double_eq(stats__t_quantile(INFINITY, probabilities[i]), z);
	}
}
END_TEST

static const struct {
	double p, expected;
} normal_values[] = {
	{0.5, 0},
	{0.975, 1.9599639845400542}, /* the 1.96 of every textbook */
	{0.25, -0.67448975019608174},
	{0.99875, 3.0233414397391538},
	{1e-6, -4.753424308822899},
	{1e-12, -7.0344838253011319},
	{1e-100, -21.273453560965322},
	{0.5000001, 2.5066282733116483e-7},
};

START_TEST(normal_quantile_agrees_with_reference)
{
	ck_assert_double_eq_tol(stats__normal_quantile(normal_values[_i].p),
				normal_values[_i].expected,
				4e-15 * fmax(1, fabs(normal_values[_i].expected)));
}
END_TEST

/* --- intervals of a proportion --- */

static const struct {
	double hits, trials, alpha, lo, hi;
} binomials[] = {
	{0, 1, 0.05, 0, 0.975},
	{1, 1, 0.05, 0.025, 1},
	{5, 10, 0.05, 0.187086028447399, 0.812913971552601},
	{10, 10, 0.05, 0.691502892181239, 1},
	{1, 10, 0.01, 0.000501128575464634, 0.544287056899687},
	{3, 1000, 0.001, 0.00014984252803814, 0.0138580692674063},
	{123456, 1e6, 0.0025, 0.122463364605423, 0.124453478980064},
	{0, 1e9, 1e-6, 0, 1.4508657633273645e-8}, /* 1 - (alpha / 2)^(1 / trials) */
	{1, 1e9, 1e-6, 5.00000125000042e-16, 1.7422214869475e-8},
	{5e8, 1e9, 1e-6, 0.499922655905115, 0.500077344094885},
	{999999999, 1e9, 0.05, 0.999999994428357, 0.999999999974682},
	{2.5, 40.75, 0.05, 0.0103379272727349, 0.183609632686169},
};

START_TEST(binomial_interval_agrees_with_reference)
{
	const struct interval interval = stats__binomial_interval(
		binomials[_i].hits, binomials[_i].trials, binomials[_i].alpha);

	assert_close(interval.lo, binomials[_i].lo, 1e-12);
	assert_close(interval.hi, binomials[_i].hi, 1e-12);
}
END_TEST

/* R. G. Newcombe, Statistics in Medicine 17 (1998) 857-872, table I, method 5 (Clopper-Pearson), as
 * printed. */
static const struct {
	double hits, trials, lo, hi;
} newcombe[] = {
	{81, 263, 0.2527, 0.3676},
	{15, 148, 0.0578, 0.1617},
	{0, 20, 0, 0.1684},
	{1, 29, 0.0009, 0.1776},
};

START_TEST(binomial_interval_agrees_with_printed_examples)
{
	const struct interval interval =
		stats__binomial_interval(newcombe[_i].hits, newcombe[_i].trials, 0.05);

	ck_assert_double_eq_tol(interval.lo, newcombe[_i].lo, 0.000051);
	ck_assert_double_eq_tol(interval.hi, newcombe[_i].hi, 0.000051);
}
END_TEST

START_TEST(binomial_interval_without_trials_is_everything)
{
	const struct interval interval = stats__binomial_interval(0, 0, 0.05);

	ck_assert_double_eq(interval.lo, 0);
	ck_assert_double_eq(interval.hi, 1);
}
END_TEST

/* The definition: at each limit the tail beyond the observation has alpha / 2. Effective counts are
 * not integers. */
START_TEST(binomial_interval_leaves_half_alpha_in_each_tail)
{
	static const double trials[] = {1.5, 2, 17, 333.3, 1e4, 1e6, 1e9};
	static const double parts[] = {1e-9, 1e-6, 0.01, 0.3, 0.5, 0.8};
	static const double alphas[] = {1e-6, 0.0025, 0.05, 0.5};
	const double n = trials[_i];

	for (size_t i = 0; i < COUNT(parts) * COUNT(alphas); i++) {
		const double alpha = alphas[i % COUNT(alphas)], k = n * parts[i / COUNT(alphas)];
		const struct interval interval = stats__binomial_interval(k, n, alpha);

		ck_assert_double_le(interval.lo, k / n);
		ck_assert_double_ge(interval.hi, k / n);
		if (interval.lo > DBL_MIN)
			assert_close(stats__beta_inc(k, n - k + 1, interval.lo), alpha / 2, 1e-9);
		if (interval.hi < 0.999)
			assert_close(stats__beta_inc(n - k, k + 1, 1 - interval.hi), alpha / 2,
				     k / n < 1e-4 ? 1e-5 : 1e-9); /* 1 - hi rounds */
	}
}
END_TEST

/* --- batch means --- */

static const struct {
	double part[4], whole[4];
	size_t n;
	double alpha, lo, hi;
} ratios[] = {
	{{0}, {0}, 0, 0.05, 0, 1},			   /* no window */
	{{1}, {2}, 1, 0.05, 0, 1},			   /* one tells nothing of variance */
	{{0, 0, 0}, {0, 0, 0}, 3, 0.05, 0, 1},		   /* nothing in any */
	{{1, 0, 0}, {2, 0, 0}, 3, 0.05, 0, 1},		   /* one that counts */
	{{1, 1, 1, 1}, {4, 4, 4, 4}, 4, 0.05, 0.25, 0.25}, /* no variance */
	{{0, 0, 0}, {4, 4, 4}, 3, 0.05, 0, 0},
	{{4, 3, 2}, {4, 3, 2}, 3, 0.05, 1, 1},
	/* residuals -1, 0, 1 of 12: variance 2/144 x 3/2 = 1/48; t(2, 3/4) = sqrt(2/3); half =
	   sqrt(1/72) */
	{{1, 2, 3}, {4, 4, 4}, 3, 0.5, 0.382148869802242, 0.617851130197758},
	{{1, 2, 0, 3}, {4, 4, 0, 4}, 4, 0.5, 0.382148869802242, 0.617851130197758},
	{{1, 2, 3}, {4, 4, 4}, 3, 0.05, 0, 1}, /* t(2, 0.975) = 4.303: clipped at both ends */
};

START_TEST(ratio_interval_is_as_worked_by_hand)
{
	const struct interval interval = stats__ratio_interval(ratios[_i].part, ratios[_i].whole,
							       ratios[_i].n, ratios[_i].alpha);

	ck_assert_double_eq_tol(interval.lo, ratios[_i].lo, 1e-12);
	ck_assert_double_eq_tol(interval.hi, ratios[_i].hi, 1e-12);
}
END_TEST

START_TEST(ratio_variance_is_as_worked_by_hand)
{
	const double part[] = {1, 2, 0, 3}, whole[] = {4, 4, 0, 4};

	ck_assert_double_eq_tol(stats__ratio_variance(part, whole, 4), 1 / 48., 1e-15);
	ck_assert(isnan(stats__ratio_variance(part, whole, 1)));
	ck_assert(isnan(stats__ratio_variance(part, whole, 0)));
}
END_TEST

START_TEST(ratio_interval_sees_what_a_binomial_one_does_not)
{
	const double part[] = {100, 0, 100, 0, 100, 0, 100, 0};
	const double whole[] = {100, 100, 100, 100, 100, 100, 100, 100};
	const struct interval ratio = stats__ratio_interval(part, whole, COUNT(part), 0.05);
	const struct interval binomial = stats__binomial_interval(400, 800, 0.05);

	ck_assert_double_lt(ratio.lo, binomial.lo - 0.3);
	ck_assert_double_gt(ratio.hi, binomial.hi + 0.3);
}
END_TEST

START_TEST(hull_is_the_smallest_interval_that_holds_both)
{
	const struct interval hull =
		stats__hull((struct interval){0.1, 0.4}, (struct interval){0.2, 0.5});
	const struct interval inner =
		stats__hull((struct interval){0.3, 0.3}, (struct interval){0.2, 0.5});

	ck_assert_double_eq(hull.lo, 0.1);
	ck_assert_double_eq(hull.hi, 0.5);
	ck_assert_double_eq(inner.lo, 0.2);
	ck_assert_double_eq(inner.hi, 0.5);
}
END_TEST

/* --- bad input --- */

static double lo_of(struct interval interval)
{
	ck_assert(isnan(interval.lo) == isnan(interval.hi));
	return interval.lo;
}

START_TEST(bad_input_gives_nan)
{
	const double bad[] = {-1, NAN, INFINITY, -INFINITY}, good[] = {1, 1};
	const double no_shape[] = {0, -1, NAN, INFINITY};
	const double no_level[] = {0, 1, -0.1, 1.1, NAN};

	for (size_t i = 0; i < COUNT(bad); i++) {
		const double parts[] = {1, bad[i]};

		ck_assert(isnan(stats__beta_inc(1, 1, bad[i])));
		ck_assert(isnan(stats__beta_quantile(1, 1, bad[i])));
		ck_assert(isnan(lo_of(stats__binomial_interval(bad[i], 10, 0.05))));
		ck_assert(isnan(lo_of(stats__binomial_interval(0, bad[i], 0.05))));
		ck_assert(isnan(lo_of(stats__ratio_interval(parts, good, 2, 0.05))));
		ck_assert(isnan(lo_of(stats__ratio_interval(good, parts, 2, 0.05))));
	}
	for (size_t i = 0; i < COUNT(no_shape); i++) {
		ck_assert(isnan(stats__beta_inc(no_shape[i], 1, 0.5)));
		ck_assert(isnan(stats__beta_inc(1, no_shape[i], 0.5)));
		ck_assert(isnan(stats__beta_quantile(no_shape[i], 1, 0.5)));
		ck_assert(isnan(stats__beta_quantile(1, no_shape[i], 0.5)));
		ck_assert(isinf(no_shape[i]) || isnan(stats__t_quantile(no_shape[i], 0.5)));
	}
	for (size_t i = 0; i < COUNT(no_level); i++) {
		ck_assert(isnan(stats__t_quantile(5, no_level[i])));
		ck_assert(isnan(stats__normal_quantile(no_level[i])));
		ck_assert(isnan(lo_of(stats__binomial_interval(1, 10, no_level[i]))));
		ck_assert(isnan(lo_of(stats__ratio_interval(good, good, 2, no_level[i]))));
	}
	ck_assert(isnan(lo_of(stats__binomial_interval(11, 10, 0.05))));
	ck_assert(isnan(lo_of(stats__hull((struct interval){NAN, 1}, (struct interval){0, 1}))));
	ck_assert(isnan(lo_of(stats__hull((struct interval){0, 1}, (struct interval){0, NAN}))));
}
END_TEST

Suite *stats_suite(void)
{
	Suite *suite = suite_create("stats");
	TCase *beta = tcase_create("beta"), *quantiles = tcase_create("quantiles");
	TCase *intervals = tcase_create("intervals");

	tcase_add_loop_test(beta, beta_inc_agrees_with_reference, 0, COUNT(beta_values));
	tcase_add_test(beta, beta_inc_of_complement_is_the_other_tail);
	tcase_add_loop_test(beta, beta_quantile_agrees_with_reference, 0, COUNT(beta_quantiles));
	tcase_add_loop_test(beta, beta_quantile_inverts_beta_inc, 0, COUNT(shapes) * COUNT(shapes));
	suite_add_tcase(suite, beta);
	tcase_add_loop_test(quantiles, t_quantile_agrees_with_reference, 0, COUNT(t_values));
	tcase_add_loop_test(quantiles, t_quantile_agrees_with_printed_table, 0, COUNT(t_table));
	tcase_add_test(quantiles, t_quantile_approaches_normal_quantile);
	tcase_add_loop_test(quantiles, normal_quantile_agrees_with_reference, 0,
			    COUNT(normal_values));
	suite_add_tcase(suite, quantiles);
	tcase_add_loop_test(intervals, binomial_interval_agrees_with_reference, 0,
			    COUNT(binomials));
	tcase_add_loop_test(intervals, binomial_interval_agrees_with_printed_examples, 0,
			    COUNT(newcombe));
	tcase_add_test(intervals, binomial_interval_without_trials_is_everything);
	tcase_add_loop_test(intervals, binomial_interval_leaves_half_alpha_in_each_tail, 0, 7);
	tcase_add_loop_test(intervals, ratio_interval_is_as_worked_by_hand, 0, COUNT(ratios));
	tcase_add_test(intervals, ratio_variance_is_as_worked_by_hand);
	tcase_add_test(intervals, ratio_interval_sees_what_a_binomial_one_does_not);
	tcase_add_test(intervals, hull_is_the_smallest_interval_that_holds_both);
	tcase_add_test(intervals, bad_input_gives_nan);
	suite_add_tcase(suite, intervals);
	return suite;
}
