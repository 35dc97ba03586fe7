/* SPDX-License-Identifier: MIT */
/*
 * burn - work of a known length: a chain of xorshift steps, each waiting for the one before it.
 *
 * Labels are read where the processor has got to with the oldest unfinished instruction. Work that
 * does not wait for the work before it would be done in that one's shadow, and take no time of its
 * own; so the state of one burn is what the next begins with, through the whole thread.
 */
#ifndef TICKSNICK_BENCH_BURN_H
#define TICKSNICK_BENCH_BURN_H

#include <stdint.h>

#include <ticksnick/ticksnick.h>

static inline __attribute__((always_inline)) uint64_t burn(uint64_t state, uint32_t iterations)
{
	TSN_KEEP(state); /* not before the label ... */
	do {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		TSN_KEEP(state); /* one step after the other, and the steps are not folded */
	} while (--iterations);
	TSN_KEEP(state); /* ... nor after it */
	return state;
}

#endif
