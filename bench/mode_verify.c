// SPDX-License-Identifier: MIT
/*
 * verify: many sessions of four lengths. Is what is left of the difference from the truth noise, or
 * a bias; do the printed bounds hold as often as they say; and are they no wider than they must be?
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "numbers.h"
#include "outcome.h"
#include "trial.h"

#define SECONDS_BRIEF	 4 /* of the longest sessions; the others a half, a quarter and an eighth */
#define SECONDS_FULL	 16
#define RUNS_BRIEF	 4 /* of each length */
#define RUNS_FULL	 15
#define FREQUENCY_HZ	 997
#define SIZES		 4
#define INSIDE_MIN	 0.95
#define WIDTH_MAX	 1.6
#define GROWTH_MAX	 0.25 /* of log RMS z by log hits: 0 is noise alone, 0.5 bias alone */
#define BIAS_SIGNIFICANT 3    /* standard errors, of the worst of 20 operations */

/* All sessions of one length. */
struct size {
	double hits, z_square;
	unsigned rows;
};

struct sums {
	struct size sizes[SIZES];
	double *off[CATALOGUE_OPERATIONS]; /* (read - truth) / truth by session */
	double *weights;		   /* hits by session */
	double *widths;			   /* median width / ideal by session */
	double read_longest[CATALOGUE_OPERATIONS], true_longest[CATALOGUE_OPERATIONS];
	unsigned sessions, rows, rows_inside, sessions_inside;
};

static void add(struct sums *sums, unsigned size, const struct comparison *comparison)
{
	struct size *same = &sums->sizes[size];

	for (int id = 0; id < CATALOGUE_OPERATIONS; id++) {
		const struct comparison_row *row = &comparison->rows[id];
		const double p = row->cpu_truth, off = row->cpu_read - p;

		same->z_square += off * off / (p * (1 - p) / comparison->hits);
		same->rows++;
		sums->off[id][sums->sessions] = off / p;
		if (size == SIZES - 1) {
			sums->read_longest[id] += row->cpu_read;
			sums->true_longest[id] += p;
		}
	}
	same->hits += comparison->hits;
	sums->weights[sums->sessions] = comparison->hits;
	sums->widths[sums->sessions] = comparison->width_ratio;
	sums->rows += CATALOGUE_OPERATIONS;
	sums->rows_inside += comparison->inside;
	sums->sessions_inside += comparison->inside == CATALOGUE_OPERATIONS;
	sums->sessions++;
}

/* Slope of log RMS z by log hits. */
static double growth(const struct sums *sums, unsigned runs)
{
	double x[SIZES], y[SIZES], xx = 0, xy = 0;

	for (int i = 0; i < SIZES; i++) {
		x[i] = log(sums->sizes[i].hits / runs);
		y[i] = log(sums->sizes[i].z_square / sums->sizes[i].rows) / 2;
	}
	for (int i = 0; i < SIZES; i++) {
		xx += (x[i] - numbers__mean(x, SIZES)) * (x[i] - numbers__mean(x, SIZES));
		xy += (x[i] - numbers__mean(x, SIZES)) * y[i];
	}
	return xy / xx;
}

/* Mean over sessions by their hits; *error is its standard error, from how sessions differ. */
static double weighted_mean(const double *values, const double *weights, unsigned count,
			    double *error)
{
	double mean = 0, sum = 0, square = 0;

	for (unsigned i = 0; i < count; i++) {
		mean += values[i] * weights[i];
		sum += weights[i];
	}
	mean /= sum;
	for (unsigned i = 0; i < count; i++)
		square += pow(weights[i] * (values[i] - mean), 2);
	*error = sqrt(square * count / (count - 1)) / sum;
	return mean;
}

static void report_bias(const struct sums *sums, struct outcome *outcome)
{
	double worst = 0;

	outcome__text(outcome, "%-14s %10s %22s\n", "operation", "true", "off, of itself");
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++) {
		double error;
		const double mean =
			weighted_mean(sums->off[id], sums->weights, sums->sessions, &error);
		const double truth = sums->true_longest[id] /
				     (sums->sizes[SIZES - 1].rows / CATALOGUE_OPERATIONS);

		worst = fmax(worst, fabs(mean) / error);
		outcome__text(outcome, "%-14s %9.3f%% %+9.2f%% +- %.2f%%%s\n", catalogue[id].name,
			      100 * truth, 100 * mean, 100 * error,
			      fabs(mean) > BIAS_SIGNIFICANT * error ? "  bias" : "");
		outcome__row(outcome, "operations",
			     json_pack("{s:s, s:f, s:f, s:f}", "operation", catalogue[id].name,
				       "true_cpu_share", truth, "off", mean, "standard_error",
				       error));
	}
	outcome__figure(outcome, "worst bias in standard errors", worst, "");
}

