// SPDX-License-Identifier: MIT
/*
 * soak SECONDS THREADS SWITCHES: prints "ready 1"; after SIGUSR1 its threads work and rest by turns
 * for so long, switching so often a second together. Prints what they counted and timed themselves:
 * calls, switches, cpu_ns, work_ns and rest_ns (stopwatches, summed) and wall_ns.
 */
#include <string.h>
#include <sys/resource.h>

#include "subject.h"

#define WORK_NS 5000

TSN_FINE(work, "work");
TSN_FINE(rest, "rest");

static uint64_t end_ns, period_ns;
static uint64_t calls, switches, cpu_ns, work_ns, rest_ns;

static void add(uint64_t *sum, uint64_t n)
{
	__atomic_fetch_add(sum, n, __ATOMIC_RELAXED);
}

static void sleep_until(uint64_t moment_ns)
{
	struct timespec moment = {(time_t)(moment_ns / 1000000000), (long)(moment_ns % 1000000000)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL))
		;
}

static void *turns(void *argument)
{
	uint64_t now = subject_now(), before, due, own_calls = 0, own_work = 0, own_rest = 0;
	struct rusage usage;

	/* Each begins somewhere else in the period. */
	due = now + (uintptr_t)argument * period_ns / 64;
	while (now < end_ns) {
		before = now;
		{
			TSN_SCOPE(work);
			now = subject_spin_until(now + WORK_NS);
		}
		own_work += now - before;
		before = now;
		/* Where the machine is too slow for it, no turn is made up for. */
		due = due + period_ns > now ? due + period_ns : now + period_ns;
		{
			TSN_SCOPE(rest);
			sleep_until(due);
		}
		now = subject_now();
		own_rest += now - before;
		own_calls++;
	}
	getrusage(RUSAGE_THREAD, &usage);
	add(&calls, own_calls);
	add(&switches, (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw));
	add(&cpu_ns, subject_clock(CLOCK_THREAD_CPUTIME_ID));
	add(&work_ns, own_work);
	add(&rest_ns, own_rest);
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t seconds_ns = subject_seconds(argc, argv, 1, 1), began;
	size_t count = argc > 2 ? (size_t)atoi(argv[2]) : 1, i;
	pthread_t *threads = calloc(count, sizeof(*threads));

	if (!threads)
		return 1;
	subject_steps();
	period_ns = (uint64_t)count * 1000000000 / (argc > 3 ? (uint64_t)atoi(argv[3]) : 1);
	printf("ready 1\n");
	fflush(stdout);
	subject_wait_step(1);
	began = subject_now();
	end_ns = began + seconds_ns;
	for (i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, turns, (void *)(uintptr_t)i))
			return 1;
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	subject_say("wall_ns", subject_now() - began);
	subject_say("calls", calls);
	subject_say("switches", switches);
	subject_say("cpu_ns", cpu_ns);
	subject_say("work_ns", work_ns);
	subject_say("rest_ns", rest_ns);
	free(threads);
	return 0;
}
