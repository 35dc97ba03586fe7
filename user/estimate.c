// SPDX-License-Identifier: MIT
#include "estimate.h"

#include <math.h>

#include "histogram.h"

#define HITS_EXACT_MAX 10000 /* above, a Poisson count is normal enough for limits of one side */
#define HITS_MAX       1e8
#define TRIALS_MAX     1e6 /* that a rank is looked up for; more only narrow what is narrow */
#define HALVINGS       60
#define POISSON_TRIALS 1e6 /* a binomial of so many is a Poisson */

static const struct interval nothing = {NAN, NAN};
static const struct interval positive = {0, INFINITY};

/* Not more than what a beta function takes no time for; with so many nothing but the label is
 * certain. */
static double effective_hits(const struct estimate_side *side)
{
	return side->value > 0 && side->variance > 0 ? fmin(1 / side->variance, HITS_MAX) : 0;
}

/* Effective hits for each ns of the value, so that hits / exposure is the value. */
static double exposure(const struct estimate_side *side)
{
	const double hits = effective_hits(side);

	return hits > 0 ? hits / side->value : side->exposure;
}

/* value * exp(+-t * sqrt(variance)) */
static struct interval log_interval(double value, double variance, double df, double alpha)
{
	const double half = -stats__t_quantile(df, alpha / 2) * sqrt(variance);

	if (isnan(half) || isnan(value) || half > 700)
		return positive;
	return (struct interval){value * exp(-half), value * exp(half)};
}

/*
 * Given the sum of two Poisson counts one of them is binomial, whatever the rates' common size (J.
 * Przyborowski and H. Wilenski, Biometrika 31, 1940): exact for few hits, and finite at one end
 * where a side has none. Effective hits make it as wide as the variances are.
 */
static struct interval conditional_ratio(const struct estimate *estimate, double alpha)
{
	const struct estimate_side *base = &estimate->side[ESTIMATE_BASE];
	const struct estimate_side *new = &estimate->side[ESTIMATE_NEW];
	const double hits = effective_hits(new), all = hits + effective_hits(base);
	const double scale = exposure(base) / exposure(new);
	const struct interval part = stats__binomial_interval(hits, all, alpha);

	if (!(scale > 0) || isinf(scale) || isnan(part.lo))
		return positive;
	return (struct interval){
		part.lo / (1 - part.lo) * scale,
		part.hi < 1 ? part.hi / (1 - part.hi) * scale : INFINITY,
	};
}

static struct interval delta_ratio(const struct estimate *estimate, double alpha)
{
	const struct estimate_side *base = &estimate->side[ESTIMATE_BASE];
	const struct estimate_side *new = &estimate->side[ESTIMATE_NEW];

	return log_interval(new->value / base->value, base->variance + new->variance, estimate->df,
			    alpha);
}

/* Whatever the errors are that are no matter of chance, up to the greatest. */
static struct interval mean_ratio(const struct estimate *estimate, double alpha)
{
	const double base = estimate->side[ESTIMATE_BASE].off;
	const double new = estimate->side[ESTIMATE_NEW].off;
	const struct interval ratio = delta_ratio(estimate, alpha);

	return (struct interval){
		ratio.lo * fmax(0, 1 - new) / (1 + base),
		base < 1 ? ratio.hi * (1 + new) / (1 - base) : INFINITY,
	};
}

/* P(binomial(trials, p) <= k) by the beta function; k and trials may be effective. */
static double binomial_below(double k, double trials, double p)
{
	if (k >= trials)
		return 1;
	return 1 - stats__beta_inc(k + 1, trials - k, p);
}

/* The least duration that at least this part of all does not exceed. */
static double duration_at(const struct estimate_side *side, double part)
{
	const double total = (double)histogram__total(side->buckets, side->bucket_count);
	const double rank = part * total * (1 - 1e-12); /* rounding is no rank */
	double seen = 0;

	for (size_t i = 0; i < side->bucket_count; i++) {
		seen += (double)side->buckets[i].count;
		if (seen >= rank)
			return (double)histogram__middle(side->buckets[i].bucket);
	}
	return INFINITY;
}

