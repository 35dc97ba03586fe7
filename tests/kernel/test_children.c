// SPDX-License-Identifier: MIT
/* Processes that targets fork and exec, followed and not. The truth is what the subject's processes
 * count and time themselves. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "suites.h"

#define FOLLOW "--follow-children"

static uint64_t threads_lifetime(const struct recorded *run)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < run->profile->thread_count; i++)
		sum += run->profile->threads[i].lifetime_ns;
	return sum;
}

/* Every thread is of a process in target[], and the threads' time is all time, if none was folded.
 */
static void check_whole(const struct recorded *run)
{
	const struct profile *profile = run->profile;
	size_t i, k;

	for (i = 0; i < profile->thread_count; i++) {
		for (k = 0; k < profile->target_count; k++)
			if (profile->target[k].pid == profile->threads[i].pid)
				break;
		ck_assert_msg(k < profile->target_count || profile->losses.processes_folded,
			      "thread %d of process %d, which is no target",
			      profile->threads[i].tid, profile->threads[i].pid);
	}
	if (!profile->losses.threads_folded)
		ck_assert_double_eq_tol((double)threads_lifetime(run),
					(double)profile->totals.thread_time_ns,
					(double)profile->totals.thread_time_ns / 1000);
}

/* Running time in a label is what the processes' own clocks say. */
static void check_time(const struct recorded *run, const char *label, const char *truth,
		       double tolerance)
{
	double ns = (double)record__fine(run, label)->running_ns;

	ck_assert_double_eq_tol(ns / record__truth(run, truth), 1, tolerance);
}

static bool names_process(const struct recorded *run, int pid)
{
	size_t i;

	for (i = 0; i < run->profile->target_count; i++)
		if (run->profile->target[i].pid == pid)
			return true;
	return false;
}

START_TEST(without_the_option_the_work_of_children_is_not_there)
{
	struct recorded run;

	record__command(&run, "", "forks", "server");
	ck_assert_uint_eq(run.profile->target_count, 1);
	ck_assert(!run.profile->session.follow_children);
	record__check_calls(&run, "parentWork", 10);
	ck_assert_uint_eq(record__fine(&run, "childWork")->calls, 0);
	ck_assert_uint_eq(record__fine(&run, "childWork")->thread_time_ns, 0);
	ck_assert_ptr_nonnull(record__warning(&run, "children_left_out"));
	record__free(&run);
}
END_TEST

START_TEST(the_workers_of_a_server_are_processes_of_their_own)
{
	const struct profile_fine *work;
	struct recorded run;
	size_t i;

	record__command(&run, FOLLOW, "forks", "server");
	work = record__fine(&run, "childWork");
	printf("server: %zu processes, %llu calls, %.3f of the CPU time\n",
	       run.profile->target_count, (unsigned long long)work->calls,
	       (double)work->running_ns / record__truth(&run, "child_ns"));
	ck_assert_uint_eq(run.profile->target_count, 5);
	ck_assert_int_eq(run.profile->target[0].pid, (int)record__truth(&run, "pid"));
	for (i = 0; i < 5; i++) {
		ck_assert_str_eq(run.profile->target[i].comm, "forks");
		ck_assert_str_eq(run.profile->target[i].exe, run.profile->target[0].exe);
		ck_assert_str_eq(run.profile->target[i].build_id, run.profile->target[0].build_id);
	}
	ck_assert_uint_eq(run.profile->thread_count, 5);
	record__check_calls(&run, "parentWork", 10);
	record__check_calls(&run, "childWork", (uint64_t)record__truth(&run, "child_calls"));
	/* A few hundred hits. */
	check_time(&run, "childWork", "child_ns", 0.2);
	ck_assert(run.profile->session.follow_children);
	ck_assert_uint_eq(run.profile->losses.slot_foreign, 0);
	ck_assert_ptr_null(record__warning(&run, "children_left_out"));
	check_whole(&run);
	record__free(&run);
}
END_TEST

/* What a process says as it ends cannot be had here. */
static bool last_words_left_out(const char *what)
{
	return !record__hands_in_last_words() && record__may_leave_out(what);
}

/* More than there are places, so that places are given away again. */
START_TEST(short_lived_children_are_counted_exactly_or_as_lost)
{
	const struct profile_losses *losses;
	struct recorded run;
	uint64_t calls, lost, unread;

	record__command(&run, FOLLOW, "forks", "short 300");
	losses = &run.profile->losses;
	calls = record__fine(&run, "childWork")->calls;
	unread = losses->calls_unread;
	lost = losses->processes_untracked + losses->processes_unread + unread;
	printf("short: 300 calls made, %llu reported, %llu processes lost; %.3f of the CPU time\n",
	       (unsigned long long)calls, (unsigned long long)lost,
	       (double)record__fine(&run, "childWork")->running_ns /
		       record__truth(&run, "child_ns"));
	ck_assert_uint_le(calls, 300);
	ck_assert_uint_ge(calls + lost, 300);
	if (unread > 30 && last_words_left_out("short: calls of children as they end"))
		lost -= unread;
	ck_assert_uint_le(lost, 30);
	ck_assert_uint_eq(run.profile->target_count,
			  301 - losses->processes_untracked - losses->processes_unread);
	check_time(&run, "childWork", "child_ns", 0.2 + (double)lost / 300);
	check_whole(&run);
	record__free(&run);
}
END_TEST

