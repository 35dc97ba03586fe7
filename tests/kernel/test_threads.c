// SPDX-License-Identifier: MIT
/*
 * Many threads, short ones, ones that never let go, and ids that are used again. With
 * TICKSNICK_TEST_LONG=1 more of them.
 */
#include <linux/sched.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record.h"
#include "suites.h"

#define SLACK_NS       3e7
#define MEMORY_KIB_MAX (32 * 1024)

static double now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

START_TEST(thousands_of_short_threads_lose_no_time_and_no_call)
{
	unsigned threads = record__tests_are_long() ? 20000 : 3000;
	const struct profile_losses *losses;
	const struct profile_fine *brief;
	double inside, cpu, all;
	struct recorded run;
	char arguments[32];

	snprintf(arguments, sizeof(arguments), "%u 12", threads);
	record__command(&run, "", "churn", arguments);
	inside = record__truth(&run, "inside_ns");
	cpu = record__truth(&run, "cpu_ns");
	losses = &run.profile->losses;
	all = (double)run.profile->totals.thread_time_ns;
	brief = record__fine(&run, "short");
	printf("churn: %zu rows and %llu without one; inside %.1f ms, %.1f by their stopwatches; "
	       "%.1f ms in no label; running %.1f, %.1f by their clocks; recorder %ld KiB\n",
	       run.profile->thread_count, (unsigned long long)losses->threads_folded,
	       (double)brief->thread_time_ns / 1e6, inside / 1e6,
	       (double)run.profile->totals.unlabelled_ns / 1e6,
	       (double)run.profile->totals.running_ns / 1e6, cpu / 1e6, run.memory_kib);
	record__check_calls(&run, "short", threads);
	ck_assert_uint_eq(losses->thread_untracked, 0);
	/* The main thread and those that make the short ones are there, too. */
	ck_assert_uint_eq(run.profile->thread_count + losses->threads_folded, threads + 1 + 12);
	ck_assert_double_ge((double)run.profile->totals.running_ns,
			    record__least_running(&run, cpu));
	ck_assert_double_ge(all, inside);
	/* Waiting is measured, running is sampled. */
	ck_assert_double_eq_tol((double)brief->thread_time_ns / inside, 1, 0.05);
	ck_assert_int_le(run.memory_kib, MEMORY_KIB_MAX);
	record__check_totals(run.profile);
	record__free(&run);
}
END_TEST

/* More of them end while the recorder does not run than it finds room for. */
START_TEST(threads_whose_rows_find_no_room_keep_their_time_and_are_counted)
{
	enum { THREADS = 9000, AT_ONCE = 4 };
	const struct profile_losses *losses;
	struct recording recording;
	struct recorded run, said;
	char text[32];
	int output;
	pid_t pid;

	memset(&said, 0, sizeof(said));
	snprintf(text, sizeof(text), "%d %d hurry", THREADS, AT_ONCE);
	pid = record__subject_begin("churn", text, &output, &said);
	snprintf(text, sizeof(text), "%d", pid);
	record__begin(&recording, "", text);
	kill(recording.recorder, SIGSTOP);
	kill(pid, SIGUSR1);
	ck_assert_int_eq(record__subject_end(pid, output, &said), 0);
	kill(recording.recorder, SIGCONT);
	record__finish(&recording, &run);
	losses = &run.profile->losses;
	printf("churn: %zu rows and %llu without one\n", run.profile->thread_count,
	       (unsigned long long)losses->threads_folded);
	record__check_calls(&run, "short", THREADS);
	ck_assert_uint_eq(run.profile->thread_count + losses->threads_folded,
			  THREADS + 1 + AT_ONCE);
	ck_assert_double_ge((double)run.profile->totals.running_ns,
			    record__least_running(&run, record__truth(&said, "cpu_ns")));
	record__check_totals(run.profile);
	record__free(&run);
}
END_TEST

START_TEST(four_thousand_sleeping_threads_are_all_in_the_report)
{
	const struct profile_fine *asleep;
	double attached, session;
	struct recorded run;

	record__process(&run, "-d 0.5", "crowd", "4000");
	attached = run.started_ns;
	session = (double)run.profile->session.duration_ns;
	asleep = record__fine(&run, "asleep");
	printf("crowd: %zu rows, asleep %.3f of 4000 sessions, begun after %.0f ms; recorder %ld "
	       "KiB\n",
	       run.profile->thread_count, (double)asleep->thread_time_ns / session / 4000,
	       ((double)run.profile->session.start_unix_ns - attached) / 1e6, run.memory_kib);
	ck_assert_uint_eq(run.profile->thread_count, 4001);
	ck_assert_uint_eq(run.profile->losses.threads_folded, 0);
	ck_assert_uint_eq(run.profile->losses.thread_untracked, 0);
	ck_assert_double_eq_tol((double)asleep->thread_time_ns / session, 4000, 4);
	ck_assert_uint_eq(asleep->blocked_ns, asleep->thread_time_ns);
	ck_assert_double_le((double)run.profile->session.start_unix_ns - attached, 3e9);
	ck_assert_int_le(run.memory_kib, MEMORY_KIB_MAX);
	record__check_totals(run.profile);
	record__free(&run);
}
END_TEST