/* The rank at which the lower tail of a binomial reaches a probability. */
static double rank_at(double trials, double p, double tail)
{
	double lo = 0, hi = trials;

	for (int i = 0; i < HALVINGS && hi - lo > 1e-6 * (1 + lo); i++) {
		const double middle = (lo + hi) / 2;

		if (binomial_below(middle, trials, p) <= tail)
			lo = middle;
		else
			hi = middle;
	}
	return lo;
}

/*
 * Order statistics: a percentile lies between the j-th and the k-th of n durations as often as a
 * binomial of n lies in j..k - 1, whatever their distribution (H. A. David, Order Statistics, 7.1).
 * Where n is too small for that, the end is open.
 */
static struct interval order_interval(const struct estimate *estimate,
				      const struct estimate_side *side, double alpha)
{
	const double p = estimate->percent / 100., n = fmin(side->trials, TRIALS_MAX);
	struct interval interval = positive;

	if (!(n > 0))
		return positive;
	if (n * log1p(-p) <= log(alpha / 2))
		interval.lo = duration_at(side, (floor(rank_at(n, p, alpha / 2)) + 1) / n);
	if (n * log(p) <= log(alpha / 2)) /* the tail above is the complement's tail below */
		interval.hi = duration_at(side, 1 - floor(rank_at(n, 1 - p, alpha / 2)) / n);
	interval.lo = fmin(interval.lo, side->value);
	interval.hi = fmax(interval.hi, side->value);
	return interval;
}

/* Both at once: independent errors add as variances do, on the scale of logarithms. */
static struct interval both_errors(double value, struct interval one, struct interval other)
{
	if (!(one.lo > 0) || !(other.lo > 0) || isinf(one.hi) || isinf(other.hi))
		return stats__hull(one, other);
	return (struct interval){
		value * exp(-hypot(log(value / one.lo), log(value / other.lo))),
		value * exp(hypot(log(one.hi / value), log(other.hi / value))),
	};
}

static struct interval side_limits(const struct estimate *estimate,
				   const struct estimate_side *side, double alpha)
{
	struct interval limits = positive;
	const double hits = effective_hits(side);

	if (isnan(side->value))
		return nothing;
	if (estimate->kind == ESTIMATE_PERCENTILE) {
		const struct interval order = order_interval(estimate, side, alpha);
		const struct interval runs =
			log_interval(side->value, side->variance, estimate->df, alpha);

		if (!(side->variance > 0))
			return order;
		return side->apart ? both_errors(side->value, order, runs)
				   : stats__hull(order, runs);
	}
	if (side->value > 0)
		limits = log_interval(side->value, side->variance, estimate->df, alpha);
	if (estimate->kind == ESTIMATE_MEAN)
		limits = (struct interval){limits.lo * fmax(0, 1 - side->off),
					   limits.hi * (1 + side->off)};
	if (estimate->kind == ESTIMATE_RATE && hits <= HITS_EXACT_MAX) {
		const double trials = POISSON_TRIALS + 100 * hits, unit = exposure(side);
		const struct interval part = stats__binomial_interval(hits, trials, alpha);
		const struct interval exact = {part.lo * trials / unit,
					       unit > 0 ? part.hi * trials / unit : INFINITY};

		limits = side->value > 0 ? stats__hull(limits, exact) : exact;
		if (isnan(limits.lo) || isnan(limits.hi))
			limits = positive;
	}
	return limits;
}

/*
 * The interval of a difference from those of its parts (G. Y. Zou and A. Donner, Statistics in
 * Medicine 27, 2008).
 */
static struct interval difference_of(double base, struct interval base_limits, double new,
				     struct interval new_limits)
{
	return (struct interval){
		new - base - hypot(new - new_limits.lo, base_limits.hi - base),
		new - base + hypot(new_limits.hi - new, base - base_limits.lo),
	};
}

