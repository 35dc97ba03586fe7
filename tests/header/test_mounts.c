// SPDX-License-Identifier: MIT
#include <pthread.h>

#include "inspect.h"
#include "suites.h"

TSN_FINE(fine, "mounts fine");
TSN_COARSE(request, "mounts request");
TSN_COARSE(job, "mounts job");

#define HEAD (tsn_thread.slot->head)

static pthread_barrier_t step;

static void run(void *(*work)(void *), void *argument)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, work, argument), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

START_TEST(capture_outside_of_everything_is_nothing)
{
	tsn_context_t captured = tsn_capture();

	ck_assert_uint_eq(captured.context, 0);
	ck_assert_uint_eq(captured.coarse, 0);
	tsn_release_thread();
	captured = tsn_capture();
	ck_assert_uint_eq(captured.context, 0);
	{
		TSN_WITH_CONTEXT(captured);
		ck_assert_ptr_null(tsn_thread.slot);
	}
}
END_TEST

static void *work_for(void *data)
{
	tsn_context_t captured = *(tsn_context_t *)data;
	struct tsn_context *context = inspect__context(captured.context);

	{
		TSN_WITH_CONTEXT(captured);
		ck_assert_uint_eq(HEAD.context, captured.context);
		ck_assert_uint_eq(HEAD.coarse, request.id);
		ck_assert_uint_eq(context->holders, 1);
		{
			TSN_SCOPE(job);
			struct tsn_context *inner = inspect__context(HEAD.context);

			ck_assert_uint_eq(inner->depth, 2);
			ck_assert_uint_eq(inner->chain[0], job.id);
			ck_assert_uint_eq(inner->chain[1], request.id);
			ck_assert_uint_eq(inner->tid, HEAD.tid);
		}
		ck_assert_uint_eq(HEAD.context, captured.context);
	}
	ck_assert_uint_eq(HEAD.context, 0);
	ck_assert_uint_eq(HEAD.coarse, 0);
	ck_assert_uint_eq(context->holders, 0);
	ck_assert_uint_eq(context->state, TSN_CONTEXT_OPEN);
	return NULL;
}

START_TEST(captured_context_goes_on_in_another_thread)
{
	tsn_context_t captured;

	{
		TSN_SCOPE(request);
		captured = tsn_capture();
		ck_assert_uint_eq(captured.context, HEAD.context);
		ck_assert_uint_eq(captured.coarse, request.id);
		run(work_for, &captured);
		ck_assert_uint_eq(HEAD.context, captured.context);
	}
	ck_assert_uint_eq(inspect__open(), 0);
	ck_assert_uint_eq(inspect__executions(request.id), 1);
	ck_assert_uint_eq(inspect__executions(job.id), 1);
	ck_assert_uint_eq(inspect__all_violations(), 0);
}
END_TEST

START_TEST(mount_replaces_what_the_thread_was_in)
{
	tsn_context_t nothing = {0, 0, 0}, captured;

	tsn_enter(request);
	captured = tsn_capture();
	{
		TSN_SCOPE(fine);
		TSN_WITH_CONTEXT(nothing);
		ck_assert_uint_eq(HEAD.fine, fine.id);
		ck_assert_uint_eq(HEAD.context, 0);
		ck_assert_uint_eq(HEAD.coarse, 0);
		{
			TSN_SCOPE(job);
			ck_assert_uint_eq(inspect__context(HEAD.context)->depth, 1);
		}
		{
			TSN_WITH_CONTEXT(captured);
			ck_assert_uint_eq(HEAD.context, captured.context);
			ck_assert_uint_eq(HEAD.coarse, request.id);
		}
		ck_assert_uint_eq(HEAD.context, 0);
	}
	ck_assert_uint_eq(HEAD.context, captured.context);
	ck_assert_uint_eq(HEAD.coarse, request.id);
	tsn_exit(request);
	ck_assert_uint_eq(inspect__all_violations(), 0);
}
END_TEST

START_TEST(stale_mount_shows_the_old_execution_and_touches_nothing)
{
	struct tsn_context *context;
	struct tsn_context before;
	tsn_context_t old;

	tsn_enter(request);
	old = tsn_capture();
	tsn_exit(request);
	context = inspect__context(old.context);
	{
		TSN_WITH_CONTEXT(old);
		ck_assert_uint_eq(HEAD.context, old.context);
		ck_assert_uint_eq(HEAD.coarse, request.id);
		ck_assert_uint_eq(context->state, TSN_CONTEXT_FREE);
		ck_assert_uint_eq(context->holders, 0);
		{
			TSN_SCOPE(job);
			ck_assert_uint_eq(inspect__context(HEAD.context)->depth, 1);
		}
		ck_assert_uint_eq(HEAD.context, old.context);
	}
	tsn_enter(job);
	ck_assert_ptr_eq(inspect__context(HEAD.context), context);
	before = *context;
	{
		TSN_WITH_CONTEXT(old);
		ck_assert_uint_eq(HEAD.context, old.context);
		ck_assert_int_eq(memcmp(context, &before, sizeof(before)), 0);
	}
	ck_assert_int_eq(memcmp(context, &before, sizeof(before)), 0);
	tsn_exit(job);
	ck_assert_uint_eq(inspect__all_violations(), 0);
}
END_TEST

static void *hold(void *data)
{
	TSN_WITH_CONTEXT(*(tsn_context_t *)data);
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	ck_assert_uint_eq(HEAD.context, ((tsn_context_t *)data)->context);
	return NULL;
}

