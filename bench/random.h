/* SPDX-License-Identifier: MIT */
/* random - a small generator for orders and lengths: xorshift64* (S. Vigna, 2016). */
#ifndef TICKSNICK_BENCH_RANDOM_H
#define TICKSNICK_BENCH_RANDOM_H

#include <stdint.h>

/* A state from any seed, 0 included; near seeds give unlike states (splitmix64). */
static inline uint64_t random__seed(uint64_t seed)
{
	seed += 0x9e3779b97f4a7c15;
	seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9;
	seed = (seed ^ seed >> 27) * 0x94d049bb133111eb;
	return (seed ^ seed >> 31) | 1;
}

static inline uint64_t random__next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1d;
}

/* 0 .. bound - 1, bound < 2^32 */
static inline uint64_t random__below(uint64_t *state, uint64_t bound)
{
	return (random__next(state) >> 32) * bound >> 32;
}

/* 0 <= x < 1 */
static inline double random__part(uint64_t *state)
{
	return (double)(random__next(state) >> 11) / 9007199254740992.0;
}

#endif
