// SPDX-License-Identifier: MIT
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include "inspect.h"
#include "suites.h"

TSN_FINE(a, "pair a");
TSN_FINE(b, "pair b");
TSN_FINE(c, "pair c");
TSN_FINE(handled, "pair in handler");

#define HEAD (tsn_thread.slot->head)

static void violated(enum tsn_violation_kind kind, uint64_t count, uint32_t label)
{
	ck_assert_uint_eq(inspect__violations(kind), count);
	ck_assert_uint_eq(inspect__process()->violations[kind].label, label);
	ck_assert_uint_eq(inspect__process()->violations[kind].tid, HEAD.tid);
	ck_assert_uint_eq(inspect__all_violations(), count);
}

START_TEST(pairs_nest_and_restore)
{
	tsn_enter(a);
	tsn_enter(b);
	ck_assert_uint_eq(HEAD.fine, b.id);
	ck_assert_uint_eq(HEAD.depth, 2);
	tsn_exit(b);
	ck_assert_uint_eq(HEAD.fine, a.id);
	tsn_exit(a);
	ck_assert_uint_eq(HEAD.fine, 0);
	ck_assert_int_eq(tsn_expect_balanced(), 0);
	ck_assert_uint_eq(inspect__calls(a.id), 1);
	ck_assert_uint_eq(inspect__all_violations(), 0);
}
END_TEST

START_TEST(exit_of_an_outer_label_unwinds_to_it)
{
	tsn_enter(a);
	tsn_enter(b);
	tsn_enter(c);
	tsn_exit(b);
	violated(TSN_VIOLATION_MISMATCH, 1, b.id);
	ck_assert_uint_eq(HEAD.fine, a.id);
	ck_assert_uint_eq(HEAD.depth, 1);
	tsn_exit(a);
	violated(TSN_VIOLATION_MISMATCH, 1, b.id);
}
END_TEST

START_TEST(exit_of_a_label_that_is_not_open_is_ignored)
{
	tsn_exit(c);
	violated(TSN_VIOLATION_MISMATCH, 1, c.id);
	tsn_enter(a);
	tsn_exit(b);
	violated(TSN_VIOLATION_MISMATCH, 2, b.id);
	ck_assert_uint_eq(HEAD.fine, a.id);
	ck_assert_uint_eq(HEAD.depth, 1);
}
END_TEST

START_TEST(pair_beyond_the_stack_is_counted_and_closed)
{
	int i;

	for (i = 0; i < TSN_STACK_MAX; i++)
		tsn_enter(a);
	ck_assert_uint_eq(inspect__all_violations(), 0);
	tsn_enter(b);
	violated(TSN_VIOLATION_DEPTH, 1, b.id);
	tsn_enter(c);
	violated(TSN_VIOLATION_DEPTH, 2, c.id);
	ck_assert_uint_eq(HEAD.fine, a.id);
	ck_assert_uint_eq(HEAD.depth, TSN_STACK_MAX + 2);
	tsn_exit(c);
	tsn_exit(b);
	for (i = 0; i < TSN_STACK_MAX; i++)
		tsn_exit(a);
	ck_assert_uint_eq(HEAD.depth, 0);
	ck_assert_uint_eq(HEAD.fine, 0);
	ck_assert_uint_eq(inspect__calls(a.id), TSN_STACK_MAX);
	ck_assert_uint_eq(inspect__calls(b.id), 1);
	violated(TSN_VIOLATION_DEPTH, 2, c.id);
}
END_TEST

START_TEST(leak_is_counted_once_and_reset)
{
	tsn_enter(a);
	tsn_enter(b);
	ck_assert_int_eq(tsn_expect_balanced(), -1);
	violated(TSN_VIOLATION_LEAK, 1, b.id);
	ck_assert_uint_eq(HEAD.fine, 0);
	ck_assert_uint_eq(HEAD.depth, 0);
	ck_assert_int_eq(tsn_expect_balanced(), 0);
	violated(TSN_VIOLATION_LEAK, 1, b.id);
}
END_TEST

START_TEST(open_scope_and_hidden_pair_are_leaks)
{
	tsn_fine_t none = {0, 0};

	{
		TSN_SCOPE(c);
		ck_assert_int_eq(tsn_expect_balanced(), -1);
		violated(TSN_VIOLATION_LEAK, 1, c.id);
	}
	tsn_enter(a);
	{
		TSN_SCOPE(none);
		ck_assert_int_eq(tsn_expect_balanced(), -1);
		violated(TSN_VIOLATION_LEAK, 2, a.id);
	}
}
END_TEST

