/* SPDX-License-Identifier: MIT */
/*
 * recorder - runs `ticksnick record` on this process or another, as a user would, and reads its
 * report.
 */
#ifndef TICKSNICK_BENCH_RECORDER_H
#define TICKSNICK_BENCH_RECORDER_H

#include <sys/types.h>

#include "bench.h"
#include "profile.h"

/* A session that has ended. */
struct recording {
	struct profile *profile;	     /* NULL: no report */
	int status;			     /* exit code, or 128 + the signal */
	double user_seconds, system_seconds; /* CPU time of the recorder */
	double resident_mib;		     /* at most */
	char error[512];		     /* what it wrote on stderr */
};

/* A session under way. */
struct recorder;

/*
 * Starts "ticksnick record -q -p PID -F HZ [-d SECONDS] EXTRA.." and returns when it observes.
 * seconds 0: until recorder__finish. extra is a list of further arguments that ends with NULL, or
 * NULL. 0, or a negative errno and a line in the outcome.
 */
int recorder__start(const struct bench_options *options, struct outcome *outcome, pid_t pid,
		    double frequency_hz, double seconds, const char *const *extra,
		    struct recorder **started);

/* CPU time that the recorder has taken until now. */
double recorder__cpu_ns(const struct recorder *recorder);

/* Ends the session if it still goes on (SIGINT; not if it has a length: then it is waited for),
 * reads its report and frees recorder. The caller frees the recording (recording__free). */
void recorder__finish(struct recorder *recorder, struct recording *recording);

/* The same where a session without a report breaks the outcome: 0 or -EPROTO. */
int recorder__complete(struct recorder *recorder, struct outcome *outcome,
		       struct recording *recording);

/* Starts and completes: records for that long. */
int recorder__record(const struct bench_options *options, struct outcome *outcome, pid_t pid,
		     double frequency_hz, double seconds, const char *const *extra,
		     struct recording *recording);

void recording__free(struct recording *recording);

/* The row of that fine or coarse label; NULL: none. */
const struct profile_fine *recording__fine(const struct recording *recording, const char *label);
const struct profile_coarse *recording__coarse(const struct recording *recording,
					       const char *label);

#endif
