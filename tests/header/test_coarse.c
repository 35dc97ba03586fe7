// SPDX-License-Identifier: MIT
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#include "inspect.h"
#include "suites.h"

TSN_FINE(fine, "coarse fine");
TSN_FINE(finer, "coarse finer");
TSN_COARSE(request, "coarse request");
TSN_COARSE(query, "coarse query");
TSN_COARSE_FAMILY(stage, "coarse stage", 3);

#define HEAD (tsn_thread.slot->head)

static void in_nothing(void)
{
	ck_assert_uint_eq(HEAD.fine, 0);
	ck_assert_uint_eq(HEAD.coarse, 0);
	ck_assert_uint_eq(HEAD.context, 0);
	ck_assert_uint_eq(tsn_thread.slot->levels_open, 0);
	ck_assert_uint_eq(inspect__open(), 0);
}

START_TEST(coarse_label_has_its_kind)
{
	struct tsn_process *process = inspect__process();

	ck_assert_uint_eq(inspect__label(request.id)->kind, TSN_KIND_COARSE);
	ck_assert_uint_eq(tsn_register_coarse("coarse request").id, request.id);
	ck_assert_uint_eq(stage.arity, 3);
	ck_assert_uint_eq(tsn_at(stage, 2).id, stage.id + 2);
	ck_assert_uint_eq(tsn_at(stage, 3).id, 0);
	ck_assert_uint_eq(inspect__violations(TSN_VIOLATION_INDEX), 1);
	errno = 0;
	ck_assert_uint_eq(tsn_register_coarse("coarse fine").id, 0);
	ck_assert_int_eq(errno, EEXIST);
	ck_assert_uint_eq(process->contexts % 64, 0);
	ck_assert_uint_eq(process->contexts_max, TSN_CONTEXTS_MAX);
	ck_assert_uint_eq(process->context_stride, sizeof(struct tsn_context));
	ck_assert_uint_eq(process->durations_max, TSN_DURATIONS_MAX);
	ck_assert_uint_eq(process->durations_stride, TSN_DURATIONS_STRIDE);
	ck_assert(process->clock == TSN_CLOCK_MONOTONIC || process->clock == TSN_CLOCK_TSC);
}
END_TEST

START_TEST(scope_publishes_its_execution)
{
	struct tsn_context *context;
	uint64_t before = tsn_clock_now();

	{
		TSN_SCOPE(request);
		context = inspect__context(HEAD.context);
		ck_assert_uint_eq(HEAD.coarse, request.id);
		ck_assert_uint_ne((uint32_t)HEAD.context, 0);
		ck_assert_uint_lt((uint32_t)HEAD.context, inspect__process()->contexts_used);
		ck_assert_uint_eq(context->generation, HEAD.context >> 32);
		ck_assert_uint_eq(context->state, TSN_CONTEXT_OPEN);
		ck_assert_uint_eq(context->depth, 1);
		ck_assert_uint_eq(context->chain[0], request.id);
		ck_assert_uint_eq(context->tid, HEAD.tid);
		ck_assert_uint_eq(context->parent, 0);
		ck_assert_uint_ge(context->opened, before);
		ck_assert_uint_le(context->opened, tsn_clock_now());
	}
	in_nothing();
	ck_assert_uint_eq(context->state, TSN_CONTEXT_FREE);
	ck_assert_uint_eq(inspect__executions(request.id), 1);
	ck_assert_uint_eq(inspect__calls(request.id), 1);
	ck_assert_uint_eq(inspect__all_violations(), 0);
}
END_TEST

START_TEST(execution_inside_another_has_both_on_its_chain)
{
	uint64_t outer;

	TSN_SCOPE(request);
	outer = HEAD.context;
	{
		TSN_SCOPE(tsn_at(stage, 1));
		struct tsn_context *context = inspect__context(HEAD.context);

		ck_assert_uint_eq(HEAD.coarse, stage.id + 1);
		ck_assert_uint_eq(context->depth, 2);
		ck_assert_uint_eq(context->chain[0], stage.id + 1);
		ck_assert_uint_eq(context->chain[1], request.id);
		ck_assert_uint_eq(context->parent, (uint32_t)outer);
	}
	ck_assert_uint_eq(HEAD.coarse, request.id);
	ck_assert_uint_eq(HEAD.context, outer);
}
END_TEST