START_TEST(another_program_and_one_without_labels_are_told_apart)
{
	const struct profile_warning *left_out;
	struct recorded run;
	size_t i, others = 0;

	record__command(&run, FOLLOW, "forks", "exec");
	left_out = record__warning(&run, "unlabelled_left_out");
	for (i = 0; i < run.profile->target_count; i++)
		others += !strcmp(run.profile->target[i].comm, "exe");
	printf("exec: %zu processes, %.3f of the CPU time, %s\n", run.profile->target_count,
	       (double)record__fine(&run, "otherWork")->running_ns /
		       record__truth(&run, "other_ns"),
	       left_out ? left_out->text : "none left out");
	ck_assert_uint_eq(run.profile->target_count, 2);
	ck_assert_uint_eq(others, 1);
	record__check_calls(&run, "otherWork", 1);
	check_time(&run, "otherWork", "other_ns", 0.1);
	ck_assert_ptr_nonnull(left_out);
	ck_assert_ptr_nonnull(strstr(left_out->text, "1 process without labels"));
	ck_assert_ptr_nonnull(strstr(left_out->text, "sleep"));
	check_whole(&run);
	record__free(&run);
}
END_TEST

START_TEST(children_of_children_are_followed_through_exec)
{
	struct recorded run;

	record__command(&run, FOLLOW, "forks", "chain");
	ck_assert_uint_eq(run.profile->target_count, 4);
	record__check_calls(&run, "childWork", 4);
	record__check_calls(&run, "otherWork", 1);
	check_time(&run, "childWork", "child_ns", 0.15);
	check_time(&run, "otherWork", "other_ns", 0.15);
	/* The last one has two images, which are one thread. */
	ck_assert_uint_eq(run.profile->thread_count, 4);
	check_whole(&run);
	record__free(&run);
}
END_TEST

START_TEST(executions_of_children_are_timed_like_any_other)
{
	const struct profile_coarse *request;
	uint64_t lost;
	struct recorded run;

	record__command(&run, FOLLOW, "forks", "coarse 20");
	ck_assert_uint_eq(run.profile->coarse_count, 1);
	request = &run.profile->coarse[0];
	lost = run.profile->losses.processes_untracked + run.profile->losses.processes_unread;
	if (record__warning(&run, "executions_unread"))
		lost = 20;
	printf("coarse: 20 executions made, %llu reported, mean %.3f ms\n",
	       (unsigned long long)request->executions, (double)request->mean_ns / 1e6);
	ck_assert_uint_le(request->executions, 20);
	ck_assert_uint_ge(request->executions + lost, 20);
	if (request->executions || !last_words_left_out("coarse: executions of children")) {
		ck_assert_uint_ge(request->mean_ns, 1000000);
		ck_assert_uint_ge(request->max_ns, request->mean_ns);
		ck_assert_double_le((double)request->thread_time_ns,
				    (double)request->span_ns * 1.5);
	}
	record__free(&run);
}
END_TEST

START_TEST(a_violation_in_a_child_ends_the_session_and_names_the_process)
{
	const struct profile_warning *leak;
	struct recorded run;
	char process[32];

	record__command(&run, FOLLOW, "forks", "leaky");
	leak = record__warning(&run, "violation_leak");
	if (!leak && last_words_left_out("leaky: violations of children as they end")) {
		ck_assert_int_eq(run.status, 0);
		record__free(&run);
		return;
	}
	ck_assert_int_eq(run.status, 3);
	ck_assert_str_eq(run.profile->session.ended_by, "violation");
	ck_assert_ptr_nonnull(leak);
	ck_assert_str_eq(leak->label, "childWork");
	snprintf(process, sizeof(process), "in process %.0f", record__truth(&run, "leaky_pid"));
	ck_assert_msg(strstr(leak->text, process) != NULL, "not %s: %s", process, leak->text);
	ck_assert(names_process(&run, (int)record__truth(&run, "leaky_pid")));
	record__free(&run);
}
END_TEST

/* 330 processes at once, where there is room for 256. */
START_TEST(more_children_than_there_is_room_for_are_counted)
{
	const struct profile_losses *losses;
	struct recorded run;

	record__command(&run, FOLLOW, "forks", "flock 330");
	losses = &run.profile->losses;
	printf("flock: %zu processes, %llu beyond the table\n", run.profile->target_count,
	       (unsigned long long)losses->processes_untracked);
	ck_assert_uint_ge(losses->processes_untracked, 70);
	ck_assert_uint_ge(run.profile->target_count, 200);
	ck_assert_uint_eq(run.profile->target_count + losses->processes_untracked +
				  losses->processes_unread,
			  331);
	check_whole(&run);
	record__free(&run);
}
END_TEST

Suite *children_suite(void)
{
	Suite *suite = suite_create("children");
	TCase *cases = tcase_create("followed");

	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, without_the_option_the_work_of_children_is_not_there);
	tcase_add_test(cases, the_workers_of_a_server_are_processes_of_their_own);
	tcase_add_test(cases, short_lived_children_are_counted_exactly_or_as_lost);
	tcase_add_test(cases, another_program_and_one_without_labels_are_told_apart);
	tcase_add_test(cases, children_of_children_are_followed_through_exec);
	tcase_add_test(cases, executions_of_children_are_timed_like_any_other);
	tcase_add_test(cases, a_violation_in_a_child_ends_the_session_and_names_the_process);
	tcase_add_test(cases, more_children_than_there_is_room_for_are_counted);
	suite_add_tcase(suite, cases);
	return suite;
}
