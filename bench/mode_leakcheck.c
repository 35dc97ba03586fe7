// SPDX-License-Identifier: MIT
/*
 * leakcheck: labels that do not balance end a strict session, and only those. The twenty operations
 * run throughout; one thread more makes the mistake, or does not.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <ticksnick/ticksnick.h>

#include "bench.h"
#include "outcome.h"
#include "recorder.h"
#include "stopwatch.h"
#include "workload.h"

#define SECONDS_BRIEF	 1
#define SECONDS_FULL	 5
#define FREQUENCY_HZ	 997
#define EXIT_DONE	 0
#define EXIT_VIOLATION	 3
#define MISTAKE_PART	 0.3 /* of the session, before the mistake is made */
#define DURATION_PART	 0.9 /* of the session that one which was not ended has at least */
#define VIOLATION_PREFIX "violation_"
#define STALE_NS	 200000000 /* of work for a request that is over */
#define STALE_SECONDS	 4	   /* stale work is looked for every second */

TSN_FINE(label_leaky, "leakcheck.leaky");
TSN_FINE(label_crossed, "leakcheck.crossed");
TSN_FINE(label_around, "leakcheck.around");
TSN_COARSE(label_request, "leakcheck.request");
TSN_COARSE(label_step, "leakcheck.step");

static void leak(void)
{
	tsn_enter(label_leaky);
	tsn_expect_balanced();
}

static void close_the_wrong_one(void)
{
	tsn_enter(label_around);
	tsn_exit(label_crossed);
	tsn_exit(label_around);
}

static void leak_request(void)
{
	tsn_enter(label_request);
	tsn_expect_balanced();
}

static void close_the_wrong_request(void)
{
	tsn_enter(label_request);
	tsn_exit(label_step);
	tsn_exit(label_request);
}

/* The inner one is never left: its thread returns out of the outer one, as after a longjmp. */
static void abandon(void)
{
	TSN_SCOPE(label_request);

	tsn_enter(label_step);
}

static tsn_context_t finished_request(void)
{
	TSN_SCOPE(label_request);

	return tsn_capture();
}

static void outlive(void)
{
	const tsn_context_t context = finished_request();
	const uint64_t end_ns = stopwatch__cpu() + STALE_NS;
	TSN_WITH_CONTEXT(context);

	while (stopwatch__cpu() < end_ns)
		;
}

static void balance(void)
{
	TSN_SCOPE(label_request);

	tsn_enter(label_around);
	tsn_enter(label_crossed);
	tsn_exit(label_crossed);
	tsn_exit(label_around);
}

/* A session, and what it should come to. */
struct trial {
	const char *name;
	void (*act)(void);
	bool strict;
	int status;
	const char *ended_by;
	const char *warning, *label; /* NULL: no violation is to be told of */
	double seconds;		     /* at least */
};

static const struct trial trials[] = {
	{"balanced", balance, true, EXIT_DONE, "duration", NULL, NULL},
	{"leak", leak, true, EXIT_VIOLATION, "violation", "violation_leak", "leakcheck.leaky"},
	{"mismatch", close_the_wrong_one, true, EXIT_VIOLATION, "violation", "violation_mismatch",
	 "leakcheck.crossed"},
	{"leak, not strict", leak, false, EXIT_DONE, "duration", "violation_leak",
	 "leakcheck.leaky"},
	{"request leak", leak_request, true, EXIT_VIOLATION, "violation", "violation_leak",
	 "leakcheck.request"},
	{"request mismatch", close_the_wrong_request, true, EXIT_VIOLATION, "violation",
	 "violation_mismatch", "leakcheck.step"},
	{"abandoned", abandon, true, EXIT_DONE, "duration", "abandoned", "leakcheck.step"},
	{"stale", outlive, true, EXIT_VIOLATION, "violation", "coarse_stale", "leakcheck.request",
	 STALE_SECONDS},
	{"stale, not strict", outlive, false, EXIT_DONE, "duration", "coarse_stale",
	 "leakcheck.request", 0},
};

#define TRIALS (sizeof(trials) / sizeof(trials[0]))

static void *act_main(void *argument)
{
	((const struct trial *)argument)->act();
	return NULL;
}

static void pause_seconds(double seconds)
{
	const struct timespec time = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};

	nanosleep(&time, NULL);
}

