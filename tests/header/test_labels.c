// SPDX-License-Identifier: MIT
#include <stdio.h>

#include "inspect.h"
#include "suites.h"

TSN_FINE(early, "early");
TSN_FINE_FAMILY(level, "level", 6);
TSN_IDLE(poll, "poll");

static const struct {
	const char *name;
	int error;
} names[] = {
	{NULL, EINVAL},
	{"", EINVAL},
	{"x", 0},
	{"123456789012345678901234567890123456789012345678901234567890123", 0},	       /* 63 */
	{"1234567890123456789012345678901234567890123456789012345678901234", EINVAL},  /* 64 */
	{"12345678901234567890123456789012345678901234567890123456789012345", EINVAL}, /* 65 */
};

START_TEST(name_has_1_to_63_bytes)
{
	tsn_fine_t label;

	errno = 0;
	label = tsn_register_fine(names[_i].name);
	ck_assert_int_eq(errno, names[_i].error);
	if (names[_i].error) {
		ck_assert_uint_eq(label.id, 0);
	} else {
		ck_assert_uint_ne(label.id, 0);
		ck_assert_str_eq(inspect__label(label.id)->name, names[_i].name);
	}
}
END_TEST

START_TEST(constructor_registers_before_main)
{
	ck_assert_uint_ne(early.id, 0);
	ck_assert_str_eq(inspect__label(early.id)->name, "early");
	ck_assert_uint_eq(inspect__label(early.id)->kind, TSN_KIND_FINE);
	ck_assert_uint_eq(inspect__label(early.id)->base, early.id);
	ck_assert_uint_eq(inspect__label(early.id)->arity, 0);
}
END_TEST

START_TEST(idle_label_has_its_kind)
{
	ck_assert_uint_eq(inspect__label(poll.id)->kind, TSN_KIND_IDLE);
	ck_assert_uint_eq(tsn_register_idle("poll").id, poll.id);
}
END_TEST

START_TEST(same_name_has_same_id)
{
	uint32_t count = inspect__process()->labels_count;

	ck_assert_uint_eq(tsn_register_fine("early").id, early.id);
	ck_assert_uint_eq(tsn_register_fine_family("level", 6).id, level.id);
	ck_assert_uint_eq(inspect__process()->labels_count, count);
}
END_TEST

START_TEST(same_name_of_other_kind_or_arity_is_refused)
{
	errno = 0;
	ck_assert_uint_eq(tsn_register_idle("early").id, 0);
	ck_assert_int_eq(errno, EEXIST);
	errno = 0;
	ck_assert_uint_eq(tsn_register_fine_family("level", 5).id, 0);
	ck_assert_int_eq(errno, EEXIST);
	errno = 0;
	ck_assert_uint_eq(tsn_register_fine_family("early", 1).id, 0);
	ck_assert_int_eq(errno, EEXIST);
	/* Counted, so that the recorder can say why the time is in no label. */
	ck_assert_uint_eq(inspect__violations(TSN_VIOLATION_NAME), 3);
	ck_assert_uint_eq(inspect__all_violations(), 3);
	ck_assert_uint_eq(inspect__process()->violations[TSN_VIOLATION_NAME].label, early.id);
}
END_TEST

START_TEST(family_fills_consecutive_entries)
{
	uint32_t row;

	ck_assert_uint_eq(level.arity, 6);
	for (row = 0; row < 6; row++) {
		ck_assert_uint_eq(tsn_at(level, row).id, level.id + row);
		ck_assert_uint_eq(inspect__label(level.id + row)->base, level.id);
		ck_assert_uint_eq(inspect__label(level.id + row)->arity, 6);
		ck_assert_uint_eq(inspect__label(level.id + row)->kind, TSN_KIND_FINE);
		ck_assert_str_eq(inspect__label(level.id + row)->name, "level");
	}
}
END_TEST

