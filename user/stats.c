/* SPDX-License-Identifier: MIT */
#include "stats.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define FRACTION_TERMS_MAX \
	1000000		    /* about sqrt(a + b) are needed: reached by no count below 1e11 */
#define NEWTON_STEPS_MAX 30 /* then bisection alone, which cannot fail */
#define SOLVE_STEPS_MAX	 120
#define LOG_X_MIN	 (-745.0) /* exp() of less is 0 */

/* A point of [0, 1] with its complement, each to full relative precision. */
struct point {
	double x, y;
};

/* Natural logarithms of both tail areas, and of x^a y^b / B(a, b). */
struct tails {
	double lower, upper, front;
};

/* ln Gamma(z + 1) less Stirling's approximation sqrt(2 pi z) (z / e)^z; z > 0. */
static double stirling_error(double z)
{
	const double half_log_2pi = 0.918938533204672741780;
	const double zz = z * z;
	int sign;

	if (z < 16)
		return lgamma_r(z + 1, &sign) - (z + 0.5) * log(z) + z - half_log_2pi;
	return (1 / 12. - (1 / 360. - (1 / 1260. - (1 / 1680. - 1 / 1188. / zz) / zz) / zz) / zz) /
	       z;
}

/* k ln(k / m) + m - k without cancellation where k is near m; k > 0, m >= 0. */
static double deviance(double k, double m)
{
	const double v = (k - m) / (k + m), vv = v * v;
	double sum, term;

	if (fabs(v) >= 0.1)
		return k * log(k / m) + m - k;
	sum = (k - m) * v;
	term = 2 * k * v;
	for (int i = 3;; i += 2) {
		double next;

		term *= vv;
		next = sum + term / i;
		if (next == sum)
			return sum;
		sum = next;
	}
}

/*
 * ln(x^a y^b / B(a, b)) with y = 1 - x. By way of lgamma the error would grow with a + b (1e-6 at
 * 1e9); the saddle-point form keeps it below 1e-11 there (C. Loader, Fast and Accurate Computation
 * of Binomial Probabilities, 2000).
 */
static double log_front(double a, double b, struct point at)
{
	const double log_2pi = 1.83787706640934548356;
	const double n = a + b;

	return stirling_error(n) - stirling_error(a) - stirling_error(b) - deviance(a, n * at.x) -
	       deviance(b, n * at.y) + 0.5 * (log(a) + log(b / n) - log_2pi);
}

/* Keeps a divisor of Lentz's method away from 0. */
static double off_zero(double d)
{
	return fabs(d) < DBL_MIN / DBL_EPSILON ? DBL_MIN / DBL_EPSILON : d;
}

/*
 * I_x(a, b) divided by x^a y^b / B(a, b), where x <= (a + 1) / (a + b + 2): the even part of the
 * continued fraction DLMF 8.17.22 (A. R. Didonato and A. H. Morris, TOMS 708, 1992) by the modified
 * Lentz method. Written in x and y, so that nothing cancels where one of them is tiny.
 */
static double beta_fraction(double a, double b, struct point at)
{
	const double lambda = a * at.y - b * at.x;
	double value = off_zero(a * (lambda + 1) / (a + 1));
	double c = value, d = 0;

	for (int m = 1; m <= FRACTION_TERMS_MAX; m++) {
		const double am = a + 2. * m;
		const double top = (a + m - 1) / (am - 1) * ((a + b + m - 1) / (am - 1)) * m *
				   (b - m) * at.x * at.x;
		const double bottom = m + m * (b - m) * at.x / (am - 1) +
				      (a + m) * (lambda + 1 + m * (1 + at.y)) / (am + 1);

		d = 1 / off_zero(bottom + top * d);
		c = off_zero(bottom + top / c);
		value *= c * d;
		if (fabs(c * d - 1) <= DBL_EPSILON)
			break;
	}
	return 1 / value;
}

/* ln(1 - exp(l)) for l <= 0. */
static double log_complement(double l)
{
	return l > -0.693147180559945 ? log(-expm1(l)) : log1p(-exp(l));
}

static struct tails beta_tails(double a, double b, struct point at)
{
	struct tails tails = {.front = log_front(a, b, at)};

