// SPDX-License-Identifier: MIT
/*
 * What processes do while they are recorded: threads and main threads that end, exec, fork, stop.
 * Truth is what the subjects say by their own clocks and counts.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record.h"
#include "suites.h"

/* Times of the recorder and of a subject's stopwatch, read a moment apart on a busy machine. */
#define SLACK_NS 3e7

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Records a subject from before its first step until its end. */
static void steps_record(const char *subject, struct recorded *run, struct recorded *said)
{
	struct recording recording;
	char pids[16];
	int output;
	pid_t pid;

	memset(said, 0, sizeof(*said));
	pid = record__subject_begin(subject, "", &output, said);
	snprintf(pids, sizeof(pids), "%d", pid);
	record__begin(&recording, "", pids);
	kill(pid, SIGUSR1);
	ck_assert_int_eq(record__subject_end(pid, output, said), 0);
	record__finish(&recording, run);
}

/* ---- a crew: main thread, worker, sleeper; see subjects/crew.c ---- */

struct crew {
	pid_t pid;
	int output;
	struct recorded said;
	struct recording recording;
};

static void crew_begin(struct crew *crew, const char *mode, const char *options)
{
	char pid[16];

	memset(crew, 0, sizeof(*crew));
	crew->pid = record__subject_begin("crew", mode, &crew->output, &crew->said);
	if (!strcmp(mode, "left"))
		usleep(50000); /* until the main thread is gone */
	snprintf(pid, sizeof(pid), "%d", crew->pid);
	record__begin(&crew->recording, options, pid);
}

/* 23 calls; then the main thread leaves if that is its mode. */
static void crew_count(struct crew *crew)
{
	kill(crew->pid, SIGUSR1);
	record__subject_wait(crew->output, &crew->said, "counted 23");
}

/* Lets it end, and takes the report. */
static int crew_end(struct crew *crew, struct recorded *run)
{
	int status;

	kill(crew->pid, SIGUSR1);
	status = record__subject_end(crew->pid, crew->output, &crew->said);
	record__finish(&crew->recording, run);
	return status;
}

static const struct profile_thread *crew_thread(const struct crew *crew, const struct recorded *run,
						const char *who)
{
	int tid = (int)record__truth(&crew->said, who);
	const struct profile_thread *thread = record__thread(run, tid);

	ck_assert_msg(thread, "no row for the %s (%d)", who, tid);
	return thread;
}

/* What holds of every session that a crew has ended: its calls, its worker's running time between
 * what it read itself and the session, its sleeper's sleep. */
static void crew_check(const struct crew *crew, const struct recorded *run)
{
	const struct profile_thread *worker = crew_thread(crew, run, "worker");
	const struct profile_thread *sleeper = crew_thread(crew, run, "sleeper");
	const struct profile_fine *rest = record__fine(run, "rest");
	double session = (double)run->profile->session.duration_ns;
	double cpu = record__truth(&crew->said, "cpu_ns");

	printf("crew: worker ran %.1f ms, %.1f by its own clock after it had counted, session "
	       "%.1f; %llu calls, %llu unreadable, ended by %s\n",
	       (double)worker->running_ns / 1e6, cpu / 1e6, session / 1e6,
	       (unsigned long long)record__fine(run, "counted")->calls,
	       (unsigned long long)run->profile->losses.slot_unreadable,
	       run->profile->session.ended_by);
	record__check_calls(run, "counted", 23);
	ck_assert_double_ge((double)worker->running_ns, record__least_running(run, cpu));
	ck_assert_double_le((double)worker->lifetime_ns, session);
	ck_assert_double_ge((double)worker->lifetime_ns, record__truth(&crew->said, "wall_ns"));
	ck_assert_double_le((double)sleeper->running_ns, 0.1 * (double)sleeper->lifetime_ns);
	/* Its waiting is measured, its running time is sampled; it leaves the label to end. */
	ck_assert_double_ge((double)rest->blocked_ns + (double)rest->runnable_ns,
			    0.9 * ((double)sleeper->blocked_ns + (double)sleeper->runnable_ns));
	ck_assert_str_eq(run->profile->session.ended_by, "target");
	record__check_totals(run->profile);
}

