/* SPDX-License-Identifier: MIT */
/*
 * calibration - how many steps of the burn loop an operation takes, and how long that is: the
 * truth by configuration.
 */
#ifndef TICKSNICK_BENCH_CALIBRATION_H
#define TICKSNICK_BENCH_CALIBRATION_H

#include <stddef.h>
#include <stdint.h>

#include "catalogue.h"

struct outcome;

/* Of a batch's trials: quartiles apart, over the median. Of the batches: farthest from the line. */
#define CALIBRATION_SCATTER_MAX 0.06
#define CALIBRATION_FIT_MAX	0.03
#define CALIBRATION_ATTEMPTS	20 /* at a scatter within the limit; the calmest counts */
#define CALIBRATION_TRIALS_MAX	63
#define CALIBRATION_R2_MIN	0.99

struct calibration {
	uint32_t iterations[CATALOGUE_OPERATIONS];
	double self_ns[CATALOGUE_OPERATIONS]; /* of so many iterations, label included */
	double intercept_ns, slope_ns;	      /* of the line through batches of 8 .. 2048 steps */
	double scatter, fit, r2;
};

/* Takes about a second of the calling thread's CPU, which should have no other work. */
void calibration__run(struct calibration *calibration);

/* The gates of the calibration. */
void calibration__judge(const struct calibration *calibration, struct outcome *outcome);

/*
 * ns[i]: per call of an operation of iterations[i] steps that calls nothing, i < count <=
 * CATALOGUE_OPERATIONS. Medians of trials (<= CALIBRATION_TRIALS_MAX) in which all lengths take
 * turns, each batch by the speed of the machine during its trial, so that a drift of that speed
 * slows all alike. *state is carried through. Returns the worst scatter of a batch by its trial's
 * speed.
 */
double calibration__measure(const uint32_t *iterations, size_t count, size_t trials, double *ns,
			    uint64_t *state);

#endif
