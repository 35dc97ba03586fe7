// SPDX-License-Identifier: MIT
/* Intervals under way when the session ends: split, clipped, and what gaps and steps of the clock
 * make of them. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot.h"
#include "suites.h"

#define START	1000000000u
#define STOP	(START + 500000000u)
#define HOUR_NS 3600000000000u

static struct snapshot snapshot;
static uint64_t lost_wait_ns;

static void teardown(void)
{
	snapshot__free(&snapshot);
}

static const struct tsn_thread *closed(const struct tsn_thread *thread, uint64_t stop_ns)
{
	memset(&snapshot, 0, sizeof(snapshot));
	lost_wait_ns = 0;
	ck_assert_int_eq(snapshot__add_thread(&snapshot, thread), 0);
	ck_assert_int_eq(snapshot__close(&snapshot, 0, START, stop_ns, &lost_wait_ns), 0);
	return &snapshot.threads[0];
}

/* since, woken and seen (a tick found it running) from START on, ms; -1: none. Expected, ms. */
static const struct {
	uint32_t state, wait;
	int since, woken, seen;
	int running, runnable, blocked, io;
} intervals[] = {
	{TSN_THREAD_RUNNING, 0, 0, -1, -1, 500, 0, 0, 0},
	{TSN_THREAD_RUNNING, 0, 499, -1, -1, 1, 0, 0, 0},
	{TSN_THREAD_RUNNING, 0, 500, -1, -1, 0, 0, 0, 0},
	/* Began before the session. */
	{TSN_THREAD_RUNNING, 0, -100, -1, -1, 500, 0, 0, 0},
	{TSN_THREAD_WAITING, TSN_WAIT_BLOCKED, -100, -1, -1, 0, 0, 500, 0},
	{TSN_THREAD_WAITING, TSN_WAIT_BLOCKED, 100, -1, -1, 0, 0, 400, 0},
	{TSN_THREAD_WAITING, TSN_WAIT_IO, 100, -1, -1, 0, 0, 0, 400},
	{TSN_THREAD_WAITING, TSN_WAIT_RUNNABLE, 100, -1, -1, 0, 400, 0, 0},
	/* Woken, and not run yet. */
	{TSN_THREAD_WAITING, TSN_WAIT_BLOCKED, 100, 300, -1, 0, 200, 200, 0},
	{TSN_THREAD_WAITING, TSN_WAIT_IO, 100, 300, -1, 0, 200, 0, 200},
	{TSN_THREAD_WAITING, TSN_WAIT_RUNNABLE, 100, 300, -1, 0, 400, 0, 0},
	/* A wakeup noted after the end has not ended the wait. */
	{TSN_THREAD_WAITING, TSN_WAIT_BLOCKED, 100, 600, -1, 0, 0, 400, 0},
	/* A tick found it running, though no event said so. */
	{TSN_THREAD_WAITING, TSN_WAIT_BLOCKED, 100, -1, 350, 150, 0, 250, 0},
	{TSN_THREAD_WAITING, TSN_WAIT_BLOCKED, 100, 200, 350, 150, 150, 100, 0},
	/* Neither a tick nor a switch met what the census found runnable: it got no CPU. */
	{TSN_THREAD_UNSEEN, 0, 0, -1, -1, 0, 500, 0, 0},
	/* The clock stepped back below where the interval began. */
	{TSN_THREAD_RUNNING, 0, 700, -1, -1, 0, 0, 0, 0},
	{TSN_THREAD_WAITING, TSN_WAIT_BLOCKED, 700, -1, -1, 0, 0, 0, 0},
	{TSN_THREAD_WAITING, TSN_WAIT_BLOCKED, 700, 800, -1, 0, 0, 0, 0},
	{TSN_THREAD_WAITING, TSN_WAIT_IO, 700, 100, 300, 200, 0, 0, 0},
};

static uint64_t moment(int ms)
{
	return START + (uint64_t)((int64_t)ms * 1000000);
}

