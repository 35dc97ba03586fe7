/* SPDX-License-Identifier: MIT */
/*
 * timer - the perf timer of every CPU that fires the tick program, and the redraw of its period,
 * which keeps any workload from running in lockstep with it. A CPU that goes offline ticks no more,
 * one that comes online ticks from the next redraw on.
 */
#ifndef TICKSNICK_TIMER_H
#define TICKSNICK_TIMER_H

#include <stdint.h>

#include <ticksnick/cells.h>

#define TIMER_SPREAD 0.25 /* a period is redrawn within +-25% of the mean */

struct bpf_program;
struct timer;

/*
 * Opens a cpu-clock event on every online CPU, attaches the program and starts it; cpus is the
 * shared array, by CPU. frequency_hz > 0. 0 or a negative errno (-EACCES, -EPERM: not allowed).
 */
int timer__new(struct bpf_program *program, struct tsn_cpu *cpus, double frequency_hz,
	       struct timer **timer);
void timer__free(struct timer *timer); /* NULL is fine; stops it */

/* Draws a new period for each CPU, and looks which are online. now_ns: CLOCK_MONOTONIC. */
void timer__redraw(struct timer *timer, uint64_t now_ns);

/* Ticks that should have come on all CPUs while they were online, from the first redraw until
 * now_ns. */
uint64_t timer__expected(const struct timer *timer, uint64_t now_ns);

/* Greatest rate the kernel allows (kernel.perf_event_max_sample_rate), Hz; 0: not known. */
double timer__rate_max(void);

#endif
