// SPDX-License-Identifier: MIT
#include "inspect.h"
#include "suites.h"
#include "throwing.h"

TSN_FINE(outer, "outer");
TSN_FINE(inner, "inner");
TSN_FINE(shared, "shared");

#define NOW() (tsn_thread.slot->head.fine)

START_TEST(scope_restores_what_was_before)
{
	{
		TSN_SCOPE(outer);
		ck_assert_uint_eq(NOW(), outer.id);
		{
			TSN_SCOPE(inner);
			ck_assert_uint_eq(NOW(), inner.id);
		}
		ck_assert_uint_eq(NOW(), outer.id);
	}
	ck_assert_uint_eq(NOW(), 0);
	ck_assert_uint_eq(inspect__calls(outer.id), 1);
	ck_assert_uint_eq(inspect__calls(inner.id), 1);
}
END_TEST

static int leave_by_return(void)
{
	TSN_SCOPE(inner);

	return (int)NOW();
}

START_TEST(scope_ends_however_it_is_left)
{
	int i;

	ck_assert_int_eq(leave_by_return(), (int)inner.id);
	ck_assert_uint_eq(NOW(), 0);
	for (i = 0; i < 3; i++) {
		TSN_SCOPE(inner);
		if (i == 1)
			continue;
		if (i == 2)
			break;
	}
	ck_assert_uint_eq(NOW(), 0);
	{
		TSN_SCOPE(inner);
		goto out;
	}
out:
	ck_assert_uint_eq(NOW(), 0);
	ck_assert_uint_eq(inspect__calls(inner.id), 5);
}
END_TEST

START_TEST(scope_n_counts_n)
{
	uint64_t n[] = {0, 1, 22, UINT64_C(1) << 40};
	unsigned i;

	for (i = 0; i < 4; i++) {
		TSN_SCOPE_N(inner, n[i]);
	}
	ck_assert_uint_eq(inspect__calls(inner.id), 23 + (UINT64_C(1) << 40));
}
END_TEST

START_TEST(id_0_is_outside_every_label)
{
	tsn_fine_t none = {0, 0};

	TSN_SCOPE(outer);
	{
		TSN_SCOPE(none);
		ck_assert_uint_eq(NOW(), 0);
	}
	ck_assert_uint_eq(NOW(), outer.id);
	ck_assert_uint_eq(inspect__all_violations(), 0);
}
END_TEST

START_TEST(exception_restores_the_label)
{
	uint32_t thrown = 0, caught = 23;

	TSN_SCOPE(outer);
	throwing__unwind(&thrown, &caught);
	ck_assert_uint_eq(thrown, 2);
	ck_assert_uint_eq(caught, outer.id);
	ck_assert_uint_eq(inspect__calls(throwing__label().id), 1);
}
END_TEST

START_TEST(c_and_cxx_units_of_a_module_share_all)
{
	ck_assert_ptr_eq(throwing__descriptor(), &tsn_process_descriptor);
	ck_assert_ptr_eq(throwing__thread(), &tsn_thread);
	ck_assert_uint_ne(shared.id, 0);
	ck_assert_uint_eq(throwing__shared().id, shared.id);
}
END_TEST

START_TEST(keep_takes_any_variable)
{
	struct {
		char bytes[100];
	} large = {{1}};
	double number = 23;
	void *pointer = &large;
	char byte = 1;

	TSN_KEEP(large);
	TSN_KEEP(number);
	TSN_KEEP(pointer);
	TSN_KEEP(byte);
	ck_assert(number == 23);
	ck_assert_ptr_eq(pointer, &large);
	ck_assert_int_eq(byte + large.bytes[0] + large.bytes[99], 2);
}
END_TEST

START_TEST(errno_survives_a_first_use)
{
	tsn_release_thread();
	errno = 23;
	{
		TSN_SCOPE(outer);
	}
	ck_assert_int_eq(errno, 23);
}
END_TEST

/* A test starts registered: the fixture is the thread's first use of a label. */
static void register_thread(void)
{
	TSN_SCOPE_N(outer, 0);
}

TCase *scopes__tcase(void)
{
	TCase *tcase = tcase_create("scopes");

	tcase_add_checked_fixture(tcase, register_thread, NULL);
	tcase_add_test(tcase, scope_restores_what_was_before);
	tcase_add_test(tcase, scope_ends_however_it_is_left);
	tcase_add_test(tcase, scope_n_counts_n);
	tcase_add_test(tcase, id_0_is_outside_every_label);
	tcase_add_test(tcase, exception_restores_the_label);
	tcase_add_test(tcase, c_and_cxx_units_of_a_module_share_all);
	tcase_add_test(tcase, keep_takes_any_variable);
	tcase_add_test(tcase, errno_survives_a_first_use);
	return tcase;
}
