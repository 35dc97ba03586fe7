// SPDX-License-Identifier: MIT
/* Reading through a child: that it reads, and that it is given up where it does not end. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "allowance.h"
#include "mappings.h"
#include "reader.h"
#include "suites.h"

static struct reader *reader;

static void setup(void)
{
	reader = reader__new(getpid(), NULL);
	ck_assert_ptr_nonnull(reader);
}

static void teardown(void)
{
	reader__free(reader);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The youngest child of this process; 0: there is none. */
static pid_t child(void)
{
	char path[64];
	FILE *children;
	int pid = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	children = fopen(path, "re");
	ck_assert_ptr_nonnull(children);
	while (fscanf(children, "%d", &pid) == 1)
		;
	fclose(children);
	return pid;
}

/* Reads a number that is 42. */
static int read_by(struct reader *by)
{
	int here = 42, read = 0;
	const int err = reader__gather(by, (uintptr_t)&here, 4, 4, 1, &read);

	ck_assert(err || read == 42);
	return err;
}

static const struct {
	size_t stride, size, count;
} shapes[] = {
	{1, 1, 1},	     {0, 0, 0},	       {8, 8, 3},
	{100, 64, 1000},     {4096, 4096, 65}, {1 << 20, 300000, 3},
	{700000, 700000, 1},
};

START_TEST(pieces_of_any_number_and_size_are_read)
{
	size_t size = shapes[_i].size, stride = shapes[_i].stride, count = shapes[_i].count, i;
	unsigned char *from = malloc(stride * count + 1), *to = malloc(size * count + 1);

	ck_assert(from && to);
	for (i = 0; i < stride * count; i++)
		from[i] = (unsigned char)(i * 7 + i / 251);
	to[size * count] = 42;
	ck_assert_int_eq(reader__gather(reader, (uintptr_t)from, stride, size, count, to), 0);
	for (i = 0; i < count; i++)
		ck_assert_mem_eq(to + i * size, from + i * stride, size);
	ck_assert_uint_eq(to[size * count], 42);
	free(from);
	free(to);
}
END_TEST

START_TEST(what_is_not_there_is_a_fault_and_no_end)
{
	int read = 0;

	ck_assert_int_eq(reader__gather(reader, 16, 4, 4, 1, &read), -EFAULT);
	ck_assert_int_eq(reader__gather(reader, UINT64_MAX - 100, 4, 4, 1, &read), -EFAULT);
	ck_assert_int_eq(read_by(reader), 0);
}
END_TEST

