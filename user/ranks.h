/* SPDX-License-Identifier: MIT */
/*
 * ranks - which places in the order of shares the intervals allow each row. Pure.
 *
 * A row certainly stands below those whose intervals lie wholly above its own, and above those
 * whose intervals lie wholly below; all intervals hold at once, so all ranks do too.
 */
#ifndef TICKSNICK_RANKS_H
#define TICKSNICK_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "profile.h"

struct rank {
	size_t best, worst; /* from 1; equal: settled */
};

/* Ranks of rows[0 .. count - 1]; a row without an interval has all of them. 0 or -ENOMEM. */
int ranks__compute(const struct profile_fine *const *rows, size_t count, struct rank *ranks);

/*
 * How many times as long a session is needed, roughly, until the intervals of two rows part (they
 * shrink as its square root): upper is the one with the greater share. NaN where nothing can be
 * said: an interval is absent, or the shares are equal.
 */
double ranks__times_longer(const struct profile_fine *upper, const struct profile_fine *lower);

#endif