START_TEST(fine_and_coarse_are_left_in_any_order)
{
	tsn_enter(fine);
	tsn_enter(request);
	ck_assert_uint_eq(HEAD.fine, fine.id);
	tsn_enter(finer);
	tsn_enter(query);
	ck_assert_uint_eq(HEAD.fine, finer.id);
	ck_assert_uint_eq(HEAD.coarse, query.id);
	tsn_exit(finer);
	ck_assert_uint_eq(HEAD.fine, fine.id);
	ck_assert_uint_eq(HEAD.coarse, query.id);
	tsn_exit(fine);
	tsn_exit(query);
	ck_assert_uint_eq(HEAD.fine, 0);
	ck_assert_uint_eq(HEAD.coarse, request.id);
	{
		TSN_SCOPE(fine);
		tsn_exit(request);
		ck_assert_uint_eq(HEAD.fine, fine.id);
		ck_assert_uint_eq(HEAD.context, 0);
	}
	in_nothing();
	ck_assert_uint_eq(inspect__all_violations(), 0);
}
END_TEST

static void nest(unsigned depth)
{
	TSN_SCOPE(query);
	struct tsn_context *context = inspect__context(HEAD.context);

	ck_assert_uint_eq(context->chain[context->depth - 1], request.id);
	if (depth > 1)
		nest(depth - 1);
	ck_assert_uint_eq(HEAD.coarse, query.id);
}

static const unsigned depths[] = {1, 2, 16, 17, 23, 24, 25, 40};

/* Half of it by scopes: depth 16 is the last that fits. */
START_TEST(chain_is_16_deep)
{
	const unsigned depth = depths[_i];
	unsigned i;

	tsn_enter(request);
	for (i = 1; i < depth; i++) {
		tsn_enter(query);
		ck_assert_uint_eq(inspect__context(HEAD.context)->depth, i < 16 ? i + 1 : 16);
	}
	ck_assert_uint_eq(HEAD.coarse, depth > 1 ? query.id : request.id);
	ck_assert_uint_eq(inspect__violations(TSN_VIOLATION_CHAIN), depth > 16 ? depth - 16 : 0);
	for (i = 1; i < depth; i++)
		tsn_exit(query);
	ck_assert_uint_eq(HEAD.coarse, request.id);
	if (depth < 16) {
		nest(depth);
		ck_assert_uint_eq(HEAD.coarse, request.id);
	}
	tsn_exit(request);
	in_nothing();
	ck_assert_uint_eq(tsn_thread.slot->levels_lost, 0);
	ck_assert_uint_eq(inspect__executions(request.id), 1);
	ck_assert_uint_eq(inspect__executions(query.id),
			  (depth > 16 ? 16 : depth) - 1 + (depth < 16 ? depth : 0));
	ck_assert_uint_eq(inspect__all_violations(), depth > 16 ? depth - 16 : 0);
}
END_TEST

START_TEST(scope_that_is_too_deep_is_harmless)
{
	int i;

	for (i = 0; i < 16; i++)
		tsn_enter(request);
	{
		TSN_SCOPE(query);
		ck_assert_uint_eq(HEAD.coarse, request.id);
	}
	ck_assert_uint_eq(HEAD.coarse, request.id);
	ck_assert_uint_eq(inspect__violations(TSN_VIOLATION_CHAIN), 1);
	ck_assert_uint_eq(inspect__process()->violations[TSN_VIOLATION_CHAIN].label, query.id);
	for (i = 0; i < 16; i++)
		tsn_exit(request);
	in_nothing();
	ck_assert_uint_eq(inspect__executions(request.id), 16);
	ck_assert_uint_eq(inspect__executions(query.id), 0);
}
END_TEST

START_TEST(coarse_id_0_begins_nothing)
{
	tsn_coarse_t none = {0, 0};

	TSN_SCOPE(request);
	{
		TSN_SCOPE(none);
		ck_assert_uint_eq(HEAD.coarse, request.id);
		tsn_enter(none);
		tsn_enter(query);
		tsn_exit(query);
		tsn_exit(none);
		ck_assert_uint_eq(HEAD.coarse, request.id);
	}
	ck_assert_uint_eq(HEAD.coarse, request.id);
	ck_assert_uint_eq(inspect__all_violations(), 0);
	ck_assert_uint_eq(inspect__calls(0), 0);
}
END_TEST

START_TEST(exit_of_an_outer_label_abandons_the_inner_ones)
{
	tsn_enter(request);
	tsn_enter(query);
	{
		TSN_SCOPE(stage);
		tsn_exit(request);
		in_nothing();
	}
	in_nothing();
	ck_assert_uint_eq(inspect__violations(TSN_VIOLATION_MISMATCH), 1);
	ck_assert_uint_eq(inspect__process()->violations[TSN_VIOLATION_MISMATCH].label, request.id);
	ck_assert_uint_eq(inspect__violations(TSN_VIOLATION_ABANDONED), 2);
	ck_assert_uint_eq(inspect__process()->violations[TSN_VIOLATION_ABANDONED].label, query.id);
	ck_assert_uint_eq(inspect__executions(request.id), 1);
	ck_assert_uint_eq(inspect__executions(query.id), 0);
	tsn_exit(query);
	ck_assert_uint_eq(inspect__violations(TSN_VIOLATION_MISMATCH), 2);
	ck_assert_uint_eq(inspect__all_violations(), 4);
}
END_TEST