/* Readings of the longest sessions together, in the order of the truth? */
static bool in_order(const struct sums *sums)
{
	struct comparison together = {.hits = sums->sizes[SIZES - 1].hits};
	const double sessions = sums->sizes[SIZES - 1].rows / CATALOGUE_OPERATIONS;

	for (int id = 0; id < CATALOGUE_OPERATIONS; id++) {
		together.rows[id].cpu_read = sums->read_longest[id] / sessions;
		together.rows[id].cpu_truth = sums->true_longest[id] / sessions;
	}
	return truth__in_order(&together);
}

static void judge(struct sums *sums, unsigned runs, double seconds, struct outcome *outcome)
{
	outcome__text(outcome, "%9s %12s %10s\n", "seconds", "hits", "RMS z");
	for (int i = 0; i < SIZES; i++) {
		const double length = seconds / (1 << (SIZES - 1 - i));
		const double z = sqrt(sums->sizes[i].z_square / sums->sizes[i].rows);

		outcome__text(outcome, "%9.3g %12.0f %10.3f\n", length, sums->sizes[i].hits / runs,
			      z);
		outcome__row(outcome, "sizes",
			     json_pack("{s:f, s:f, s:f}", "seconds", length, "hits",
				       sums->sizes[i].hits / runs, "rms_z", z));
	}
	report_bias(sums, outcome);
	outcome__figure(outcome, "sessions", sums->sessions, "");
	outcome__figure(outcome, "sessions in which all 20 rows hold",
			(double)sums->sessions_inside / sums->sessions, "");
	outcome__gate(outcome, "rows inside their bound", (double)sums->rows_inside / sums->rows,
		      GATE_AT_LEAST, INSIDE_MIN, "");
	outcome__gate(outcome, "median width / ideal binomial width",
		      numbers__median(sums->widths, sums->sessions), GATE_AT_MOST, WIDTH_MAX, "");
	outcome__gate(outcome, "growth of RMS z (0 noise, 0.5 bias)", growth(sums, runs),
		      GATE_AT_MOST, GROWTH_MAX, "");
	outcome__gate(outcome, "top ten in the order of the truth", in_order(sums), GATE_AT_LEAST,
		      1, "");
}

static int verify(const struct bench_options *options, struct outcome *outcome, struct sums *sums,
		  unsigned runs)
{
	const double seconds = bench__seconds(options, SECONDS_BRIEF, SECONDS_FULL);
	const double frequency = bench__frequency(options, FREQUENCY_HZ);
	struct calibration calibration;
	double gap_pp = 0, scatter = 0;
	struct trial trial;

	calibration__run(&calibration);
	calibration__judge(&calibration, outcome);
	for (unsigned i = 0; i < runs * SIZES; i++) {
		const unsigned size = i % SIZES;
		const struct workload_config config = {.threads = bench__threads(options),
						       .seed = options->seed * 1000003 + i};
		const int err = trial__run(options, outcome, &calibration, &config, frequency,
					   seconds / (1 << (SIZES - 1 - size)), &trial);

		if (err)
			return err;
		gap_pp = fmax(gap_pp, trial.truth.gap_pp);
		scatter = fmax(scatter, trial.truth.scatter);
		add(sums, size, &trial.comparison);
		trial__free(&trial);
	}
	truth__judge(&(struct truth){.gap_pp = gap_pp, .scatter = scatter}, outcome);
	judge(sums, runs, seconds, outcome);
	return 0;
}

int mode_verify(const struct bench_options *options, struct outcome *outcome)
{
	const unsigned runs = bench__runs(options, RUNS_BRIEF, RUNS_FULL);
	const unsigned sessions = runs * SIZES;
	double *memory = calloc((size_t)sessions * (CATALOGUE_OPERATIONS + 2), sizeof(*memory));
	struct sums sums = {.weights = memory, .widths = memory ? memory + sessions : NULL};
	int err;

	if (!memory)
		return -ENOMEM;
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++)
		sums.off[id] = memory + (size_t)sessions * (2 + id);
	err = verify(options, outcome, &sums, runs);
	free(memory);
	return err;
}