START_TEST(four_thousand_threads_that_are_killed_at_once_leave_all_their_time)
{
	struct recording recording;
	double began, killed;
	struct recorded run;
	char pids[16];
	pid_t pid;
	int output;

	pid = record__subject("crowd", "4000", &output);
	snprintf(pids, sizeof(pids), "%d", pid);
	record__begin(&recording, "", pids);
	began = now_ns(CLOCK_MONOTONIC);
	usleep(200000);
	killed = now_ns(CLOCK_MONOTONIC);
	record__end(pid, output);
	record__finish(&recording, &run);
	printf("crowd: %zu rows and %llu without one; %.1f ms each, at least %.1f\n",
	       run.profile->thread_count, (unsigned long long)run.profile->losses.threads_folded,
	       (double)run.profile->totals.thread_time_ns / 4001e6, (killed - began) / 1e6);
	ck_assert_uint_eq(run.profile->thread_count + run.profile->losses.threads_folded, 4001);
	ck_assert_double_ge((double)run.profile->totals.thread_time_ns / 4001, killed - began);
	ck_assert_str_eq(run.profile->session.ended_by, "target");
	record__check_totals(run.profile);
	record__free(&run);
}
END_TEST

/* ---- ids that are used again ---- */

START_TEST(a_thread_with_the_id_of_one_that_has_ended_has_a_row_of_its_own)
{
	double truth[2];
	struct recorded run;
	size_t i, rows = 0;
	int tid;

	record__command(&run, "", "reuse", "");
	if (strstr(run.output, "unable") &&
	    record__may_leave_out("reuse: the id was taken by others again and again")) {
		record__free(&run);
		return;
	}
	tid = (int)record__truth(&run, "tid");
	truth[0] = record__truth(&run, "first_ns");
	truth[1] = record__truth(&run, "second_ns");
	for (i = 0; i < run.profile->thread_count; i++) {
		const struct profile_thread *thread = &run.profile->threads[i];

		if (thread->tid != tid)
			continue;
		ck_assert_uint_lt(rows, 2);
		printf("reuse: row %zu of thread %d ran %.1f ms, %.1f by its own clock\n", rows,
		       tid, (double)thread->running_ns / 1e6, truth[rows] / 1e6);
		ck_assert_double_le((double)thread->lifetime_ns,
				    rows ? 2e8 + SLACK_NS : 3e8 + SLACK_NS);
		ck_assert_double_ge((double)thread->running_ns,
				    record__least_running(&run, truth[rows]));
		rows++;
	}
	ck_assert_uint_eq(rows, 2);
	ck_assert_uint_eq(run.profile->losses.thread_untracked, 0);
	record__check_totals(run.profile);
	record__free(&run);
}
END_TEST

/* Another process under that pid, which spins for a while. False: the pid is not to be had. */
static bool pid_use(pid_t pid, double seconds)
{
	struct clone_args arguments = {
		.exit_signal = SIGCHLD,
		.set_tid = (uint64_t)(uintptr_t)&pid,
		.set_tid_size = 1,
	};
	double end;
	long made = syscall(SYS_clone3, &arguments, sizeof(arguments));

	if (!made) {
		end = now_ns(CLOCK_MONOTONIC) + seconds * 1e9;
		while (now_ns(CLOCK_MONOTONIC) < end)
			;
		_exit(0);
	}
	if (made < 0)
		return false;
	waitpid((pid_t)made, NULL, 0);
	return true;
}

START_TEST(a_process_with_the_pid_of_a_target_that_has_ended_is_not_recorded)
{
	double began = now_ns(CLOCK_MONOTONIC), ended;
	struct recording recording;
	int outputs[2];
	struct recorded run, said[2] = {0};
	pid_t pids[2];
	char list[32];
	size_t i;
	bool used;

	for (i = 0; i < 2; i++)
		pids[i] = record__subject_begin("crew", "stays", &outputs[i], &said[i]);
	snprintf(list, sizeof(list), "%d,%d", pids[0], pids[1]);
	record__begin(&recording, "-d 1", list);
	record__end(pids[0], outputs[0]);
	ended = now_ns(CLOCK_MONOTONIC);
	used = pid_use(pids[0], 0.3);
	record__finish(&recording, &run);
	record__end(pids[1], outputs[1]);
	ck_assert_msg(used, "cannot make a process with a chosen pid");
	printf("pid used again: %zu rows, %zu targets\n", run.profile->thread_count,
	       run.profile->target_count);
	ck_assert_uint_eq(run.profile->thread_count, 6);
	ck_assert_str_eq(run.profile->session.ended_by, "duration");
	for (i = 0; i < run.profile->thread_count; i++)
		if (run.profile->threads[i].pid == pids[0])
			ck_assert_double_le((double)run.profile->threads[i].lifetime_ns,
					    ended - began);
	record__check_totals(run.profile);
	record__free(&run);
}
END_TEST