START_TEST(index_outside_the_family_is_id_0_and_counted)
{
	ck_assert_uint_eq(tsn_at(level, 6).id, 0);
	ck_assert_uint_eq(tsn_at(level, -1).id, 0);
	ck_assert_uint_eq(tsn_at(level, UINT64_C(1) << 32).id, 0);
	ck_assert_uint_eq(tsn_at(early, 0).id, 0);
	ck_assert_uint_eq(inspect__violations(TSN_VIOLATION_INDEX), 4);
	ck_assert_uint_eq(inspect__process()->violations[TSN_VIOLATION_INDEX].label, early.id);
}
END_TEST

START_TEST(family_without_rows_is_refused)
{
	errno = 0;
	ck_assert_uint_eq(tsn_register_fine_family("rowless", 0).id, 0);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_uint_eq(inspect__find("rowless"), 0);
}
END_TEST

START_TEST(full_table_is_counted_and_harmless)
{
	uint32_t free_ids = TSN_LABELS_MAX - inspect__process()->labels_count;
	tsn_fine_t label;
	char name[32];
	uint32_t i;

	errno = 0;
	ck_assert_uint_eq(tsn_register_fine_family("too many", free_ids + 1).id, 0);
	ck_assert_int_eq(errno, ENOSPC);
	ck_assert_uint_eq(tsn_register_fine_family("far too many", UINT32_MAX).id, 0);
	for (i = 0; i < free_ids; i++) {
		snprintf(name, sizeof(name), "label %u", i);
		ck_assert_uint_ne(tsn_register_fine(name).id, 0);
	}
	ck_assert_uint_eq(inspect__process()->labels_count, TSN_LABELS_MAX);
	errno = 0;
	label = tsn_register_fine("one more");
	ck_assert_uint_eq(label.id, 0);
	ck_assert_int_eq(errno, ENOSPC);
	ck_assert_uint_eq(inspect__violations(TSN_VIOLATION_LABELS_FULL), 3);
	{
		TSN_SCOPE(label);
		tsn_enter(label);
		tsn_exit(label);
	}
	ck_assert_int_eq(tsn_expect_balanced(), 0);
	/* The last id works like any other. */
	label = tsn_register_fine(name);
	ck_assert_uint_eq(label.id, TSN_LABELS_MAX - 1);
	{
		TSN_SCOPE_N(label, 23);
	}
	ck_assert_uint_eq(inspect__calls(label.id), 23);
}
END_TEST

START_TEST(descriptor_is_complete)
{
	struct tsn_process *process = inspect__process();

	ck_assert_uint_eq(process->magic, TSN_MAGIC);
	ck_assert_uint_eq(process->version, TSN_ABI_VERSION);
	ck_assert_uint_eq(process->size, sizeof(*process));
	ck_assert_uint_eq(process->pid, (uint32_t)tsn_syscall(SYS_getpid));
	ck_assert_uint_eq(process->slots % 64, 0);
	ck_assert_uint_eq(process->slots_max, TSN_SLOTS_MAX);
	ck_assert_uint_eq(process->slot_stride, TSN_SLOT_STRIDE);
	ck_assert_uint_eq(process->labels_max, TSN_LABELS_MAX);
	ck_assert_uint_eq(process->label_stride, sizeof(struct tsn_label));
	ck_assert_uint_eq(inspect__label(0)->kind, TSN_KIND_NONE);
	ck_assert_uint_eq(process->contexts_used, 1);
	ck_assert_int_eq(process->tls_offset, tsn_tls_offset());
}
END_TEST

TCase *labels__tcase(void)
{
	TCase *tcase = tcase_create("labels");

	tcase_add_test(tcase, descriptor_is_complete);
	tcase_add_loop_test(tcase, name_has_1_to_63_bytes, 0, sizeof(names) / sizeof(names[0]));
	tcase_add_test(tcase, constructor_registers_before_main);
	tcase_add_test(tcase, idle_label_has_its_kind);
	tcase_add_test(tcase, same_name_has_same_id);
	tcase_add_test(tcase, same_name_of_other_kind_or_arity_is_refused);
	tcase_add_test(tcase, family_fills_consecutive_entries);
	tcase_add_test(tcase, index_outside_the_family_is_id_0_and_counted);
	tcase_add_test(tcase, family_without_rows_is_refused);
	tcase_add_test(tcase, full_table_is_counted_and_harmless);
	return tcase;
}
