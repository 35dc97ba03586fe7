/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * pace.h - how fast this CPU is at the moment: the time of a fixed calculation. A CPU's clock moves
 * by some percent within seconds, with what its neighbours do and how hot they are, and the time of
 * every label moves with it; recordings can only be compared closely if that is known.
 */
#ifndef TICKSNICK_BPF_PACE_H
#define TICKSNICK_BPF_PACE_H

#include "kernel.h"
#include <ticksnick/cells.h>

#define PACE_UNROLLED 16
#define PACE_MOST_NS  1000000 /* more is no time of it */

/*
 * ns that TSN_PACE_STEPS steps take here, the least of some tries by the same instructions. The
 * first one fetches them into the caches; what interrupts a CPU, such as its hypervisor, seldom
 * does so in each of several microseconds. Global, so that the verifier looks at it once.
 */
__noinline int pace_take(void)
{
	__u64 least = PACE_MOST_NS, x = 0, begun, took;
	__u32 try, i, k;

#pragma clang loop unroll(disable)
	for (try = 0; try < TSN_PACE_TRIES; try++) {
		begun = bpf_ktime_get_ns();
		x += begun;
#pragma clang loop unroll(disable)
		for (i = 0; i < TSN_PACE_STEPS / PACE_UNROLLED; i++) {
#pragma unroll
			for (k = 0; k < PACE_UNROLLED; k++)
				TSN_PACE_STEP(x);
		}
		took = bpf_ktime_get_ns() - begun;
		if (took < least)
			least = took;
	}
	return least;
}

#endif
