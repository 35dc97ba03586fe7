// SPDX-License-Identifier: MIT
#include <pthread.h>
#include <setjmp.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "inspect.h"
#include "suites.h"
#include "throwing.h"

TSN_FINE(fine, "contexts fine");
TSN_COARSE(request, "contexts request");
TSN_COARSE(query, "contexts query");

#define HEAD (tsn_thread.slot->head)

static void abandoned(uint64_t count, uint32_t label)
{
	struct tsn_violation *violation = &inspect__process()->violations[TSN_VIOLATION_ABANDONED];

	ck_assert_uint_eq(violation->count, count);
	ck_assert_uint_eq(violation->label, label);
	ck_assert_uint_eq(inspect__all_violations(), count);
}

static void run(void *(*work)(void *), void *argument)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, work, argument), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/* ---- Fibers */

#define FIBERS 3
#define ROUNDS 5

static ucontext_t scheduler, fibers[FIBERS];
static char stacks[FIBERS][64 * 1024];
static unsigned finished;

/* To the scheduler and back, which may be in another thread. */
static void yield(unsigned fiber)
{
	tsn_saved_t saved = tsn_suspend();

	swapcontext(&fibers[fiber], &scheduler);
	tsn_resume(saved);
}

/* Each is in a request of its own, and in a query inside of it every other round. */
static void fiber_main(int fiber)
{
	unsigned round;
	uint64_t own;

	tsn_enter(request);
	own = HEAD.context;
	for (round = 0; round < ROUNDS; round++) {
		TSN_SCOPE(fine);
		yield((unsigned)fiber);
		ck_assert_uint_eq(HEAD.context, own);
		{
			TSN_SCOPE(query);
			yield((unsigned)fiber);
			ck_assert_uint_eq(HEAD.coarse, query.id);
			ck_assert_uint_eq(inspect__context(HEAD.context)->parent, (uint32_t)own);
		}
		ck_assert_uint_eq(HEAD.coarse, request.id);
		ck_assert_uint_eq(HEAD.fine, fine.id);
	}
	tsn_exit(request);
	finished++;
}

static void make_fibers(void)
{
	int i;

	for (i = 0; i < FIBERS; i++) {
		getcontext(&fibers[i]);
		fibers[i].uc_stack.ss_sp = stacks[i];
		fibers[i].uc_stack.ss_size = sizeof(stacks[i]);
		fibers[i].uc_link = &scheduler;
		makecontext(&fibers[i], (void (*)(void))fiber_main, 1, i);
	}
}

/* One turn of every fiber. */
static void *turn(void *unused)
{
	int i;

	for (i = 0; i < FIBERS; i++) {
		swapcontext(&scheduler, &fibers[i]);
		if (tsn_thread.slot)
			ck_assert_uint_eq(HEAD.context, 0);
	}
	return unused;
}

static void fibers_are_done(void)
{
	ck_assert_uint_eq(finished, FIBERS);
	ck_assert_uint_eq(inspect__executions(request.id), FIBERS);
	ck_assert_uint_eq(inspect__executions(query.id), FIBERS * ROUNDS);
	ck_assert_uint_eq(inspect__open(), 0);
	ck_assert_uint_eq(inspect__all_violations(), 0);
}

START_TEST(fibers_keep_their_executions_apart)
{
	int i;

	make_fibers();
	for (i = 0; i < 1 + 2 * ROUNDS; i++)
		turn(NULL);
	fibers_are_done();
}
END_TEST

START_TEST(fibers_go_on_and_end_in_other_threads)
{
	int i;

	make_fibers();
	for (i = 0; i < 1 + 2 * ROUNDS; i++)
		run(turn, NULL);
	fibers_are_done();
	/* Counted where they ended, and folded when those threads did. */
	ck_assert_uint_eq(inspect__block(request.id, 0)->count, FIBERS);
}
END_TEST

START_TEST(resume_abandons_what_it_replaces)
{
	tsn_saved_t saved;

	tsn_enter(request);
	saved = tsn_suspend();
	ck_assert_uint_eq(inspect__open(), 1);
	tsn_enter(query);
	tsn_resume(saved);
	abandoned(1, query.id);
	ck_assert_uint_eq(HEAD.coarse, request.id);
	tsn_exit(request);
	ck_assert_uint_eq(inspect__executions(request.id), 1);
	ck_assert_uint_eq(inspect__open(), 0);
}
END_TEST

/* What may not be done twice is harmless if it is. */
START_TEST(execution_that_is_resumed_twice_is_counted_once)
{
	tsn_saved_t saved;

	tsn_enter(request);
	saved = tsn_suspend();
	tsn_resume(saved);
	tsn_exit(request);
	tsn_resume(saved);
	ck_assert_uint_eq(HEAD.context, saved.context);
	tsn_enter(query);
	tsn_exit(query);
	tsn_exit(request);
	ck_assert_uint_eq(HEAD.context, 0);
	ck_assert_uint_eq(inspect__executions(request.id), 1);
	ck_assert_uint_eq(inspect__executions(query.id), 1);
	ck_assert_uint_eq(inspect__all_violations(), 0);
}
END_TEST