START_TEST(context_is_not_used_again_while_mounted)
{
	struct tsn_context *context;
	tsn_context_t captured;
	pthread_t thread;
	int i;

	pthread_barrier_init(&step, NULL, 2);
	tsn_enter(request);
	captured = tsn_capture();
	context = inspect__context(captured.context);
	ck_assert_int_eq(pthread_create(&thread, NULL, hold, &captured), 0);
	pthread_barrier_wait(&step);
	tsn_exit(request);
	ck_assert_uint_eq(context->state, TSN_CONTEXT_CLOSED);
	for (i = 0; i < 2 * TSN_CONTEXTS_MAX; i++) {
		TSN_SCOPE(job);
		ck_assert_ptr_ne(inspect__context(HEAD.context), context);
	}
	ck_assert_uint_eq(context->generation, captured.context >> 32);
	ck_assert_uint_eq(context->chain[0], request.id);
	/* The execution is over, but its context may still be mounted. */
	{
		TSN_WITH_CONTEXT(captured);
		ck_assert_uint_eq(context->holders, 2);
	}
	ck_assert_uint_eq(context->state, TSN_CONTEXT_CLOSED);
	pthread_barrier_wait(&step);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(context->state, TSN_CONTEXT_FREE);
	ck_assert_uint_eq(context->holders, 0);
	ck_assert_uint_eq(inspect__executions(request.id), 1);
}
END_TEST

static void *report(void *data)
{
	tsn_context_t captured = tsn_capture();

	*(tsn_context_t *)data = captured;
	return data;
}

START_TEST(new_thread_works_for_what_its_creator_works_for)
{
	tsn_context_t seen = {1, 1, 1};
	pthread_t thread;
	void *result = NULL;

	ck_assert_int_eq(tsn_pthread_create(&thread, NULL, report, &seen), 0);
	ck_assert_int_eq(pthread_join(thread, &result), 0);
	ck_assert_ptr_eq(result, &seen);
	ck_assert_uint_eq(seen.context, 0);
	{
		TSN_SCOPE(request);
		ck_assert_int_eq(tsn_pthread_create(&thread, NULL, report, &seen), 0);
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
		ck_assert_uint_eq(seen.context, HEAD.context);
		ck_assert_uint_eq(seen.coarse, request.id);
		ck_assert_uint_eq(inspect__context(seen.context)->holders, 0);
	}
	ck_assert_uint_eq(inspect__all_violations(), 0);
}
END_TEST

static void *exit_while_mounted(void *unused)
{
	pthread_exit(unused);
}

START_TEST(thread_that_exits_lets_go_of_what_it_mounted)
{
	pthread_t thread;

	TSN_SCOPE(request);
	ck_assert_int_eq(tsn_pthread_create(&thread, NULL, exit_while_mounted, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_uint_eq(inspect__context(HEAD.context)->holders, 0);
	ck_assert_uint_eq(inspect__all_violations(), 0);
}
END_TEST

/* One thread publishes what it is in, the others mount it, sound, closed or used again. */
static tsn_context_t published;
static int publishing;

static void *mount_often(void *unused)
{
	tsn_context_t captured;

	while (__atomic_load_n(&publishing, __ATOMIC_ACQUIRE)) {
		captured.context = __atomic_load_n(&published.context, __ATOMIC_RELAXED);
		captured.coarse = request.id;
		captured.reserved = 0;
		TSN_WITH_CONTEXT(captured);
		{
			TSN_SCOPE(job);
		}
		ck_assert_uint_eq(HEAD.context, captured.context);
	}
	return unused;
}

START_TEST(mounts_race_with_the_end_of_executions)
{
	const int executions = 200000;
	pthread_t threads[3];
	uint32_t i;
	int n;

	publishing = 1;
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, mount_often, NULL), 0);
	for (n = 0; n < executions; n++) {
		TSN_SCOPE(request);
		__atomic_store_n(&published.context, HEAD.context, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&publishing, 0, __ATOMIC_RELEASE);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(inspect__executions(request.id), executions);
	ck_assert_uint_eq(inspect__executions(job.id), inspect__calls(job.id));
	ck_assert_uint_eq(inspect__all_violations(), 0);
	/* Every one is free, and there is not one twice. */
	for (i = 1; i < inspect__process()->contexts_used; i++) {
		ck_assert_uint_eq(inspect__context(i)->state, TSN_CONTEXT_FREE);
		ck_assert_uint_eq(inspect__context(i)->holders, 0);
	}
	tsn_contexts_spill(tsn_thread.slot, 0);
	ck_assert_uint_eq(tsn_pool.free >> 16 & 0xffff, inspect__process()->contexts_used - 1);
	for (i = 1; i < inspect__process()->contexts_used; i++)
		ck_assert_uint_ne(tsn_contexts_pop(), 0);
	ck_assert_uint_eq(tsn_contexts_pop(), 0);
}
END_TEST

static void register_thread(void)
{
	TSN_SCOPE_N(fine, 0);
}

TCase *mounts__tcase(void)
{
	TCase *tcase = tcase_create("mounts");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, register_thread, NULL);
	tcase_add_test(tcase, capture_outside_of_everything_is_nothing);
	tcase_add_test(tcase, captured_context_goes_on_in_another_thread);
	tcase_add_test(tcase, mount_replaces_what_the_thread_was_in);
	tcase_add_test(tcase, stale_mount_shows_the_old_execution_and_touches_nothing);
	tcase_add_test(tcase, context_is_not_used_again_while_mounted);
	tcase_add_test(tcase, new_thread_works_for_what_its_creator_works_for);
	tcase_add_test(tcase, thread_that_exits_lets_go_of_what_it_mounted);
	tcase_add_test(tcase, mounts_race_with_the_end_of_executions);
	return tcase;
}
