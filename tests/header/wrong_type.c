// SPDX-License-Identifier: MIT
/* Compiles as it is, and not with WRONG=1 .. 7: a label of one kind where the other belongs. Also
 * as C++. */
#include <ticksnick/ticksnick.h>

TSN_FINE(fine, "fine");
TSN_COARSE(coarse, "coarse");

#ifndef WRONG
#define WRONG 0
#endif

void wrong_type(tsn_coarse_t *kept);

static void take_coarse(tsn_coarse_t op)
{
	TSN_SCOPE(op);
}

void wrong_type(tsn_coarse_t *kept)
{
	TSN_SCOPE(fine);
	TSN_SCOPE_N(fine, 3);
	*kept = coarse;
	take_coarse(coarse);
#if WRONG == 1
	take_coarse(fine);
#elif WRONG == 2
	*kept = fine;
#elif WRONG == 3
	TSN_SCOPE_N(coarse, 3);
#elif WRONG == 4
	*kept = tsn_at(fine, 1);
#elif WRONG == 5
	TSN_SCOPE(coarse.id);
#elif WRONG == 6
	TSN_WITH_CONTEXT(coarse);
#elif WRONG == 7
	tsn_enter(tsn_capture());
#endif
}
