/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "suites.h"
#include "windows.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct windows *windows;

static void setup(void)
{
	windows = windows__new();
	ck_assert_ptr_nonnull(windows);
}

static void teardown(void)
{
	windows__free(windows);
}

/* Slice number i, from 1, has weight i in row 0 and 1 in row 1. */
static void add_slices(size_t from, size_t to)
{
	for (size_t i = from; i <= to; i++)
		ck_assert_int_eq(windows__add(windows, (double[]){i, 1}, 2), 0);
}

static double row_sum(size_t row)
{
	double weights[WINDOWS_MAX], sum = 0;

	windows__row(windows, row, weights);
	for (size_t k = 0; k < windows__count(windows); k++)
		sum += weights[k];
	return sum;
}

/* last: slices in the newest window that counts, with a rest too short to count merged into it. */
static const struct {
	size_t slices, stride, count, last;
} lengths[] = {
	{0, 1, 0, 0},	   {1, 1, 1, 1},       {2, 1, 2, 1},	   {63, 1, 63, 1},
	{64, 1, 64, 1},	   {65, 2, 33, 1},     {66, 2, 33, 2},	   {67, 2, 34, 1},
	{127, 2, 64, 1},   {128, 2, 64, 2},    {129, 4, 32, 5},	   {130, 4, 33, 2},
	{131, 4, 33, 3},   {256, 4, 64, 4},    {257, 8, 32, 9},	   {1000, 16, 63, 8},
	{1001, 16, 63, 9}, {1007, 16, 63, 15}, {1008, 16, 63, 16}, {1009, 16, 63, 17},
};

START_TEST(count_and_stride_follow_from_the_number_of_slices)
{
	double weights[WINDOWS_MAX];
	size_t count;

	add_slices(1, lengths[_i].slices);
	count = windows__count(windows);
	ck_assert_uint_eq(windows__stride(windows), lengths[_i].stride);
	ck_assert_uint_eq(count, lengths[_i].count);
	windows__row(windows, 1, weights);
	for (size_t k = 0; k + 1 < count; k++)
		ck_assert_double_eq(weights[k], lengths[_i].stride);
	if (count > 0)
		ck_assert_double_eq(weights[count - 1], lengths[_i].last);
}
END_TEST

START_TEST(merging_conserves_sums_after_every_slice)
{
	for (size_t i = 1; i <= 3000; i++) {
		add_slices(i, i);
		ck_assert_double_eq(row_sum(0), i * (i + 1) / 2.);
		ck_assert_double_eq(row_sum(1), i);
	}
}
END_TEST

START_TEST(merging_keeps_slices_in_order)
{
	double weights[WINDOWS_MAX];

	add_slices(1, 128);
	windows__row(windows, 0, weights);
	for (size_t k = 0; k < 64; k++)
		ck_assert_double_eq(weights[k], 4. * k + 3); /* (2k + 1) + (2k + 2) */
}
END_TEST

START_TEST(count_never_exceeds_its_maximum)
{
	for (size_t i = 0; i < 100000; i++) {
		add_slices(1, 1);
		ck_assert_uint_le(windows__count(windows), WINDOWS_MAX);
		ck_assert(i < WINDOWS_MAX || windows__count(windows) >= WINDOWS_MAX / 2);
	}
	ck_assert_uint_eq(windows__rows(windows), 2);
}
END_TEST

/* At any stride: 10 slices before, 70 (merged once), 1000 (five times). */
START_TEST(a_late_row_was_zero_before)
{
	static const size_t before[] = {0, 10, 64, 70, 1000};
	double weights[WINDOWS_MAX], late[41] = {0};
	size_t count;

	late[40] = 7;
	add_slices(1, before[_i]);
	ck_assert_int_eq(windows__add(windows, late, COUNT(late)), 0);
	count = windows__count(windows);
	ck_assert_uint_eq(windows__rows(windows), COUNT(late));
	windows__row(windows, 40, weights);
	for (size_t k = 0; k + 1 < count; k++)
		ck_assert_double_eq(weights[k], 0);
	ck_assert_double_eq(weights[count - 1], 7);
	ck_assert_double_eq(row_sum(1), before[_i]);
}
END_TEST

