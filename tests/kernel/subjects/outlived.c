// SPDX-License-Identifier: MIT
/*
 * outlived: again and again a request hands work to another thread and is over 20 ms later, while
 * the work, which mounts its context, sleeps for 60 ms in one piece. Runs until it is killed.
 * Prints "ready 1".
 */
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

static void *work(void *argument)
{
	for (;;) {
		meet();
		{
			TSN_WITH_CONTEXT(context);
			TSN_SCOPE(late);
			sleep_until(subject_now() + WORK_NS);
		}
		meet();
	}
	return argument;
}

int main(void)
{
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
		meet();
	}
}
