// SPDX-License-Identifier: MIT
#include <pthread.h>

#include "inspect.h"
#include "suites.h"

#define STACK_SIZE (64 * 1024)

TSN_FINE(counted, "threads counted");
TSN_FINE(late, "threads late");

static pthread_t start(void *(*run)(void *), void *argument)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	ck_assert_int_eq(pthread_create(&thread, &attributes, run, argument), 0);
	pthread_attr_destroy(&attributes);
	return thread;
}

static void start_and_join(void *(*run)(void *), void *argument)
{
	ck_assert_int_eq(pthread_join(start(run, argument), NULL), 0);
}

static void *call(void *calls)
{
	uintptr_t i;

	for (i = 0; i < (uintptr_t)calls; i++) {
		TSN_SCOPE(counted);
	}
	return NULL;
}

START_TEST(calls_of_threads_that_exited_are_exact)
{
	start_and_join(call, (void *)10);
	ck_assert_uint_eq(inspect__retired(counted.id), 10);
	start_and_join(call, (void *)8);
	call((void *)5);
	ck_assert_uint_eq(inspect__retired(counted.id), 18);
	ck_assert_uint_eq(inspect__calls(counted.id), 23);
	ck_assert_uint_eq(inspect__claimed(), 1);
	ck_assert_uint_eq(inspect__process()->folds_begun, 2);
	ck_assert_uint_eq(inspect__process()->folds_done, 2);
}
END_TEST

START_TEST(slot_of_an_exited_thread_is_used_again)
{
	uint32_t generation;

	call((void *)1);
	start_and_join(call, (void *)1);
	ck_assert_uint_eq(inspect__process()->slots_used, 2);
	generation = inspect__slot(1)->head.generation;
	start_and_join(call, (void *)1);
	ck_assert_uint_eq(inspect__process()->slots_used, 2);
	ck_assert_uint_eq(inspect__slot(1)->head.generation, generation + 1);
}
END_TEST

START_TEST(released_thread_registers_again)
{
	call((void *)11);
	ck_assert_uint_eq(inspect__claimed(), 1);
	tsn_release_thread();
	ck_assert_uint_eq(inspect__claimed(), 0);
	ck_assert_uint_eq(inspect__retired(counted.id), 11);
	tsn_release_thread();
	call((void *)12);
	ck_assert_uint_eq(inspect__claimed(), 1);
	ck_assert_uint_eq(inspect__calls(counted.id), 23);
}
END_TEST

START_TEST(release_inside_a_scope_is_harmless)
{
	{
		TSN_SCOPE(counted);
		tsn_release_thread();
	}
	{
		TSN_SCOPE(counted);
		tsn_release_thread();
		call((void *)1);
	}
	ck_assert_uint_eq(tsn_thread.slot->head.fine, 0);
	ck_assert_uint_eq(inspect__calls(counted.id), 3);
}
END_TEST

static void *own_tid(void *tid)
{
	call((void *)1);
	*(uint32_t *)tid = (uint32_t)tsn_syscall(SYS_gettid);
	ck_assert_uint_eq(tsn_thread.slot->head.tid, *(uint32_t *)tid);
	ck_assert_uint_eq(tsn_thread.slot->head.flags, TSN_SLOT_CLAIMED);
	ck_assert_int_eq(inspect__process()->tls_offset, tsn_tls_offset());
	return NULL;
}

START_TEST(slot_names_its_owner)
{
	uint32_t tid = 0;

	start_and_join(own_tid, &tid);
	ck_assert_uint_ne(tid, 0);
	ck_assert_uint_eq(inspect__violations(TSN_VIOLATION_TLS), 0);
}
END_TEST

static void use_late(void *unused)
{
	(void)unused;
	TSN_SCOPE(late);
}

static void *leave_a_destructor(void *key)
{
	call((void *)1);
	pthread_setspecific(*(pthread_key_t *)key, key);
	return NULL;
}

START_TEST(labels_in_a_thread_destructor_are_counted_and_released)
{
	pthread_key_t key; /* made after the header's, so destroyed after it */

	ck_assert_int_eq(pthread_key_create(&key, use_late), 0);
	start_and_join(leave_a_destructor, &key);
	ck_assert_uint_eq(inspect__retired(late.id), 1);
	ck_assert_uint_eq(inspect__retired(counted.id), 1);
	ck_assert_uint_eq(inspect__claimed(), 0);
}
END_TEST

/* Ends without the C library noticing, so that no destructor runs. */
static void *die(void *calls)
{
	call(calls);
	tsn_syscall(SYS_exit, 0);
	return NULL;
}

START_TEST(slot_of_a_thread_that_died_is_reclaimed)
{
	struct tsn_process *process = inspect__process();
	uint32_t i;

	start_and_join(die, (void *)23);
	ck_assert_uint_eq(inspect__claimed(), 1);
	ck_assert_uint_eq(inspect__retired(counted.id), 0);
	/* All others are taken, by a thread that lives. */
	for (i = 1; i < TSN_SLOTS_MAX; i++)
		inspect__slot(i)->head.tid = (uint32_t)tsn_syscall(SYS_getpid);
	process->slots_used = TSN_SLOTS_MAX;
	start_and_join(call, (void *)7);
	ck_assert_uint_eq(inspect__retired(counted.id), 30);
	ck_assert_uint_eq(inspect__claimed(), TSN_SLOTS_MAX - 1);
	ck_assert_uint_eq(inspect__all_violations(), 0);
}
END_TEST

