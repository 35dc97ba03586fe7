// SPDX-License-Identifier: MIT
/* run: the twenty operations, recorded once, beside their true shares. */
#include <math.h>

#include "bench.h"
#include "outcome.h"
#include "trial.h"

#define SECONDS_BRIEF	5
#define SECONDS_FULL	30
#define FREQUENCY_HZ	997
#define CALLS_ERROR_MAX 0.001 /* calls that the report has, against the schedule's proportions */
#define OUTSIDE_MAX	1     /* of 20 rows: all hold at once in 19 of 20 sessions */

/* Greatest relative difference of the report's proportions of calls from the workload's own. */
static double calls_error(const struct recording *recording, const struct truth *truth)
{
	double reported = 0, made = 0, error = 0;

	for (int id = 0; id < CATALOGUE_OPERATIONS; id++) {
		reported += (double)recording__fine(recording, catalogue[id].name)->calls;
		made += (double)truth->calls[id];
	}
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++) {
		const double calls = (double)recording__fine(recording, catalogue[id].name)->calls;
		const double due = (double)truth->calls[id] * reported / made;

		error = fmax(error, fabs(calls - due) / due);
	}
	return error;
}

static void judge(const struct recording *recording, const struct truth *truth,
		  const struct comparison *comparison, struct outcome *outcome)
{
	outcome__figure(outcome, "hits", comparison->hits, "");
	outcome__figure(outcome, "farthest from the truth", comparison->worst_pp, "pp");
	outcome__figure(outcome, "coverage of running time",
			recording->profile->totals.coverage_running, "");
	outcome__figure(outcome, "width of a bound / ideal", comparison->width_ratio, "");
	outcome__gate(outcome, "rows outside their bound",
		      CATALOGUE_OPERATIONS - comparison->inside, GATE_AT_MOST, OUTSIDE_MAX, "");
	outcome__gate(outcome, "top ten in the order of the truth", comparison->top_ten_in_order,
		      GATE_AT_LEAST, 1, "");
	outcome__gate(outcome, "calls off by", calls_error(recording, truth), GATE_AT_MOST,
		      CALLS_ERROR_MAX, "");
}

int mode_run(const struct bench_options *options, struct outcome *outcome)
{
	const struct workload_config config = {.threads = bench__threads(options),
					       .seed = options->seed};
	const double seconds = bench__seconds(options, SECONDS_BRIEF, SECONDS_FULL);
	const double frequency = bench__frequency(options, FREQUENCY_HZ);
	struct calibration calibration;
	struct trial trial;
	int err;

	calibration__run(&calibration);
	calibration__judge(&calibration, outcome);
	err = trial__run(options, outcome, &calibration, &config, frequency, seconds, &trial);
	if (err)
		return err;
	truth__judge(&trial.truth, outcome);
	truth__print(&trial.truth, &trial.comparison, outcome);
	judge(&trial.recording, &trial.truth, &trial.comparison, outcome);
	trial__free(&trial);
	return 0;
}