START_TEST(coarse_label_still_open_is_a_leak)
{
	tsn_enter(fine);
	tsn_enter(request);
	{
		TSN_SCOPE(query);
		ck_assert_int_eq(tsn_expect_balanced(), -1);
		in_nothing();
	}
	in_nothing();
	ck_assert_uint_eq(inspect__violations(TSN_VIOLATION_LEAK), 2);
	ck_assert_uint_eq(inspect__process()->violations[TSN_VIOLATION_LEAK].label, query.id);
	ck_assert_uint_eq(inspect__violations(TSN_VIOLATION_ABANDONED), 2);
	ck_assert_uint_eq(inspect__executions(request.id) + inspect__executions(query.id), 0);
	ck_assert_int_eq(tsn_expect_balanced(), 0);
	ck_assert_uint_eq(inspect__all_violations(), 4);
}
END_TEST

static tsn_saved_t crowd[TSN_CONTEXTS_MAX];

START_TEST(full_pool_is_counted_and_recovers)
{
	unsigned i, most = TSN_CONTEXTS_MAX - 1;

	for (i = 0; i < most; i++) {
		tsn_enter(request);
		ck_assert_uint_ne(HEAD.context, 0);
		crowd[i] = tsn_suspend();
	}
	ck_assert_uint_eq(inspect__open(), most);
	ck_assert_uint_eq(inspect__all_violations(), 0);
	for (i = 0; i < 3; i++) {
		TSN_SCOPE(query);
		ck_assert_uint_eq(HEAD.coarse, 0);
		ck_assert_uint_eq(HEAD.context, 0);
		tsn_enter(query);
		tsn_exit(query);
	}
	ck_assert_uint_eq(inspect__violations(TSN_VIOLATION_CONTEXTS_FULL), 6);
	ck_assert_uint_eq(inspect__process()->violations[TSN_VIOLATION_CONTEXTS_FULL].label,
			  query.id);
	tsn_resume(crowd[0]);
	tsn_exit(request);
	{
		TSN_SCOPE(query);
		ck_assert_uint_eq(HEAD.coarse, query.id);
	}
	for (i = 1; i < most; i++) {
		tsn_resume(crowd[i]);
		tsn_exit(request);
	}
	in_nothing();
	ck_assert_uint_eq(inspect__executions(request.id), most);
	ck_assert_uint_eq(inspect__executions(query.id), 1);
	ck_assert_uint_eq(inspect__all_violations(), 6);
	ck_assert_uint_eq(tsn_pool.scarce, 0);
}
END_TEST

static sem_t arrived, leave;

/* Keeps as many contexts as it can without an execution open. */
static void *hoard(void *unused)
{
	int i;

	for (i = 0; i < 8; i++)
		tsn_enter(query);
	for (i = 0; i < 8; i++)
		tsn_exit(query);
	sem_post(&arrived);
	sem_wait(&leave);
	return unused;
}

START_TEST(contexts_that_idle_threads_keep_are_found)
{
	unsigned i, threads = 8, most = TSN_CONTEXTS_MAX - 1 - threads;
	pthread_t thread[8];

	sem_init(&arrived, 0, 0);
	sem_init(&leave, 0, 0);
	for (i = 0; i < threads; i++) {
		ck_assert_int_eq(pthread_create(&thread[i], NULL, hoard, NULL), 0);
		sem_wait(&arrived);
	}
	for (i = 0; i < most; i++) {
		tsn_enter(request);
		crowd[i] = tsn_suspend();
	}
	ck_assert_uint_eq(inspect__all_violations(), 0);
	for (i = 0; i < threads; i++)
		sem_post(&leave);
	for (i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	/* What they kept for themselves is free now. */
	for (i = most; i < TSN_CONTEXTS_MAX - 1; i++) {
		tsn_enter(request);
		crowd[i] = tsn_suspend();
	}
	ck_assert_uint_eq(inspect__all_violations(), 0);
	ck_assert_uint_eq(inspect__open(), TSN_CONTEXTS_MAX - 1);
}
END_TEST

static void *keep_one(void *unused)
{
	{
		TSN_SCOPE(query);
	}
	sem_post(&arrived);
	sem_wait(&leave);
	return unused;
}

/* Each idle thread keeps a context, which nobody else may take. */
START_TEST(idle_threads_leave_contexts_for_as_many_executions)
{
	enum { THREADS = TSN_SLOTS_MAX - 1 };
	static pthread_t thread[THREADS];
	pthread_attr_t attributes;
	unsigned i;

	sem_init(&arrived, 0, 0);
	sem_init(&leave, 0, 0);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	for (i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], &attributes, keep_one, NULL), 0);
	for (i = 0; i < THREADS; i++)
		sem_wait(&arrived);
	for (i = 0; i < TSN_CONTEXTS_MAX - 1 - THREADS; i++) {
		tsn_enter(request);
		crowd[i] = tsn_suspend();
	}
	ck_assert_uint_eq(inspect__open(), TSN_CONTEXTS_MAX - TSN_SLOTS_MAX);
	ck_assert_uint_eq(inspect__all_violations(), 0);
	for (i = 0; i < THREADS; i++)
		sem_post(&leave);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}