/* The recorder is at work, and the mistake is made in the middle of its session, by a thread that
 * then ends: it would else be found, or closed, by what this thread does next. */
static int record(const struct trial *trial, double seconds, const struct bench_options *options,
		  struct outcome *outcome, struct recording *recording)
{
	static const char *const lenient[] = {"--no-strict", NULL};
	const double frequency = bench__frequency(options, FREQUENCY_HZ);
	struct recorder *recorder;
	pthread_t thread;
	int err = recorder__start(options, outcome, getpid(), frequency, seconds,
				  trial->strict ? NULL : lenient, &recorder);

	if (err)
		return err;
	pause_seconds(seconds * MISTAKE_PART);
	err = -pthread_create(&thread, NULL, act_main, (void *)trial);
	if (!err)
		pthread_join(thread, NULL);
	recorder__finish(recorder, recording);
	return err;
}

/* The one violation that a report tells of; NULL: none. */
static const struct profile_warning *violation(const struct profile *profile)
{
	for (size_t i = 0; i < profile->warning_count; i++) {
		const char *code = profile->warnings[i].code;

		if (strncmp(code, VIOLATION_PREFIX, strlen(VIOLATION_PREFIX)) == 0 ||
		    strcmp(code, "abandoned") == 0 || strcmp(code, "coarse_stale") == 0)
			return &profile->warnings[i];
	}
	return NULL;
}

static bool names(const char *text, const char *label)
{
	return text && strstr(text, label);
}

static bool told_right(const struct trial *trial, const struct profile_warning *warning)
{
	if (!trial->warning || !warning)
		return !trial->warning && !warning;
	return strcmp(warning->code, trial->warning) == 0 &&
	       (names(warning->label, trial->label) || names(warning->text, trial->label));
}

static void gate(struct outcome *outcome, const struct trial *trial, const char *what, bool holds)
{
	char name[64];

	snprintf(name, sizeof(name), "%s: %s", trial->name, what);
	outcome__gate(outcome, name, holds, GATE_AT_LEAST, 1, "");
}

/* It ended when it should, as what it was asked to be. */
static bool ended_right(const struct trial *trial, const struct profile_session *session,
			double seconds)
{
	const bool early = (double)session->duration_ns < DURATION_PART * seconds * 1e9;

	return strcmp(session->ended_by, trial->ended_by) == 0 &&
	       session->strict == trial->strict && early == (trial->status == EXIT_VIOLATION);
}

static void judge(const struct trial *trial, const struct recording *recording, double seconds,
		  struct outcome *outcome)
{
	const struct profile *profile = recording->profile;
	const struct profile_warning *warning = profile ? violation(profile) : NULL;
	char status[32];

	outcome__text(outcome, "%-16s status %d after %.2f s%s; %s%s\n", trial->name,
		      recording->status, profile ? (double)profile->session.duration_ns / 1e9 : NAN,
		      profile ? "" : ", no report", warning ? warning->text : "no violation",
		      recording->error);
	snprintf(status, sizeof(status), "exit status is %d", trial->status);
	gate(outcome, trial, status, recording->status == trial->status);
	gate(outcome, trial,
	     trial->status == EXIT_VIOLATION ? "it ends the session, with a report"
					     : "the session runs to its end",
	     profile && ended_right(trial, &profile->session, seconds));
	gate(outcome, trial,
	     trial->warning ? "a warning names the label" : "no warning of a violation",
	     profile && told_right(trial, warning));
}

int mode_leakcheck(const struct bench_options *options, struct outcome *outcome)
{
	const struct workload_config config = {.threads = bench__threads(options),
					       .seed = options->seed};
	const double seconds = bench__seconds(options, SECONDS_BRIEF, SECONDS_FULL);
	struct calibration calibration;
	struct workload *workload;
	int err = 0;

	calibration__run(&calibration);
	workload = workload__start(&calibration, &config);
	for (size_t i = 0; i < TRIALS && !err; i++) {
		const double length = fmax(seconds, trials[i].seconds);
		struct recording recording = {0};

		err = record(&trials[i], length, options, outcome, &recording);
		if (!err)
			judge(&trials[i], &recording, length, outcome);
		recording__free(&recording);
	}
	workload__pause(workload);
	workload__free(workload);
	return err;
}
