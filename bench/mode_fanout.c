// SPDX-License-Identifier: MIT
/*
 * fanout: requests whose work is handed to eight threads, beside the program's own stopwatches.
 * With the context carried along, without, and (--escape) with work that outlives its request.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ticksnick/ticksnick.h>

#include "bench.h"
#include "burn.h"
#include "outcome.h"
#include "random.h"
#include "recorder.h"
#include "stopwatch.h"

#define SECONDS_BRIEF 3
#define SECONDS_FULL  20
#define FREQUENCY_HZ  997
#define FANOUT	      8
#define WORK_NS	      200000 /* of one task, mean */
#define SLEEP_NS      300000 /* of one task, mean */
#define OWN_NS	      100000 /* of the request itself, mean */
#define OFF_MAX	      0.03
#define ALONE_NOISE   3	   /* inside off 1 without propagation: its running part is sampled */
#define LOST_OFF_MAX  0.03 /* of the work that no request has */
#define ESCAPED_NS    1000000
#define STALE_LEAST   0.05  /* of the time in requests, where it is staged ... */
#define STALE_MOST    0.001 /* ... and where it is not */

TSN_COARSE(label_request, "fanout.request");
TSN_FINE(label_task, "fanout.task");
TSN_IDLE(label_idle, "fanout.idle");

#define REQUESTS_MAX (1 << 16) /* of a session */

enum way { CARRIED, DROPPED, ESCAPING };
static const char *const way_names[] = {"carried", "dropped", "escaping"};

/* What threads saw by their own clocks. */
struct seen {
	double wall_ns, cpu_ns;
	double stale_ns; /* after the request was over, not in wall_ns */
};

struct office {
	enum way way;
	pthread_mutex_t mutex;
	pthread_cond_t posted, done;
	tsn_context_t context;
	unsigned tasks, finished; /* of the request under way: not begun, done with */
	bool over;
	unsigned number;		  /* of the request under way */
	uint64_t closed_ns[REQUESTS_MAX]; /* when each was over */
};

/* Work of a clerk after it said that it was done. */
struct escape {
	unsigned number; /* of the request */
	uint64_t begin_ns, end_ns;
};

struct clerk {
	pthread_t thread;
	struct office *office;
	uint64_t random;
	struct seen tasks;
	struct escape *escapes;
	size_t escape_count;
};

static void work(uint64_t ns)
{
	const uint64_t end_ns = stopwatch__cpu() + ns;

	while (stopwatch__cpu() < end_ns)
		;
}

static void sleep_ns(uint64_t ns)
{
	const struct timespec length = {0, (long)ns};

	nanosleep(&length, NULL);
}

/* 0.5 to 1.5 of it. */
static uint64_t about(uint64_t ns, uint64_t *random)
{
	return ns / 2 + random__below(random, ns);
}

static void add_lap(struct seen *seen, uint64_t wall_ns, uint64_t cpu_ns)
{
	seen->cpu_ns += (double)(stopwatch__cpu() - cpu_ns);
	seen->wall_ns += (double)(stopwatch__read(CLOCK_MONOTONIC) - wall_ns);
}

static void do_task(struct clerk *clerk)
{
	const uint64_t wall_ns = stopwatch__read(CLOCK_MONOTONIC), cpu_ns = stopwatch__cpu();
	TSN_SCOPE(label_task);

	work(about(WORK_NS, &clerk->random));
	sleep_ns(about(SLEEP_NS, &clerk->random));
	add_lap(&clerk->tasks, wall_ns, cpu_ns);
}

static void finish(struct office *office)
{
	TSN_SCOPE(label_idle);

	pthread_mutex_lock(&office->mutex);
	office->finished++;
	pthread_cond_signal(&office->done);
	pthread_mutex_unlock(&office->mutex);
}

static void escape(struct clerk *clerk)
{
	struct escape *lap = &clerk->escapes[clerk->escape_count++];

	lap->number = clerk->office->number;
	lap->begin_ns = stopwatch__read(CLOCK_MONOTONIC);
	finish(clerk->office);
	work(about(ESCAPED_NS, &clerk->random));
	sleep_ns(about(ESCAPED_NS, &clerk->random));
	lap->end_ns = stopwatch__read(CLOCK_MONOTONIC);
}