END_TEST

START_TEST(context_is_used_again_with_the_next_generation)
{
	struct tsn_context *context;
	uint64_t first, second;

	tsn_enter(request);
	first = HEAD.context;
	tsn_exit(request);
	tsn_enter(request);
	second = HEAD.context;
	tsn_exit(request);
	ck_assert_uint_eq((uint32_t)second, (uint32_t)first);
	ck_assert_uint_eq(second >> 32, (first >> 32) + 1);
	/* 2^31 - 1 is followed by 1: a generation is never 0. */
	context = inspect__context(second);
	context->generation = 0x7ffffffe;
	tsn_enter(request);
	ck_assert_uint_eq(HEAD.context >> 32, 0x7fffffff);
	tsn_exit(request);
	tsn_enter(request);
	ck_assert_ptr_eq(inspect__context(HEAD.context), context);
	ck_assert_uint_eq(HEAD.context >> 32, 1);
	tsn_exit(request);
}
END_TEST

#ifdef __x86_64__
static volatile unsigned steps, disorder;

static int on_chain(const struct tsn_context *context, uint32_t label)
{
	uint32_t i;

	for (i = 0; i < context->depth; i++) {
		if (context->chain[i] == label)
			return 1;
	}
	return 0;
}

/* What the kernel side relies on, wherever it interrupts: the context is one that is open, and the
 * label is on its chain. */
static void look(int signal)
{
	const uint64_t handle = HEAD.context;
	const struct tsn_context *context = inspect__context(handle);

	(void)signal;
	steps++;
	if (handle)
		disorder += context->generation != handle >> 32 ||
			    context->state != TSN_CONTEXT_OPEN ||
			    (HEAD.coarse && !on_chain(context, HEAD.coarse));
	else
		disorder += HEAD.coarse != 0;
}

/* One trap after each instruction from here on, or no more of them. */
static void single_step(int on)
{
	if (on)
		__asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" : : : "cc", "memory");
	else
		__asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" : : : "cc", "memory");
}

START_TEST(slot_is_in_order_after_every_instruction)
{
	tsn_context_t outer;
	tsn_saved_t saved;
	int i;

	signal(SIGTRAP, look);
	for (i = 0; i < 4; i++) {
		/* Not the first time, which takes blocks under a lock, with signals blocked. */
		if (i == 1)
			single_step(1);
		tsn_enter(request);
		outer = tsn_capture();
		tsn_enter(query);
		{
			TSN_WITH_CONTEXT(outer);
			TSN_SCOPE(stage);
		}
		saved = tsn_suspend();
		tsn_resume(saved);
		tsn_exit(query);
		tsn_exit(request);
	}
	single_step(0);
	ck_assert_uint_gt(steps, 1000);
	ck_assert_uint_eq(disorder, 0);
	ck_assert_uint_eq(inspect__executions(stage.id), 4);
}
END_TEST
#endif

static void register_thread(void)
{
	TSN_SCOPE_N(fine, 0);
}

TCase *coarse__tcase(void)
{
	TCase *tcase = tcase_create("coarse");

	tcase_add_checked_fixture(tcase, register_thread, NULL);
	tcase_add_test(tcase, coarse_label_has_its_kind);
	tcase_add_test(tcase, scope_publishes_its_execution);
	tcase_add_test(tcase, execution_inside_another_has_both_on_its_chain);
	tcase_add_test(tcase, fine_and_coarse_are_left_in_any_order);
	tcase_add_loop_test(tcase, chain_is_16_deep, 0, sizeof(depths) / sizeof(depths[0]));
	tcase_add_test(tcase, scope_that_is_too_deep_is_harmless);
	tcase_add_test(tcase, coarse_id_0_begins_nothing);
	tcase_add_test(tcase, exit_of_an_outer_label_abandons_the_inner_ones);
	tcase_add_test(tcase, coarse_label_still_open_is_a_leak);
	tcase_add_test(tcase, full_pool_is_counted_and_recovers);
	tcase_add_test(tcase, contexts_that_idle_threads_keep_are_found);
	tcase_add_test(tcase, idle_threads_leave_contexts_for_as_many_executions);
	tcase_add_test(tcase, context_is_used_again_with_the_next_generation);
#ifdef __x86_64__
	tcase_add_test(tcase, slot_is_in_order_after_every_instruction);
#endif
	return tcase;
}