START_TEST(a_process_whose_main_thread_has_ended_is_recorded_through_the_others)
{
	struct recorded run;
	struct crew crew;

	crew_begin(&crew, "left", "");
	crew_count(&crew);
	usleep(200000);
	ck_assert_int_eq(crew_end(&crew, &run), 0);
	crew_check(&crew, &run);
	ck_assert_uint_eq(run.profile->thread_count, 2);
	ck_assert_ptr_nonnull(run.profile->target[0].exe);
	record__free(&run);
}
END_TEST

START_TEST(a_main_thread_that_ends_before_the_others_is_counted_until_then)
{
	const struct profile_thread *lead;
	struct recorded run;
	struct crew crew;
	double began, left;

	began = now_ns();
	crew_begin(&crew, "leaves", "");
	left = now_ns();
	crew_count(&crew);
	usleep(300000);
	ck_assert_int_eq(crew_end(&crew, &run), 0);
	crew_check(&crew, &run);
	lead = crew_thread(&crew, &run, "main");
	printf("leaves: the main thread lived for %.1f ms of %.1f\n",
	       (double)lead->lifetime_ns / 1e6, (double)run.profile->session.duration_ns / 1e6);
	ck_assert_double_le((double)lead->lifetime_ns, left - began + SLACK_NS);
	ck_assert_double_le((double)lead->lifetime_ns + 2.5e8,
			    (double)run.profile->session.duration_ns);
	ck_assert_uint_eq(run.profile->thread_count, 3);
	record__free(&run);
}
END_TEST

START_TEST(a_process_that_exits_in_mid_session_leaves_all_its_time_and_calls)
{
	struct recorded run;
	struct crew crew;

	crew_begin(&crew, "stays", "-d 20");
	crew_count(&crew);
	usleep(200000);
	ck_assert_int_eq(crew_end(&crew, &run), 0);
	crew_check(&crew, &run);
	ck_assert_int_eq(run.status, 0);
	record__free(&run);
}
END_TEST

START_TEST(a_process_that_is_killed_in_mid_session_leaves_all_its_time_and_calls)
{
	const struct profile_thread *worker;
	double counted, killed;
	struct recorded run;
	struct crew crew;

	crew_begin(&crew, "stays", "-d 20");
	crew_count(&crew);
	counted = now_ns();
	usleep(200000);
	killed = now_ns();
	record__end(crew.pid, crew.output);
	record__finish(&crew.recording, &run);
	worker = crew_thread(&crew, &run, "worker");
	printf("killed: the worker lived for %.1f ms, of these %.1f after it had counted\n",
	       (double)worker->lifetime_ns / 1e6, (killed - counted) / 1e6);
	ck_assert_int_eq(run.status, 0);
	ck_assert_str_eq(run.profile->session.ended_by, "target");
	record__check_calls(&run, "counted", 23);
	ck_assert_uint_eq(run.profile->thread_count, 3);
	ck_assert_double_ge((double)worker->lifetime_ns, killed - counted);
	record__check_totals(run.profile);
	record__free(&run);
}
END_TEST

START_TEST(time_that_a_process_is_stopped_is_blocked_time_of_all_its_threads)
{
	static const char *const who[] = {"main", "worker", "sleeper"};
	double stopped, went_on;
	struct recorded run;
	struct crew crew;
	size_t i;
	int status;

	crew_begin(&crew, "stays", "");
	crew_count(&crew);
	kill(crew.pid, SIGSTOP);
	ck_assert_int_eq(waitpid(crew.pid, &status, WUNTRACED), crew.pid);
	ck_assert(WIFSTOPPED(status));
	stopped = now_ns();
	usleep(300000);
	went_on = now_ns();
	kill(crew.pid, SIGCONT);
	usleep(50000);
	ck_assert_int_eq(crew_end(&crew, &run), 0);
	crew_check(&crew, &run);
	for (i = 0; i < 3; i++) {
		const struct profile_thread *thread = crew_thread(&crew, &run, who[i]);

		printf("stopped for %.1f ms: %s blocked for %.1f\n", (went_on - stopped) / 1e6,
		       who[i], (double)thread->blocked_ns / 1e6);
		ck_assert_double_ge((double)thread->blocked_ns, went_on - stopped);
	}
	/* Its label is the one it was stopped in. */
	ck_assert_double_ge((double)record__fine(&run, "work")->blocked_ns, went_on - stopped);
	record__free(&run);
}
END_TEST

/* ---- exec, fork, clone ---- */

