// SPDX-License-Identifier: MIT
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inspect.h"
#include "suites.h"

TSN_FINE(outer, "fork outer");
TSN_FINE(inner, "fork inner");
TSN_COARSE(request, "fork request");
TSN_COARSE(job, "fork job");

static pthread_barrier_t barrier;

static void *bystander(void *unused)
{
	TSN_SCOPE(inner);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return unused;
}

static void *call_once(void *unused)
{
	TSN_SCOPE(inner);
	return unused;
}

/* A failed assertion's line, or 0: in the child of a child, check's own would not be heard. */
#define EXPECT(condition)                \
	do {                             \
		if (!(condition))        \
			return __LINE__; \
	} while (0)

static int look_in_child(const struct tsn_slot_full *slot, uint32_t slots_before)
{
	struct tsn_process *process = inspect__process();
	pthread_t thread;

	EXPECT(process->pid == (uint32_t)getpid());
	EXPECT(tsn_thread.slot == slot);
	EXPECT(slot->head.tid == (uint32_t)getpid());
	EXPECT(slot->head.fine == outer.id);
	EXPECT(slot->head.depth == 1);
	EXPECT(inspect__claimed() == 1);
	EXPECT(process->slots_used <= slots_before);
	EXPECT(inspect__calls(outer.id) == 0);
	EXPECT(inspect__calls(inner.id) == 0);
	EXPECT(inspect__all_violations() == 0);
	EXPECT(inspect__find("fork outer") == outer.id);
	tsn_exit(outer);
	EXPECT(slot->head.fine == 0);
	EXPECT(pthread_create(&thread, NULL, call_once, NULL) == 0);
	EXPECT(pthread_join(thread, NULL) == 0);
	call_once(NULL);
	EXPECT(inspect__retired(inner.id) == 1);
	EXPECT(inspect__calls(inner.id) == 2);
	EXPECT(inspect__all_violations() == 0);
	return 0;
}

START_TEST(child_keeps_labels_and_starts_counting_at_zero)
{
	const struct tsn_slot_full *slot;
	pthread_t first, second;
	int status;
	pid_t pid;

	/* The bystander's slot comes first, so that the forking thread's is in the middle of a
	 * page. */
	ck_assert_int_eq(pthread_create(&first, NULL, call_once, NULL), 0);
	ck_assert_int_eq(pthread_join(first, NULL), 0);
	pthread_barrier_init(&barrier, NULL, 2);
	ck_assert_int_eq(pthread_create(&second, NULL, bystander, NULL), 0);
	pthread_barrier_wait(&barrier);
	tsn_exit(inner); /* a violation, which is the parent's */
	tsn_enter(outer);
	slot = tsn_thread.slot;
	ck_assert_uint_eq(inspect__claimed(), 2);
	pid = fork();
	if (pid == 0)
		_exit(look_in_child(slot, inspect__process()->slots_used) & 0xff);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child: line %d or signal",
		      WEXITSTATUS(status));
	/* The parent is as it was. */
	ck_assert_uint_eq(inspect__process()->pid, (uint32_t)getpid());
	ck_assert_uint_eq(inspect__claimed(), 2);
	ck_assert_uint_eq(slot->head.tid, (uint32_t)getpid());
	ck_assert_uint_eq(inspect__calls(outer.id), 1);
	ck_assert_uint_eq(inspect__calls(inner.id), 2);
	tsn_exit(outer);
	pthread_barrier_wait(&barrier);
	pthread_join(second, NULL);
	ck_assert_uint_eq(inspect__all_violations(), 1);
}
END_TEST

static int use_in_child(void)
{
	EXPECT(tsn_thread.slot == NULL);
	EXPECT(inspect__claimed() == 0);
	call_once(NULL);
	EXPECT(inspect__calls(inner.id) == 1);
	return 0;
}

START_TEST(child_of_an_unregistered_thread_registers_itself)
{
	int status;
	pid_t pid;

	tsn_release_thread();
	pid = fork();
	if (pid == 0)
		_exit(use_in_child() & 0xff);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child: line %d or signal",
		      WEXITSTATUS(status));
}
END_TEST

static volatile int churning;

static void *churn(void *unused)
{
	while (churning) {
		call_once(NULL);
		tsn_release_thread();
	}
	return unused;
}