START_TEST(exit_in_an_unregistered_thread_is_a_mismatch)
{
	tsn_release_thread();
	tsn_exit(a);
	violated(TSN_VIOLATION_MISMATCH, 1, a.id);
}
END_TEST

static tsn_saved_t saved;

static void *resume_elsewhere(void *unused)
{
	tsn_resume(saved);
	ck_assert_uint_eq(HEAD.fine, b.id);
	ck_assert_uint_eq(HEAD.depth, 2);
	tsn_exit(b);
	ck_assert_uint_eq(HEAD.fine, a.id);
	tsn_exit(a);
	ck_assert_int_eq(tsn_expect_balanced(), 0);
	return unused;
}

START_TEST(suspended_labels_go_on_in_another_thread)
{
	pthread_t thread;

	tsn_enter(a);
	tsn_enter(b);
	saved = tsn_suspend();
	ck_assert_uint_eq(HEAD.fine, 0);
	ck_assert_uint_eq(HEAD.depth, 0);
	ck_assert_int_eq(tsn_expect_balanced(), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, resume_elsewhere, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_uint_eq(inspect__calls(a.id), 1);
	ck_assert_uint_eq(inspect__calls(b.id), 1);
	ck_assert_uint_eq(inspect__all_violations(), 0);
}
END_TEST

START_TEST(suspend_and_resume_keep_coarse_and_context)
{
	HEAD.coarse = 7;
	HEAD.context = 0x500000009;
	saved = tsn_suspend();
	ck_assert_uint_eq(HEAD.coarse, 0);
	ck_assert_uint_eq(HEAD.context, 0);
	tsn_resume(saved);
	ck_assert_uint_eq(HEAD.coarse, 7);
	ck_assert_uint_eq(HEAD.context, 0x500000009);
}
END_TEST

START_TEST(suspend_of_an_unregistered_thread_is_nothing)
{
	tsn_release_thread();
	saved = tsn_suspend();
	tsn_resume(saved);
	ck_assert_ptr_null(tsn_thread.slot);
}
END_TEST

static volatile sig_atomic_t handlers;

static void handle(int signal)
{
	(void)signal;
	TSN_SCOPE(handled);
	tsn_enter(a);
	tsn_enter(b);
	tsn_exit(b);
	tsn_exit(a);
	handlers++;
}

START_TEST(handler_leaves_no_trace)
{
	struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
	uint64_t pairs = 0, scopes = 0;
	int i;

	signal(SIGALRM, handle);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handlers < 2000) {
		tsn_enter(a);
		tsn_enter(b);
		ck_assert_uint_eq(HEAD.fine, b.id);
		ck_assert_uint_eq(HEAD.depth, 2);
		tsn_exit(b);
		tsn_exit(a);
		ck_assert_uint_eq(HEAD.fine, 0);
		ck_assert_uint_eq(HEAD.depth, 0);
		pairs++;
		/* Interrupted in the middle of counting what the handler counts too. */
		for (i = 0; i < 10000; i++, scopes++) {
			TSN_SCOPE(handled);
		}
	}
	setitimer(ITIMER_REAL, &never, NULL);
	ck_assert_uint_eq(inspect__all_violations(), 0);
#ifdef __x86_64__
	ck_assert_uint_eq(inspect__calls(handled.id), (uint64_t)handlers + scopes);
	ck_assert_uint_eq(inspect__calls(a.id), (uint64_t)handlers + pairs);
	ck_assert_uint_eq(inspect__calls(b.id), (uint64_t)handlers + pairs);
#endif
}
END_TEST

static void register_thread(void)
{
	TSN_SCOPE_N(a, 0);
}

TCase *pairs__tcase(void)
{
	TCase *tcase = tcase_create("pairs");

	tcase_add_checked_fixture(tcase, register_thread, NULL);
	tcase_add_test(tcase, pairs_nest_and_restore);
	tcase_add_test(tcase, exit_of_an_outer_label_unwinds_to_it);
	tcase_add_test(tcase, exit_of_a_label_that_is_not_open_is_ignored);
	tcase_add_test(tcase, pair_beyond_the_stack_is_counted_and_closed);
	tcase_add_test(tcase, leak_is_counted_once_and_reset);
	tcase_add_test(tcase, open_scope_and_hidden_pair_are_leaks);
	tcase_add_test(tcase, exit_in_an_unregistered_thread_is_a_mismatch);
	tcase_add_test(tcase, suspended_labels_go_on_in_another_thread);
	tcase_add_test(tcase, suspend_and_resume_keep_coarse_and_context);
	tcase_add_test(tcase, suspend_of_an_unregistered_thread_is_nothing);
	tcase_add_test(tcase, handler_leaves_no_trace);
	return tcase;
}
