// SPDX-License-Identifier: MIT
/*
 * forks MODE [N]: processes that fork others. Prints, besides what a mode says, how often it called
 * each label ("name_calls") and the sum of its stopwatches ("name_ns").
 *
 *	server		a server that labels little, and four workers that it forks before they
 *			work until it tells them to end
 *	short N		N children, one after the other, that work 2 ms each and end
 *	flock N		N children at once that sleep, and end together
 *	exec		a child that execs this program, labelled as another, and a sleep
 *			without labels
 *	chain		a child, its child, and its child: each works, and the last one execs
 *	coarse N	N children with one execution of 1 ms each, and an abandoned one
 *	leaky		a child that leaves a label open
 *	mixed N		as short, of which each second one execs a program without labels
 *	bomb N		N children that do nothing, as fast as can be
 */
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "subject.h"

TSN_FINE(parent_work, "parentWork");
TSN_FINE(child_work, "childWork");
TSN_FINE(other_work, "otherWork");
TSN_COARSE(request, "request");

/* What all processes add up. */
static struct truth {
	uint64_t parent_calls, child_calls, other_calls, child_ns, other_ns;
	uint32_t go;
} * truth;

static void add(uint64_t *sum, uint64_t n)
{
	__atomic_fetch_add(sum, n, __ATOMIC_RELAXED);
}

/* Burns so much CPU time; returns how much it was. Inside the label, for the first entry of a
 * process finds pages that are not there yet. */
static uint64_t burn(uint64_t ns)
{
	uint64_t before = subject_clock(CLOCK_THREAD_CPUTIME_ID), now;

	do
		now = subject_clock(CLOCK_THREAD_CPUTIME_ID);
	while (now < before + ns);
	return now - before;
}

static void work(uint64_t ns)
{
	uint64_t burnt;

	{
		TSN_SCOPE(child_work);
		burnt = burn(ns);
	}
	add(&truth->child_calls, 1);
	add(&truth->child_ns, burnt);
}

static void serve(void)
{
	while (!__atomic_load_n(&truth->go, __ATOMIC_ACQUIRE)) {
		work(2000000);
		usleep(2000);
	}
	_exit(0);
}

static void server(void)
{
	int i;

	for (i = 0; i < 4; i++)
		if (!fork())
			serve();
	for (i = 0; i < 10; i++) {
		TSN_SCOPE(parent_work);
		usleep(60000);
		truth->parent_calls++;
	}
	__atomic_store_n(&truth->go, 1, __ATOMIC_RELEASE);
	while (wait(NULL) > 0)
		;
}

static void one_after_the_other(int n, bool exec_each_second)
{
	while (n--) {
		if (!fork()) {
			if (exec_each_second && n % 2)
				execl("/bin/true", "true", NULL);
			work(2000000);
			_exit(0);
		}
		wait(NULL);
	}
}

static void flock_together(int n)
{
	while (n--)
		if (!fork()) {
			while (!__atomic_load_n(&truth->go, __ATOMIC_ACQUIRE))
				usleep(10000);
			work(100000);
			_exit(0);
		}
	usleep(200000);
	__atomic_store_n(&truth->go, 1, __ATOMIC_RELEASE);
	while (wait(NULL) > 0)
		;
}

/* The truth is in a file that the new image finds open at this place. */
#define TRUTH_FD 99

static void exec_other(void)
{
	execl("/proc/self/exe", "another", "other", NULL);
	_exit(1);
}

static void other(void)
{
	uint64_t burnt;

	{
		TSN_SCOPE(other_work);
		burnt = burn(500000000);
	}
	add(&truth->other_calls, 1);
	add(&truth->other_ns, burnt);
}

static void exec_two(void)
{
	if (!fork())
		exec_other();
	if (!fork()) {
		execl("/bin/sleep", "sleep", "0.3", NULL);
		_exit(1);
	}
	while (wait(NULL) > 0)
		;
}

static void chain(int depth)
{
	work(100000000);
	if (depth == 3)
		exec_other();
	if (!fork()) {
		chain(depth + 1);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
}

static void requests(int n)
{
	while (n--) {
		if (!fork()) {
			{
				TSN_SCOPE(request);
				work(1000000);
			}
			_exit(0);
		}
		wait(NULL);
	}
}

static void leak(void)
{
	if (!fork()) {
		tsn_enter(child_work);
		printf("leaky_pid %d\n", getpid());
		fflush(stdout);
		_exit(tsn_expect_balanced() ? 0 : 1);
	}
	wait(NULL);
	usleep(500000);
}

static void bomb(int n)
{
	while (n--) {
		if (!fork())
			_exit(0);
		if (n % 64 == 0)
			while (waitpid(-1, NULL, WNOHANG) > 0)
				;
	}
	while (wait(NULL) > 0)
		;
}

static void truth_open(void)
{
	int fd = memfd_create("truth", 0);

	if (fcntl(TRUTH_FD, F_GETFD) < 0 &&
	    (ftruncate(fd, sizeof(*truth)) || dup2(fd, TRUTH_FD) < 0))
		exit(1);
	truth = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED, TRUTH_FD, 0);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 1;

	truth_open();
	if (!strcmp(mode, "other")) {
		other();
		return 0;
	}
	if (!strcmp(mode, "server"))
		server();
	else if (!strcmp(mode, "short") || !strcmp(mode, "mixed"))
		one_after_the_other(n, *mode == 'm');
	else if (!strcmp(mode, "flock"))
		flock_together(n);
	else if (!strcmp(mode, "exec"))
		exec_two();
	else if (!strcmp(mode, "chain"))
		chain(0);
	else if (!strcmp(mode, "coarse"))
		requests(n);
	else if (!strcmp(mode, "leaky"))
		leak();
	else if (!strcmp(mode, "bomb"))
		bomb(n);
	printf("pid %d\nparent_calls %llu\nchild_calls %llu\nchild_ns %llu\nother_calls %llu\n"
	       "other_ns %llu\n",
	       getpid(), (unsigned long long)truth->parent_calls,
	       (unsigned long long)truth->child_calls, (unsigned long long)truth->child_ns,
	       (unsigned long long)truth->other_calls, (unsigned long long)truth->other_ns);
	return 0;
}