	if (at.x <= (a + 1) / (a + b + 2)) {
		tails.lower = fmin(0, tails.front + log(beta_fraction(a, b, at)));
		tails.upper = log_complement(tails.lower);
	} else {
		tails.upper =
			fmin(0, tails.front + log(beta_fraction(b, a, (struct point){at.y, at.x})));
		tails.lower = log_complement(tails.upper);
	}
	return tails;
}

/* False for NaN and infinities too. */
static bool positive(double v)
{
	return v > 0 && v <= DBL_MAX;
}

static bool probability(double p)
{
	return p >= 0 && p <= 1;
}

double stats__beta_inc(double a, double b, double x)
{
	if (!positive(a) || !positive(b) || !probability(x))
		return NAN;
	if (x == 0 || x == 1)
		return x;
	return exp(beta_tails(a, b, (struct point){x, 1 - x}).lower);
}

/*
 * Newton's method on the logarithm of the smaller tail over ln x, where a far tail is a straight
 * line; a step that leaves the bracket is replaced by bisection. The root must be at x <= 1/2.
 */
static double beta_solve_below_half(double a, double b, double p, double q)
{
	const bool by_lower = p < q;
	const double log_target = log(by_lower ? p : q);
	const double mean = a / (a + b), sd = sqrt(mean * (b / (a + b)) / (a + b + 1));
	double lo = LOG_X_MIN, hi = log(0.5);
	double u = log(mean) + (by_lower ? 1 : -1) * stats__normal_quantile(fmin(p, q)) * sd / mean;

	if (!(u > lo && u < hi))
		u = fmax(lo / 2, fmin(log(mean), hi) - 1e-3);
	for (int i = 0; i < SOLVE_STEPS_MAX; i++) {
		const double x = exp(u);
		const struct tails tails = beta_tails(a, b, (struct point){x, 1 - x});
		const double tail = by_lower ? tails.lower : tails.upper;
		const double excess = by_lower ? tail - log_target : log_target - tail;
		const double slope = exp(tails.front - tail) / (1 - x);
		double next = u - excess / slope;

		if (excess < 0)
			lo = u;
		else
			hi = u;
		if (!(next >= lo && next <= hi) || i >= NEWTON_STEPS_MAX)
			next = (lo + hi) / 2;
		if (fabs(next - u) <= 2 * DBL_EPSILON * fmax(1, fabs(u)))
			return exp(next);
		u = next;
	}
	return exp(u);
}

/* The point with lower tail p and upper tail q = 1 - p: the smaller of both counts, so it must be
 * the exact one. */
static struct point beta_solve(double a, double b, double p, double q)
{
	double root;

	if (p <= 0)
		return (struct point){0, 1};
	if (q <= 0)
		return (struct point){1, 0};
	if (beta_tails(a, b, (struct point){0.5, 0.5}).lower >= log(p)) {
		root = beta_solve_below_half(a, b, p, q);
		return (struct point){root, 1 - root};
	}
	root = beta_solve_below_half(b, a, q, p);
	return (struct point){1 - root, root};
}

double stats__beta_quantile(double a, double b, double p)
{
	if (!positive(a) || !positive(b) || !probability(p))
		return NAN;
	return beta_solve(a, b, p, 1 - p).x;
}

/* With x = df / (df + t^2), both tails beyond |t| together are I_x(df / 2, 1 / 2): DLMF 8.17.  */
double stats__t_quantile(double df, double p)
{
	struct point at;
	double tails, t;

	if (!(df > 0) || !(p > 0 && p < 1))
		return NAN;
	if (isinf(df))
		return stats__normal_quantile(p);
	tails = 2 * fmin(p, 1 - p);
	at = beta_solve(df / 2, 0.5, tails, 1 - tails);
	t = sqrt(df) * sqrt(at.y / at.x);
	return p < 0.5 ? -t : t;
}

/* Abramowitz and Stegun 26.2.23 (error below 4.5e-4), then Halley's method, which cubes the error.
 */
