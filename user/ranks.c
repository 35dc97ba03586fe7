// SPDX-License-Identifier: MIT
#include "ranks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int compare_numbers(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* How many of the sorted values are below, or with also_equal not above, a limit. */
static size_t count_below(const double *sorted, size_t count, double limit, bool also_equal)
{
	size_t first = 0, past = count, middle;

	while (first < past) {
		middle = first + (past - first) / 2;
		if (sorted[middle] < limit || (also_equal && sorted[middle] == limit))
			first = middle + 1;
		else
			past = middle;
	}
	return first;
}

int ranks__compute(const struct profile_fine *const *rows, size_t count, struct rank *ranks)
{
	double *low = calloc(count ? count : 1, 2 * sizeof(*low)), *high = low + count;
	size_t i;

	if (!low)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		bool known = !isnan(rows[i]->share_lo) && !isnan(rows[i]->share_hi);

		low[i] = known ? rows[i]->share_lo : -INFINITY;
		high[i] = known ? rows[i]->share_hi : INFINITY;
	}
	qsort(low, count, sizeof(*low), compare_numbers);
	qsort(high, count, sizeof(*high), compare_numbers);
	for (i = 0; i < count; i++) {
		ranks[i].best = 1;
		ranks[i].worst = count;
		if (isnan(rows[i]->share_lo) || isnan(rows[i]->share_hi))
			continue;
		ranks[i].best += count - count_below(low, count, rows[i]->share_hi, true);
		ranks[i].worst -= count_below(high, count, rows[i]->share_lo, false);
	}
	free(low);
	return 0;
}

double ranks__times_longer(const struct profile_fine *upper, const struct profile_fine *lower)
{
	double gap = upper->share - lower->share;
	double reach = upper->share - upper->share_lo + lower->share_hi - lower->share;

	if (!(gap > 0) || !(reach > gap))
		return NAN;
	return (reach / gap) * (reach / gap);
}
