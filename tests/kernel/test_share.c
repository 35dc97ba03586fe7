// SPDX-License-Identifier: MIT
/* Shares against programs that know their own. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "record.h"
#include "suites.h"

#define SPLIT_RUNS 20

START_TEST(share_of_a_70_30_split_lies_in_its_bound_in_19_of_20_runs_and_within_1_pp)
{
	/* On one CPU there are half as many hits in a second. */
	const char *seconds = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? "1.6" : "3.2";
	int i, held = 0, near = 0;
	double worst = 0;

	for (i = 0; i < SPLIT_RUNS; i++) {
		const struct profile_fine *seventy;
		struct recorded run;
		double truth;

		record__command(&run, "-F 3989", "split", seconds);
		truth = record__truth(&run, "seventy");
		seventy = record__fine(&run, "seventy");
		held += truth >= seventy->share_lo && truth <= seventy->share_hi;
		near += fabs(truth - seventy->share) <= 0.01;
		worst = fmax(worst, fabs(truth - seventy->share));
		record__free(&run);
	}
	printf("split 70/30: inside its bound in %d of %d runs, within 1 pp in %d, worst %.2f pp\n",
	       held, SPLIT_RUNS, near, worst * 100);
	ck_assert_int_ge(held, SPLIT_RUNS - 1);
	ck_assert_int_ge(near, SPLIT_RUNS - 1);
}
END_TEST

START_TEST(a_label_in_lockstep_with_the_timer_reads_its_share_within_its_bound)
{
	const struct profile_fine *on;
	struct recorded run;
	double truth;

	record__command(&run, "-F 1000", "square", "4");
	truth = record__truth(&run, "on");
	on = record__fine(&run, "on");
	printf("square: truth %.2f%%, read %.2f%% in %.2f..%.2f\n", truth * 100, on->share * 100,
	       on->share_lo * 100, on->share_hi * 100);
	ck_assert_double_ge(truth, on->share_lo);
	ck_assert_double_le(truth, on->share_hi);
	/* The bound must not hold by being wide. */
	ck_assert_double_le(on->share_hi - on->share_lo, 0.2);
	record__free(&run);
}
END_TEST

Suite *share_suite(void)
{
	Suite *suite = suite_create("share");
	TCase *split = tcase_create("split"), *square = tcase_create("square");

	tcase_set_timeout(split, 120);
	tcase_add_test(split,
		       share_of_a_70_30_split_lies_in_its_bound_in_19_of_20_runs_and_within_1_pp);
	suite_add_tcase(suite, split);
	tcase_set_timeout(square, 30);
	tcase_add_loop_test(
		square, a_label_in_lockstep_with_the_timer_reads_its_share_within_its_bound, 0, 5);
	suite_add_tcase(suite, square);
	return suite;
}