START_TEST(after_exec_waits_are_charged_to_the_new_images_labels)
{
	const struct profile_fine *asleep;
	struct recorded run;

	record__command(&run, "", "reexec", "2");
	asleep = record__fine(&run, "asleep");
	printf("reexec: asleep for %.1f ms, %.1f by its stopwatch; before: %.1f ms\n",
	       (double)asleep->blocked_ns / 1e6, record__truth(&run, "asleep_ns") / 1e6,
	       (double)record__fine(&run, "before")->thread_time_ns / 1e6);
	ck_assert_double_eq_tol((double)asleep->thread_time_ns, record__truth(&run, "asleep_ns"),
				SLACK_NS);
	ck_assert_double_ge((double)asleep->blocked_ns, 3e8 - 1e6);
	ck_assert_double_le((double)record__fine(&run, "before")->thread_time_ns, 2.5e8);
	ck_assert_double_ge((double)record__fine(&run, "awake")->running_ns, 1e7);
	record__check_totals(run.profile);
	record__free(&run);
}
END_TEST

START_TEST(a_thread_that_execs_again_and_again_goes_on_as_the_main_thread_without_a_gap)
{
	const struct profile_thread *main_thread;
	double wall;
	struct recorded run;
	size_t i;

	record__command(&run, "", "reexec", "16");
	wall = record__truth(&run, "wall_ns");
	main_thread = &run.profile->threads[0];
	for (i = 0; i < run.profile->thread_count; i++)
		if (run.profile->threads[i].tid == run.profile->threads[i].pid &&
		    run.profile->threads[i].lifetime_ns > main_thread->lifetime_ns)
			main_thread = &run.profile->threads[i];
	printf("reexec: %zu rows, all time %.1f ms; %.1f ms by its stopwatch\n",
	       run.profile->thread_count, (double)run.profile->totals.thread_time_ns / 1e6,
	       wall / 1e6);
	/* The one that lives on, from its creation in the last image but one. */
	ck_assert_double_ge((double)main_thread->lifetime_ns, 6.5e8);
	ck_assert_double_le((double)main_thread->lifetime_ns, wall + SLACK_NS);
	/* Main, burning and replacing thread of each image, which lie end to end. */
	ck_assert_double_le((double)run.profile->totals.thread_time_ns, 3 * wall + SLACK_NS);
	record__check_totals(run.profile);
	record__free(&run);
}
END_TEST

START_TEST(children_are_not_recorded_and_change_nothing_of_their_parent)
{
	const struct profile_fine *waits;
	struct recorded run, said;
	double truth;
	size_t i, warned = 0;

	steps_record("forker", &run, &said);
	truth = record__truth(&said, "waits_ns");
	waits = record__fine(&run, "waits");
	printf("forker: waits %.1f ms, %.1f by its stopwatch; %llu calls\n",
	       (double)waits->thread_time_ns / 1e6, truth / 1e6,
	       (unsigned long long)record__fine(&run, "counted")->calls);
	ck_assert_uint_eq(run.profile->thread_count, 1);
	record__check_calls(&run, "counted", 23);
	ck_assert_uint_eq(record__fine(&run, "work")->calls, 0);
	ck_assert_uint_eq(record__fine(&run, "work")->thread_time_ns, 0);
	ck_assert_uint_eq(run.profile->losses.slot_foreign, 0);
	ck_assert_double_eq_tol((double)waits->thread_time_ns, truth, SLACK_NS);
	for (i = 0; i < run.profile->warning_count; i++)
		warned += !strcmp(run.profile->warnings[i].code, "children_left_out");
	ck_assert_uint_eq(warned, 1);
	record__check_totals(run.profile);
	record__free(&run);
}
END_TEST

