/* SPDX-License-Identifier: MIT */
/*
 * Expected values were worked out in Python: binomial sums in rational arithmetic, and bisection
 * for the ends of intervals.
 */
#include <math.h>

#include "estimate.h"
#include "suites.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void assert_close(double value, double expected, double relative)
{
	if (isinf(expected)) {
		ck_assert_double_infinite(value);
		return;
	}
	ck_assert_msg(fabs(value - expected) <= relative * fmax(fabs(expected), 1e-12),
		      "%.12g where %.12g is right", value, expected);
}

/* So many hits for so much of exposure. */
static struct estimate_side rate(double hits, double exposure)
{
	return (struct estimate_side){.value = hits / exposure,
				      .variance = hits > 0 ? 1 / hits : 0,
				      .exposure = exposure};
}

static struct estimate rates(double base, double base_exposure, double new, double new_exposure)
{
	return (struct estimate){.kind = ESTIMATE_RATE,
				 .comparable = true,
				 .side = {rate(base, base_exposure), rate(new, new_exposure)},
				 .df = INFINITY};
}

static const struct {
	double base, base_exposure, new, new_exposure, alpha, lo, hi;
} few_hits[] = {
	{100, 1, 100, 1, 0.05, 0.750266485225559, 1.3328597500916677},
	{10, 1, 25, 2, 0.05, 0.5798094867961184, 2.9163566001678602},
	{0, 1, 50, 1, 0.05, 13.060399108837519, INFINITY},
	{40, 1, 0, 1, 0.00125, 0, 0.20254960379683493},
	{3, 1, 1, 1, 0.05, 0.006349525306027377, 4.151440776238426},
	{0, 1, 0, 1, 0.05, 0, INFINITY},
};

START_TEST(few_hits_have_the_exact_conditional_interval)
{
	const struct estimate estimate = rates(few_hits[_i].base, few_hits[_i].base_exposure,
					       few_hits[_i].new, few_hits[_i].new_exposure);
	const struct interval ratio = estimate__ratio(&estimate, few_hits[_i].alpha);

	assert_close(ratio.lo, few_hits[_i].lo, 1e-9);
	assert_close(ratio.hi, few_hits[_i].hi, 1e-9);
}
END_TEST

START_TEST(an_interval_at_less_alpha_holds_the_one_at_more)
{
	static const double hits[][2] = {{0, 3}, {5, 0}, {4, 7}, {1e4, 1.1e4}};
	const struct estimate estimate = rates(hits[_i][0], 1, hits[_i][1], 1);
	struct estimate_limits inner, outer;

	estimate__limits(&estimate, 0.5, &inner);
	for (double alpha = 0.2; alpha > 1e-9; alpha /= 5) {
		estimate__limits(&estimate, alpha, &outer);
		ck_assert(outer.ratio.lo <= inner.ratio.lo && outer.ratio.hi >= inner.ratio.hi);
		ck_assert(outer.difference.lo <= inner.difference.lo &&
			  outer.difference.hi >= inner.difference.hi);
		inner = outer;
	}
}
END_TEST

START_TEST(a_side_without_hits_has_an_upper_limit)
{
	const struct estimate estimate = rates(0, 8, 50, 8);
	struct estimate_limits limits;

	estimate__limits(&estimate, 0.05, &limits);
	ck_assert_double_eq(limits.side[ESTIMATE_BASE].lo, 0);
	assert_close(limits.side[ESTIMATE_BASE].hi, 3.6888794541139363 / 8, 1e-5);
	ck_assert(isfinite(limits.difference.lo) && isfinite(limits.difference.hi));
	ck_assert_double_gt(limits.difference.lo, 0);
}
END_TEST

START_TEST(variance_widens_an_interval_by_its_root)
{
	struct estimate estimate = {.kind = ESTIMATE_MEAN, .comparable = true, .df = INFINITY};
	double half;

	estimate.side[ESTIMATE_BASE] = (struct estimate_side){.value = 100, .variance = 0.0001};
	estimate.side[ESTIMATE_NEW] = (struct estimate_side){.value = 110, .variance = 0.0003};
	half = log(estimate__ratio(&estimate, 0.05).hi / 1.1);
	assert_close(half, 1.959963984540054 * 0.02, 1e-9);
	estimate.df = 4; /* Student's t: 2.776 */
	half = log(estimate__ratio(&estimate, 0.05).hi / 1.1);
	assert_close(half, 2.776445105198655 * 0.02, 1e-9);
}
END_TEST

