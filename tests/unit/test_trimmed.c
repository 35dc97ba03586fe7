/* SPDX-License-Identifier: MIT */
/* Trimmed means, against sums worked out by hand. Buckets below 1024 ns are single values. */
#include <check.h>
#include <math.h>

#include "suites.h"
#include "trimmed.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define OFF	     0.01

/*
 * Winsorized: what is longer than the edge is as long as the edge. Of 10, 20 .. 100 that is 100
 * alone, the edge itself, so that Σ squares is 8,250; of nine 100 and a 500 it is 144,000; the
 * tenth of 20 are two, of 15 one and a half.
 */
static const struct {
	struct profile_bucket at[10];
	size_t count;
	uint64_t sum_ns;
	double mean_ns, variance, error;
} rows[] = {
	{{{10, 1},
	  {20, 1},
	  {30, 1},
	  {40, 1},
	  {50, 1},
	  {60, 1},
	  {70, 1},
	  {80, 1},
	  {90, 1},
	  {100, 1}},
	 10,
	 550,
	 50,
	 8250. / 9 * 10 / (450 * 450),
	 OFF * 100 / 450},
	{{{100, 9}, {500, 1}}, 2, 1400, 100, 144000. / 9 * 10 / (900 * 900), OFF * 500 / 900},
	{{{100, 20}}, 1, 2000, 100, 0, OFF * 200 / 1800},
	{{{100, 14}, {400, 1}}, 2, 1800, 1350 / 13.5, 0, OFF * 450 / 1350},
	/* The exact sum counts, not what buckets say. */
	{{{100, 20}}, 1, 2036, 102, 0, OFF * 200 / 1836},
	{{{100, 1}}, 1, 100, 100, NAN, OFF * 10 / 90},
	{{{100, 10}}, 1, 90, NAN, NAN, NAN}, /* less than its slowest alone */
	{{{0, 0}}, 0, 0, NAN, NAN, NAN},
};

static void assert_same_number(double got, double wanted)
{
	ck_assert_int_eq(isnan(got), isnan(wanted));
	if (!isnan(wanted))
		ck_assert_double_eq_tol(got, wanted, 1e-9 * fmax(1, wanted));
}

START_TEST(the_slowest_tenth_is_left_out)
{
	const struct trimmed of = trimmed__of(rows[_i].sum_ns, rows[_i].at, rows[_i].count, OFF);

	assert_same_number(of.mean_ns, rows[_i].mean_ns);
	assert_same_number(of.variance, rows[_i].variance);
	assert_same_number(of.error, rows[_i].error);
}
END_TEST

Suite *trimmed_suite(void)
{
	Suite *suite = suite_create("trimmed");
	TCase *tcase = tcase_create("trimmed");

	tcase_add_loop_test(tcase, the_slowest_tenth_is_left_out, 0, COUNT(rows));
	suite_add_tcase(suite, tcase);
	return suite;
}