/* Mounts the context, and is out of it before it says that it is done; one that escapes says so
 * first and goes on. */
static void do_carried(struct clerk *clerk, tsn_context_t context)
{
	TSN_WITH_CONTEXT(context);

	do_task(clerk);
	if (clerk->office->way == ESCAPING)
		escape(clerk);
}

static bool take_task(struct office *office, tsn_context_t *context)
{
	bool taken;
	TSN_SCOPE(label_idle);

	pthread_mutex_lock(&office->mutex);
	while (!office->tasks && !office->over)
		pthread_cond_wait(&office->posted, &office->mutex);
	taken = office->tasks > 0;
	if (taken)
		office->tasks--;
	*context = office->context;
	pthread_mutex_unlock(&office->mutex);
	return taken;
}

static void *clerk_main(void *argument)
{
	struct clerk *clerk = argument;
	tsn_context_t context;

	while (take_task(clerk->office, &context)) {
		if (clerk->office->way == DROPPED)
			do_task(clerk);
		else
			do_carried(clerk, context);
		if (clerk->office->way != ESCAPING)
			finish(clerk->office);
	}
	return NULL;
}

static void request(struct office *office, uint64_t *random, struct seen *requests)
{
	TSN_SCOPE(label_request);
	const uint64_t wall_ns = stopwatch__read(CLOCK_MONOTONIC), cpu_ns = stopwatch__cpu();

	pthread_mutex_lock(&office->mutex);
	office->context = tsn_capture();
	office->number++;
	office->tasks = FANOUT;
	office->finished = 0;
	pthread_cond_broadcast(&office->posted);
	pthread_mutex_unlock(&office->mutex);
	work(about(OWN_NS, random));
	pthread_mutex_lock(&office->mutex);
	while (office->finished < FANOUT)
		pthread_cond_wait(&office->done, &office->mutex);
	pthread_mutex_unlock(&office->mutex);
	add_lap(requests, wall_ns, cpu_ns);
	office->closed_ns[office->number] = stopwatch__read(CLOCK_MONOTONIC);
}

/* It is part of the request until that is closed, and stale from then on. */
static void add_escape(const struct office *office, const struct escape *escape, struct seen *seen)
{
	const double closed = (double)office->closed_ns[escape->number];
	const double inside = fmin((double)escape->end_ns, fmax(closed, (double)escape->begin_ns)) -
			      (double)escape->begin_ns;

	seen->wall_ns += inside;
	seen->stale_ns += (double)(escape->end_ns - escape->begin_ns) - inside;
}

static void close_office(struct office *office, struct clerk clerks[FANOUT], struct seen *tasks)
{
	pthread_mutex_lock(&office->mutex);
	office->over = true;
	pthread_cond_broadcast(&office->posted);
	pthread_mutex_unlock(&office->mutex);
	for (int i = 0; i < FANOUT; i++) {
		pthread_join(clerks[i].thread, NULL);
		tasks->wall_ns += clerks[i].tasks.wall_ns;
		tasks->cpu_ns += clerks[i].tasks.cpu_ns;
		for (size_t k = 0; k < clerks[i].escape_count; k++)
			add_escape(office, &clerks[i].escapes[k], tasks);
		free(clerks[i].escapes);
	}
}

/* Requests begin and end inside the session, so that nothing is to be cut. */
static int record(const struct bench_options *options, struct outcome *outcome, enum way way,
		  struct seen *requests, struct seen *tasks, struct recording *recording)
{
	static const char *const lenient[] = {"--no-strict", NULL};
	static struct office office = {.mutex = PTHREAD_MUTEX_INITIALIZER,
				       .posted = PTHREAD_COND_INITIALIZER,
				       .done = PTHREAD_COND_INITIALIZER};
	struct clerk clerks[FANOUT] = {0};
	uint64_t random = random__seed(options->seed), end_ns;
	struct recorder *recorder;
	int err;