START_TEST(fork_amid_claims_leaves_no_lock_held)
{
	pthread_t thread;
	int i, status;
	pid_t pid;

	churning = 1;
	ck_assert_int_eq(pthread_create(&thread, NULL, churn, NULL), 0);
	for (i = 0; i < 200; i++) {
		pid = fork();
		if (pid == 0) {
			tsn_release_thread();
			call_once(NULL);
			_exit(inspect__claimed() != 1 || inspect__calls(inner.id) != 1);
		}
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_int_eq(status, 0);
	}
	churning = 0;
	pthread_join(thread, NULL);
}
END_TEST

static volatile int handling, handled;

static void handle_fork(void)
{
	if (!handling)
		return;
	handled++;
	TSN_SCOPE(request);
	tsn_register_fine("fork late");
	call_once(NULL);
}

/* Before the header's own: so it prepares after them, and is told of the end before them. */
__attribute__((constructor(101))) static void handlers_register(void)
{
	pthread_atfork(handle_fork, handle_fork, handle_fork);
}

static void *fork_first(void *unused)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(handled != 2 || inspect__claimed() != 1 || inspect__open() != 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	return unused;
}

START_TEST(handlers_of_a_fork_may_use_labels_that_their_thread_never_used)
{
	pthread_t thread;

	handling = 1;
	ck_assert_int_eq(pthread_create(&thread, NULL, fork_first, NULL), 0);
	pthread_join(thread, NULL);
	handling = 0;
	ck_assert_int_eq(handled, 2);
	ck_assert_uint_eq(inspect__calls(inner.id), 2);
	ck_assert_uint_eq(inspect__executions(request.id), 2);
	ck_assert_uint_eq(inspect__all_violations(), 0);
}
END_TEST

static unsigned stuck(void)
{
	const struct tsn_context *context;
	unsigned i, n = 0;

	for (i = 1; i < inspect__process()->contexts_used; i++) {
		context = inspect__context(i);
		n += context->state == TSN_CONTEXT_CLOSED || context->holders;
	}
	return n;
}

/* owner: in a request; worker: has mounted it, and is in a job of its own inside. */
static int resume_in_child(tsn_saved_t owner, tsn_saved_t worker, tsn_scope_t mount)
{
	unsigned i;

	tsn_resume(worker);
	tsn_exit(job);
	tsn_scope_leave(&mount);
	tsn_resume(owner);
	tsn_exit(request);
	EXPECT(stuck() == 0);
	/* They are the parent's, which counts them. */
	EXPECT(inspect__executions(request.id) == 0 && inspect__executions(job.id) == 0);
	for (i = 0; i < 8; i++)
		tsn_enter(job);
	for (i = 0; i < 8; i++)
		tsn_exit(job);
	EXPECT(stuck() == 0);
	EXPECT(inspect__executions(job.id) == 8);
	return 0;
}

START_TEST(child_may_resume_what_was_suspended_when_it_was_forked)
{
	tsn_saved_t owner, worker;
	tsn_context_t context;
	tsn_scope_t mount;
	int status;
	pid_t pid;

	tsn_enter(request);
	context = tsn_capture();
	owner = tsn_suspend();
	mount = tsn_mount(context);
	tsn_enter(job);
	worker = tsn_suspend();
	pid = fork();
	if (pid == 0)
		_exit(resume_in_child(owner, worker, mount) & 0xff);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child: line %d or signal",
		      WEXITSTATUS(status));
	tsn_resume(worker);
	tsn_exit(job);
	tsn_scope_leave(&mount);
	tsn_resume(owner);
	tsn_exit(request);
	ck_assert_uint_eq(stuck(), 0);
	ck_assert_uint_eq(inspect__executions(request.id), 1);
	ck_assert_uint_eq(inspect__executions(job.id), 1);
	ck_assert_uint_eq(inspect__all_violations(), 0);
}
END_TEST

TCase *fork__tcase(void)
{
	TCase *tcase = tcase_create("fork");

	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, child_keeps_labels_and_starts_counting_at_zero);
	tcase_add_test(tcase, child_of_an_unregistered_thread_registers_itself);
	tcase_add_test(tcase, fork_amid_claims_leaves_no_lock_held);
	tcase_add_test(tcase, handlers_of_a_fork_may_use_labels_that_their_thread_never_used);
	tcase_add_test(tcase, child_may_resume_what_was_suspended_when_it_was_forked);
	return tcase;
}