/* ---- Executions that are not left */

static jmp_buf back;

static void jump_out(void)
{
	TSN_SCOPE(query);
	tsn_enter(query);
	{
		TSN_SCOPE(query);
		longjmp(back, 1);
	}
}

START_TEST(longjmp_out_of_executions_abandons_them)
{
	{
		TSN_SCOPE(request);
		if (!setjmp(back))
			jump_out();
		ck_assert_uint_eq(HEAD.coarse, query.id);
		ck_assert_uint_eq(inspect__open(), 4);
	}
	abandoned(3, query.id);
	ck_assert_uint_eq(HEAD.context, 0);
	ck_assert_uint_eq(HEAD.coarse, 0);
	ck_assert_uint_eq(inspect__open(), 0);
	ck_assert_uint_eq(inspect__executions(request.id), 1);
	ck_assert_uint_eq(inspect__executions(query.id), 0);
}
END_TEST

static void *exit_inside(void *unused)
{
	tsn_enter(request);
	tsn_enter(query);
	pthread_exit(unused);
}

/* No destructor runs. */
static void *die_inside(void *unused)
{
	tsn_enter(request);
	tsn_enter(query);
	tsn_syscall(SYS_exit, 0);
	return unused;
}

START_TEST(thread_that_exits_abandons_what_it_is_in)
{
	run(exit_inside, NULL);
	abandoned(2, request.id);
	ck_assert_uint_eq(inspect__open(), 0);
	ck_assert_uint_eq(inspect__claimed(), 1);
	tsn_enter(request);
	tsn_release_thread();
	ck_assert_uint_eq(inspect__open(), 0);
	ck_assert_uint_eq(inspect__violations(TSN_VIOLATION_ABANDONED), 3);
	ck_assert_ptr_null(inspect__block(request.id, 0));
}
END_TEST

START_TEST(execution_of_a_dead_thread_goes_with_its_slot)
{
	uint64_t signals;

	run(die_inside, NULL);
	ck_assert_uint_eq(inspect__open(), 2);
	ck_assert_uint_eq(inspect__all_violations(), 0);
	signals = tsn_leader_lock();
	tsn_leader_reclaim(0);
	tsn_leader_unlock(signals);
	abandoned(2, request.id);
	ck_assert_uint_eq(inspect__open(), 0);
	ck_assert_uint_eq(inspect__claimed(), 1);
}
END_TEST

START_TEST(exception_ends_executions)
{
	uint64_t thrown = 0, caught = 23;

	{
		TSN_SCOPE(request);
		throwing__unwind_coarse(&thrown, &caught);
		ck_assert_uint_ne(thrown, HEAD.context);
		ck_assert_uint_eq(caught, HEAD.context);
	}
	ck_assert_uint_eq(inspect__executions(throwing__coarse().id), 2);
	ck_assert_uint_eq(inspect__open(), 0);
	ck_assert_uint_eq(inspect__all_violations(), 0);
}
END_TEST

/* ---- fork() */

/* A failed assertion's line, or 0: in the child of a child, check's own would not be heard. */
#define EXPECT(condition)                \
	do {                             \
		if (!(condition))        \
			return __LINE__; \
	} while (0)

static tsn_saved_t elsewhere; /* an execution that is in no thread */
static tsn_context_t mounted;

static int look_in_child(uint64_t context)
{
	struct tsn_context *own = inspect__context(context);

	EXPECT(HEAD.context == context && HEAD.coarse == query.id);
	EXPECT(own->state == TSN_CONTEXT_OPEN && own->depth == 2 && own->holders == 0);
	EXPECT(own->tid == (uint32_t)getpid());
	/* Its own two, and what it has mounted. */
	EXPECT(inspect__open() == 3);
	EXPECT(inspect__executions(request.id) == 0 && inspect__executions(query.id) == 0);
	EXPECT(inspect__process()->durations_used == 0);
	EXPECT(inspect__all_violations() == 0);
	tsn_exit(query);
	EXPECT(HEAD.context == mounted.context && HEAD.coarse == request.id);
	EXPECT(inspect__context(mounted.context)->holders == 1);
	return 0;
}