#define EXTRA 5
#define CALLS 3

static struct {
	pthread_mutex_t lock;
	pthread_cond_t arrived;
	pthread_cond_t go;
	unsigned waiting;
	unsigned leaving; /* threads that may go */
	unsigned refused;
} crowd = {.lock = PTHREAD_MUTEX_INITIALIZER,
	   .arrived = PTHREAD_COND_INITIALIZER,
	   .go = PTHREAD_COND_INITIALIZER};

static void *stand_in_crowd(void *number)
{
	call((void *)CALLS);
	tsn_enter(counted);
	tsn_exit(counted);
	pthread_mutex_lock(&crowd.lock);
	crowd.refused += tsn_thread.slot == NULL;
	crowd.waiting++;
	pthread_cond_signal(&crowd.arrived);
	while (crowd.leaving <= (uintptr_t)number)
		pthread_cond_wait(&crowd.go, &crowd.lock);
	pthread_mutex_unlock(&crowd.lock);
	return NULL;
}

static void let_go(unsigned leaving)
{
	pthread_mutex_lock(&crowd.lock);
	crowd.leaving = leaving;
	pthread_cond_broadcast(&crowd.go);
	pthread_mutex_unlock(&crowd.lock);
}

START_TEST(more_threads_than_slots_are_counted_losses)
{
	static pthread_t threads[TSN_SLOTS_MAX + EXTRA];
	const unsigned all = TSN_SLOTS_MAX + EXTRA;
	uintptr_t i;

	/* One at a time, so that it is the last who find the table full. */
	for (i = 0; i < all; i++) {
		threads[i] = start(stand_in_crowd, (void *)i);
		pthread_mutex_lock(&crowd.lock);
		while (crowd.waiting <= i)
			pthread_cond_wait(&crowd.arrived, &crowd.lock);
		pthread_mutex_unlock(&crowd.lock);
	}
	ck_assert_uint_eq(crowd.refused, EXTRA);
	ck_assert_uint_eq(inspect__violations(TSN_VIOLATION_SLOTS_FULL), EXTRA);
	ck_assert_uint_eq(inspect__process()->calls_lost, EXTRA * (CALLS + 1));
	ck_assert_uint_eq(inspect__calls(counted.id), TSN_SLOTS_MAX * (CALLS + 1));
	/* This thread is refused, twice if it looks, but complains once. */
	call((void *)1);
	tsn_leader.releases++;
	tsn_enter(counted);
	ck_assert_ptr_null(tsn_thread.slot);
	ck_assert_uint_eq(inspect__violations(TSN_VIOLATION_SLOTS_FULL), EXTRA + 1);
	/* It asks again because a slot has become free. A pair that was opened before has no part
	 * in it. */
	let_go(1);
	pthread_join(threads[0], NULL);
	call((void *)1);
	ck_assert_ptr_nonnull(tsn_thread.slot);
	tsn_exit(counted);
	ck_assert_uint_eq(inspect__process()->calls_lost, EXTRA * (CALLS + 1) + 2);
	let_go(all);
	for (i = 1; i < all; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(inspect__claimed(), 1);
	ck_assert_uint_eq(inspect__calls(counted.id), TSN_SLOTS_MAX * (CALLS + 1) + 1);
	ck_assert_uint_eq(inspect__violations(TSN_VIOLATION_SLOTS_FULL), EXTRA + 1);
	ck_assert_uint_eq(inspect__violations(TSN_VIOLATION_MISMATCH), 0);
}
END_TEST

/* Claims, releases and registrations all at once. */
static void *churn(void *unused)
{
	int i;

	for (i = 0; i < 500; i++) {
		call((void *)1);
		tsn_release_thread();
		tsn_register_fine("threads churned");
	}
	return unused;
}

START_TEST(threads_that_come_and_go_at_once_lose_nothing)
{
	pthread_t threads[8];
	int i;

	for (i = 0; i < 8; i++)
		threads[i] = start(churn, NULL);
	for (i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(inspect__retired(counted.id), 8 * 500);
	ck_assert_uint_eq(inspect__process()->folds_begun, inspect__process()->folds_done);
	ck_assert_uint_eq(inspect__claimed(), 0);
	ck_assert_uint_eq(inspect__all_violations(), 0);
}
END_TEST

TCase *threads__tcase(void)
{
	TCase *tcase = tcase_create("threads");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, calls_of_threads_that_exited_are_exact);
	tcase_add_test(tcase, slot_of_an_exited_thread_is_used_again);
	tcase_add_test(tcase, released_thread_registers_again);
	tcase_add_test(tcase, release_inside_a_scope_is_harmless);
	tcase_add_test(tcase, slot_names_its_owner);
	tcase_add_test(tcase, labels_in_a_thread_destructor_are_counted_and_released);
	tcase_add_test(tcase, slot_of_a_thread_that_died_is_reclaimed);
	tcase_add_test(tcase, more_threads_than_slots_are_counted_losses);
	tcase_add_test(tcase, threads_that_come_and_go_at_once_lose_nothing);
	return tcase;
}
