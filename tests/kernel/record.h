/* SPDX-License-Identifier: MIT */
/*
 * record - runs the recorder on a subject as a user would, and reads the report back.
 */
#ifndef TICKSNICK_TESTS_RECORD_H
#define TICKSNICK_TESTS_RECORD_H

#include <stdint.h>
#include <sys/types.h>

#include "profile.h"

/* A run: the report, what the subject printed, and the recorder's exit code. */
struct recorded {
	struct profile *profile;
	char output[4096];
	int status;
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

/* Starts a subject and waits until it has printed "ready"; its output goes on into *output. */
pid_t record__subject(const char *subject, const char *arguments, int *output);

/* Kills it. */
void record__end(pid_t pid, int output);

void record__free(struct recorded *recorded);

/* The value a subject printed under a key; aborts the test if it did not. */
double record__truth(const struct recorded *recorded, const char *key);

/* Aborts the test if there is no such label. */
const struct profile_fine *record__fine(const struct recorded *recorded, const char *label);

/* running + runnable + blocked + io = lifetime within 0.1%, for every thread. */
void record__check_identity(const struct profile *profile);

#endif
