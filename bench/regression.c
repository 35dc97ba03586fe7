// SPDX-License-Identifier: MIT
#include "regression.h"

#include <errno.h>
#include <math.h>

/* In place: the lower triangle becomes the factor. */
static int factorise(double m[REGRESSION_COLUMNS_MAX][REGRESSION_COLUMNS_MAX], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j <= i; j++) {
			double sum = m[i][j];

			for (size_t k = 0; k < j; k++)
				sum -= m[i][k] * m[j][k];
			if (i == j && !(sum > 0))
				return -EDOM;
			m[i][j] = i == j ? sqrt(sum) : sum / m[j][j];
		}
	}
	return 0;
}

static void substitute(double m[REGRESSION_COLUMNS_MAX][REGRESSION_COLUMNS_MAX], size_t n,
		       double *x)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++)
			x[i] -= m[i][k] * x[k];
		x[i] /= m[i][i];
	}
	for (size_t i = n; i-- > 0;) {
		for (size_t k = i + 1; k < n; k++)
			x[i] -= m[k][i] * x[k];
		x[i] /= m[i][i];
	}
}

int regression__solve(const double *a, const double *y, size_t rows, size_t columns,
		      double variance, const double *prior, const double *prior_variance, double *x)
{
	double m[REGRESSION_COLUMNS_MAX][REGRESSION_COLUMNS_MAX] = {{0}};
	double right[REGRESSION_COLUMNS_MAX];

	if (columns > REGRESSION_COLUMNS_MAX)
		return -EINVAL;
	for (size_t i = 0; i < columns; i++) {
		m[i][i] = 1 / prior_variance[i];
		right[i] = prior[i] / prior_variance[i];
		for (size_t k = 0; k < rows; k++) {
			right[i] += a[k * columns + i] * y[k] / variance;
			for (size_t j = 0; j <= i; j++)
				m[i][j] += a[k * columns + i] * a[k * columns + j] / variance;
		}
	}
	if (factorise(m, columns) != 0)
		return -EDOM;
	substitute(m, columns, right);
	for (size_t i = 0; i < columns; i++)
		x[i] = right[i];
	return 0;
}
