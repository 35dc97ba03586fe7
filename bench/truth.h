/* SPDX-License-Identifier: MIT */
/*
 * truth - the shares that a workload really had, found in two ways that do not know of each other
 * and not of the recorder, and a report held against them.
 */
#ifndef TICKSNICK_BENCH_TRUTH_H
#define TICKSNICK_BENCH_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder.h"
#include "workload.h"

#define TRUTH_GAP_MAX_PP 0.5

struct truth {
	uint64_t calls[CATALOGUE_OPERATIONS];
	double configured[CATALOGUE_OPERATIONS]; /* A: calls x calibrated self time */
	double measured[CATALOGUE_OPERATIONS]; /* B: sum over threads of calls x its own self time,
						  measured after the work, all at once */
	double gap_pp;	/* greatest difference of the two, percentage points */
	double scatter; /* of the batches behind B */
};

/* Shares of all operations' running time, 0..1. The workload is paused. */
void truth__find(struct workload *workload, unsigned threads, const struct calibration *calibration,
		 struct truth *truth);

/* Gates: A and B agree, and the batches of B do not scatter. False: the truth is broken. */
bool truth__judge(const struct truth *truth, struct outcome *outcome);

/* One operation of a report beside its truth. */
struct comparison_row {
	double truth, read, lo, hi; /* share of labelled thread-time. The truth is that of running
				       time, and the waiting as the report has it */
	double cpu_truth, cpu_read; /* share of labelled running time */
	double hits;
	double width;	    /* of the interval, in terms of running time */
	double ideal_width; /* of the exact binomial interval of as many hits, at the same level */
	bool inside;	    /* lo <= truth <= hi */
};

struct comparison {
	struct comparison_row rows[CATALOGUE_OPERATIONS];
	double hits;	       /* in the operations */
	double worst_pp;       /* greatest |cpu_read - cpu_truth|, percentage points */
	unsigned inside;       /* rows */
	double width_ratio;    /* median of width / ideal_width over rows with hits */
	bool top_ten_in_order; /* truth__in_order */
	double running_ns;     /* labelled */
};

/* 0, or -ENOENT if an operation is missing in the report. shares: of running time. */
int truth__compare(const double shares[CATALOGUE_OPERATIONS], const struct recording *recording,
		   struct comparison *comparison);

/* Whether the readings of the ten greatest are in the order of the truth, but for neighbours that
 * it puts closer than the readings' noise. Needs cpu_truth, cpu_read and hits. */
bool truth__in_order(const struct comparison *comparison);

/* A table of the comparison, and a row for each operation in the outcome's "operations". */
void truth__print(const struct truth *truth, const struct comparison *comparison,
		  struct outcome *outcome);

#endif