	office.way = way;
	office.tasks = office.number = 0;
	office.over = false;
	for (int i = 0; i < FANOUT; i++) {
		clerks[i].office = &office;
		clerks[i].escapes = calloc(FANOUT * REQUESTS_MAX, sizeof(struct escape));
		if (!clerks[i].escapes)
			exit(1);
		clerks[i].random = random__seed(options->seed * FANOUT + (uint64_t)i);
		if (pthread_create(&clerks[i].thread, NULL, clerk_main, &clerks[i]))
			exit(1);
	}
	{
		TSN_SCOPE(label_idle);
		err = recorder__start(options, outcome, getpid(),
				      bench__frequency(options, FREQUENCY_HZ), 0, lenient,
				      &recorder);
	}
	end_ns = stopwatch__read(CLOCK_MONOTONIC) +
		 (uint64_t)(1e9 * bench__seconds(options, SECONDS_BRIEF, SECONDS_FULL));
	while (!err && office.number < REQUESTS_MAX - 1 &&
	       stopwatch__read(CLOCK_MONOTONIC) < end_ns)
		request(&office, &random, requests);
	TSN_SCOPE(label_idle);
	close_office(&office, clerks, tasks);
	return err ? err : recorder__complete(recorder, outcome, recording);
}

static double stale_part(const struct profile_coarse *row)
{
	return (double)row->stale_ns / (double)(row->stale_ns + row->thread_time_ns);
}

static void gate(struct outcome *outcome, enum way way, const char *what, double value,
		 enum gate gate, double limit)
{
	char name[96];

	snprintf(name, sizeof(name), "%s: %s", way_names[way], what);
	outcome__gate(outcome, name, value, gate, limit, "");
}

static void judge(enum way way, const struct recording *recording, const struct seen *requests,
		  const struct seen *tasks, struct outcome *outcome)
{
	const double outside_ns = (double)recording->profile->totals.outside_ns;
	const struct profile_coarse *row = recording__coarse(recording, "fanout.request");
	const double inside = 1 + tasks->wall_ns / requests->wall_ns;
	const double working = (requests->cpu_ns + tasks->cpu_ns) / requests->wall_ns;

	if (!row) {
		outcome__broken(outcome, "the report lacks the request");
		return;
	}
	outcome__text(outcome,
		      "%s: inside %.3f, working %.3f, stale %.3f s, in no request %.3f s;\n"
		      "by the stopwatches, had the requests all tasks, %.3f, %.3f, %.3f s; tasks "
		      "took %.3f s\n",
		      way_names[way], row->inside, row->working, (double)row->stale_ns / 1e9,
		      outside_ns / 1e9, inside, working, tasks->stale_ns / 1e9,
		      tasks->wall_ns / 1e9);
	switch (way) {
	case CARRIED:
		gate(outcome, way, "inside off, of itself", fabs(row->inside / inside - 1),
		     GATE_AT_MOST, OFF_MAX);
		gate(outcome, way, "working off, of itself", fabs(row->working / working - 1),
		     GATE_AT_MOST, OFF_MAX);
		gate(outcome, way, "stale part", stale_part(row), GATE_AT_MOST, STALE_MOST);
		break;
	case DROPPED:
		gate(outcome, way, "inside off 1, standard errors",
		     fabs(row->inside - 1) / (row->working / sqrt((double)row->hits)), GATE_AT_MOST,
		     ALONE_NOISE);
		gate(outcome, way, "lost work inside no coarse label, off",
		     fabs(outside_ns / tasks->wall_ns - 1), GATE_AT_MOST, LOST_OFF_MAX);
		break;
	case ESCAPING:
		gate(outcome, way, "inside off, of itself", fabs(row->inside / inside - 1),
		     GATE_AT_MOST, OFF_MAX);
		gate(outcome, way, "stale time off, of itself",
		     fabs((double)row->stale_ns / tasks->stale_ns - 1), GATE_AT_MOST, OFF_MAX);
		gate(outcome, way, "stale part", stale_part(row), GATE_AT_LEAST, STALE_LEAST);
		break;
	}
}

int mode_fanout(const struct bench_options *options, struct outcome *outcome)
{
	static const enum way ways[] = {CARRIED, DROPPED, ESCAPING};
	int err = 0;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]) && !err; i++) {
		struct seen requests = {0}, tasks = {0};
		struct recording recording = {0};

		if (options->escape && ways[i] != ESCAPING)
			continue;
		err = record(options, outcome, ways[i], &requests, &tasks, &recording);
		if (!err)
			judge(ways[i], &recording, &requests, &tasks, outcome);
		recording__free(&recording);
	}
	return err;
}
