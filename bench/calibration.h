/* SPDX-License-Identifier: MIT */
/*
 * calibration - how many steps of the burn loop an operation takes, and how long that is: the
 * truth by configuration.
 */
#ifndef TICKSNICK_BENCH_CALIBRATION_H
#define TICKSNICK_BENCH_CALIBRATION_H

#include <stdint.h>

#include "catalogue.h"

struct outcome;

/* Of a batch's trials: quartiles apart, over the median. Of the batches: farthest from the line. */
#define CALIBRATION_SCATTER_MAX 0.06
#define CALIBRATION_FIT_MAX	0.03
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

/* ns per call of an operation of so many steps that calls nothing, mean of a batch of about
 * batch_ns; *state is carried through. */
double calibration__batch(uint32_t iterations, double batch_ns, uint64_t *state);

#endif
