/* SPDX-License-Identifier: MIT */
/*
 * regression - least squares with what is known beforehand.
 */
#ifndef TICKSNICK_BENCH_REGRESSION_H
#define TICKSNICK_BENCH_REGRESSION_H

#include <stddef.h>

#define REGRESSION_COLUMNS_MAX 32

/*
 * Finds x that minimises sum over rows of (y[k] - sum_i a[k][i] x[i])^2 / variance + sum over
 * columns of (x[i] - prior[i])^2 / prior_variance[i]; a has columns values a row. Normal equations
 * by Cholesky. 0, -EDOM if they are not positive definite, or -EINVAL for too many columns.
 */
int regression__solve(const double *a, const double *y, size_t rows, size_t columns,
		      double variance, const double *prior, const double *prior_variance,
		      double *x);

#endif
