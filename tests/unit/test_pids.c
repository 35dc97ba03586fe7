// SPDX-License-Identifier: MIT
/* Lists of process ids as users type them. */
#include <check.h>
#include <errno.h>

#include "pids.h"
#include "suites.h"

#define CAPACITY 3

static const struct {
	const char *text;
	int result;
	size_t count;
	pid_t pids[CAPACITY];
} lists[] = {
	{"", -EINVAL},
	{"0", -EINVAL},
	{"1", 0, 1, {1}},
	{"4194304", 0, 1, {4194304}},
	{"4194305", -EINVAL},
	{"4294967296", -EINVAL},
	{"18446744073709551617", -EINVAL},
	{"-1", -EINVAL},
	{"+1", -EINVAL},
	{" 1", -EINVAL},
	{"33abc", -EINVAL},
	{"0x10", -EINVAL},
	{"1,", -EINVAL},
	{",1", -EINVAL},
	{"1,,2", -EINVAL},
	{"1 2", -EINVAL},
	{"1,2", 0, 2, {1, 2}},
	{"3,2,1", 0, 3, {3, 2, 1}},
	{"1,2,3,4", -E2BIG},
	{"1,2,3,1", 0, 3, {1, 2, 3}},
};

START_TEST(a_list_is_read_whole_or_refused)
{
	pid_t pids[CAPACITY];
	size_t count = 77, i;

	ck_assert_msg(pids__parse(lists[_i].text, pids, CAPACITY, &count) == lists[_i].result,
		      "'%s'", lists[_i].text);
	ck_assert_uint_eq(count, lists[_i].result ? 77 : lists[_i].count);
	for (i = 0; !lists[_i].result && i < count; i++)
		ck_assert_int_eq(pids[i], lists[_i].pids[i]);
}
END_TEST

Suite *pids_suite(void)
{
	Suite *suite = suite_create("pids");
	TCase *tcase = tcase_create("lists");

	tcase_add_loop_test(tcase, a_list_is_read_whole_or_refused, 0,
			    sizeof(lists) / sizeof(lists[0]));
	suite_add_tcase(suite, tcase);
	return suite;
}
