// SPDX-License-Identifier: MIT
/* All parts, or those of PART_BIG, PART_SMALL and PART_COUNTED that are defined. */
#include <ticksnick/ticksnick.h>

#include <time.h>

#include "subject.h"

#if !defined(PART_BIG) && !defined(PART_SMALL) && !defined(PART_COUNTED)
#define PART_BIG
#define PART_SMALL
#define PART_COUNTED
#endif

#if defined(PART_BIG) || defined(PART_SMALL)
static uint64_t now_us(void)
{
	struct timespec now;

	timespec_get(&now, TIME_UTC);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/*
 * Spins for mean_us on average, each time anew between nothing and twice that: stays of one length
 * would march in step with a timer for as long as it keeps its period, and 0.3 s has few periods to
 * average over.
 */
static void spin(uint64_t mean_us)
{
	uint64_t start = now_us();
	uint64_t us = (start * 0x9e3779b97f4a7c15u >> 33) * (2 * mean_us + 1) >> 31;

	while (now_us() - start < us)
		;
}
#endif

#ifdef PART_BIG
TSN_FINE(big, "big");

uint32_t subject_big(uint64_t mean_us)
{
	TSN_SCOPE(big);
	spin(mean_us);
	return big.id;
}
#endif

#ifdef PART_SMALL
TSN_FINE(small, "small");

uint32_t subject_small(uint64_t mean_us)
{
	TSN_SCOPE(small);
	spin(mean_us);
	return small.id;
}
#endif

#ifdef PART_COUNTED
TSN_FINE(counted, "counted");
TSN_COARSE(batch, "batch");

uint32_t subject_counted(unsigned calls)
{
	TSN_SCOPE(batch);
	TSN_SCOPE_N(counted, calls);
	return counted.id;
}
#endif
