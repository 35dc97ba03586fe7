// SPDX-License-Identifier: MIT
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "inspect.h"
#include "suites.h"

TSN_COARSE(request, "durations request");
TSN_COARSE(other, "durations other");

#define EPOCH (UINT64_C(1) << TSN_DURATION_EPOCH_SHIFT)
#define OWNER ((uint32_t)(tsn_thread.slot - inspect__slot(0)) + 1)

static const struct {
	uint64_t duration;
	uint32_t bucket;
} boundaries[] = {
	{0, 0},
	{1, 1},
	{63, 63},
	{64, 64},
	{65, 65},
	{127, 127},
	{128, 128},
	{129, 128},
	{130, 129},
	{255, 191},
	{256, 192},
	{(UINT64_C(1) << 45) - 1, 2559},
	{UINT64_C(1) << 45, 2559},
	{UINT64_MAX, 2559},
};

START_TEST(duration_has_its_bucket)
{
	ck_assert_uint_eq(tsn_duration_bucket(boundaries[_i].duration), boundaries[_i].bucket);
}
END_TEST

START_TEST(low_end_is_the_first_of_its_bucket)
{
	uint32_t bucket;

	for (bucket = 0; bucket < TSN_DURATION_BUCKETS; bucket++) {
		ck_assert_uint_eq(tsn_duration_bucket(tsn_duration_low(bucket)), bucket);
		if (bucket)
			ck_assert_uint_eq(tsn_duration_bucket(tsn_duration_low(bucket) - 1),
					  bucket - 1);
	}
	ck_assert_uint_eq(tsn_duration_low(TSN_DURATION_BUCKETS), UINT64_C(1) << 45);
}
END_TEST

static void count(uint64_t duration, uint64_t end)
{
	tsn_durations_count(tsn_thread.slot, request.id, duration, end);
}

static uint64_t in_buckets(const struct tsn_durations *block)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < TSN_DURATION_BUCKETS; i++)
		sum += block->buckets[i];
	return sum;
}

START_TEST(durations_are_counted_exactly)
{
	struct tsn_durations *block;

	count(1, EPOCH);
	count(64, EPOCH);
	count(64, EPOCH + 1);
	count(1000000, EPOCH + 2);
	count(5, EPOCH + 3);
	block = inspect__block(request.id, OWNER);
	ck_assert_ptr_nonnull(block);
	ck_assert_uint_eq(block->count, 5);
	ck_assert_uint_eq(block->sum, 1000134);
	ck_assert_uint_eq(in_buckets(block), 5);
	ck_assert_uint_eq(block->buckets[64], 2);
	ck_assert_uint_eq(block->buckets[tsn_duration_bucket(1000000)], 1);
	ck_assert_uint_eq(block->maxima[1].longest, 1000000);
	ck_assert_uint_eq(block->maxima[1].at, EPOCH + 2);
	ck_assert_ptr_null(inspect__block(other.id, OWNER));
}
END_TEST

START_TEST(longest_is_kept_by_epoch)
{
	struct tsn_durations *block;
	uint64_t epoch;

	for (epoch = 4; epoch < 8; epoch++) {
		count(100 * epoch, epoch * EPOCH + 10);
		count(7, epoch * EPOCH + 20);
	}
	block = inspect__block(request.id, OWNER);
	for (epoch = 4; epoch < 8; epoch++) {
		ck_assert_uint_eq(block->maxima[epoch % 4].longest, 100 * epoch);
		ck_assert_uint_eq(block->maxima[epoch % 4].at, epoch * EPOCH + 10);
	}
	/* The fifth takes the place of the first, also if it is shorter; 0 is a duration. */
	count(0, 8 * EPOCH);
	ck_assert_uint_eq(block->maxima[0].longest, 0);
	ck_assert_uint_eq(block->maxima[0].at, 8 * EPOCH);
	ck_assert_uint_eq(block->maxima[1].longest, 500);
}
END_TEST

static uint64_t timed_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* In ns where that is the clock's unit, which it is wherever the counter is not trusted. */
START_TEST(scope_is_timed)
{
	uint64_t begun = timed_ns(), end;
	struct tsn_durations *block;

	{
		struct timespec pause = {0, 20000000};
		TSN_SCOPE(request);
		nanosleep(&pause, NULL);
	}
	end = timed_ns();
	block = inspect__block(request.id, OWNER);
	ck_assert_uint_eq(block->count, 1);
	ck_assert_uint_eq(block->buckets[tsn_duration_bucket(block->sum)], 1);
	ck_assert_uint_eq(block->maxima[0].longest + block->maxima[1].longest +
				  block->maxima[2].longest + block->maxima[3].longest,
			  block->sum);
	if (inspect__process()->clock == TSN_CLOCK_MONOTONIC) {
		ck_assert_uint_ge(block->sum, 20000000);
		ck_assert_uint_le(block->sum, end - begun);
	}
}
END_TEST

static void *count_in_thread(void *durations)
{
	uintptr_t i;

	{
		TSN_SCOPE(other);
	}
	for (i = 1; i <= (uintptr_t)durations; i++)
		count(i, EPOCH + i);
	return NULL;
}

static void run(void *(*work)(void *), uintptr_t argument)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, work, (void *)argument), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

