/* SPDX-License-Identifier: MIT */
/* Sums over processes: ledgers, and cells. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cell_sums.h"
#include "ledger.h"
#include "suites.h"

static struct table *table_of(const char *const *names, uint32_t count)
{
	struct table *table = calloc(1, sizeof(*table));
	uint32_t i;

	ck_assert_ptr_nonnull(table);
	table->label_count = count + 1;
	for (i = 0; i < count; i++) {
		snprintf(table->labels[i + 1].name, TABLE_NAME_SIZE, "%s", names[i]);
		table->labels[i + 1].kind = TSN_KIND_FINE;
	}
	return table;
}

START_TEST(processes_share_a_ledger_if_what_both_have_named_is_the_same)
{
	static const char *const names[] = {"a", "b", "c"}, *const others[] = {"a", "x"};
	struct table *two = table_of(names, 2), *three = table_of(names, 3),
		     *different = table_of(others, 2), *none = table_of(names, 0);
	size_t room = 0;
	struct ledger *ledger = ledger__new(&room);

	ck_assert(ledger__fits(ledger, different, TSN_CLOCK_TSC));
	ledger__name(ledger, two, TSN_CLOCK_NONE);
	ck_assert(ledger__fits(ledger, three, TSN_CLOCK_TSC));
	ck_assert(!ledger__fits(ledger, different, TSN_CLOCK_NONE));
	ck_assert(ledger__fits(ledger, none, TSN_CLOCK_NONE));
	ledger__name(ledger, three, TSN_CLOCK_TSC);
	ck_assert_uint_eq(ledger->names.label_count, 4);
	ck_assert_str_eq(ledger->names.labels[3].name, "c");
	/* One with less takes nothing away. */
	ledger__name(ledger, two, TSN_CLOCK_NONE);
	ck_assert_uint_eq(ledger->names.label_count, 4);
	ck_assert(!ledger__fits(ledger, two, TSN_CLOCK_MONOTONIC));
	three->labels[2].kind = TSN_KIND_IDLE;
	ck_assert(!ledger__fits(ledger, three, TSN_CLOCK_TSC));
	ledger__free(ledger);
	free(two);
	free(three);
	free(different);
	free(none);
}
END_TEST

START_TEST(calls_add_up_and_callers_are_the_most_of_one_process)
{
	static struct table_calls base, last;
	size_t room = 0;
	struct ledger *ledger = ledger__new(&room);

	base.calls[1] = 10;
	last.calls[1] = 15;
	last.calls[2] = 7;
	base.calls[3] = 5; /* nonsense: fewer than before */
	last.callers[1] = 2;
	ledger__add_calls(ledger, &base, &last);
	last.callers[1] = 1;
	last.calls[2] = UINT64_MAX;
	ledger__add_calls(ledger, &base, &last);
	ck_assert_uint_eq(ledger->calls[1], 10);
	ck_assert_uint_eq(ledger->calls[2], UINT64_MAX);
	ck_assert_uint_eq(ledger->calls[3], 0);
	ck_assert_uint_eq(ledger->callers[1], 2);
	ledger__free(ledger);
}
END_TEST

/* n executions of so many units, of which the longest is known to be longest (0: it is not). */
static struct durations *durations_of(uint64_t n, uint64_t units, uint64_t longest, size_t *room)
{
	struct durations *durations = durations__new(0, room);
	struct durations_sum *last = &durations->last[1];

	durations->labels = 2;
	last->count = n;
	last->sum = n * units;
	last->buckets = calloc(TSN_DURATION_BUCKETS, sizeof(*last->buckets));
	last->buckets[tsn_duration_bucket(units)] = n;
	durations->longest[1].longest = longest;
	(*room)--;
	return durations;
}

START_TEST(each_process_is_stretched_by_itself)
{
	size_t room = 9;
	struct durations *one = durations_of(3, 100, 100, &room),
			 *other = durations_of(2, 5000, 5001, &room);
	struct ledger *ledger = ledger__new(&room);

	ck_assert_int_eq(ledger__add_durations(ledger, one, 1), 0);
	ck_assert_double_eq(ledger__stretch(&ledger->spans[1]), 1);
	ck_assert_double_eq(ledger__stretch(&ledger->spans[2]), 1);
	ck_assert_int_eq(ledger__add_durations(ledger, other, 1.5), 0);
	ck_assert_double_eq_tol(ledger__stretch(&ledger->spans[1]),
				(300 + 1.5 * 10000) / (300 + 10000), 1e-12);
	durations__free(one);
	durations__free(other);
	ledger__free(ledger);
}
END_TEST

