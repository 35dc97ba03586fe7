// SPDX-License-Identifier: MIT
#include "trial.h"

#include <errno.h>
#include <math.h>
#include <time.h>
#include <unistd.h>

#include "outcome.h"
#include "stopwatch.h"

#define BUSY_WINDOW 0.9 /* of the session: its very end is not known beforehand */

static void sleep_seconds(double seconds)
{
	const struct timespec length = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};

	nanosleep(&length, NULL);
}

/* Records the workload; meanwhile its own clocks say how many CPUs it keeps busy. */
static int record(const struct bench_options *options, struct outcome *outcome,
		  const struct workload *workload, double frequency_hz, double seconds,
		  struct trial *trial)
{
	struct recorder *recorder;
	double cpu_ns, wall_ns;
	int err =
		recorder__start(options, outcome, getpid(), frequency_hz, seconds, NULL, &recorder);

	if (err)
		return err;
	cpu_ns = workload__cpu_ns(workload);
	wall_ns = (double)stopwatch__read(CLOCK_MONOTONIC);
	sleep_seconds(BUSY_WINDOW * seconds);
	trial->busy = (workload__cpu_ns(workload) - cpu_ns) /
		      ((double)stopwatch__read(CLOCK_MONOTONIC) - wall_ns);
	return recorder__complete(recorder, outcome, &trial->recording);
}

int trial__run(const struct bench_options *options, struct outcome *outcome,
	       const struct calibration *calibration, const struct workload_config *config,
	       double frequency_hz, double seconds, struct trial *trial)
{
	struct workload *workload = workload__start(calibration, config);
	int err = record(options, outcome, workload, frequency_hz, seconds, trial);

	workload__pause(workload);
	truth__find(workload, config->threads, calibration, &trial->truth);
	workload__free(workload);
	if (err)
		return err;
	err = truth__compare(trial->truth.measured, &trial->recording, &trial->comparison);
	if (err) {
		outcome__broken(outcome, "the report lacks an operation");
		trial__free(trial);
	}
	return err;
}

void trial__free(struct trial *trial)
{
	recording__free(&trial->recording);
}
