// SPDX-License-Identifier: MIT
/*
 * estimators: ways to say more with the same ticks, each against the truth.
 *
 * hits        the ticks that found a label, over all that found any
 * weights     what the report prints: each tick counts for its period
 * regression  weights, corrected so that calls x time per call explains the exact running time of
 *             every session; the sessions have different proportions of calls, or there would be
 *             nothing to learn
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "numbers.h"
#include "outcome.h"
#include "regression.h"
#include "trial.h"

#define SECONDS_BRIEF 1 /* of one session */
#define SECONDS_FULL  4
#define RUNS_BRIEF    16
#define RUNS_FULL     40
#define FREQUENCY_HZ  997
#define RATIO_MAX     1.05 /* RMS error of what is printed, over that of plain hits */

/* One session. */
struct session {
	double calls[CATALOGUE_OPERATIONS]; /* in the session, as reported */
	double true_ns[CATALOGUE_OPERATIONS], read_ns[CATALOGUE_OPERATIONS];
	double hit_ns[CATALOGUE_OPERATIONS]; /* running time by plain hits */
	double running_ns, hits;	     /* in all operations */
};

/* Squared errors in units of the variance of plain hits, summed over operations and sessions. */
struct score {
	double hits, weights, regression;
	unsigned rows;
};

static void fill(struct session *session, const struct trial *trial)
{
	const struct comparison *comparison = &trial->comparison;

	session->running_ns = comparison->running_ns;
	session->hits = comparison->hits;
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++) {
		const struct comparison_row *row = &comparison->rows[id];

		session->calls[id] =
			(double)recording__fine(&trial->recording, catalogue[id].name)->calls;
		session->true_ns[id] = row->cpu_truth * comparison->running_ns;
		session->read_ns[id] = row->cpu_read * comparison->running_ns;
		session->hit_ns[id] = row->hits / comparison->hits * comparison->running_ns;
	}
}

/*
 * Time per call of each operation by the weights of one session, corrected so that it explains the
 * running times of all of them. out: what that makes of the session itself, whose own weights take
 * part with the weight of their variance.
 */
static int regress(const struct session *sessions, unsigned count, unsigned which,
		   double out[CATALOGUE_OPERATIONS])
{
	double prior[CATALOGUE_OPERATIONS], variance[CATALOGUE_OPERATIONS], x[CATALOGUE_OPERATIONS];
	double *a = calloc((size_t)count * (CATALOGUE_OPERATIONS + 1), sizeof(*a));
	double *y = a ? a + (size_t)count * CATALOGUE_OPERATIONS : NULL, residual = 0;
	const struct session *of = &sessions[which];
	int err;

	if (!a)
		return -ENOMEM;
	/* The session's own weights: running time per call. */
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++) {
		const double p = fmax(of->read_ns[id] / of->running_ns, 1 / of->hits);
		const double calls = fmax(of->calls[id], 1);

		prior[id] = of->read_ns[id] / calls;
		variance[id] = p * (1 - p) / of->hits * pow(of->running_ns / calls, 2);
	}
	/* Every session's balance; how well it can be trusted shows in how far the readings miss
	 * it. */
	for (unsigned k = 0; k < count; k++) {
		y[k] = sessions[k].running_ns;
		for (int id = 0; id < CATALOGUE_OPERATIONS; id++)
			a[k * CATALOGUE_OPERATIONS + id] = sessions[k].calls[id];
	}
	for (unsigned k = 0; k < count; k++) {
		double miss = y[k];

		for (int id = 0; id < CATALOGUE_OPERATIONS; id++)
			miss -= a[k * CATALOGUE_OPERATIONS + id] * prior[id];
		residual += miss * miss / count;
	}
	err = regression__solve(a, y, count, CATALOGUE_OPERATIONS, fmax(residual, 1), prior,
				variance, x);
	for (int id = 0; id < CATALOGUE_OPERATIONS && !err; id++)
		out[id] = x[id] * of->calls[id];
	free(a);
	return err;
}

static double square_of(double error_ns, const struct session *session, int id)
{
	const double p = session->true_ns[id] / session->running_ns;

	return pow(error_ns / session->running_ns, 2) / (p * (1 - p) / session->hits);
}

static int score(const struct session *sessions, unsigned count, struct score *score)
{
	double regressed[CATALOGUE_OPERATIONS];

	for (unsigned k = 0; k < count; k++) {
		const struct session *session = &sessions[k];
		const int err = regress(sessions, count, k, regressed);

		if (err)
			return err;
		for (int id = 0; id < CATALOGUE_OPERATIONS; id++) {
			const double truth = session->true_ns[id];

			score->hits += square_of(session->hit_ns[id] - truth, session, id);
			score->weights += square_of(session->read_ns[id] - truth, session, id);
			score->regression += square_of(regressed[id] - truth, session, id);
			score->rows++;
		}
	}
	return 0;
}

static void judge(const struct score *score, struct outcome *outcome)
{
	outcome__figure(outcome, "hits: RMS z", sqrt(score->hits / score->rows), "");
	outcome__figure(outcome, "weights: RMS z", sqrt(score->weights / score->rows), "");
	outcome__figure(outcome, "regression: RMS z", sqrt(score->regression / score->rows), "");
	outcome__figure(outcome, "regression / weights, RMS errors",
			sqrt(score->regression / score->weights), "");
	outcome__gate(outcome, "weights / hits, RMS errors", sqrt(score->weights / score->hits),
		      GATE_AT_MOST, RATIO_MAX, "");
}

int mode_estimators(const struct bench_options *options, struct outcome *outcome)
{
	const unsigned runs = bench__runs(options, RUNS_BRIEF, RUNS_FULL);
	const double seconds = bench__seconds(options, SECONDS_BRIEF, SECONDS_FULL);
	const double frequency = bench__frequency(options, FREQUENCY_HZ);
	struct session *sessions = calloc(runs, sizeof(*sessions));
	struct calibration calibration;
	struct score sum = {0};
	struct trial trial;
	int err = sessions ? 0 : -ENOMEM;

	calibration__run(&calibration);
	calibration__judge(&calibration, outcome);
	for (unsigned i = 0; i < runs && !err; i++) {
		const struct workload_config config = {.threads = bench__threads(options),
						       .seed = options->seed * 1000003 + i,
						       .varied = true};

		err = trial__run(options, outcome, &calibration, &config, frequency, seconds,
				 &trial);
		if (err)
			break;
		fill(&sessions[i], &trial);
		trial__free(&trial);
	}
	if (!err)
		err = score(sessions, runs, &sum);
	if (!err)
		judge(&sum, outcome);
	free(sessions);
	return err;
}