/* Ranks of the order statistics; 0: the end is open. */
static const struct {
	uint64_t n;
	unsigned percent;
	double alpha;
	double lo, hi;
} ranks[] = {
	{1000, 50, 0.05, 469, 532}, {1000, 99, 0.05, 983, 997}, {1000, 99, 0.001, 978, 999},
	{100, 99, 0.05, 97, 0},	    {5, 50, 0.05, 0, 0},	{6, 50, 0.05, 1, 6},
};

/* On both sides each duration 1..n once: a rank is its value. */
static struct estimate percentile_of(struct profile_bucket *buckets, uint32_t n, unsigned percent)
{
	const struct estimate_side side = {
		.value = ceil(n * percent / 100.),
		.buckets = buckets,
		.bucket_count = n,
		.trials = n,
	};

	for (uint32_t i = 0; i < n; i++)
		buckets[i] = (struct profile_bucket){i + 1, 1};
	return (struct estimate){.kind = ESTIMATE_PERCENTILE,
				 .comparable = true,
				 .side = {side, side},
				 .df = INFINITY,
				 .percent = percent};
}

START_TEST(a_percentile_lies_between_order_statistics)
{
	struct profile_bucket buckets[1000];
	struct estimate estimate = percentile_of(buckets, (uint32_t)ranks[_i].n, ranks[_i].percent);
	struct estimate_limits limits;

	estimate__limits(&estimate, ranks[_i].alpha, &limits);
	ck_assert_double_eq(limits.side[ESTIMATE_BASE].lo, ranks[_i].lo);
	if (ranks[_i].hi > 0)
		ck_assert_double_eq(limits.side[ESTIMATE_BASE].hi, ranks[_i].hi);
	else
		ck_assert_double_infinite(limits.side[ESTIMATE_BASE].hi);
	ck_assert(limits.ratio.lo <= 1 && limits.ratio.hi >= 1);
}
END_TEST

/* Ranks 469 to 532 of 1000, and a tenth between runs: that of ranks in it, or besides. */
static const struct {
	bool apart;
	double lo, hi;
} unions[] = {{false, 411.0076, 608.2613}, {true, 406.8422, 614.1184}};

START_TEST(an_error_that_stands_apart_is_added)
{
	struct profile_bucket buckets[1000];
	struct estimate estimate = percentile_of(buckets, 1000, 50);
	struct estimate_limits limits;

	estimate.side[ESTIMATE_NEW].variance = 0.01;
	estimate.side[ESTIMATE_NEW].apart = unions[_i].apart;
	estimate__limits(&estimate, 0.05, &limits);
	ck_assert_double_eq_tol(limits.side[ESTIMATE_NEW].lo, unions[_i].lo, 0.001);
	ck_assert_double_eq_tol(limits.side[ESTIMATE_NEW].hi, unions[_i].hi, 0.001);
}
END_TEST

/* 1% that the base may be off, and 2% the new one, either way: 0.98 / 1.01, 1.02 / 0.99. */
START_TEST(an_error_that_is_no_chance_moves_both_ends)
{
	struct estimate estimate = {
		.kind = ESTIMATE_MEAN,
		.comparable = true,
		.df = INFINITY,
		.side = {{.value = 100, .variance = 1e-4}, {.value = 100, .variance = 1e-4}},
	};
	const struct interval without = estimate__ratio(&estimate, 0.05);
	struct estimate_limits limits;

	estimate.side[ESTIMATE_BASE].off = 0.01;
	estimate.side[ESTIMATE_NEW].off = 0.02;
	estimate__limits(&estimate, 0.05, &limits);
	ck_assert_double_eq_tol(limits.ratio.lo, without.lo * 0.98 / 1.01, 1e-9);
	ck_assert_double_eq_tol(limits.ratio.hi, without.hi * 1.02 / 0.99, 1e-9);
	ck_assert_double_eq_tol(limits.side[ESTIMATE_NEW].lo, 0.98 * 100 * exp(-0.01959964), 1e-4);
}
END_TEST