/* Half a bucket is no matter of chance: it is added to both ends. */
static struct interval percentile_ratio(const struct estimate *estimate, double alpha)
{
	struct interval logs[ESTIMATE_SIDES], change;

	for (int i = 0; i < ESTIMATE_SIDES; i++) {
		const struct interval limits = side_limits(estimate, &estimate->side[i], alpha);

		logs[i] = (struct interval){log(limits.lo), log(limits.hi)};
	}
	change = difference_of(log(estimate->side[ESTIMATE_BASE].value), logs[ESTIMATE_BASE],
			       log(estimate->side[ESTIMATE_NEW].value), logs[ESTIMATE_NEW]);
	return (struct interval){exp(change.lo) * (1 - 2 * ESTIMATE_BUCKET_ERROR),
				 exp(change.hi) * (1 + 2 * ESTIMATE_BUCKET_ERROR)};
}

struct interval estimate__ratio(const struct estimate *estimate, double alpha)
{
	struct interval ratio = positive;

	if (!estimate->comparable)
		return nothing;
	switch (estimate->kind) {
	case ESTIMATE_RATE:
		ratio = conditional_ratio(estimate, alpha);
		if (estimate->side[ESTIMATE_BASE].value > 0 &&
		    estimate->side[ESTIMATE_NEW].value > 0)
			ratio = stats__hull(ratio, delta_ratio(estimate, alpha));
		break;
	case ESTIMATE_MEAN:
		ratio = mean_ratio(estimate, alpha);
		break;
	case ESTIMATE_PERCENTILE:
		ratio = percentile_ratio(estimate, alpha);
		break;
	}
	return isnan(ratio.lo) || isnan(ratio.hi) ? positive : ratio;
}

void estimate__limits(const struct estimate *estimate, double alpha, struct estimate_limits *limits)
{
	const struct estimate_side *base = &estimate->side[ESTIMATE_BASE];
	const struct estimate_side *new = &estimate->side[ESTIMATE_NEW];

	limits->ratio = estimate__ratio(estimate, alpha);
	limits->side[ESTIMATE_BASE] = side_limits(estimate, base, alpha);
	limits->side[ESTIMATE_NEW] = side_limits(estimate, new, alpha);
	limits->difference = nothing;
	if (estimate->comparable)
		limits->difference = difference_of(base->value, limits->side[ESTIMATE_BASE],
						   new->value, limits->side[ESTIMATE_NEW]);
}

/*
 * Of one side: the sum of weights and of their squares, the number of runs that have one, the mean
 * of the covariate x. Residuals are relative to the mean run; x is from its mean: Σ squares, and Σ
 * products of both.
 */
struct residuals {
	double weight, squared_weight, x;
	double squares, x_squares, products;
	size_t runs;
};

static struct residuals side_residuals(const struct estimate_runs *runs)
{
	const double *x = runs->x;
	struct residuals of = {0};
	double amount = 0;

	for (size_t k = 0; k < runs->count; k++) {
		if (!(runs->weight[k] > 0))
			continue;
		amount += runs->amount[k];
		of.weight += runs->weight[k];
		of.squared_weight += runs->weight[k] * runs->weight[k];
		of.x += x ? runs->weight[k] * x[k] : 0;
		of.runs++;
	}
	if (of.weight > 0)
		of.x /= of.weight;
	if (!(amount > 0)) {
		of.runs = 0; /* how they differ cannot be seen */
		return of;
	}
	for (size_t k = 0; k < runs->count; k++) {
		const double part = runs->weight[k] / of.weight * (double)of.runs;
		const double residual = runs->amount[k] / amount * (double)of.runs - part;
		const double apart = x ? part * (x[k] - of.x) : 0;

		if (!(runs->weight[k] > 0))
			continue;
		of.squares += residual * residual;
		of.x_squares += apart * apart;
		of.products += apart * residual;
	}
	return of;
}