START_TEST(a_process_that_is_gone_says_so)
{
	pid_t pid = fork();
	int read;

	if (!pid)
		_exit(0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	reader__free(reader);
	reader = reader__new(pid, NULL);
	ck_assert_int_eq(reader__gather(reader, 4096, 4, 4, 1, &read), -ESRCH);
}
END_TEST

START_TEST(a_read_that_does_not_end_is_given_up_and_none_is_begun_after_it)
{
	double before;

	ck_assert_int_eq(read_by(reader), 0);
	ck_assert_int_ne(child(), 0);
	kill(child(), SIGSTOP);
	before = seconds();
	ck_assert_int_eq(read_by(reader), -ETIMEDOUT);
	ck_assert_double_ge(seconds() - before, 0.9);
	before = seconds();
	ck_assert_int_eq(read_by(reader), -ETIMEDOUT);
	ck_assert_double_lt(seconds() - before, 0.5);
	/* On a busy machine its end takes a while. */
	while (child() && seconds() - before < 5)
		read_by(reader);
	ck_assert_int_eq(child(), 0);
}
END_TEST

/* Another process, which traces those that it is told to, and takes no note of their end: until it
 * ends itself, nobody else can. */
struct tracer {
	pid_t pid;
	int ask, answers;
};

static void tracer_start(struct tracer *tracer)
{
	int asks[2], answers[2];
	pid_t traced;

	ck_assert(!pipe(asks) && !pipe(answers));
	tracer->pid = fork();
	ck_assert_int_ge(tracer->pid, 0);
	if (!tracer->pid) {
		close(asks[1]);
		while (read(asks[0], &traced, sizeof(traced)) == sizeof(traced)) {
			const int err = ptrace(PTRACE_SEIZE, traced, NULL, NULL) ? errno : 0;

			if (write(answers[1], &err, sizeof(err)) != sizeof(err))
				break;
		}
		_exit(0);
	}
	close(asks[0]);
	close(answers[1]);
	tracer->ask = asks[1];
	tracer->answers = answers[0];
}

/* 0 or an errno. */
static int tracer_take(const struct tracer *tracer, pid_t pid)
{
	int err;

	ck_assert_int_eq(write(tracer->ask, &pid, sizeof(pid)), sizeof(pid));
	ck_assert_int_eq(read(tracer->answers, &err, sizeof(err)), sizeof(err));
	return err;
}

static void tracer_end(const struct tracer *tracer)
{
	close(tracer->ask);
	ck_assert_int_eq(waitpid(tracer->pid, NULL, 0), tracer->pid);
}

START_TEST(a_child_that_cannot_be_killed_is_its_familys_last_and_eight_are_all)
{
	struct reader *families[READER_KILLED_MAX], *other = reader__new(getpid(), NULL);
	struct tracer tracer;
	double first = 0, before;

	ck_assert_ptr_nonnull(other);
	tracer_start(&tracer);
	for (size_t i = 0; i < READER_KILLED_MAX; i++) {
		families[i] = reader__new(getpid(), NULL);
		ck_assert_ptr_nonnull(families[i]);
		ck_assert_int_eq(read_by(families[i]), 0);
		if (tracer_take(&tracer, child())) {
			printf("NOT CHECKED: a process cannot be traced here\n");
			ck_assert_msg(!getenv("CI"), "it takes root");
			return;
		}
		kill(child(), SIGSTOP);
		ck_assert_int_eq(read_by(families[i]), -ETIMEDOUT);
		first = i ? first : seconds();
	}
	before = seconds();
	ck_assert_int_eq(read_by(other), -ETIMEDOUT);
	ck_assert_double_lt(seconds() - before, 0.5);
	tracer_end(&tracer);
	ck_assert_int_eq(read_by(other), 0);
	/* Their allowance is whole by now, but there is none. */
	while (seconds() - first < ALLOWANCE_REFILL + 0.2)
		usleep(20000);
	ck_assert_int_eq(read_by(families[0]), -ETIMEDOUT);
	ck_assert_int_eq(read_by(other), 0);
	for (size_t i = 0; i < READER_KILLED_MAX; i++)
		reader__free(families[i]);
	reader__free(other);
}
END_TEST

START_TEST(a_family_waits_no_longer_than_one_process_and_others_are_read)
{
	struct reader *relative = reader__new(getpid(), reader),
		      *other = reader__new(getpid(), NULL);
	double before;

	ck_assert(relative && other);
	ck_assert_int_eq(read_by(reader), 0);
	kill(child(), SIGSTOP);
	ck_assert_int_eq(read_by(reader), -ETIMEDOUT);
	reader__free(reader);
	reader = NULL;
	before = seconds();
	ck_assert_int_eq(read_by(relative), -ETIMEDOUT);
	ck_assert_double_lt(seconds() - before, 0.5);
	ck_assert_int_eq(read_by(other), 0);
	reader__free(relative);
	reader__free(other);
}
END_TEST

START_TEST(a_hurry_shortens_the_wait_and_what_answers_is_still_read)
{
	struct reader *other = reader__new(getpid(), NULL);
	int ends[2];
	double before;

	ck_assert_ptr_nonnull(other);
	ck_assert_int_eq(pipe(ends), 0);
	reader__hurry_at(ends[0]);
	ck_assert_int_eq(read_by(reader), 0);
	kill(child(), SIGSTOP);
	ck_assert_int_eq(write(ends[1], "", 1), 1);
	before = seconds();
	ck_assert_int_eq(read_by(reader), -ETIMEDOUT);
	ck_assert_double_ge(seconds() - before, 0.09);
	ck_assert_double_lt(seconds() - before, 0.8);
	ck_assert_int_eq(read_by(other), 0);
	reader__hurry_at(-1);
	reader__free(other);
}
END_TEST

START_TEST(what_is_mapped_is_read_as_the_memory_is)
{
	struct mappings *mappings = malloc(sizeof(*mappings));
	char magic[4];

	ck_assert_ptr_nonnull(mappings);
	ck_assert_int_eq(reader__mappings(reader, mappings), 0);
	ck_assert_uint_ne(mappings->readable, 0);
	ck_assert_uint_ge(mappings->count, 1);
	ck_assert_uint_le(mappings->count, MAPPINGS_MODULES_MAX);
	ck_assert_int_eq(reader__gather(reader, mappings->modules[0], 4, 4, 1, magic), 0);
	ck_assert_mem_eq(magic, "\177ELF", 4);
	kill(child(), SIGSTOP);
	ck_assert_int_eq(reader__mappings(reader, mappings), -ETIMEDOUT);
	free(mappings);
}
END_TEST

START_TEST(an_allowance_is_used_up_and_comes_back_whole)
{
	struct allowance *allowance = allowance__new(5), *shared;
	const uint64_t whole = ALLOWANCE_NS, long_ns = whole * ALLOWANCE_REFILL;

	ck_assert_ptr_nonnull(allowance);
	shared = allowance__share(allowance);
	ck_assert_uint_eq(allowance__left(allowance, 5), whole);
	allowance__use(allowance, 5, whole / 4);
	ck_assert_uint_eq(allowance__left(shared, 5), whole - whole / 4);
	ck_assert_uint_eq(allowance__left(shared, 5 + long_ns), whole);
	allowance__use(allowance, 5 + long_ns, 2 * whole);
	ck_assert_uint_eq(allowance__left(shared, 5 + 2 * long_ns - ALLOWANCE_REFILL), 0);
	ck_assert_uint_eq(allowance__left(shared, 5 + 2 * long_ns), whole);
	allowance__hurry(allowance, 5 + 2 * long_ns);
	ck_assert_uint_eq(allowance__left(shared, 5 + 9 * long_ns), ALLOWANCE_HURRY_NS);
	allowance__end(allowance);
	ck_assert_uint_eq(allowance__left(shared, 5 + 9 * long_ns), 0);
	allowance__free(allowance);
	allowance__free(shared);
}
END_TEST

/* Takes a CPU for a while, as a thread of real time that never lets go does. False: not allowed. */
static bool take_cpu(int cpu, double for_seconds, pid_t *taker)
{
	struct sched_param first = {.sched_priority = 1};
	int status, ready[2];
	cpu_set_t set;
	char byte;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	ck_assert_int_eq(pipe(ready), 0);
	*taker = fork();
	ck_assert_int_ge(*taker, 0);
	if (!*taker) {
		if (sched_setaffinity(0, sizeof(set), &set) ||
		    sched_setscheduler(0, SCHED_FIFO, &first) || write(ready[1], "", 1) != 1)
			_exit(1);
		for (double until = seconds() + for_seconds; seconds() < until;)
			;
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) == 1)
		return true;
	waitpid(*taker, &status, 0);
	return false;
}

