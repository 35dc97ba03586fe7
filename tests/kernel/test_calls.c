// SPDX-License-Identifier: MIT
/* Exact counts, and labels that come late. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "suites.h"

START_TEST(calls_are_exact_with_threads_that_exited_before_the_end)
{
	static const char *const lengths[] = {"0.3", "0.01", "1.3"};
	const struct profile_fine *counted;
	struct recorded run;

	record__command(&run, "", "calls", lengths[_i]);
	counted = record__fine(&run, "counted");
	printf("calls: 23 made, %llu reported\n", (unsigned long long)counted->calls);
	record__check_calls(&run, "counted", 23);
	record__free(&run);
}
END_TEST

/* Two seconds of the subject, of which it has a label in the second one. */
static void late_record(struct recorded *run, const char *arguments)
{
	struct recording recording;
	char text[16];
	int output;
	pid_t pid;

	pid = record__subject("late", arguments, &output);
	snprintf(text, sizeof(text), "%d", pid);
	record__begin(&recording, "-d 2", text);
	kill(pid, SIGUSR1);
	record__finish(&recording, run);
	record__end(pid, output);
}

START_TEST(labels_registered_after_the_recorder_attached_are_there)
{
	const struct profile_fine *late;
	struct recorded run;

	late_record(&run, "");
	late = record__fine(&run, "late");
	printf("late: %llu hits, %llu calls, %.2f s\n", (unsigned long long)late->hits,
	       (unsigned long long)late->calls, (double)late->thread_time_ns / 1e9);
	ck_assert_uint_gt(late->hits, 50);
	ck_assert_uint_gt(late->calls, 50);
	ck_assert_double_ge((double)late->thread_time_ns / 1e9, 0.7);
	ck_assert_double_le((double)late->thread_time_ns / 1e9, 1.05);
	record__free(&run);
}
END_TEST

START_TEST(what_runs_before_its_labels_are_found_is_named)
{
	const struct profile_warning *warning;
	const struct profile_fine *late;
	struct recorded run;
	double before_ms;
	const char *text;

	late_record(&run, "busy");
	warning = record__warning(&run, "labels_late");
	ck_assert_ptr_nonnull(warning);
	printf("late: %s\n", warning->text);
	text = strstr(warning->text, "had run for ");
	ck_assert_ptr_nonnull(text);
	before_ms = strtod(text + strlen("had run for "), NULL);
	ck_assert_double_ge(before_ms, 100);
	/* With what is in the label, it is all that ran. */
	late = record__fine(&run, "late");
	ck_assert_double_eq_tol(before_ms * 1e6 + (double)late->running_ns,
				(double)run.profile->totals.running_ns,
				0.03 * (double)run.profile->totals.running_ns);
	record__free(&run);
}
END_TEST

START_TEST(both_images_of_a_process_that_execs_from_a_thread_are_there)
{
	const struct profile_fine *before, *after;
	struct recorded run;

	record__command(&run, "", "exec", "");
	before = record__fine(&run, "before");
	after = record__fine(&run, "after");
	printf("exec: %.3f s before, %.3f s after\n", (double)before->thread_time_ns / 1e9,
	       (double)after->thread_time_ns / 1e9);
	ck_assert_double_eq_tol((double)before->thread_time_ns, record__truth(&run, "before_ns"),
				3e7);
	/* A look for the new image's slots takes up to a millisecond, and until then it is in no
	 * label. */
	ck_assert_double_eq_tol((double)after->thread_time_ns, record__truth(&run, "after_ns"),
				5e7);
	ck_assert_uint_eq(run.profile->losses.slot_foreign, 0);
	record__free(&run);
}
END_TEST

Suite *calls_suite(void)
{
	Suite *suite = suite_create("calls");
	TCase *cases = tcase_create("counts");

	tcase_set_timeout(cases, 30);
	tcase_add_loop_test(cases, calls_are_exact_with_threads_that_exited_before_the_end, 0, 3);
	tcase_add_test(cases, what_runs_before_its_labels_are_found_is_named);
	tcase_add_test(cases, both_images_of_a_process_that_execs_from_a_thread_are_there);
	tcase_add_test(cases, labels_registered_after_the_recorder_attached_are_there);
	suite_add_tcase(suite, cases);
	return suite;
}