/* Variance of the ratio, for each unit of one run's: by the numbers of runs. */
static double runs_cost(const struct residuals side[ESTIMATE_SIDES])
{
	double ratio = 0;

	for (int i = 0; i < ESTIMATE_SIDES; i++)
		ratio += side[i].squared_weight / (side[i].weight * side[i].weight);
	return ratio;
}

/* Likewise: what an unknown slope of the covariate adds. */
static double slope_cost(const struct residuals side[ESTIMATE_SIDES])
{
	const double apart = side[ESTIMATE_NEW].x - side[ESTIMATE_BASE].x;

	return apart * apart / (side[ESTIMATE_BASE].x_squares + side[ESTIMATE_NEW].x_squares);
}

/* Both sides', and their degrees of freedom. */
static double both_residuals(const struct estimate_runs runs[ESTIMATE_SIDES],
			     struct residuals side[ESTIMATE_SIDES])
{
	double df = 0;

	for (int i = 0; i < ESTIMATE_SIDES; i++) {
		side[i] = side_residuals(&runs[i]);
		df += side[i].runs > 1 ? (double)side[i].runs - 1 : 0;
	}
	return df;
}

bool estimate__serves(const struct estimate_runs runs[ESTIMATE_SIDES],
		      enum estimate_covariate which)
{
	static const struct {
		double df, cost, deviation;
	} limits[ESTIMATE_COVARIATES] = {
		[ESTIMATE_PACE] = {ESTIMATE_PACE_DF, ESTIMATE_PACE_COST, ESTIMATE_PACE_MIN},
		[ESTIMATE_TIME] = {ESTIMATE_TIME_DF, ESTIMATE_TIME_COST, 0},
	};
	struct residuals side[ESTIMATE_SIDES];
	const double df = both_residuals(runs, side);
	double x_squares, t;

	if (which == ESTIMATE_NOTHING || !(df >= limits[which].df))
		return false;
	x_squares = side[ESTIMATE_BASE].x_squares + side[ESTIMATE_NEW].x_squares;
	t = stats__t_quantile(df, 0.995);
	/* false where it is not known of a run: NaN */
	return sqrt(x_squares / df) >= limits[which].deviation &&
	       slope_cost(side) <= fmin(limits[which].cost, t * t / df) * runs_cost(side);
}

void estimate__between_runs(const struct estimate_runs runs[ESTIMATE_SIDES],
			    struct estimate_spread *spread)
{
	struct residuals side[ESTIMATE_SIDES];
	double df = both_residuals(runs, side), slope = 0, cost = 0;
	const double x_squares = side[ESTIMATE_BASE].x_squares + side[ESTIMATE_NEW].x_squares;
	const double products = side[ESTIMATE_BASE].products + side[ESTIMATE_NEW].products;
	double squares = side[ESTIMATE_BASE].squares + side[ESTIMATE_NEW].squares;

	*spread = (struct estimate_spread){.factor = {1, 1}, .wider = 1};
	if (!(df > 0))
		return;
	if (df >= 2 && x_squares > 0 && isfinite(x_squares) && isfinite(slope_cost(side))) {
		slope = products / x_squares;
		cost = slope_cost(side);
		squares = fmax(0, squares - slope * products);
		df--;
		spread->wider = 1 + cost / runs_cost(side);
	}
	spread->df = df;
	for (int i = 0; i < ESTIMATE_SIDES; i++) {
		if (!(side[i].weight > 0))
			continue;
		spread->variance[i] = squares / df *
				      (side[i].squared_weight / (side[i].weight * side[i].weight) +
				       cost / ESTIMATE_SIDES);
		if (slope != 0) /* else x need not be known */
			spread->factor[i] =
				exp(slope * (side[ESTIMATE_SIDES - 1 - i].x - side[i].x) / 2);
	}
}