START_TEST(a_slice_may_have_fewer_rows_than_one_before)
{
	add_slices(1, 3);
	ck_assert_int_eq(windows__add(windows, (double[]){5}, 1), 0);
	ck_assert_int_eq(windows__add(windows, NULL, 0), 0);
	ck_assert_uint_eq(windows__rows(windows), 2);
	ck_assert_uint_eq(windows__count(windows), 5);
	ck_assert_double_eq(row_sum(0), 11);
	ck_assert_double_eq(row_sum(1), 3);
}
END_TEST

START_TEST(an_unknown_row_is_zero)
{
	add_slices(1, 5);
	ck_assert_double_eq(row_sum(2), 0);
	ck_assert_double_eq(row_sum((size_t)-1), 0);
}
END_TEST

START_TEST(row_writes_no_further_than_count)
{
	double weights[4] = {-1, -1, -1, -1};

	windows__row(windows, 0, weights);
	ck_assert_double_eq(weights[0], -1);
	add_slices(1, 3);
	windows__row(windows, 0, weights);
	windows__row(windows, 99, weights);
	ck_assert_double_eq(weights[3], -1);
}
END_TEST

START_TEST(too_many_rows_add_nothing)
{
	const double weight = 1;

	add_slices(1, 64);
	ck_assert_int_lt(windows__add(windows, &weight, (size_t)-1 / 8), 0);
	ck_assert_uint_eq(windows__count(windows), 64);
	ck_assert_uint_eq(windows__stride(windows), 1);
	ck_assert_double_eq(row_sum(1), 64);
}
END_TEST

/* Sums that are handed over only where a window ends are the same as slice by slice. */
START_TEST(slices_without_weights_may_leave_theirs_to_the_last_of_the_window)
{
	struct windows *whole = windows__new();
	double kept = 0, one = 1, a[WINDOWS_MAX], b[WINDOWS_MAX];
	size_t i, window;

	for (i = 0; i < 1000; i++) {
		bool last = windows__left(windows) == 1;

		ck_assert_uint_ge(windows__left(windows), 1);
		kept += 1;
		ck_assert_int_eq(windows__add(windows, last ? &kept : NULL, last), 0);
		ck_assert_int_eq(windows__add(whole, &one, 1), 0);
		if (!last)
			continue;
		kept = 0;
		ck_assert_uint_eq(windows__count(windows), windows__count(whole));
		windows__row(windows, 0, a);
		windows__row(whole, 0, b);
		for (window = 0; window < windows__count(whole); window++)
			ck_assert_double_eq(a[window], b[window]);
	}
	windows__free(whole);
}
END_TEST

START_TEST(free_accepts_null)
{
	windows__free(NULL);
}
END_TEST

Suite *windows_suite(void)
{
	Suite *suite = suite_create("windows");
	TCase *tcase = tcase_create("windows");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, count_and_stride_follow_from_the_number_of_slices, 0,
			    COUNT(lengths));
	tcase_add_test(tcase, merging_conserves_sums_after_every_slice);
	tcase_add_test(tcase, merging_keeps_slices_in_order);
	tcase_add_test(tcase, count_never_exceeds_its_maximum);
	tcase_add_loop_test(tcase, a_late_row_was_zero_before, 0, 5);
	tcase_add_test(tcase, a_slice_may_have_fewer_rows_than_one_before);
	tcase_add_test(tcase, an_unknown_row_is_zero);
	tcase_add_test(tcase, row_writes_no_further_than_count);
	tcase_add_test(tcase, too_many_rows_add_nothing);
	tcase_add_test(tcase, slices_without_weights_may_leave_theirs_to_the_last_of_the_window);
	tcase_add_test(tcase, free_accepts_null);
	suite_add_tcase(suite, tcase);
	return suite;
}
