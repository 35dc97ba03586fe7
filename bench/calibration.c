// SPDX-License-Identifier: MIT
#include "calibration.h"

#include <math.h>
#include <string.h>

#include "burn.h"
#include "numbers.h"
#include "outcome.h"
#include "stopwatch.h"

#define POINTS	       9 /* 8, 16, .. 2048 steps */
#define POINT_FIRST    8
#define TRIALS	       CALIBRATION_TRIALS_MAX
#define BATCH_NS       50000
#define REFINEMENTS    3
#define STEP_NS_LIKELY 2 /* to size the first batch */

TSN_FINE(calibrating, "calibration");

/* As an operation of the workload is: a label, and work inside it. */
static __attribute__((noinline)) uint64_t leaf(uint64_t state, uint32_t iterations)
{
	TSN_SCOPE(calibrating);
	return burn(state, iterations);
}

/* ns per call, mean of a batch. */
static double batch(uint32_t iterations, uint64_t *state)
{
	const double one = (double)iterations * STEP_NS_LIKELY;
	const uint32_t calls = one < BATCH_NS ? (uint32_t)(BATCH_NS / one) : 1;
	uint64_t chain = *state;
	const uint64_t begin_ns = stopwatch__cpu();

	for (uint32_t i = 0; i < calls; i++)
		chain = leaf(chain, iterations);
	TSN_KEEP(chain);
	*state = chain;
	return (double)(stopwatch__cpu() - begin_ns) / calls;
}

/* Each trial's batches by its speed, the median ns per step; returns the median speed. */
static double divide_by_speed(double measured[CATALOGUE_OPERATIONS][CALIBRATION_TRIALS_MAX],
			      const uint32_t *iterations, size_t count, size_t trials)
{
	double speeds[CALIBRATION_TRIALS_MAX], steps_ns[CATALOGUE_OPERATIONS];

	for (size_t trial = 0; trial < trials; trial++) {
		for (size_t i = 0; i < count; i++)
			steps_ns[i] = measured[i][trial] / iterations[i];
		speeds[trial] = numbers__median(steps_ns, count);
		for (size_t i = 0; i < count; i++)
			measured[i][trial] /= speeds[trial];
	}
	return numbers__median(speeds, trials);
}

double calibration__measure(const uint32_t *iterations, size_t count, size_t trials, double *ns,
			    uint64_t *state)
{
	double measured[CATALOGUE_OPERATIONS][CALIBRATION_TRIALS_MAX], speed, scatter = 0;

	for (size_t trial = 0; trial < trials; trial++)
		for (size_t i = 0; i < count; i++)
			measured[i][trial] = batch(iterations[i], state);
	speed = divide_by_speed(measured, iterations, count, trials);
	for (size_t i = 0; i < count; i++) {
		const double middle = numbers__median(measured[i], trials);

		ns[i] = middle * speed;
		scatter = fmax(scatter, (numbers__quantile(measured[i], trials, 0.75) -
					 numbers__quantile(measured[i], trials, 0.25)) /
						middle);
	}
	return scatter;
}

/* The calmest of a few attempts. */
static void measure(const uint32_t *iterations, size_t count, double *ns, double *scatter)
{
	double tried_ns[CATALOGUE_OPERATIONS], least = INFINITY;
	uint64_t state = 88172645463325252;

	for (int i = 0; i < CALIBRATION_ATTEMPTS && least > CALIBRATION_SCATTER_MAX; i++) {
		const double tried =
			calibration__measure(iterations, count, TRIALS, tried_ns, &state);

		if (tried < least)
			memcpy(ns, tried_ns, count * sizeof(*ns));
		least = fmin(least, tried);
	}
	*scatter = fmax(*scatter, least);
}

_Static_assert(POINTS <= CATALOGUE_OPERATIONS, "measure has room for the points");

/* Least squares of relative errors: weights 1 / ns^2. */
static void fit_line(struct calibration *calibration, const uint32_t *x, const double *y)
{
	double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0, total = 0, residual = 0, mean = 0;

	for (int i = 0; i < POINTS; i++) {
		const double weight = 1 / (y[i] * y[i]);

		w += weight;
		wx += weight * x[i];
		wy += weight * y[i];
		wxx += weight * x[i] * x[i];
		wxy += weight * x[i] * y[i];
		mean += y[i] / POINTS;
	}
	calibration->slope_ns = (w * wxy - wx * wy) / (w * wxx - wx * wx);
	calibration->intercept_ns = (wy - calibration->slope_ns * wx) / w;
	calibration->fit = 0;
	for (int i = 0; i < POINTS; i++) {
		const double line = calibration->intercept_ns + calibration->slope_ns * x[i];

		calibration->fit = fmax(calibration->fit, fabs(y[i] - line) / line);
		residual += (y[i] - line) * (y[i] - line);
		total += (y[i] - mean) * (y[i] - mean);
	}
	calibration->r2 = 1 - residual / total;
}

static uint32_t steps(double value)
{
	return value > 1 ? (uint32_t)lround(value) : 1;
}

/* From the line, then from what so many steps really take. */
static void refine(struct calibration *calibration)
{
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++)
		calibration->iterations[id] =
			steps((catalogue[id].self_ns - calibration->intercept_ns) /
			      calibration->slope_ns);
	for (int i = 0; i < REFINEMENTS; i++) {
		measure(calibration->iterations, CATALOGUE_OPERATIONS, calibration->self_ns,
			&calibration->scatter);
		if (i == REFINEMENTS - 1)
			return;
		for (int id = 0; id < CATALOGUE_OPERATIONS; id++)
			calibration->iterations[id] =
				steps(calibration->iterations[id] +
				      (catalogue[id].self_ns - calibration->self_ns[id]) /
					      calibration->slope_ns);
	}
}

void calibration__run(struct calibration *calibration)
{
	uint32_t points[POINTS];
	double ns[POINTS];

	memset(calibration, 0, sizeof(*calibration));
	for (int i = 0; i < POINTS; i++)
		points[i] = POINT_FIRST << i;
	measure(points, POINTS, ns, &calibration->scatter);
	fit_line(calibration, points, ns);
	refine(calibration);
}

void calibration__judge(const struct calibration *calibration, struct outcome *outcome)
{
	outcome__gate(outcome, "calibration: scatter of a batch", calibration->scatter,
		      GATE_AT_MOST, CALIBRATION_SCATTER_MAX, "");
	outcome__gate(outcome, "calibration: farthest from the line", calibration->fit,
		      GATE_AT_MOST, CALIBRATION_FIT_MAX, "");
	outcome__gate(outcome, "calibration: R2", calibration->r2, GATE_AT_LEAST,
		      CALIBRATION_R2_MIN, "");
}
