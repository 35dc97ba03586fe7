/* SPDX-License-Identifier: MIT */
/* numbers - medians and the like of small arrays. */
#ifndef TICKSNICK_BENCH_NUMBERS_H
#define TICKSNICK_BENCH_NUMBERS_H

#include <stddef.h>

/* Sorts values; the p-quantile (0 .. 1) of them, between neighbours where it falls between. NaN of
 * none. */
double numbers__quantile(double *values, size_t count, double p);
double numbers__median(double *values, size_t count); /* sorts values */

double numbers__mean(const double *values, size_t count);
double numbers__variance(const double *values, size_t count); /* of a sample: over count - 1 */

#endif
