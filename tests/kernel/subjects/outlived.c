// SPDX-License-Identifier: MIT
/*
 * outlived [again]: again and again a request hands work to another thread and is over 20 ms later,
 * while the work, which mounts its context, sleeps for 60 ms in one piece. Runs until it is killed.
 * again: another request begins at once and takes the entry of the first, and lasts as long as the
 * work. Prints "ready 1", and as it happens "began", "over" and "woke": when the work lay down, its
 * request was over, and it rose, by its CLOCK_MONOTONIC, ns.
 */
#include <string.h>

#include "subject.h"

#define REQUEST_NS 20000000
#define WORK_NS	   60000000

TSN_COARSE(request, "request");
TSN_FINE(hosting, "hosting");
TSN_FINE(late, "late");
TSN_IDLE(idle, "idle");

static pthread_barrier_t barrier;
static tsn_context_t context;

static void sleep_until(uint64_t moment_ns)
{
	const struct timespec moment = {(time_t)(moment_ns / 1000000000),
					(long)(moment_ns % 1000000000)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL);
}

static void meet(void)
{
	TSN_SCOPE(idle);
	pthread_barrier_wait(&barrier);
}

static void outlive(void)
{
	subject_say("over", subject_now());
	meet();
}

static void *work(void *argument)
{
	for (;;) {
		uint64_t now;

		meet();
		now = subject_now();
		subject_say("began", now);
		{
			TSN_WITH_CONTEXT(context);
			TSN_SCOPE(late);
			sleep_until(now + WORK_NS);
		}
		subject_say("woke", subject_now());
		subject_sleep(1000000); /* the recorder looks back at the sleep before the entry is
					   another's */
		meet();
	}
	return argument;
}

int main(int argc, char **argv)
{
	int again = argc > 1 && !strcmp(argv[1], "again");
	pthread_t worker;

	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&worker, NULL, work, NULL))
		return 1;
	printf("ready 1\n");
	fflush(stdout);
	for (;;) {
		{
			TSN_SCOPE(request);
			TSN_SCOPE(hosting);
			context = tsn_capture();
			meet();
			sleep_until(subject_now() + REQUEST_NS);
		}
		if (again) {
			TSN_SCOPE(request);
			outlive();
		} else {
			outlive();
		}
	}
}