/* 0, +10% and -10% of the mean have squares of 0.02 together; over 4 degrees, by 3 runs. */
START_TEST(variance_between_runs_is_pooled_from_residuals)
{
	static const double amounts[][3] = {{100, 110, 90}, {400, 400, 400}};
	static const double ones[] = {1, 1, 1}, twos[] = {2, 2, 2};
	const struct estimate_runs runs[] = {{amounts[0], ones, NULL, 3},
					     {amounts[1], twos, NULL, 3}};
	struct estimate_spread spread;

	estimate__between_runs(runs, &spread);
	ck_assert_double_eq(spread.df, 4);
	assert_close(spread.variance[ESTIMATE_BASE], 0.02 / 4 / 3, 1e-12);
	assert_close(spread.variance[ESTIMATE_NEW], 0.02 / 4 / 3, 1e-12);
}
END_TEST

/* Twice the calls and twice the time are no residual. */
START_TEST(runs_of_other_lengths_do_not_differ)
{
	static const double amounts[] = {100, 200, 400}, weights[] = {1, 2, 4};
	const struct estimate_runs runs[] = {{amounts, weights, NULL, 3},
					     {amounts, weights, NULL, 1}};
	struct estimate_spread spread;

	estimate__between_runs(runs, &spread);
	ck_assert_double_eq(spread.df, 2);
	ck_assert_double_eq_tol(spread.variance[ESTIMATE_BASE], 0, 1e-20);
}
END_TEST

START_TEST(one_run_each_tells_nothing_between_runs)
{
	static const double amounts[] = {100, 0}, weights[] = {1, 0};
	const struct estimate_runs runs[] = {{amounts, weights, NULL, 2},
					     {amounts, weights, NULL, 1}};
	struct estimate_spread spread;

	estimate__between_runs(runs, &spread);
	ck_assert_double_eq(spread.df, 0);
	ck_assert_double_eq(spread.factor[ESTIMATE_BASE], 1);
}
END_TEST

/* Takes the covariate out if it serves. True: it does. */
static bool adjust_by(enum estimate_covariate which,
		      const struct estimate_runs runs[ESTIMATE_SIDES],
		      struct estimate_spread *spread)
{
	struct estimate_runs plain[] = {runs[ESTIMATE_BASE], runs[ESTIMATE_NEW]};
	const bool served = estimate__serves(runs, which);

	if (!served)
		plain[ESTIMATE_BASE].x = plain[ESTIMATE_NEW].x = NULL;
	estimate__between_runs(plain, spread);
	return served;
}

/*
 * Five runs of each side, by turns or side after side; each takes 1% longer than the one before it
 * (of the middle one's), those of the new build 10% more besides.
 */
