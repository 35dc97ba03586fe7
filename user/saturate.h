/* SPDX-License-Identifier: MIT */
/*
 * saturate - sums and conversions that stay at the greatest 64-bit number rather than wrap.
 */
#ifndef TICKSNICK_SATURATE_H
#define TICKSNICK_SATURATE_H

#include <stdint.h>

typedef unsigned __int128 u128;

static inline uint64_t saturate__u64(u128 value)
{
	return value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

static inline uint64_t saturate__add(uint64_t a, uint64_t b)
{
	return saturate__u64((u128)a + b);
}

/* Rounded to the nearest; 0 for what is negative or NaN. */
static inline uint64_t saturate__round(long double value)
{
	if (!(value > 0))
		return 0;
	return value < 0x1p64L - 1 ? (uint64_t)(value + 0.5L) : UINT64_MAX;
}

#endif