/* The kernel leaves 50 ms of each second to others, and they are soon gone. */
START_TEST(a_child_that_waits_for_a_cpu_is_not_given_up)
{
	int cpu, reads = 0, err = 0;
	double start, most = 0;
	cpu_set_t set;
	pid_t taker;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	for (cpu = CPU_SETSIZE - 1; !CPU_ISSET(cpu, &set);)
		cpu--;
	ck_assert_int_eq(read_by(reader), 0);
	if (CPU_COUNT(&set) < 2 || !take_cpu(cpu, 3.5, &taker)) {
		printf("NOT CHECKED: a CPU cannot be taken here\n");
		ck_assert_msg(!getenv("CI"), "it takes root and two CPUs");
		return;
	}
	CPU_CLR(cpu, &set);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(set), &set), 0);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	ck_assert_int_eq(sched_setaffinity(child(), sizeof(set), &set), 0);
	for (start = seconds(); !err && seconds() - start < 3; reads++) {
		double before = seconds();

		err = read_by(reader);
		most = fmax(most, seconds() - before);
	}
	kill(taker, SIGKILL);
	waitpid(taker, NULL, 0);
	printf("%d reads, longest %.3f\n", reads, most);
	ck_assert_int_eq(err, 0);
}
END_TEST

START_TEST(a_child_that_is_killed_is_replaced)
{
	ck_assert_int_eq(read_by(reader), 0);
	kill(child(), SIGKILL);
	ck_assert_int_eq(read_by(reader), -EPIPE);
	ck_assert_int_eq(read_by(reader), 0);
}
END_TEST

START_TEST(the_child_holds_nothing_open_and_ends_with_its_reader)
{
	char path[64];
	int ends[2];
	pid_t pid;

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(read_by(reader), 0);
	close(ends[1]);
	ck_assert_int_eq(read(ends[0], path, 1), 0);
	pid = child();
	reader__free(reader);
	reader = NULL;
	ck_assert_int_ne(kill(pid, 0), 0);
}
END_TEST

Suite *reader_suite(void)
{
	Suite *suite = suite_create("reader");
	TCase *tcase = tcase_create("child");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, pieces_of_any_number_and_size_are_read, 0,
			    sizeof(shapes) / sizeof(shapes[0]));
	tcase_add_test(tcase, what_is_not_there_is_a_fault_and_no_end);
	tcase_add_test(tcase, a_process_that_is_gone_says_so);
	tcase_add_test(tcase, a_read_that_does_not_end_is_given_up_and_none_is_begun_after_it);
	tcase_add_test(tcase, a_child_that_cannot_be_killed_is_its_familys_last_and_eight_are_all);
	tcase_add_test(tcase, a_family_waits_no_longer_than_one_process_and_others_are_read);
	tcase_add_test(tcase, a_hurry_shortens_the_wait_and_what_answers_is_still_read);
	tcase_add_test(tcase, what_is_mapped_is_read_as_the_memory_is);
	tcase_add_test(tcase, an_allowance_is_used_up_and_comes_back_whole);
	tcase_add_test(tcase, a_child_that_waits_for_a_cpu_is_not_given_up);
	tcase_add_test(tcase, a_child_that_is_killed_is_replaced);
	tcase_add_test(tcase, the_child_holds_nothing_open_and_ends_with_its_reader);
	suite_add_tcase(suite, tcase);
	return suite;
}
