// SPDX-License-Identifier: MIT
/* small: are the operations of 20 and 25 ns read right, to 2% of themselves beyond noise? */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "bench.h"
#include "outcome.h"
#include "trial.h"

#define SECONDS_BRIEF 5 /* of one session */
#define SECONDS_FULL  30
#define RUNS_BRIEF    4
#define RUNS_FULL     8
#define FREQUENCY_HZ  9973
#define SMALL_NS      25
#define OFF_MAX	      0.02 /* of itself, beyond noise */
#define NOISE	      2	   /* standard errors */
#define KNOWN_MAX     0.01 /* A and B apart, of B */

struct small {
	double off, square; /* sums over sessions of (read - truth) / truth, and of its square */
	double apart;	    /* greatest |A - B| / B */
	double hits;
};

static void add(struct small small[CATALOGUE_OPERATIONS], const struct trial *trial)
{
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++) {
		const struct comparison_row *row = &trial->comparison.rows[id];
		const double off = (row->cpu_read - row->cpu_truth) / row->cpu_truth;
		const double apart = trial->truth.configured[id] / trial->truth.measured[id] - 1;

		small[id].off += off;
		small[id].square += off * off;
		small[id].apart = fmax(small[id].apart, fabs(apart));
		small[id].hits += row->hits;
	}
}

/*
 * What the hook itself takes off an operation, a part of it: threads that do nothing else, one call
 * after the other, are found outside of its label for that part of their running time. The truths
 * have it in the operation, for their batches take it too.
 */
static int find_hook_part(const struct bench_options *options, struct outcome *outcome,
			  const struct calibration *calibration, int id, double *part)
{
	const struct workload_config config = {.threads = bench__threads(options),
					       .seed = options->seed,
					       .alone = true,
					       .only = id};
	const double seconds = bench__seconds(options, SECONDS_BRIEF, SECONDS_FULL);
	const double frequency = bench__frequency(options, FREQUENCY_HZ);
	struct workload *workload = workload__start(calibration, &config);
	struct recording recording;
	const int err =
		recorder__record(options, outcome, getpid(), frequency, seconds, NULL, &recording);

	workload__pause(workload);
	workload__free(workload);
	if (err)
		return err;
	*part = 1 - recording.profile->totals.coverage_running;
	recording__free(&recording);
	return 0;
}

static void judge_one(int id, double off, double error, double apart, double hook_part,
		      struct outcome *outcome)
{
	char name[96];

	snprintf(name, sizeof(name), "%s: off, of itself", catalogue[id].name);
	outcome__figure(outcome, name, off, "");
	snprintf(name, sizeof(name), "%s: of that, outside of its label when alone",
		 catalogue[id].name);
	outcome__figure(outcome, name, -hook_part, "");
	snprintf(name, sizeof(name), "%s: off beyond the hook and noise", catalogue[id].name);
	outcome__gate(outcome, name, fmax(0, fabs(off + hook_part) - NOISE * error), GATE_AT_MOST,
		      OFF_MAX, "");
	snprintf(name, sizeof(name), "%s: truths apart, of itself", catalogue[id].name);
	outcome__gate(outcome, name, apart, GATE_AT_MOST, KNOWN_MAX, "");
}

static void judge(const struct small small[CATALOGUE_OPERATIONS], unsigned runs,
		  const double hook_part[CATALOGUE_OPERATIONS], struct outcome *outcome)
{
	outcome__text(outcome, "%-14s %8s %10s %18s %10s\n", "operation", "self", "hits",
		      "off, of itself", "A and B");
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++) {
		const double mean = small[id].off / runs;
		const double error =
			sqrt(fmax(0, small[id].square / runs - mean * mean) / (runs - 1));

		outcome__text(outcome, "%-14s %5.0f ns %10.0f %+8.2f%% +- %.2f%% %+9.2f%%\n",
			      catalogue[id].name, catalogue[id].self_ns, small[id].hits, 100 * mean,
			      100 * error, 100 * small[id].apart);
		outcome__row(outcome, "operations",
			     json_pack("{s:s, s:f, s:f, s:f, s:f, s:f}", "operation",
				       catalogue[id].name, "self_ns", catalogue[id].self_ns, "hits",
				       small[id].hits, "off", mean, "standard_error", error,
				       "truths_apart", small[id].apart));
		if (catalogue[id].self_ns <= SMALL_NS)
			judge_one(id, mean, error, small[id].apart, hook_part[id], outcome);
	}
}

int mode_small(const struct bench_options *options, struct outcome *outcome)
{
	const unsigned runs = bench__runs(options, RUNS_BRIEF, RUNS_FULL);
	const double seconds = bench__seconds(options, SECONDS_BRIEF, SECONDS_FULL);
	const double frequency = bench__frequency(options, FREQUENCY_HZ);
	struct small small[CATALOGUE_OPERATIONS] = {0};
	struct calibration calibration;
	double hook_part[CATALOGUE_OPERATIONS] = {0};
	double coverage = 0;

	calibration__run(&calibration);
	calibration__judge(&calibration, outcome);
	for (unsigned i = 0; i < runs; i++) {
		const struct workload_config config = {.threads = bench__threads(options),
						       .seed = options->seed * 1000003 + i};
		struct trial trial;
		const int err = trial__run(options, outcome, &calibration, &config, frequency,
					   seconds, &trial);

		if (err)
			return err;
		add(small, &trial);
		coverage += trial.recording.profile->totals.coverage_running / runs;
		trial__free(&trial);
	}
	outcome__figure(outcome, "coverage of running time", coverage, "");
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++) {
		const int err = catalogue[id].self_ns > SMALL_NS
					? 0
					: find_hook_part(options, outcome, &calibration, id,
							 &hook_part[id]);

		if (err)
			return err;
	}
	judge(small, runs, hook_part, outcome);
	return 0;
}