double stats__normal_quantile(double p)
{
	const double sqrt_2pi = 2.50662827463100050242;
	double tail, r, z;

	if (!(p > 0 && p < 1))
		return NAN;
	if (p == 0.5)
		return 0;
	tail = fmin(p, 1 - p);
	r = sqrt(-2 * log(tail));
	z = r - (2.515517 + r * (0.802853 + r * 0.010328)) /
			(1 + r * (1.432788 + r * (0.189269 + r * 0.001308)));
	for (int i = 0; i < 3; i++) {
		const double u = (0.5 * erfc(z * M_SQRT1_2) - tail) * sqrt_2pi * exp(z * z / 2);

		z += u / (1 - z * u / 2);
	}
	return p < 0.5 ? -z : z;
}

static const struct interval interval_none = {NAN, NAN};
static const struct interval interval_all = {0, 1};

struct interval stats__binomial_interval(double hits, double trials, double alpha)
{
	const double side = alpha / 2;

	if (!(alpha > 0 && alpha < 1) || !(hits >= 0 && hits <= trials) || isinf(trials))
		return interval_none;
	if (trials == 0)
		return interval_all;
	if (hits == 0)
		return (struct interval){0, -expm1(log(side) / trials)};
	if (hits == trials)
		return (struct interval){exp(log(side) / trials), 1};
	return (struct interval){
		beta_solve(hits, trials - hits + 1, side, 1 - side).x,
		beta_solve(hits + 1, trials - hits, 1 - side, side).x,
	};
}

/* Batch means of a ratio: how many windows counted, the ratio, and its variance. */
struct batch {
	size_t used;
	double ratio, variance;
};

/* Fewer than two windows used: no ratio, no variance. NaN everywhere on bad input. */
static struct batch batch_means(const double *part, const double *whole, size_t n)
{
	struct batch batch = {.ratio = NAN, .variance = NAN};
	double part_sum = 0, whole_sum = 0, squares = 0;
	size_t used = 0;

	for (size_t k = 0; k < n; k++) {
		if (!(whole[k] >= 0 && part[k] >= 0) || isinf(whole[k]) || isinf(part[k]))
			return (struct batch){.used = n, .ratio = NAN, .variance = NAN};
		if (whole[k] == 0)
			continue;
		used++;
		part_sum += part[k];
		whole_sum += whole[k];
	}
	batch.used = used;
	if (used < 2)
		return batch;
	batch.ratio = part_sum / whole_sum;
	for (size_t k = 0; k < n; k++) {
		const double residual = (part[k] - batch.ratio * whole[k]) / whole_sum;

		if (whole[k] > 0)
			squares += residual * residual;
	}
	batch.variance = squares * used / (used - 1.);
	return batch;
}

double stats__ratio_variance(const double *part, const double *whole, size_t n)
{
	return batch_means(part, whole, n).variance;
}

struct interval stats__ratio_interval(const double *part, const double *whole, size_t n,
				      double alpha)
{
	const struct batch batch = batch_means(part, whole, n);

	return stats__variance_interval(batch.ratio, batch.variance, batch.used, alpha);
}

struct interval stats__variance_interval(double ratio, double variance, double windows,
					 double alpha)
{
	double half;

	if (!(alpha > 0 && alpha < 1))
		return interval_none;
	if (windows < 2)
		return interval_all;
	half = -stats__t_quantile(windows - 1., alpha / 2) * sqrt(variance);
	if (isnan(half))
		return interval_none;
	return (struct interval){
		fmin(1, fmax(0, ratio - half)),
		fmin(1, fmax(0, ratio + half)),
	};
}

/* With x = d f / (d f + e), the tail is I_x(d / 2, e / 2): DLMF 8.17. */
double stats__f_quantile(double df_above, double df_below, double p)
{
	struct point at;

	if (!(df_above > 0) || !(df_below > 0) || !(p > 0 && p < 1))
		return NAN;
	at = beta_solve(df_above / 2, df_below / 2, p, 1 - p);
	return df_below * at.x / (df_above * at.y);
}

long double stats__residual_squares(uint64_t x_squares, uint64_t products, uint64_t r_squares,
				    long double ratio)
{
	return fmaxl(0, x_squares - 2 * ratio * products + ratio * ratio * r_squares);
}

struct interval stats__hull(struct interval a, struct interval b)
{
	if (isnan(a.lo) || isnan(a.hi) || isnan(b.lo) || isnan(b.hi))
		return interval_none;
	return (struct interval){fmin(a.lo, b.lo), fmax(a.hi, b.hi)};
}