static int end_in_child(void)
{
	struct tsn_context *context = inspect__context(mounted.context);
	unsigned i;

	EXPECT(context->state == TSN_CONTEXT_FREE && context->holders == 0);
	tsn_exit(request);
	EXPECT(HEAD.context == 0 && inspect__open() == 0);
	EXPECT(inspect__executions(request.id) == 1 && inspect__executions(query.id) == 1);
	/* What the parent's other executions were is nothing here, even if the context is in use.
	 */
	for (i = 0; i < 100; i++)
		tsn_suspend();
	tsn_resume(elsewhere);
	tsn_exit(request);
	EXPECT(inspect__executions(request.id) == 1);
	/* Every context is there, once. */
	for (i = 1; i < TSN_CONTEXTS_MAX; i++) {
		tsn_enter(request);
		EXPECT(HEAD.context);
		tsn_suspend();
	}
	EXPECT(inspect__all_violations() == 0);
	EXPECT(inspect__open() == TSN_CONTEXTS_MAX - 1);
	return 0;
}

static int in_child(uint64_t context, tsn_scope_t mount)
{
	int line = look_in_child(context);

	if (line)
		return line;
	tsn_scope_leave(&mount);
	return end_in_child();
}

START_TEST(fork_inside_a_request_keeps_its_own_chain)
{
	struct tsn_context *own;
	uint64_t context;
	int status;
	pid_t pid;

	tsn_enter(request);
	elsewhere = tsn_suspend();
	tsn_enter(request);
	mounted = tsn_capture();
	tsn_exit(request);
	tsn_enter(request);
	{
		tsn_saved_t outer = tsn_suspend();

		tsn_enter(request);
		mounted = tsn_capture();
		tsn_suspend(); /* open, and in no thread but where it is mounted */
		tsn_resume(outer);
	}
	{
		TSN_WITH_CONTEXT(mounted);
		tsn_scope_t mount =
			tsn_level_scope(tsn_thread.slot, tsn_thread.slot->levels_open - 1);

		tsn_enter(query);
		context = HEAD.context;
		own = inspect__context(context);
		ck_assert_uint_eq(inspect__open(), 4);
		pid = fork();
		if (pid == 0)
			_exit(in_child(context, mount) & 0xff);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
			      "child: line %d or signal", WEXITSTATUS(status));
		/* The parent is as it was. */
		ck_assert_uint_eq(HEAD.context, context);
		ck_assert_uint_eq(own->state, TSN_CONTEXT_OPEN);
		ck_assert_uint_eq(own->tid, (uint32_t)getpid());
		ck_assert_uint_eq(inspect__open(), 4);
		tsn_exit(query);
		ck_assert_uint_eq(inspect__context(mounted.context)->state, TSN_CONTEXT_OPEN);
	}
	tsn_exit(request);
	tsn_resume(elsewhere);
	tsn_exit(request);
	ck_assert_uint_eq(inspect__executions(request.id), 3);
	ck_assert_uint_eq(inspect__executions(query.id), 1);
	ck_assert_uint_eq(inspect__open(), 1);
	ck_assert_uint_eq(inspect__all_violations(), 0);
}
END_TEST

static volatile int churning;

static void *churn(void *unused)
{
	tsn_context_t captured;

	while (churning) {
		TSN_SCOPE(request);
		captured = tsn_capture();
		TSN_WITH_CONTEXT(captured);
		TSN_SCOPE(query);
	}
	return unused;
}

/* Whatever another thread was in the middle of, the child has all contexts. */
START_TEST(fork_amid_executions_leaves_nothing_behind)
{
	pthread_t thread;
	int i, status;
	pid_t pid;

	churning = 1;
	ck_assert_int_eq(pthread_create(&thread, NULL, churn, NULL), 0);
	for (i = 0; i < 200; i++) {
		pid = fork();
		if (pid == 0) {
			if (inspect__open())
				_exit(1);
			for (i = 1; i < TSN_CONTEXTS_MAX; i++) {
				tsn_enter(request);
				tsn_suspend();
			}
			_exit(inspect__open() != TSN_CONTEXTS_MAX - 1 ||
			      inspect__all_violations() != 0);
		}
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_int_eq(status, 0);
	}
	churning = 0;
	pthread_join(thread, NULL);
}
END_TEST

static void register_thread(void)
{
	TSN_SCOPE_N(fine, 0);
}

TCase *contexts__tcase(void)
{
	TCase *tcase = tcase_create("contexts");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, register_thread, NULL);
	tcase_add_test(tcase, fibers_keep_their_executions_apart);
	tcase_add_test(tcase, fibers_go_on_and_end_in_other_threads);
	tcase_add_test(tcase, resume_abandons_what_it_replaces);
	tcase_add_test(tcase, execution_that_is_resumed_twice_is_counted_once);
	tcase_add_test(tcase, longjmp_out_of_executions_abandons_them);
	tcase_add_test(tcase, thread_that_exits_abandons_what_it_is_in);
	tcase_add_test(tcase, execution_of_a_dead_thread_goes_with_its_slot);
	tcase_add_test(tcase, exception_ends_executions);
	tcase_add_test(tcase, fork_inside_a_request_keeps_its_own_chain);
	tcase_add_test(tcase, fork_amid_executions_leaves_nothing_behind);
	return tcase;
}
