// SPDX-License-Identifier: MIT
/* Thread states, elapsed and in flight against programs that know their own. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "record.h"
#include "suites.h"

#define HANDOVER_RUNS 4

START_TEST(eight_sleepers_hold_eight_ninths_of_thread_time_all_of_it_blocked)
{
	const struct profile_fine *asleep;
	struct recorded run;

	record__process(&run, "-d 1", "sleepers", "");
	asleep = record__fine(&run, "asleep");
	printf("sleepers: %.4f of thread-time (8/9 = 0.8889), blocked %.6f of it\n", asleep->share,
	       (double)asleep->blocked_ns / (double)asleep->thread_time_ns);
	ck_assert_double_eq_tol(asleep->share, 8.0 / 9, 0.001);
	ck_assert_uint_eq(asleep->blocked_ns, asleep->thread_time_ns);
	ck_assert_uint_eq(run.profile->thread_count, 9);
	record__free(&run);
}
END_TEST

START_TEST(four_spinners_on_one_cpu_run_a_quarter_and_wait_for_it_three_quarters)
{
	struct recorded run;
	int i;

	record__command(&run, "", "spinners", "3");
	for (i = 0; i < 4; i++) {
		const struct profile_fine *fine;
		char label[32];
		double runnable;

		snprintf(label, sizeof(label), "spinner[%d]", i);
		fine = record__fine(&run, label);
		runnable = (double)fine->runnable_ns / (double)fine->thread_time_ns;
		printf("%s: running %.3f, runnable %.3f\n", label,
		       (double)fine->running_ns / (double)fine->thread_time_ns, runnable);
		ck_assert_double_eq_tol(runnable, 0.75, 0.04);
		ck_assert_double_eq_tol((double)fine->running_ns / (double)fine->thread_time_ns,
					0.25, 0.04);
	}
	record__free(&run);
}
END_TEST

/* One session's hits say where the section was to a percent or so: chance alone would fail one in
 * twenty at 2%. */
START_TEST(a_critical_section_handed_over_between_cpus_has_one_thread_in_flight)
{
	double held = 0, elapsed = 0;
	int i;

	for (i = 0; i < HANDOVER_RUNS; i++) {
		const struct profile_fine *critical;
		struct recorded run;

		record__command(&run, "-F 1999", "handover", "4");
		critical = record__fine(&run, "critical");
		held += record__truth(&run, "held_ns");
		elapsed += (double)critical->elapsed_ns;
		printf("handover: in flight %.4f, elapsed %.4f of the stopwatch's so far\n",
		       critical->in_flight, elapsed / held);
		ck_assert_double_eq_tol(critical->in_flight, 1, 0.02);
		record__free(&run);
	}
	ck_assert_double_eq_tol(elapsed / held, 1, 0.02);
}
END_TEST

START_TEST(two_threads_inside_on_two_cpus_are_both_in_flight)
{
	const struct profile_fine *shared;
	struct recorded run;
	double inside;

	record__command(&run, "", "together", "2");
	inside = record__truth(&run, "inside_ns");
	shared = record__fine(&run, "shared");
	printf("together: in flight %.3f, elapsed %.3f of the true time\n", shared->in_flight,
	       (double)shared->elapsed_ns / inside);
	ck_assert_double_eq_tol(shared->in_flight, 2, 0.06);
	ck_assert_double_eq_tol((double)shared->elapsed_ns / inside, 1, 0.03);
	record__free(&run);
}
END_TEST

START_TEST(running_time_is_the_threads_own_cpu_time_and_what_was_stolen)
{
	struct recorded run;
	double cpu, running = NAN, stolen;
	size_t i;
	int tid;

	record__command(&run, "", "burner", "3");
	cpu = record__truth(&run, "cpu_ns");
	tid = (int)record__truth(&run, "tid");
	for (i = 0; i < run.profile->thread_count; i++)
		if (run.profile->threads[i].tid == tid)
			running = (double)run.profile->threads[i].running_ns;
	ck_assert_msg(!isnan(running), "no row for thread %d", tid);
	stolen = (double)run.profile->totals.stolen_ns;
	printf("burner: running %.1f ms, CPU time %.1f ms, stolen %.1f ms (all threads), %llu "
	       "switches repaired\n",
	       running / 1e6, cpu / 1e6, stolen / 1e6,
	       (unsigned long long)run.profile->losses.switch_missed);
	ck_assert_double_ge(running, cpu * 0.998);
	ck_assert_double_le(running, cpu * 1.002 + stolen);
	record__free(&run);
}
END_TEST

Suite *waiting_suite(void)
{
	Suite *suite = suite_create("waiting");
	TCase *cases = tcase_create("states");

	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, eight_sleepers_hold_eight_ninths_of_thread_time_all_of_it_blocked);
	tcase_add_test(cases,
		       four_spinners_on_one_cpu_run_a_quarter_and_wait_for_it_three_quarters);
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1 ||
	    !record__may_leave_out("waiting: what threads do on two CPUs, on one")) {
		tcase_add_test(
			cases,
			a_critical_section_handed_over_between_cpus_has_one_thread_in_flight);
		tcase_add_test(cases, two_threads_inside_on_two_cpus_are_both_in_flight);
	}
	tcase_add_test(cases, running_time_is_the_threads_own_cpu_time_and_what_was_stolen);
	suite_add_tcase(suite, cases);
	return suite;
}
