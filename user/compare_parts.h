/* SPDX-License-Identifier: MIT */
/*
 * compare_parts - what the files of compare share among themselves.
 */
#ifndef TICKSNICK_COMPARE_PARTS_H
#define TICKSNICK_COMPARE_PARTS_H

#include "compare.h"

/*
 * A row of some report, under its label and kind; lists are by these, then by side and run. At
 * first a report may have several of a kind, then one.
 */
struct compare_entry {
	const char *label;
	bool idle;
	int side;
	size_t run;
	double x;	 /* of its report: what comparison->adjusted is; NaN if that is nothing */
	const void *row; /* struct profile_fine or profile_coarse */
	void *sum;	 /* what row is, where it is a sum of several; owned. NULL: it is not */
};

/* What the rows of a report are measured against. */
struct compare_run {
	const struct profile *profile;
	double effect;	   /* of hits that come in runs, on the variance; at least 1 */
	double ns_per_hit; /* running time that a hit stands for; NaN without hits */
};

/* The entries of one label and kind. */
struct compare_group {
	const struct compare_entry *entries;
	size_t count;
};

/* An amount for a weight: what a run's row says of a quantity. False: nothing. */
typedef bool compare_telling(const void *row, int which, double *amount, double *weight);

/* What the runs of a label say of the variance between runs; adjusted: without what x explains of
 * it. 0 or -ENOMEM. */
int compare__spread(const struct compare_group *group, compare_telling *telling, int which,
		    bool adjusted, struct estimate_spread *spread);

/*
 * Fill comparison->fine and ->coarse: estimates, states, sums; no intervals yet. Entries are those
 * of all rows. 0 or -ENOMEM.
 */
int compare__fine_rows(struct comparison *comparison, const struct compare_entry *entries,
		       size_t count, const struct compare_run *const runs[ESTIMATE_SIDES]);
int compare__coarse_rows(struct comparison *comparison, const struct compare_entry *entries,
			 size_t count);

/* A total order of labels, kinds, sides and runs; for qsort. */
int compare__order_entries(const void *left, const void *right);

/* Makes one entry of those of the same label, kind, side and run, which follow each other: a run is
 * one, whatever number of rows it has. 0 or -ENOMEM; either way the caller frees the sums. */
int compare__add_up_entries(struct compare_entry *entries, size_t *count, bool fine);
void compare__free_entries(struct compare_entry *entries, size_t count, bool fine);

/* How many entries from the first on have its label and kind. */
size_t compare__same_label(const struct compare_entry *entries, size_t count);

/* How fast the CPUs were in a report: ns of the calculation (struct profile_session). NaN: not
 * known, or by too few times to be of use. */
double compare__pace(const struct profile *profile);

/* The design effect of a report's hits: see compare_fine.c. */
double compare__effect(const struct profile *profile);

/* Fills the warnings. 0 or -ENOMEM. */
int compare__warn(struct comparison *comparison, const struct compare_input input[ESTIMATE_SIDES]);

/*
 * Judges all tests that are comparable by Holm's procedure, and computes the limits of all.
 * Returns the level of what was not settled as slower or faster.
 */
double compare__judge(struct compare_test **tests, size_t count, double threshold, double alpha);

#endif
