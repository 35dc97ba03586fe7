/* SPDX-License-Identifier: MIT */
/*
 * record - runs the recorder on a subject as a user would, and reads the report back.
 */
#ifndef TICKSNICK_TESTS_RECORD_H
#define TICKSNICK_TESTS_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "profile.h"

/* Where CI=true nothing may be skipped. */
bool record__in_ci(void);

/* Says loudly what this machine cannot show. False in CI: then the test has to be run, and to fail.
 */
bool record__may_leave_out(const char *what);

/* TICKSNICK_TEST_LONG=1: more threads, and for longer. */
bool record__tests_are_long(void);

/* A run: the report, what the subject printed, and the recorder's exit code. */
struct recorded {
	struct profile *profile;
	char output[4096];
	int status;
	double started_ns; /* when record__process started the recorder, Unix time */
	long memory_kib;   /* the most the recorder had in memory */
};

/* A session under way. */
struct recording {
	char report[64];
	pid_t recorder;
	int output; /* the recorder's */
};

/*
 * Runs "ticksnick record OPTIONS -- SUBJECT ARGUMENTS" (options and arguments are split at blanks).
 * Aborts the test if there is no report. Checks the identity of every thread
 * (record__check_identity).
 */
void record__command(struct recorded *recorded, const char *options, const char *subject,
		     const char *arguments);

/* Starts a subject, waits until it has printed "ready", records it with -p, and kills it. */
void record__process(struct recorded *recorded, const char *options, const char *subject,
		     const char *arguments);

/* Where the tests were built. */
const char *record__build_directory(void);

/* Starts a subject and waits until it has printed "ready"; its output goes on into *output. */
pid_t record__subject(const char *subject, const char *arguments, int *output);

/* Likewise; what it prints up to "ready" goes to said->output, from where record__truth has it. */
pid_t record__subject_begin(const char *subject, const char *arguments, int *output,
			    struct recorded *said);

/* Waits until it has printed that key, too. */
void record__subject_wait(int output, struct recorded *said, const char *key);

/* Waits for its end. Returns how it ended: its exit code, or 128 + the signal's number. */
int record__subject_end(pid_t pid, int output, struct recorded *said);

/* Kills it. */
void record__end(pid_t pid, int output);

/* Begins to record these processes ("PID" or "PID,PID"); returns once the session has begun. */
void record__begin(struct recording *recording, const char *options, const char *pids);

/* Waits until the session is over, and takes over its report. */
void record__finish(struct recording *recording, struct recorded *recorded);

void record__free(struct recorded *recorded);

/* The value a subject printed under a key; aborts the test if it did not. */
double record__truth(const struct recorded *recorded, const char *key);

/* Aborts the test if there is no such label. */
const struct profile_fine *record__fine(const struct recorded *recorded, const char *label);

/* Whether this kernel lets the recorder have what a process counted and published until its end. */
bool record__hands_in_last_words(void);

/*
 * The calls of a label are as many as were made, and no process has calls unread. A kernel that
 * does not hand in a process's last ones shows no more than were made, and where there are less
 * says so.
 */
void record__check_calls(const struct recorded *recorded, const char *label, uint64_t made);

/* The first warning with that code; NULL: there is none. */
const struct profile_warning *record__warning(const struct recorded *recorded, const char *code);

/* The row of a thread; NULL if it has none. */
const struct profile_thread *record__thread(const struct recorded *recorded, int tid);

/* What a thread, or several, must have run at least, that ran for so long by the kernel's own
 * account: 0.2% less, and 5 ms where switches were repaired, for the account is brought up to date
 * once a tick of the kernel's. */
double record__least_running(const struct recorded *recorded, double cpu_ns);

/* Sums of all threads and of all labels are the same time, within 0.1% and 1 ms; where threads have
 * no row, those that have are not more. */
void record__check_totals(const struct profile *profile);

/* running + runnable + blocked + io = lifetime to the nanosecond, for every thread (within 0.1%
 * where the clock stepped). */
void record__check_identity(const struct profile *profile);

#endif