START_TEST(durations_of_threads_that_exited_are_folded)
{
	struct tsn_process *process = inspect__process();
	struct tsn_durations *block;
	uint32_t i;

	run(count_in_thread, 1000);
	block = inspect__block(request.id, 0);
	ck_assert_ptr_nonnull(block);
	ck_assert_uint_eq(block->count, 1000);
	ck_assert_uint_eq(block->sum, 500500);
	ck_assert_uint_eq(in_buckets(block), 1000);
	ck_assert_uint_eq(block->maxima[1].longest, 1000);
	ck_assert_uint_eq(block->maxima[1].at, EPOCH + 1000);
	ck_assert_uint_eq(inspect__block(other.id, 0)->count, 1);
	ck_assert_uint_eq(process->durations_used, 3); /* two of its own, and one more */
	for (i = 0; i < process->durations_used; i++) {
		if (inspect__durations(i)->label)
			continue;
		ck_assert_uint_eq(inspect__durations(i)->count, 0);
		ck_assert_uint_eq(inspect__durations(i)->sum, 0);
		ck_assert_uint_eq(inspect__durations(i)->maxima[1].at, 0);
		ck_assert_uint_eq(in_buckets(inspect__durations(i)), 0);
	}
	ck_assert_uint_eq(process->folds_begun, process->folds_done);
	/* Blocks of threads that are gone serve those that come. */
	for (i = 0; i < 10; i++)
		run(count_in_thread, 2000);
	ck_assert_uint_eq(process->durations_used, 4);
	ck_assert_uint_eq(block->count, 21000);
	ck_assert_uint_eq(block->maxima[1].longest, 2000);
	ck_assert_uint_eq(in_buckets(block), 21000);
	ck_assert_uint_eq(tsn_blocks.own, 0);
}
END_TEST

static void *count_many(void *unused)
{
	uint64_t i;

	tsn_slot_find(0);
	for (i = 0; i < 100000; i++)
		count(i % 1000, (1 + i / 10000) * EPOCH);
	return unused;
}

START_TEST(thread_without_a_block_counts_in_the_shared_one)
{
	struct tsn_durations *block;
	pthread_t threads[4];
	int i;

	tsn_blocks.own = TSN_BLOCKS_OWN_MAX - 1;
	tsn_durations_count(tsn_thread.slot, other.id, 1, 1); /* the last one */
	ck_assert_ptr_nonnull(inspect__block(other.id, OWNER));
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, count_many, NULL), 0);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	count_many(NULL);
	ck_assert_ptr_null(inspect__block(request.id, OWNER));
	block = inspect__block(request.id, 0);
	ck_assert_uint_eq(block->count, 500000);
	ck_assert_uint_eq(block->sum, 500 * UINT64_C(499500));
	ck_assert_uint_eq(in_buckets(block), 500000);
	for (i = 7; i <= 10; i++) {
		ck_assert_uint_eq(block->maxima[i % 4].longest, 999);
		ck_assert_uint_eq(block->maxima[i % 4].at >> TSN_DURATION_EPOCH_SHIFT, i);
	}
	ck_assert_uint_eq(tsn_blocks.own, TSN_BLOCKS_OWN_MAX);
	tsn_release_thread();
	ck_assert_uint_eq(tsn_blocks.own, TSN_BLOCKS_OWN_MAX - 1);
	ck_assert_uint_eq(inspect__block(other.id, 0)->count, 1);
}
END_TEST

static volatile sig_atomic_t handled;

static void handle(int signal)
{
	(void)signal;
	TSN_SCOPE(request);
	tsn_enter(other);
	tsn_exit(other);
	handled++;
}

START_TEST(handler_loses_nothing_of_what_it_interrupts)
{
	struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
	uint64_t scopes = 0;

	signal(SIGALRM, handle);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < 2000) {
		TSN_SCOPE(other);
		{
			TSN_SCOPE(request);
			scopes++;
		}
	}
	setitimer(ITIMER_REAL, &never, NULL);
	ck_assert_uint_eq(tsn_thread.slot->head.context, 0);
	ck_assert_uint_eq(inspect__open(), 0);
	ck_assert_uint_eq(inspect__all_violations(), 0);
#ifdef __x86_64__
	ck_assert_uint_eq(inspect__executions(request.id), scopes + (uint64_t)handled);
	ck_assert_uint_eq(inspect__executions(other.id), scopes + (uint64_t)handled);
	ck_assert_uint_eq(in_buckets(inspect__block(request.id, OWNER)),
			  scopes + (uint64_t)handled);
#endif
	/* No context is lost either. */
	tsn_contexts_spill(tsn_thread.slot, 0);
	ck_assert_uint_eq(tsn_pool.free >> 16 & 0xffff, inspect__process()->contexts_used - 1);
}
END_TEST

static void register_thread(void)
{
	tsn_coarse_t none = {0, 0};
	TSN_SCOPE(none);
}

TCase *durations__tcase(void)
{
	TCase *tcase = tcase_create("durations");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, register_thread, NULL);
	tcase_add_loop_test(tcase, duration_has_its_bucket, 0,
			    sizeof(boundaries) / sizeof(boundaries[0]));
	tcase_add_test(tcase, low_end_is_the_first_of_its_bucket);
	tcase_add_test(tcase, durations_are_counted_exactly);
	tcase_add_test(tcase, longest_is_kept_by_epoch);
	tcase_add_test(tcase, scope_is_timed);
	tcase_add_test(tcase, durations_of_threads_that_exited_are_folded);
	tcase_add_test(tcase, thread_without_a_block_counts_in_the_shared_one);
	tcase_add_test(tcase, handler_loses_nothing_of_what_it_interrupts);
	return tcase;
}
