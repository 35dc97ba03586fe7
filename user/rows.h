/* SPDX-License-Identifier: MIT */
/*
 * rows - the fine table while the model works on it.
 */
#ifndef TICKSNICK_ROWS_H
#define TICKSNICK_ROWS_H

#include <math.h>

#include "model.h"
#include "saturate.h"

/* One row of the fine table before it is written out; fine.label is not set yet. */
struct row {
	struct profile_fine fine;
	const char *name;		   /* NULL: the time in no label */
	const struct model_label **labels; /* of this row, by window row */
	size_t label_count;
	uint64_t weight, wait; /* fine.callers: the most in any one process, only those can meet */
};

struct rows {
	const struct model_input *input;
	const struct model_label **labels; /* by row, backs row.labels */
	struct row *row;		   /* row[0] is the time in no label, always there */
	size_t count;
	u128 weight; /* of all hits */
	uint64_t hits_labelled, weight_labelled, running_labelled, wait_labelled;
	struct profile_totals totals;
	uint64_t duration_ns; /* of the session; 0: not known */
	bool hits_may_do;     /* merged of reports that kept no windows: their hits alone may bound
				 shares */
};

/* NaN: a part of nothing. */
static inline double rows__ratio(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

static inline bool row__in_shares(const struct row *row)
{
	return row->name && !row->fine.idle;
}

/* From times, weights and totals: shares, bounds, order, flags and warnings, into the profile as
 * model__compute says. 0 or -ENOMEM. */
int rows__conclude(struct rows *rows, struct profile *profile);

#endif
