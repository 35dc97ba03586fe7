/* SPDX-License-Identifier: MIT */
/*
 * model - from observations to the fine table: running time by hits, waiting as measured, shares,
 * bounds, ties, per-call cost, elapsed and in flight. Pure: no kernel, no clock. The formulas stand
 * in docs/output.md.
 */
#ifndef TICKSNICK_MODEL_H
#define TICKSNICK_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile.h"
#include "windows.h"

#define MODEL_ALPHA 0.05 /* all bounds hold at once with probability 1 - alpha */

/* What was seen of one label id of one process, or of several with the same labels. Rows with the
 * same name and kind become one row of the profile. */
struct model_label {
	const char *name; /* NULL: time in no label, whatever idle says; borrowed */
	bool idle;
	uint64_t hits_user, hits_kernel;
	uint64_t weight_ns;			 /* periods of the hits, summed */
	uint64_t runnable_ns, blocked_ns, io_ns; /* measured */
	uint64_t calls;
	uint64_t elapsed_off_ns; /* exact time with at least one thread inside and off the CPU */
	uint64_t elapsed_on_ns;	 /* sum of period / R over ticks that found none off the CPU */
	uint64_t long_hits; /* ticks that found the execution of the tick before still going on */
	uint64_t glances;   /* glances at this label ... */
	uint64_t glances_shared; /* ... that found another thread inside */
	unsigned callers;	 /* threads that called it, where known; 0: not known */
	size_t window_row;	 /* its row in windows; labels that become one row may share it */
	uint64_t processes;	 /* 0 is one */
};

struct model_input {
	const struct model_label *labels; /* of all processes */
	size_t label_count;
	const struct windows *windows; /* NULL: none, and then only the hits bound the shares */
	uint64_t running_ns;	       /* exact running time of all threads: T_on */
	uint64_t stolen_ns;	       /* part of it */
	uint64_t weight_square_sum;    /* sum over hits of (weight >> 10) squared; for the effective
					  number of hits */
	uint64_t lost_hits;    /* ticks on the target that could not be charged to a label */
	uint64_t lost_wait_ns; /* waiting that could not be charged to a label */
	double alpha;	       /* 0.05: all rows hold at once with probability 1 - alpha */
};

/*
 * Fills profile->fine, and of profile->totals: running_ns .. bound (thread_time_ns is their sum),
 * in order. Adds warnings that follow from the rows: no_labels, no_hits, few_hits, coverage_low,
 * and per label tiny, long, serialised.
 *
 * running_ns of the rows and of the time in no label add up to input->running_ns exactly. With no
 * hits at all, it is all in no label, and the bounds say that it could be anywhere. Waiting that
 * was lost is in no total, but it widens the bounds. elapsed_ns of one process is at most
 * profile->session.duration_ns (if that is known); of a row merged from several processes it is
 * their sum, so it may exceed the session. Flags are as in profile.h; "unsampled" is a row with
 * neither hits nor waiting. Sums that do not fit 64 bits saturate.
 *
 * 0, -EINVAL (alpha is not between 0 and 1) or -ENOMEM; after an error rows and totals are as
 * before, though some of the warnings may have been added.
 */
int model__compute(const struct model_input *input, struct profile *profile);

#endif
