// SPDX-License-Identifier: MIT
/* sweep: the twenty operations on 1, 2, 4, 8 threads, whether CPUs are left over or fought for. */
#include <math.h>
#include <stdio.h>

#include "bench.h"
#include "outcome.h"
#include "trial.h"

#define SECONDS_BRIEF	 3
#define SECONDS_FULL	 20
#define FREQUENCY_HZ	 997
#define THREADS_MOST	 8
#define OUTSIDE_MAX	 1    /* of 20 rows */
#define RUNNABLE_OFF_MAX 0.02 /* of the threads' time */
#define RUNNING_OFF_MAX	 0.01
#define WORKER_RUNS_MIN	 0.02 /* of its lifetime; what runs less is no worker */

struct states {
	double lifetime_ns, running_ns, runnable_ns, duration_ns;
	unsigned workers;
};

static struct states worker_states(const struct profile *profile)
{
	struct states sum = {.duration_ns = (double)profile->session.duration_ns};

	for (size_t i = 0; i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];

		if ((double)thread->running_ns < WORKER_RUNS_MIN * (double)thread->lifetime_ns)
			continue;
		sum.workers++;
		sum.lifetime_ns += (double)thread->lifetime_ns;
		sum.running_ns += (double)thread->running_ns;
		sum.runnable_ns += (double)thread->runnable_ns;
	}
	return sum;
}

static int sweep(const struct bench_options *options, struct outcome *outcome,
		 const struct calibration *calibration, unsigned threads)
{
	const struct workload_config config = {.threads = threads, .seed = options->seed};
	const double seconds = bench__seconds(options, SECONDS_BRIEF, SECONDS_FULL);
	const double frequency = bench__frequency(options, FREQUENCY_HZ);
	const double cpus = bench__cpus();
	struct states states;
	struct trial trial;
	double runnable, implied, cpus_busy;
	char name[96];
	int err = trial__run(options, outcome, calibration, &config, frequency, seconds, &trial);

	if (err)
		return err;
	states = worker_states(trial.recording.profile);
	runnable = states.runnable_ns / states.lifetime_ns;
	cpus_busy = states.running_ns / states.duration_ns;
	/* The threads never sleep: what they do not run they wait for a CPU. Where there are CPUs
	 * left over, that is due to others, and only their own clocks know it. */
	implied = 1 - (threads > cpus ? cpus : trial.busy) / threads;
	outcome__text(
		outcome,
		"%u threads: %.0f hits, runnable %.4f of thread-time (%.4f implied), %.3f CPUs "
		"busy (%.3f by their own clocks)\n",
		threads, trial.comparison.hits, runnable, implied, cpus_busy, trial.busy);
	outcome__row(outcome, "sweeps",
		     json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:i}", "threads", (int)threads,
			       "hits", trial.comparison.hits, "runnable", runnable,
			       "runnable_implied", implied, "cpus_busy", cpus_busy,
			       "cpus_busy_by_own_clocks", trial.busy, "inside",
			       (int)trial.comparison.inside));
	truth__judge(&trial.truth, outcome);
	snprintf(name, sizeof(name), "%u threads: rows outside their bound", threads);
	outcome__gate(outcome, name, CATALOGUE_OPERATIONS - trial.comparison.inside, GATE_AT_MOST,
		      OUTSIDE_MAX, "");
	snprintf(name, sizeof(name), "%u threads: runnable part off by", threads);
	outcome__gate(outcome, name, fabs(runnable - implied), GATE_AT_MOST, RUNNABLE_OFF_MAX, "");
	snprintf(name, sizeof(name), "%u threads: running time off its own clocks", threads);
	outcome__gate(outcome, name, fabs(cpus_busy / trial.busy - 1), GATE_AT_MOST,
		      RUNNING_OFF_MAX, "");
	trial__free(&trial);
	return 0;
}

int mode_sweep(const struct bench_options *options, struct outcome *outcome)
{
	const unsigned most = options->threads ? options->threads : THREADS_MOST;
	struct calibration calibration;
	int err = 0;

	calibration__run(&calibration);
	calibration__judge(&calibration, outcome);
	for (unsigned threads = 1; threads <= most && !err; threads *= 2)
		err = sweep(options, outcome, &calibration, threads);
	return err;
}
