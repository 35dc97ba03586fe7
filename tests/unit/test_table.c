// SPDX-License-Identifier: MIT
/* What a process publishes, right and wrong; every field of a descriptor is somebody else's word.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "suites.h"
#include "table.h"

#define DESCRIPTOR 0x10000u
#define SLOTS	   0x7f0000000000u
#define LABELS	   0x20000u
#define RETIRED	   0x40000u
#define SLOT_COUNT 3
#define OWN_PID	   42

static struct tsn_process process;
static struct tsn_slot_full slots[SLOT_COUNT];
static struct tsn_label labels[TSN_LABELS_MAX];
static uint64_t retired[TSN_LABELS_MAX];
static struct memory memory;
static struct remote remote;
static struct table table;

static void label_set(unsigned id, uint32_t kind, const char *name, uint32_t base, uint32_t arity)
{
	labels[id] = (struct tsn_label){.kind = kind, .base = base, .arity = arity};
	strncpy(labels[id].name, name, sizeof(labels[id].name));
}

static void setup(void)
{
	memset(&memory, 0, sizeof(memory));
	memset(slots, 0, sizeof(slots));
	memset(labels, 0, sizeof(labels));
	memset(retired, 0, sizeof(retired));
	memset(&table, 0, sizeof(table));
	process = (struct tsn_process){
		.magic = TSN_MAGIC,
		.version = TSN_ABI_VERSION,
		.size = sizeof(process),
		.state = TSN_STATE_READY,
		.pid = OWN_PID,
		.slots = SLOTS,
		.slots_max = TSN_SLOTS_MAX,
		.slot_stride = TSN_SLOT_STRIDE,
		.slots_used = SLOT_COUNT,
		.labels_count = 5,
		.labels = LABELS,
		.labels_max = TSN_LABELS_MAX,
		.label_stride = sizeof(struct tsn_label),
		.retired = RETIRED,
	};
	label_set(1, TSN_KIND_FINE, "parse", 1, 0);
	label_set(2, TSN_KIND_FINE, "level", 2, 2);
	label_set(3, TSN_KIND_FINE, "level", 2, 2);
	label_set(4, TSN_KIND_IDLE, "poll", 4, 0);
	memory_map(&memory, DESCRIPTOR, &process, sizeof(process));
	memory_map(&memory, SLOTS, slots, sizeof(slots));
	memory_map(&memory, LABELS, labels, sizeof(labels));
	memory_map(&memory, RETIRED, retired, sizeof(retired));
	remote = memory_remote(&memory);
}

START_TEST(a_sound_table_gives_its_names)
{
	ck_assert_int_eq(table__open(&table, &remote, DESCRIPTOR, OWN_PID), 0);
	ck_assert_uint_eq(table.label_count, 5);
	ck_assert_str_eq(table.labels[1].name, "parse");
	ck_assert_str_eq(table.labels[2].name, "level[0]");
	ck_assert_str_eq(table.labels[3].name, "level[1]");
	ck_assert_uint_eq(table.labels[4].kind, TSN_KIND_IDLE);
	ck_assert_uint_eq(table.distrusted, 0);
}
END_TEST

#define FIELD(name, value, result)                                                             \
	{                                                                                      \
#name, offsetof(struct tsn_process, name), sizeof(process.name), value, result \
	}

static const struct {
	const char *name;
	size_t offset, size;
	uint64_t value;
	int result;
} lies[] = {
	FIELD(magic, 0, -EINVAL),
	FIELD(version, TSN_ABI_VERSION + 1, -EINVAL),
	FIELD(size, sizeof(struct tsn_process) - 1, -EINVAL),
	FIELD(state, TSN_STATE_VOID, -EAGAIN),
	FIELD(state, 3, -EINVAL),
	FIELD(pid, OWN_PID + 1, -ESTALE),
	FIELD(slots, 0, -EINVAL),
	FIELD(slots, UINT64_MAX, -EINVAL),
	FIELD(slots_max, 0, -EINVAL),
	FIELD(slots_max, TSN_SLOTS_MAX + 1, -EINVAL),
	FIELD(slots_max, UINT32_MAX, -EINVAL),
	FIELD(slot_stride, 0, -EINVAL),
	FIELD(slot_stride, TSN_SLOT_STRIDE - 64, -EINVAL),
	FIELD(slots_used, TSN_SLOTS_MAX + 1, -EINVAL),
	FIELD(labels_count, 0, -EINVAL),
	FIELD(labels_count, TSN_LABELS_MAX + 1, -EINVAL),
	FIELD(labels_max, UINT32_MAX, -EINVAL),
	FIELD(label_stride, 0, -EINVAL),
	FIELD(labels, 0, -EINVAL),
	FIELD(labels, UINT64_MAX - 8, -EINVAL),
	FIELD(labels, 0x999000, -EFAULT),
	FIELD(retired, 0, -EINVAL),
};

START_TEST(a_descriptor_that_lies_is_refused)
{
	memcpy((char *)&process + lies[_i].offset, &lies[_i].value, lies[_i].size);
	ck_assert_msg(table__open(&table, &remote, DESCRIPTOR, OWN_PID) == lies[_i].result,
		      "%s = %llu", lies[_i].name, (unsigned long long)lies[_i].value);
}
END_TEST

START_TEST(a_followers_descriptor_leads_to_the_leaders)
{
	struct tsn_process follower = {.magic = TSN_MAGIC,
				       .version = TSN_ABI_VERSION,
				       .size = sizeof(follower),
				       .state = TSN_STATE_FOLLOWER,
				       .leader = DESCRIPTOR};

	memory_map(&memory, 0x90000, &follower, sizeof(follower));
	ck_assert_int_eq(table__open(&table, &remote, 0x90000, OWN_PID), 0);
	ck_assert_uint_eq(table.address, DESCRIPTOR);
	follower.leader = 0x90000; /* itself: no loop */
	ck_assert_int_eq(table__open(&table, &remote, 0x90000, OWN_PID), -EINVAL);
	follower.leader = 8;
	ck_assert_int_eq(table__open(&table, &remote, 0x90000, OWN_PID), -EFAULT);
}
END_TEST

