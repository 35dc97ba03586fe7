// SPDX-License-Identifier: MIT
#include "trimmed.h"

#include <math.h>

#include "histogram.h"

struct trimmed trimmed__of(uint64_t sum_ns, const struct profile_bucket *at, size_t count,
			   double off)
{
	const double total = (double)histogram__total(at, count);
	const double left = total * (1 - TRIMMED_PART);
	struct trimmed of = {NAN, NAN, NAN};
	double slow = total - left, slow_ns = 0, most = 0, left_ns;

	for (size_t i = count; i-- && slow > 0;) {
		const double taken = fmin(slow, (double)at[i].count);

		most = (double)histogram__middle(at[i].bucket);
		slow_ns += taken * most;
		slow -= taken;
	}
	left_ns = (double)sum_ns - slow_ns;
	if (!(total > 0) || !(left_ns > 0))
		return of;
	of.mean_ns = left_ns / left;
	of.error = off * slow_ns / left_ns;
	if (total >= 2)
		of.variance = histogram__moments(at, count, most).squares / (total - 1) * total /
			      (left_ns * left_ns);
	return of;
}
