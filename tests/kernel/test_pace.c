// SPDX-License-Identifier: MIT
/* How fast the CPUs were, as a report has it. */
#include <stdio.h>

#include <ticksnick/cells.h>

#include "engine.h"
#include "record.h"
#include "suites.h"

#define OWN_TRIES 2000

/* The same calculation here: the least of many times. */
static uint64_t own_pace_ns(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < OWN_TRIES; i++) {
		const uint64_t begun = engine__now();
		uint64_t x = begun, took;

		for (int k = 0; k < TSN_PACE_STEPS; k++)
			TSN_PACE_STEP(x);
		took = engine__now() - begun;
		least = took < least ? took : least;
	}
	return least;
}

/* Of each 64 ticks in a target on a CPU, the first times itself and seven take the pace. Nothing
 * else in a tick takes a time like that of the calculation. */
START_TEST(one_tick_in_eight_takes_the_time_of_a_calculation)
{
	const double own = (double)own_pace_ns();
	const struct profile_session *session;
	struct recorded run;
	double pace, expected;

	record__command(&run, "-F 3989", "split", "1.5");
	session = &run.profile->session;
	expected = (double)run.profile->overhead.ticks * 7 / 64;
	pace = (double)session->pace_ns / (double)session->pace_runs;
	printf("pace: %.0f ns in the kernel, mean of %.0f (of %.0f expected), at best %.0f here\n",
	       pace, (double)session->pace_runs, expected, own);
	ck_assert_double_gt(expected, 100);
	ck_assert_double_eq_tol((double)session->pace_runs, expected, run.profile->host.cpus);
	ck_assert_double_ge(pace, own / 4);
	ck_assert_double_le(pace, own * 4);
	record__free(&run);
}
END_TEST

Suite *pace_suite(void)
{
	Suite *suite = suite_create("pace");
	TCase *cases = tcase_create("pace");

	tcase_set_timeout(cases, 30);
	tcase_add_test(cases, one_tick_in_eight_takes_the_time_of_a_calculation);
	suite_add_tcase(suite, cases);
	return suite;
}
