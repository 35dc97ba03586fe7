// SPDX-License-Identifier: MIT
/* The catalogue's operations without their labels. */
#define TICKSNICK_DISABLE
#include <ticksnick/ticksnick.h>

/* It goes with the labels. Here the work must stay what it is with them. */
#undef TSN_KEEP
#define TSN_KEEP(x) __asm__ volatile("" : "+r"(x) : : "memory")

#include "hook_cycle.h"
#include "operations.h"

void hook_cycle__prepare_bare(const uint32_t iterations[CATALOGUE_OPERATIONS])
{
	operation_prepare(iterations);
}

uint64_t hook_cycle__bare(const uint8_t cycle[CATALOGUE_CYCLE], uint64_t state)
{
	return operation_cycle(cycle, 0, 1, state);
}