static const struct tsn_label nonsense[] = {
	{.kind = TSN_KIND_NONE, .base = 1, .name = "none"},
	{.kind = TSN_KIND_COARSE + 1, .base = 1, .name = "kind"},
	{.kind = TSN_KIND_FINE, .base = 1, .name = ""},
	{.kind = TSN_KIND_FINE, .base = 2, .name = "base beyond itself"},
	{.kind = TSN_KIND_FINE, .base = 0, .arity = 1, .name = "row beyond the family"},
	/* No NUL: all of it is name. */
	{.kind = TSN_KIND_FINE,
	 .base = 1,
	 .name = "0123456789012345678901234567890123456789012345678901234567890123"},
};

START_TEST(a_label_that_makes_no_sense_is_counted_and_shown_by_its_id)
{
	labels[1] = nonsense[_i];
	ck_assert_int_eq(table__open(&table, &remote, DESCRIPTOR, OWN_PID), 0);
	ck_assert_uint_eq(table.distrusted, 1);
	ck_assert_str_eq(table.labels[1].name, "#1");
	ck_assert_str_eq(table.labels[2].name, "level[0]");
}
END_TEST

START_TEST(labels_registered_later_are_read_and_no_table_moves)
{
	ck_assert_int_eq(table__open(&table, &remote, DESCRIPTOR, OWN_PID), 0);
	label_set(5, TSN_KIND_FINE, "late", 5, 0);
	process.labels_count = 6;
	ck_assert_int_eq(table__refresh(&table, &remote), 0);
	ck_assert_str_eq(table.labels[5].name, "late");
	process.slots += 64;
	ck_assert_int_eq(table__refresh(&table, &remote), -EINVAL);
}
END_TEST

START_TEST(calls_are_those_of_the_retired_and_of_all_slots)
{
	struct table_calls calls;

	retired[0] = 99; /* id 0 is no label */
	retired[1] = 9;
	slots[0].counts[1] = 7;
	slots[2].counts[1] = 7;
	slots[2].counts[4] = 5;
	slots[1].counts[5] = 1000; /* not a label yet */
	ck_assert_int_eq(table__open(&table, &remote, DESCRIPTOR, OWN_PID), 0);
	ck_assert_int_eq(table__read_calls(&table, &remote, &calls), 0);
	ck_assert_uint_eq(calls.calls[0], 0);
	ck_assert_uint_eq(calls.calls[1], 23);
	ck_assert_uint_eq(calls.callers[1], 2);
	ck_assert_uint_eq(calls.calls[4], 5);
	ck_assert_uint_eq(calls.calls[5], 0);
}
END_TEST

START_TEST(calls_read_while_a_thread_folds_its_own_are_marked)
{
	struct table_calls calls;

	retired[1] = 23;
	process.folds_begun = 1;
	ck_assert_int_eq(table__open(&table, &remote, DESCRIPTOR, OWN_PID), 0);
	ck_assert_int_eq(table__read_calls(&table, &remote, &calls), -EAGAIN);
	ck_assert_uint_eq(calls.calls[1], 23);
}
END_TEST

START_TEST(slots_that_are_not_mapped_fail_the_reading_and_leave_the_sums)
{
	struct table_calls calls = {.calls = {0, 5}};

	process.slots_used = SLOT_COUNT + 1;
	ck_assert_int_eq(table__open(&table, &remote, DESCRIPTOR, OWN_PID), 0);
	ck_assert_int_eq(table__read_calls(&table, &remote, &calls), -EFAULT);
	ck_assert_uint_eq(calls.calls[1], 5);
}
END_TEST

START_TEST(a_range_that_wraps_around_is_refused)
{
	char byte;

	ck_assert_int_eq(remote__read(&remote, UINT64_MAX, &byte, 2), -EFAULT);
	ck_assert_int_eq(remote__gather(&remote, 8, UINT64_MAX / 2, 1, 4, &byte), -EFAULT);
	ck_assert_int_eq(remote__gather(&remote, 8, 8, 8, 0, &byte), 0);
}
END_TEST

Suite *table_suite(void)
{
	Suite *suite = suite_create("table");
	TCase *tcase = tcase_create("table");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, a_sound_table_gives_its_names);
	tcase_add_loop_test(tcase, a_descriptor_that_lies_is_refused, 0,
			    sizeof(lies) / sizeof(lies[0]));
	tcase_add_test(tcase, a_followers_descriptor_leads_to_the_leaders);
	tcase_add_loop_test(tcase, a_label_that_makes_no_sense_is_counted_and_shown_by_its_id, 0,
			    sizeof(nonsense) / sizeof(nonsense[0]));
	tcase_add_test(tcase, labels_registered_later_are_read_and_no_table_moves);
	tcase_add_test(tcase, calls_are_those_of_the_retired_and_of_all_slots);
	tcase_add_test(tcase, calls_read_while_a_thread_folds_its_own_are_marked);
	tcase_add_test(tcase, slots_that_are_not_mapped_fail_the_reading_and_leave_the_sums);
	tcase_add_test(tcase, a_range_that_wraps_around_is_refused);
	suite_add_tcase(suite, tcase);
	return suite;
}
