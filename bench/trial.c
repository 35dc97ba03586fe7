// SPDX-License-Identifier: MIT
#include "trial.h"

#include <errno.h>
#include <unistd.h>

#include "outcome.h"
#include "stopwatch.h"

int trial__run(const struct bench_options *options, struct outcome *outcome,
	       const struct calibration *calibration, const struct workload_config *config,
	       double frequency_hz, double seconds, struct trial *trial)
{
	const uint64_t begin_ns = stopwatch__read(CLOCK_MONOTONIC);
	struct workload *workload = workload__start(calibration, config);
	double wall_ns, cpu_ns;
	int err;

	err = recorder__record(options, outcome, getpid(), frequency_hz, seconds, NULL,
			       &trial->recording);
	cpu_ns = workload__pause(workload);
	wall_ns = (double)(stopwatch__read(CLOCK_MONOTONIC) - begin_ns);
	trial->busy = cpu_ns / wall_ns;
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
