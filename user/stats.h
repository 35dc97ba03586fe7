/* SPDX-License-Identifier: MIT */
/*
 * stats - the distributions and intervals behind every bound. Pure: no kernel, no clock, no
 * allocation.
 */
#ifndef TICKSNICK_STATS_H
#define TICKSNICK_STATS_H

#include <stddef.h>
#include <stdint.h>

struct interval {
	double lo, hi;
};

/* I_x(a, b), the regularised incomplete beta function; a, b > 0, 0 <= x <= 1. NaN outside. Relative
 * error below 1e-10. */
double stats__beta_inc(double a, double b, double x);

/* The x at which I_x(a, b) = p; 0 <= p <= 1. */
double stats__beta_quantile(double a, double b, double p);

/* Quantile of Student's t with df > 0 degrees of freedom (any real number); 0 < p < 1. */
double stats__t_quantile(double df, double p);

/* Quantile of the standard normal distribution; 0 < p < 1. */
double stats__normal_quantile(double p);

/*
 * Clopper-Pearson: the exact two-sided interval of a proportion, each side at alpha / 2. hits and
 * trials may be effective, so not integers; 0 <= hits <= trials, trials > 0; with no trials it is
 * [0, 1].
 */
struct interval stats__binomial_interval(double hits, double trials, double alpha);

/*
 * Batch means of a ratio: sum(part) / sum(whole) over n windows, two-sided at alpha, by the
 * t-distribution with n - 1 degrees of freedom on the residuals part[k] - ratio * whole[k]; sees
 * autocorrelation between ticks of one window and drift between windows. Windows with whole = 0 are
 * not counted. With fewer than two windows, or no whole, it is [0, 1]. Clipped to [0, 1].
 */
struct interval stats__ratio_interval(const double *part, const double *whole, size_t n,
				      double alpha);

/* The same of a ratio whose variance is known, from as many windows; infinite variance: [0, 1]. */
struct interval stats__variance_interval(double ratio, double variance, double windows,
					 double alpha);

/* The most that chance makes of the ratio of two estimates of one variance, with these degrees of
 * freedom: the quantile of F; 0 < p < 1. */
double stats__f_quantile(double df_above, double df_below, double p);

/*
 * The variance of that ratio by the same batch means. NaN with fewer than two windows.
 */
double stats__ratio_variance(const double *part, const double *whole, size_t n);

/* The sum of (x - ratio r)^2 from those of x^2, x r and r^2; at least 0. */
long double stats__residual_squares(uint64_t x_squares, uint64_t products, uint64_t r_squares,
				    long double ratio);

/* The smallest interval that holds both. */
struct interval stats__hull(struct interval a, struct interval b);

#endif
