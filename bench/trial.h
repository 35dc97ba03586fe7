/* SPDX-License-Identifier: MIT */
/*
 * trial - one session on the workload, with its truth and the report held against it.
 */
#ifndef TICKSNICK_BENCH_TRIAL_H
#define TICKSNICK_BENCH_TRIAL_H

#include "truth.h"

struct trial {
	struct recording recording;
	struct truth truth;
	struct comparison comparison; /* with the measured truth */
	double busy; /* CPUs that the workload kept busy in the session, by its own clocks */
};

/*
 * Starts the workload, records it, ends it and measures the truth. A truth or a report that cannot
 * be judged breaks the outcome. 0, and the caller frees the trial (trial__free); or a negative
 * errno.
 */
int trial__run(const struct bench_options *options, struct outcome *outcome,
	       const struct calibration *calibration, const struct workload_config *config,
	       double frequency_hz, double seconds, struct trial *trial);

void trial__free(struct trial *trial);

#endif
