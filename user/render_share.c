// SPDX-License-Identifier: MIT
#include "render_share.h"

#include <math.h>

int render_share__decimals(struct render_share share)
{
	return share.hi - share.share < 0.01 && share.share - share.lo < 0.01 ? 2 : 1;
}

double render_share__round_up(double value, double unit)
{
	return fmax(0, ceil(value / unit - 1e-7) * unit); /* no -0 */
}

double render_share__round_down(double value, double unit)
{
	return fmax(0, floor(value / unit + 1e-7) * unit);
}

static double unit_of(struct render_share of)
{
	return render_share__decimals(of) == 1 ? 0.1 : 0.01;
}

static double printed_of(struct render_share of)
{
	return round(100 * of.share / unit_of(of)) * unit_of(of);
}

double render_share__half(struct render_share of)
{
	const double printed = printed_of(of);

	if (isnan(of.share) || isnan(of.lo) || isnan(of.hi))
		return NAN;
	return render_share__round_up(fmax(100 * of.hi - printed, printed - 100 * of.lo),
				      unit_of(of));
}

/*
 * The interval as printed holds the true one: its ends are rounded outwards, and a half-width
 * counts from the share as printed. Where the longer side is over twice the shorter one, and that
 * can be seen, both ends are given.
 */
void render_share__set(struct grid *grid, size_t share_column, size_t bound_column,
		       struct render_share of, int most, bool unicode)
{
	int decimals = render_share__decimals(of);
	double unit = unit_of(of), share = 100 * of.share, lo = 100 * of.lo;
	double hi = 100 * of.hi, longer = fmax(hi - share, share - lo),
	       shorter = fmin(hi - share, share - lo);
	double printed = printed_of(of), half = render_share__half(of);
	const char *pad = decimals < most ? " " : "";

	if (isnan(share)) {
		grid__cell(grid, share_column, "-");
		return;
	}
	grid__cell(grid, share_column, "%.*f%s", decimals, share, pad);
	if (isnan(lo) || isnan(hi))
		grid__cell(grid, bound_column, "-");
	else if ((longer > 2 * shorter && longer - shorter > 2 * unit) ||
		 half > printed + unit / 2 || printed + half > 100 + unit / 2)
		grid__cell(grid, bound_column, "%.*f..%.*f%s", decimals,
			   render_share__round_down(lo, unit), decimals,
			   render_share__round_up(hi, unit), pad);
	else
		grid__cell(grid, bound_column, "%s%.*f%s", unicode ? "\u00b1" : "+-", decimals,
			   half, pad);
}
