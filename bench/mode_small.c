// SPDX-License-Identifier: MIT
/* small: are the operations of 20 and 25 ns read right, to 2% of themselves beyond noise? */
#include <math.h>
#include <stdio.h>

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

static void judge(const struct small small[CATALOGUE_OPERATIONS], unsigned runs,
		  struct outcome *outcome)
{
	outcome__text(outcome, "%-14s %8s %10s %18s %10s\n", "operation", "self", "hits",
		      "off, of itself", "A and B");
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++) {
		const double mean = small[id].off / runs;
		const double error =
			sqrt(fmax(0, small[id].square / runs - mean * mean) / (runs - 1));
		char name[96];

		outcome__text(outcome, "%-14s %5.0f ns %10.0f %+8.2f%% +- %.2f%% %+9.2f%%\n",
			      catalogue[id].name, catalogue[id].self_ns, small[id].hits, 100 * mean,
			      100 * error, 100 * small[id].apart);
		outcome__row(outcome, "operations",
			     json_pack("{s:s, s:f, s:f, s:f, s:f, s:f}", "operation",
				       catalogue[id].name, "self_ns", catalogue[id].self_ns, "hits",
				       small[id].hits, "off", mean, "standard_error", error,
				       "truths_apart", small[id].apart));
		if (catalogue[id].self_ns > SMALL_NS)
			continue;
		snprintf(name, sizeof(name), "%s: off beyond noise, of itself", catalogue[id].name);
		outcome__gate(outcome, name, fmax(0, fabs(mean) - NOISE * error), GATE_AT_MOST,
			      OFF_MAX, "");
		snprintf(name, sizeof(name), "%s: truths apart, of itself", catalogue[id].name);
		outcome__gate(outcome, name, small[id].apart, GATE_AT_MOST, KNOWN_MAX, "");
	}
}

int mode_small(const struct bench_options *options, struct outcome *outcome)
{
	const unsigned runs = bench__runs(options, RUNS_BRIEF, RUNS_FULL);
	const double seconds = bench__seconds(options, SECONDS_BRIEF, SECONDS_FULL);
	const double frequency = bench__frequency(options, FREQUENCY_HZ);
	struct small small[CATALOGUE_OPERATIONS] = {0};
	struct calibration calibration;
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
	judge(small, runs, outcome);
	return 0;
}
