// SPDX-License-Identifier: MIT
#include "numbers.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

double numbers__quantile(double *values, size_t count, double p)
{
	double at, below;

	if (count == 0)
		return NAN;
	qsort(values, count, sizeof(*values), compare);
	at = p * (double)(count - 1);
	below = floor(at);
	if (below >= (double)(count - 1))
		return values[count - 1];
	return values[(size_t)below] +
	       (at - below) * (values[(size_t)below + 1] - values[(size_t)below]);
}

double numbers__median(double *values, size_t count)
{
	return numbers__quantile(values, count, 0.5);
}

double numbers__mean(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum / (double)count;
}

double numbers__variance(const double *values, size_t count)
{
	const double mean = numbers__mean(values, count);
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sum / (double)(count - 1);
}
