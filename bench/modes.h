/* SPDX-License-Identifier: MIT */
/* modes - what ticksnick-bench can be asked to do. */
#ifndef TICKSNICK_BENCH_MODES_H
#define TICKSNICK_BENCH_MODES_H

#include <stddef.h>

#include "bench.h"

struct mode {
	const char *name;
	bench_mode run;
	const char *summary; /* one line, for --help */
};

/* In the order in which `all` runs them; the first is what runs where none is named. */
extern const struct mode modes[];
extern const size_t mode_count;

/* NULL: there is none of that name. */
const struct mode *modes__find(const char *name);

#endif