/* ---- threads that never let go ---- */

#define KERNEL_TICK_NS 10000000.0 /* the longest there is: CONFIG_HZ=100 */

/* CPU time of a thread so far by the kernel's account; NaN: it cannot be had. */
static double account_ns(pid_t pid, int tid)
{
	char path[64];
	double ns = NAN;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	file = fopen(path, "r");
	if (!file)
		return NAN;
	if (fscanf(file, "%lf", &ns) != 1)
		ns = NAN;
	fclose(file);
	return ns;
}

/* The kernel brings the account of a thread that runs up to date at each of its own ticks alone:
 * the one after the next of them. */
static double account_fresh_ns(pid_t pid, int tid)
{
	double until = now_ns(CLOCK_MONOTONIC) + 2 * KERNEL_TICK_NS;
	double first = account_ns(pid, tid), ns;

	do {
		ns = account_ns(pid, tid);
	} while (ns == first && now_ns(CLOCK_MONOTONIC) < until);
	return ns;
}

START_TEST(a_thread_that_never_lets_go_of_its_cpu_runs_by_its_own_clock)
{
	const char *const who[] = {"greedy", "starved"};
	struct recorded run, said = {0};
	struct recording recording;
	double before[2], after, began, read;
	int output, i, threads = _i ? 2 : 1;
	char pids[16];
	pid_t pid;

	pid = record__subject_begin("greedy", _i ? "fifo" : "", &output, &said);
	snprintf(pids, sizeof(pids), "%d", pid);
	began = now_ns(CLOCK_MONOTONIC);
	for (i = 0; i < threads; i++)
		before[i] = account_fresh_ns(pid, (int)record__truth(&said, who[i]));
	record__begin(&recording, "-d 0.6", pids);
	record__finish(&recording, &run);
	for (i = 0; i < threads; i++) {
		int tid = (int)record__truth(&said, who[i]);
		const struct profile_thread *thread = record__thread(&run, tid);

		after = account_ns(pid, tid);
		read = now_ns(CLOCK_MONOTONIC);
		ck_assert_ptr_nonnull(thread);
		printf("%s: ran %.1f ms of %.1f, %llu hits; by the kernel's account %.1f of %.1f; "
		       "%.1f ms stolen\n",
		       who[i], (double)thread->running_ns / 1e6, (double)thread->lifetime_ns / 1e6,
		       (unsigned long long)thread->hits, (after - before[i]) / 1e6,
		       (read - began) / 1e6, (double)run.profile->totals.stolen_ns / 1e6);
		ck_assert_uint_eq(thread->lifetime_ns, run.profile->session.duration_ns);
		ck_assert_double_le((double)thread->running_ns,
				    after - before[i] + (double)run.profile->totals.stolen_ns +
					    5e6);
		/* The account runs from before the session until after it. */
		ck_assert_double_ge((double)thread->running_ns + (read - began) -
					    (double)thread->lifetime_ns,
				    record__least_running(&run, after - before[i]));
	}
	record__end(pid, output);
	record__check_totals(run.profile);
	record__free(&run);
}
END_TEST

Suite *threads_suite(void)
{
	Suite *suite = suite_create("threads");
	TCase *cases = tcase_create("threads");

	tcase_set_timeout(cases, 120);
	tcase_add_test(cases, thousands_of_short_threads_lose_no_time_and_no_call);
	tcase_add_test(cases, threads_whose_rows_find_no_room_keep_their_time_and_are_counted);
	tcase_add_test(cases, four_thousand_sleeping_threads_are_all_in_the_report);
	tcase_add_test(cases, four_thousand_threads_that_are_killed_at_once_leave_all_their_time);
	tcase_add_test(cases, a_thread_with_the_id_of_one_that_has_ended_has_a_row_of_its_own);
	tcase_add_test(cases, a_process_with_the_pid_of_a_target_that_has_ended_is_not_recorded);
	tcase_add_loop_test(cases, a_thread_that_never_lets_go_of_its_cpu_runs_by_its_own_clock, 0,
			    2);
	suite_add_tcase(suite, cases);
	return suite;
}