static const struct {
	int sides[10];
	double df;
	bool level; /* the drift is taken out */
} orders[] = {
	{{0, 1, 1, 0, 0, 1, 1, 0, 0, 1}, 7, true},
	{{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}, 7, true},
	{{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 8, false},
	{{1, 1, 1, 1, 1, 0, 0, 0, 0, 0}, 8, false},
};

START_TEST(a_drift_is_taken_out_where_the_sides_took_turns)
{
	double amounts[ESTIMATE_SIDES][5], whens[ESTIMATE_SIDES][5], sums[ESTIMATE_SIDES] = {0};
	static const double ones[] = {1, 1, 1, 1, 1};
	const struct estimate_runs runs[] = {{amounts[0], ones, whens[0], 5},
					     {amounts[1], ones, whens[1], 5}};
	size_t count[ESTIMATE_SIDES] = {0};
	struct estimate_spread spread;

	for (int k = 0; k < 10; k++) {
		const int side = orders[_i].sides[k];
		const double y = (100 + (k - 4.5)) * (side ? 1.1 : 1);

		amounts[side][count[side]] = y;
		whens[side][count[side]++] = 5 * k;
		sums[side] += y;
	}
	adjust_by(ESTIMATE_TIME, runs, &spread);
	ck_assert_double_eq(spread.df, orders[_i].df);
	if (orders[_i].level) {
		ck_assert_double_lt(spread.variance[ESTIMATE_BASE], 1e-7);
		assert_close(sums[1] * spread.factor[1] / (sums[0] * spread.factor[0]), 1.1, 1e-4);
	} else {
		ck_assert_double_eq(spread.factor[ESTIMATE_BASE], 1);
		assert_close(spread.variance[ESTIMATE_BASE],
			     (10 / pow(sums[0] / 5, 2) + 10 * 1.21 / pow(sums[1] / 5, 2)) / 8 / 5,
			     1e-9);
	}
}
END_TEST

/*
 * A B B A A B B A, at 0 .. 7, with residuals that no line takes out: beside the drift the variance
 * is 0.0008 / 5 (8 numbers less two means and a slope), for one run; by 4 runs of a side.
 */
START_TEST(what_no_drift_explains_stays)
{
	static const double base[] = {101, 99, 99, 101}, new[] = {101, 99, 99, 101};
	static const double base_when[] = {0, 3, 4, 7}, new_when[] = {1, 2, 5, 6};
	static const double ones[] = {1, 1, 1, 1};
	const struct estimate_runs runs[] = {{base, ones, base_when, 4}, {new, ones, new_when, 4}};
	struct estimate_spread spread;

	estimate__between_runs(runs, &spread);
	ck_assert_double_eq(spread.df, 5);
	assert_close(spread.variance[ESTIMATE_BASE], 8e-4 / 5 / 4, 1e-12);
	ck_assert_double_eq_tol(spread.factor[ESTIMATE_NEW], 1, 1e-12);
}
END_TEST

/*
 * Five runs of each side by turns; each takes 0.8 times as much longer as the CPUs did, those of
 * the new build 10% more besides. paces: of the runs, in percent.
 */
static const struct {
	double paces[10];
	bool serves;
} paces[] = {
	{{0, 2, 1, -1, 3, 0, -2, 1, 0, 2}, true},
	/* On each side of 0.5% as a standard deviation: 0.506% and 0.495%, by hand. */
	{{0, 0, 1.012, 0, 1.012, 0, 0, 1.012, 0, 0}, true},
	{{0, 0, 0.99, 0, 0.99, 0, 0, 0.99, 0, 0}, false},
	/* As if the new build made the CPUs slower: the sides are 1.7 and 1.9 deviations apart, and
	 * 1.79 is where the slope costs as much as the runs. */
	{{-1, 0.7, 2.7, 0, 1, 0.7, 2.7, 1, -1, 1.7}, true},
	{{-1, 0.9, 2.9, 0, 1, 0.9, 2.9, 1, -1, 1.9}, false},
	{{0, 2, NAN, -1, 3, 0, -2, 1, 0, 2}, false}, /* one is not known */
};

START_TEST(what_the_cpus_pace_explains_is_taken_out)
{
	double amounts[ESTIMATE_SIDES][5], logs[ESTIMATE_SIDES][5], sums[ESTIMATE_SIDES] = {0};
	static const double ones[] = {1, 1, 1, 1, 1};
	static const int sides[] = {0, 1, 1, 0, 0, 1, 1, 0, 0, 1};
	const struct estimate_runs runs[] = {{amounts[0], ones, logs[0], 5},
					     {amounts[1], ones, logs[1], 5}};
	size_t count[ESTIMATE_SIDES] = {0};
	struct estimate_spread spread;
	double ratio;

	for (int k = 0; k < 10; k++) {
		const int side = sides[k];
		const double pace = paces[_i].paces[k] / 100;
		const double y = 100 * (1 + 0.8 * (isnan(pace) ? 0 : pace)) * (side ? 1.1 : 1);

		amounts[side][count[side]] = y;
		logs[side][count[side]++] = log(800) + pace;
		sums[side] += y;
	}
	ck_assert_int_eq(adjust_by(ESTIMATE_PACE, runs, &spread), paces[_i].serves);
	ck_assert_double_eq(spread.df, paces[_i].serves ? 7 : 8);
	ck_assert_double_ge(spread.wider, 1);
	ratio = sums[1] * spread.factor[1] / (sums[0] * spread.factor[0]);
	if (paces[_i].serves) {
		ck_assert_double_lt(spread.variance[ESTIMATE_BASE], 1e-7);
		assert_close(ratio, 1.1, 1e-3);
	} else {
		ck_assert_double_eq(spread.factor[ESTIMATE_BASE], 1);
		assert_close(ratio, sums[1] / sums[0], 1e-12);
	}
}
END_TEST

/* Of many runs, what costs little may yet be no chance: 20 of each, 0.9 deviations apart, is three
 * standard errors. */
START_TEST(what_differs_between_the_sides_by_no_chance_is_not_taken_out)
{
	double x[ESTIMATE_SIDES][20], ones[20];
	const struct estimate_runs runs[] = {{ones, ones, x[0], 20}, {ones, ones, x[1], 20}};

	for (int near = 0; near < 2; near++) {
		for (int k = 0; k < 20; k++) {
			ones[k] = 1;
			x[0][k] = 0.01 * (k % 2 ? 1 : -1);
			x[1][k] = x[0][k] + 0.01 * (near ? 0.8 : 0.9);
		}
		ck_assert_int_eq(estimate__serves(runs, ESTIMATE_PACE), near);
	}
}
END_TEST

/* By turns, at paces x of -1, 1 (base) and 0, 2 percent and so on; by hand: the slope's cost is the
 * squared distance of the means, 1, by the sum of squares, 8; besides 1/4 + 1/4 for the runs. */
START_TEST(a_slope_that_is_not_known_makes_wider)
{
	static const double base[] = {99, 101, 99, 101}, new[] = {99, 101, 101, 99};
	static const double base_pace[] = {-0.01, 0.01, -0.01, 0.01};
	static const double new_pace[] = {0, 0.02, 0, 0.02};
	static const double ones[] = {1, 1, 1, 1};
	const struct estimate_runs runs[] = {{base, ones, base_pace, 4}, {new, ones, new_pace, 4}};
	struct estimate_spread spread;

	ck_assert(adjust_by(ESTIMATE_PACE, runs, &spread));
	ck_assert_double_eq(spread.df, 5);
	assert_close(spread.wider, 1 + (1. / 8) / (1. / 2), 1e-9);
	/* Products: 4 of the base, 0 of the new build, so the slope is 1/2 and takes 2 of 8. */
	assert_close(spread.variance[ESTIMATE_BASE], 6e-4 / 5 * (1. / 4 + 1. / 16), 1e-9);
	assert_close(spread.factor[ESTIMATE_BASE], exp(0.005 / 2), 1e-9);
	assert_close(spread.factor[ESTIMATE_NEW], exp(-0.005 / 2), 1e-9);
}
END_TEST

/* Two of each are too few to learn a slope from. */
START_TEST(two_runs_of_each_keep_what_the_pace_did)
{
	static const double amounts[] = {100, 102}, pace[] = {0, 0.02}, ones[] = {1, 1};
	const struct estimate_runs runs[] = {{amounts, ones, pace, 2}, {amounts, ones, pace, 2}};
	struct estimate_spread spread;

	ck_assert(!adjust_by(ESTIMATE_PACE, runs, &spread));
	ck_assert_double_eq(spread.df, 2);
	ck_assert_double_eq(spread.wider, 1);
	ck_assert_double_eq(spread.factor[ESTIMATE_NEW], 1);
}
END_TEST

Suite *estimate_suite(void)
{
	Suite *suite = suite_create("estimate");
	TCase *tcase = tcase_create("intervals");

	tcase_add_loop_test(tcase, few_hits_have_the_exact_conditional_interval, 0,
			    COUNT(few_hits));
	tcase_add_loop_test(tcase, an_interval_at_less_alpha_holds_the_one_at_more, 0, 4);
	tcase_add_test(tcase, a_side_without_hits_has_an_upper_limit);
	tcase_add_test(tcase, variance_widens_an_interval_by_its_root);
	tcase_add_loop_test(tcase, a_percentile_lies_between_order_statistics, 0, COUNT(ranks));
	tcase_add_loop_test(tcase, an_error_that_stands_apart_is_added, 0, COUNT(unions));
	tcase_add_test(tcase, an_error_that_is_no_chance_moves_both_ends);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("between runs");
	tcase_add_test(tcase, variance_between_runs_is_pooled_from_residuals);
	tcase_add_test(tcase, runs_of_other_lengths_do_not_differ);
	tcase_add_test(tcase, one_run_each_tells_nothing_between_runs);
	tcase_add_loop_test(tcase, a_drift_is_taken_out_where_the_sides_took_turns, 0,
			    COUNT(orders));
	tcase_add_test(tcase, what_no_drift_explains_stays);
	tcase_add_loop_test(tcase, what_the_cpus_pace_explains_is_taken_out, 0, COUNT(paces));
	tcase_add_test(tcase, what_differs_between_the_sides_by_no_chance_is_not_taken_out);
	tcase_add_test(tcase, a_slope_that_is_not_known_makes_wider);
	tcase_add_test(tcase, two_runs_of_each_keep_what_the_pace_did);
	suite_add_tcase(suite, tcase);
	return suite;
}
