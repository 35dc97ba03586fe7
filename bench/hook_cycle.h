/* SPDX-License-Identifier: MIT */
/* hook_cycle - the same roots, with labels and without, for `hook`. */
#ifndef TICKSNICK_BENCH_HOOK_CYCLE_H
#define TICKSNICK_BENCH_HOOK_CYCLE_H

#include <stdint.h>

#include "catalogue.h"

void hook_cycle__prepare_bare(const uint32_t iterations[CATALOGUE_OPERATIONS]);

/* One cycle of roots in that order. state is carried through. */
uint64_t hook_cycle__bare(const uint8_t cycle[CATALOGUE_CYCLE], uint64_t state);

#endif
