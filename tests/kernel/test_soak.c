// SPDX-License-Identifier: MIT
/*
 * Many threads that switch often, for long: memory of the recorder, losses, the identity. A few
 * seconds of it in each run; two minutes with TICKSNICK_TEST_LONG=1, or TICKSNICK_SOAK_SECONDS.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record.h"
#include "suites.h"

#define THREADS	  64
#define SWITCHES  20000 /* a second */
#define SHORT_S	  3
#define LONG_S	  120
#define LOOKS	  60 /* at the recorder's memory */
#define WARMED_UP (LOOKS / 6)
/* What a look may find more than the largest while it warmed up: a page here and there. */
#define GROWTH_KIB 256

static unsigned soak_seconds(void)
{
	const char *text = getenv("TICKSNICK_SOAK_SECONDS");
	unsigned seconds = text ? (unsigned)atoi(text) : 0;

	return seconds ? seconds : record__tests_are_long() ? LONG_S : SHORT_S;
}

/* What a process has in memory of its own, KiB. */
static long memory_kib(pid_t pid)
{
	char path[64], line[256];
	long kib = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	while (!kib && fgets(line, sizeof(line), file))
		if (sscanf(line, "RssAnon: %ld", &kib) != 1)
			kib = 0;
	fclose(file);
	return kib;
}

struct memory {
	long first, warm, most;
};

/* Looks at it while the session goes on, but not in its last part. */
static struct memory memory_watch(pid_t recorder, unsigned seconds)
{
	struct memory memory = {.first = memory_kib(recorder)};
	unsigned i;
	long now;

	for (i = 0; i < LOOKS; i++) {
		usleep((useconds_t)((double)seconds * 0.95e6 / LOOKS));
		now = memory_kib(recorder);
		memory.most = now > memory.most ? now : memory.most;
		if (i == WARMED_UP)
			memory.warm = memory.most;
	}
	return memory;
}

/* Nothing is missing but ticks of a virtual CPU that did not run: it has no timer then. */
static void losses_check(const struct profile *profile)
{
	uint64_t stolen_ticks =
		(uint64_t)((double)profile->totals.stolen_ns / 1e9 * profile->session.frequency_hz);
	size_t i;

	for (i = 0; i < profile->warning_count; i++)
		printf("soak: [%s] %s\n", profile->warnings[i].code, profile->warnings[i].text);
	fflush(stdout); /* a test that fails does not */
	for (i = 0; i < profile_loss_field_count; i++) {
		const struct profile_loss_field *field = &profile_loss_fields[i];
		uint64_t n = *(const uint64_t *)((const char *)&profile->losses + field->offset);

		if (n)
			printf("soak: %s %llu\n", field->name, (unsigned long long)n);
		if (!strcmp(field->name, "tick_missed"))
			ck_assert_uint_le(n, stolen_ticks);
		/* record__check_calls() asks what that may be. */
		else if (!strcmp(field->name, "calls_unread"))
			continue;
		else
			ck_assert_msg(!n || !field->missing, "%llu %s", (unsigned long long)n,
				      field->name);
	}
}

/* What the test judges. */
static struct recorded run, said;
static struct memory memory;

/* A fixture, for check keeps how long a test took in 31 bits of microseconds: half an hour. */
static void soak_record(void)
{
	const unsigned seconds = soak_seconds();
	struct recording recording;
	char text[64];
	int output;
	pid_t pid;

	snprintf(text, sizeof(text), "%u %d %d", seconds, THREADS, SWITCHES * 11 / 10);
	pid = record__subject_begin("soak", text, &output, &said);
	snprintf(text, sizeof(text), "%d", pid);
	record__begin(&recording, "-F 1000", text);
	kill(pid, SIGUSR1);
	memory = memory_watch(recording.recorder, seconds);
	ck_assert_int_eq(record__subject_end(pid, output, &said), 0);
	record__finish(&recording, &run);
}

static void soak_free(void)
{
	record__free(&run);
}

START_TEST(a_long_session_of_many_switches_stays_small_and_loses_nothing)
{
	const struct profile_fine *rest = record__fine(&run, "rest");
	double wall, cpu, stopwatches, all;

	wall = record__truth(&said, "wall_ns");
	cpu = record__truth(&said, "cpu_ns");
	stopwatches = record__truth(&said, "work_ns") + record__truth(&said, "rest_ns");
	all = (double)run.profile->totals.thread_time_ns;
	printf("soak: %.0f s, %.0f switches a second, recorder %ld KiB at first, %ld warm, %ld at "
	       "most; running %.4f of their clocks, with waiting for a CPU %.4f, blocked in rest "
	       "%.4f of their stopwatches, "
	       "overhead %.4f, stolen %.3f s\n",
	       wall / 1e9, record__truth(&said, "switches") / wall * 1e9, memory.first, memory.warm,
	       memory.most, (double)run.profile->totals.running_ns / cpu,
	       (double)(run.profile->totals.running_ns + run.profile->totals.runnable_ns) / cpu,
	       (double)(rest->blocked_ns + rest->runnable_ns) / record__truth(&said, "rest_ns"),
	       run.profile->overhead.fraction, (double)run.profile->totals.stolen_ns / 1e9);
	/* In a few seconds, others may have the machine. */
	ck_assert_double_ge(record__truth(&said, "switches") / wall * 1e9,
			    soak_seconds() == SHORT_S ? SWITCHES / 2 : SWITCHES);
	ck_assert_int_le(memory.most, memory.warm + GROWTH_KIB);
	losses_check(run.profile);
	record__check_calls(&run, "work", (uint64_t)record__truth(&said, "calls"));
	record__check_calls(&run, "rest", (uint64_t)record__truth(&said, "calls"));
	ck_assert_uint_eq(run.profile->thread_count, THREADS + 1);
	/* The kernel's account of a thread that is woken on an idle CPU begins with its wakeup. */
	ck_assert_double_le((double)run.profile->totals.running_ns, 1.02 * cpu + 1e8);
	ck_assert_double_ge(
		(double)(run.profile->totals.running_ns + run.profile->totals.runnable_ns),
		record__least_running(&run, cpu));
	/* All threads, and the main one that waits for them. */
	ck_assert_double_ge(all, stopwatches + wall);
	ck_assert_double_le(all, stopwatches + wall + 0.01 * stopwatches + 1e9);
	/* Nobody runs while it rests, but on the way there and back. */
	ck_assert_double_ge((double)(rest->blocked_ns + rest->runnable_ns),
			    0.97 * record__truth(&said, "rest_ns"));
	record__check_totals(run.profile);
}
END_TEST

Suite *soak_suite(void)
{
	Suite *suite = suite_create("soak");
	TCase *cases = tcase_create("soak");

	tcase_set_timeout(cases, soak_seconds() + 30);
	tcase_add_checked_fixture(cases, soak_record, soak_free);
	tcase_add_test(cases, a_long_session_of_many_switches_stays_small_and_loses_nothing);
	suite_add_tcase(suite, cases);
	return suite;
}