START_TEST(a_thread_made_by_clone_alone_is_in_no_label_least_of_all_its_creators)
{
	static const char *const modes[] = {"", "own"};
	const struct profile_thread *cloned;
	const struct profile_fine *creator;
	struct recorded run;
	double cpu;

	record__command(&run, "", "rawclone", modes[_i]);
	cpu = record__truth(&run, "cpu_ns");
	creator = record__fine(&run, "creator");
	cloned = record__thread(&run, (int)record__truth(&run, "tid"));
	ck_assert_ptr_nonnull(cloned);
	printf("rawclone %s: ran %.1f ms, %.1f by its own clock, of all %.1f in no label; its "
	       "creator %.1f; %llu foreign\n",
	       modes[_i], (double)cloned->running_ns / 1e6, cpu / 1e6,
	       (double)run.profile->totals.unlabelled_ns / 1e6, (double)creator->running_ns / 1e6,
	       (unsigned long long)run.profile->losses.slot_foreign);
	ck_assert_double_ge((double)cloned->running_ns, record__least_running(&run, cpu));
	ck_assert_double_ge((double)run.profile->totals.unlabelled_ns, 0.97 * cpu);
	ck_assert_double_le((double)creator->running_ns, 0.1 * cpu);
	/* Where it shares its creator's storage it is seen to be another's; nothing else is. */
	if (_i)
		ck_assert_uint_eq(run.profile->losses.slot_foreign, 0);
	else
		ck_assert_uint_gt(run.profile->losses.slot_foreign, 0);
	record__check_totals(run.profile);
	record__free(&run);
}
END_TEST

START_TEST(calls_of_a_thread_that_ends_without_its_library_are_said_to_be_missing)
{
	struct recorded run, said;
	uint64_t calls;

	steps_record("rawexit", &run, &said);
	calls = record__fine(&run, "counted")->calls;
	printf("rawexit: %llu of 23 calls, %llu processes with calls unread\n",
	       (unsigned long long)calls, (unsigned long long)run.profile->losses.calls_unread);
	/* What its other thread counted is handed in, where the kernel does that. */
	if (calls < 18)
		record__check_calls(&run, "counted", 23);
	ck_assert_uint_le(calls, 23);
	ck_assert_uint_eq(run.profile->losses.calls_unread, 1);
	record__check_totals(run.profile);
	record__free(&run);
}
END_TEST

/* ---- modules ---- */

START_TEST(a_modules_labels_and_calls_outlive_it)
{
	const struct profile_fine *plugged;
	char arguments[4200];
	struct recorded run;

	snprintf(arguments, sizeof(arguments), "%s/tests/subjects/plugin.so%s",
		 record__build_directory(), _i ? " bare" : "");
	record__command(&run, "", "plugged", arguments);
	plugged = record__fine(&run, "plugged");
	printf("plugged: %llu calls, %.1f ms blocked, %.1f running, cpu %.1f\n",
	       (unsigned long long)plugged->calls, (double)plugged->blocked_ns / 1e6,
	       (double)plugged->running_ns / 1e6, record__truth(&run, "cpu_ns") / 1e6);
	record__check_calls(&run, "plugged", 46);
	record__check_calls(&run, "own", 7);
	/* The first look for the table may come a moment late. */
	ck_assert_double_ge((double)plugged->blocked_ns, 4e8 - 1e6);
	ck_assert_double_le((double)plugged->thread_time_ns,
			    record__truth(&run, "wall_ns") + SLACK_NS);
	ck_assert_double_ge((double)plugged->thread_time_ns, 6e8);
	record__check_totals(run.profile);
	record__free(&run);
}
END_TEST

Suite *lifecycle_suite(void)
{
	Suite *suite = suite_create("lifecycle");
	TCase *cases = tcase_create("processes");

	tcase_set_timeout(cases, 30);
	tcase_add_test(cases, a_process_whose_main_thread_has_ended_is_recorded_through_the_others);
	tcase_add_test(cases, a_main_thread_that_ends_before_the_others_is_counted_until_then);
	tcase_add_test(cases, a_process_that_exits_in_mid_session_leaves_all_its_time_and_calls);
	tcase_add_test(cases,
		       a_process_that_is_killed_in_mid_session_leaves_all_its_time_and_calls);
	tcase_add_test(cases, time_that_a_process_is_stopped_is_blocked_time_of_all_its_threads);
	tcase_add_test(cases, after_exec_waits_are_charged_to_the_new_images_labels);
	tcase_add_test(
		cases,
		a_thread_that_execs_again_and_again_goes_on_as_the_main_thread_without_a_gap);
	tcase_add_test(cases, children_are_not_recorded_and_change_nothing_of_their_parent);
	tcase_add_loop_test(
		cases, a_thread_made_by_clone_alone_is_in_no_label_least_of_all_its_creators, 0, 2);
	tcase_add_test(cases,
		       calls_of_a_thread_that_ends_without_its_library_are_said_to_be_missing);
	tcase_add_loop_test(cases, a_modules_labels_and_calls_outlive_it, 0, 2);
	suite_add_tcase(suite, cases);
	return suite;
}