START_TEST(an_interval_under_way_is_split_and_clipped_and_never_negative)
{
	struct tsn_thread thread = {
		.state = intervals[_i].state,
		.wait = intervals[_i].wait,
		.since = moment(intervals[_i].since),
		.woken = intervals[_i].woken < 0 ? 0 : moment(intervals[_i].woken),
		.tick_seen = intervals[_i].seen < 0 ? 0 : moment(intervals[_i].seen),
		.fine = 7,
	};
	const struct tsn_thread *now = closed(&thread, STOP);
	uint64_t waited = now->runnable_ns + now->blocked_ns + now->io_ns, charged = 0;
	size_t i;

	ck_assert_int_eq((int)(now->running_ns / 1000000), intervals[_i].running);
	ck_assert_int_eq((int)(now->runnable_ns / 1000000), intervals[_i].runnable);
	ck_assert_int_eq((int)(now->blocked_ns / 1000000), intervals[_i].blocked);
	ck_assert_int_eq((int)(now->io_ns / 1000000), intervals[_i].io);
	for (i = 0; i < snapshot.cell_count; i++) {
		ck_assert_uint_eq(snapshot.cells[i].key.fine, 7);
		charged += snapshot.cells[i].cell.runnable_ns + snapshot.cells[i].cell.blocked_ns +
			   snapshot.cells[i].cell.io_ns;
	}
	ck_assert_uint_eq(charged, waited);
	ck_assert_uint_eq(lost_wait_ns, 0);
}
END_TEST

START_TEST(what_a_thread_did_and_what_it_does_are_its_lifetime_after_a_step_back_as_well)
{
	/* 300 ms accounted for, until 700 ms; the session ends at 500 by a clock that stepped. */
	struct tsn_thread thread = {
		.state = TSN_THREAD_RUNNING,
		.born = moment(400),
		.since = moment(700),
		.running_ns = 100000000,
		.blocked_ns = 200000000,
	};
	const struct tsn_thread *now = closed(&thread, STOP);

	ck_assert_uint_eq(now->since - now->born,
			  now->running_ns + now->runnable_ns + now->blocked_ns + now->io_ns);
}
END_TEST

START_TEST(a_gap_in_the_clock_belongs_to_what_the_thread_was_doing)
{
	struct tsn_thread thread = {
		.state = _i ? TSN_THREAD_WAITING : TSN_THREAD_RUNNING,
		.wait = TSN_WAIT_BLOCKED,
		.born = START,
		.since = moment(100),
		.running_ns = 100000000,
	};
	const struct tsn_thread *now = closed(&thread, STOP + HOUR_NS);

	ck_assert_uint_eq(now->running_ns, _i ? 100000000 : 500000000 + HOUR_NS);
	ck_assert_uint_eq(now->blocked_ns, _i ? 400000000 + HOUR_NS : 0);
	ck_assert_uint_eq(now->since - now->born, 500000000 + HOUR_NS);
}
END_TEST

START_TEST(waiting_in_labels_that_could_not_be_read_is_lost_and_counted)
{
	struct tsn_thread thread = {
		.state = TSN_THREAD_WAITING,
		.wait = TSN_WAIT_BLOCKED,
		.since = moment(100),
		.unknown = 1,
	};

	closed(&thread, STOP);
	ck_assert_uint_eq(lost_wait_ns, 400000000);
}
END_TEST

Suite *snapshot_suite(void)
{
	Suite *suite = suite_create("snapshot");
	TCase *cases = tcase_create("closing");

	tcase_add_checked_fixture(cases, NULL, teardown);
	tcase_add_loop_test(cases, an_interval_under_way_is_split_and_clipped_and_never_negative, 0,
			    sizeof(intervals) / sizeof(intervals[0]));
	tcase_add_test(
		cases,
		what_a_thread_did_and_what_it_does_are_its_lifetime_after_a_step_back_as_well);
	tcase_add_loop_test(cases, a_gap_in_the_clock_belongs_to_what_the_thread_was_doing, 0, 2);
	tcase_add_test(cases, waiting_in_labels_that_could_not_be_read_is_lost_and_counted);
	suite_add_tcase(suite, cases);
	return suite;
}