START_TEST(durations_add_up_and_the_longest_is_the_longest_of_all)
{
	size_t room = 9;
	struct durations *short_ones = durations_of(3, 100, 100, &room),
			 *long_ones = durations_of(2, 5000, 5001, &room),
			 *unknown = durations_of(1, 90000, 0, &room);
	struct ledger *ledger = ledger__new(&room);
	const struct ledger_span *span;

	ck_assert_int_eq(ledger__add_durations(ledger, short_ones, 1), 0);
	span = &ledger->spans[1];
	ck_assert_uint_eq(span->longest_units, 100);
	ck_assert_int_eq(ledger__add_durations(ledger, long_ones, 1), 0);
	ck_assert_int_eq(ledger__add_durations(ledger, short_ones, 1), 0);
	ck_assert_uint_eq(span->executions, 8);
	ck_assert_uint_eq(span->sum_units, 3 * 100 + 2 * 5000 + 3 * 100);
	ck_assert_uint_eq(span->buckets[tsn_duration_bucket(100)], 6);
	ck_assert_uint_eq(span->buckets[tsn_duration_bucket(5000)], 2);
	ck_assert_uint_eq(span->longest_units, 5001);
	/* A longer one, of which only the bucket is known. */
	ck_assert_int_eq(ledger__add_durations(ledger, unknown, 1), 0);
	ck_assert_uint_eq(span->longest_units, 0);
	ck_assert_int_eq(ledger__add_durations(ledger, long_ones, 1), 0);
	ck_assert_uint_eq(span->longest_units, 0);
	durations__free(short_ones);
	durations__free(long_ones);
	durations__free(unknown);
	ledger__free(ledger);
	ck_assert_uint_eq(room, 9);
}
END_TEST

START_TEST(a_note_knows_how_often_in_how_many_and_the_latest)
{
	struct ledger_note note = {0};

	ledger_note__add(&note, 2, 10, 1);
	ledger_note__add(&note, 0, 11, 2);
	ledger_note__add(&note, 3, 12, 3);
	ck_assert_uint_eq(note.count, 5);
	ck_assert_uint_eq(note.processes, 2);
	ck_assert_int_eq(note.pid, 12);
	ck_assert_uint_eq(note.label, 3);
}
END_TEST

START_TEST(cells_add_up_by_key_whatever_their_number)
{
	struct cell_sums sums = {0};
	struct tsn_cell cell = {
		.hits_user = 1, .weight_user_ns = 2, .io_ns = 3, .glances_shared = 4};
	const struct snapshot_cell *sum;
	size_t at = 0, n = 0;
	uint32_t i, round;

	ck_assert_ptr_null(cell_sums__next(&sums, &at));
	for (round = 0; round < 3; round++)
		for (i = 0; i < 3000; i++) {
			struct tsn_cell_key key = {.target = i % 3, .fine = i, .coarse = i % 7};

			ck_assert_int_eq(cell_sums__add(&sums, &key, &cell), 0);
		}
	while ((sum = cell_sums__next(&sums, &at))) {
		ck_assert_uint_eq(sum->key.coarse, sum->key.fine % 7);
		ck_assert_uint_eq(sum->cell.hits_user, 3);
		ck_assert_uint_eq(sum->cell.weight_user_ns, 6);
		ck_assert_uint_eq(sum->cell.io_ns, 9);
		ck_assert_uint_eq(sum->cell.glances_shared, 12);
		n++;
	}
	ck_assert_uint_eq(n, 3000);
	ck_assert_uint_eq(sums.count, 3000);
	cell_sums__free(&sums);
}
END_TEST

START_TEST(cells_without_end_take_no_memory_without_end)
{
	struct cell_sums sums = {0};
	struct tsn_cell cell = {.hits_user = 1};
	struct tsn_cell_key key = {0};
	uint32_t i;

	for (i = 0; i < CELL_SUMS_MAX; i++) {
		key.fine = i;
		ck_assert_int_eq(cell_sums__add(&sums, &key, &cell), 0);
	}
	key.fine = i;
	ck_assert_int_eq(cell_sums__add(&sums, &key, &cell), -ENOSPC);
	key.fine = 0;
	ck_assert_int_eq(cell_sums__add(&sums, &key, &cell), 0);
	ck_assert_uint_eq(sums.count, CELL_SUMS_MAX);
	ck_assert_uint_le(sums.size, 2 * CELL_SUMS_MAX);
	cell_sums__free(&sums);
}
END_TEST

Suite *ledger_suite(void)
{
	Suite *suite = suite_create("ledger");
	TCase *cases = tcase_create("sums");

	tcase_add_test(cases, processes_share_a_ledger_if_what_both_have_named_is_the_same);
	tcase_add_test(cases, calls_add_up_and_callers_are_the_most_of_one_process);
	tcase_add_test(cases, durations_add_up_and_the_longest_is_the_longest_of_all);
	tcase_add_test(cases, each_process_is_stretched_by_itself);
	tcase_add_test(cases, a_note_knows_how_often_in_how_many_and_the_latest);
	tcase_add_test(cases, cells_add_up_by_key_whatever_their_number);
	tcase_add_test(cases, cells_without_end_take_no_memory_without_end);
	suite_add_tcase(suite, cases);
	return suite;
}
