// SPDX-License-Identifier: MIT
#include "truth.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "numbers.h"
#include "outcome.h"
#include "stats.h"

#define ALPHA	0.05 /* of a report's intervals, all together */
#define TOP_TEN 10
#define NOISE	2 /* standard deviations within which an order is not decided */

/* --- the truth --- */

static void to_shares(double times[CATALOGUE_OPERATIONS])
{
	double sum = 0;

	for (int id = 0; id < CATALOGUE_OPERATIONS; id++)
		sum += times[id];
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++)
		times[id] /= sum;
}

void truth__find(struct workload *workload, unsigned threads, const struct calibration *calibration,
		 struct truth *truth)
{
	double self_ns[WORKLOAD_THREADS_MAX][CATALOGUE_OPERATIONS];
	uint64_t calls[CATALOGUE_OPERATIONS];

	memset(truth, 0, sizeof(*truth));
	workload__measure(workload, self_ns, &truth->scatter);
	for (unsigned thread = 0; thread < threads; thread++) {
		workload__calls(workload, thread, calls);
		for (int id = 0; id < CATALOGUE_OPERATIONS; id++) {
			truth->calls[id] += calls[id];
			truth->configured[id] += (double)calls[id] * calibration->self_ns[id];
			truth->measured[id] += (double)calls[id] * self_ns[thread][id];
		}
	}
	to_shares(truth->configured);
	to_shares(truth->measured);
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++)
		truth->gap_pp = fmax(truth->gap_pp,
				     100 * fabs(truth->configured[id] - truth->measured[id]));
}

bool truth__judge(const struct truth *truth, struct outcome *outcome)
{
	const bool agree = outcome__gate(outcome, "truth: configured and measured differ by",
					 truth->gap_pp, GATE_AT_MOST, TRUTH_GAP_MAX_PP, "pp");
	const bool steady = outcome__gate(outcome, "truth: scatter of a batch", truth->scatter,
					  GATE_AT_MOST, CALIBRATION_SCATTER_MAX, "");

	if (!agree || !steady)
		outcome__broken(outcome, "the truth is not known well enough to judge by");
	return agree && steady;
}

/* --- a report against it --- */

static void compare_row(struct comparison_row *row, const struct profile_fine *fine,
			double cpu_truth, const struct comparison *comparison,
			const struct profile_totals *totals, double rows_with_hits)
{
	const double labelled = (double)totals->labelled_ns;
	const double waiting = (double)(fine->thread_time_ns - fine->running_ns);
	struct interval ideal;

	row->cpu_truth = cpu_truth;
	row->cpu_read = fine->cpu_share;
	row->truth = (cpu_truth * comparison->running_ns + waiting) / labelled;
	row->read = fine->share;
	row->lo = fine->share_lo;
	row->hi = fine->share_hi;
	row->inside = row->lo <= row->truth && row->truth <= row->hi;
	row->hits = (double)fine->hits;
	row->width = (row->hi - row->lo) * labelled / comparison->running_ns;
	ideal = stats__binomial_interval(row->hits, comparison->hits, ALPHA / rows_with_hits);
	row->ideal_width = ideal.hi - ideal.lo;
}

bool truth__in_order(const struct comparison *comparison)
{
	int order[CATALOGUE_OPERATIONS];

	for (int i = 0; i < CATALOGUE_OPERATIONS; i++) {
		int at = i;

		for (; at > 0 &&
		       comparison->rows[order[at - 1]].cpu_truth < comparison->rows[i].cpu_truth;
		     at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	for (int i = 0; i + 1 < TOP_TEN; i++) {
		const struct comparison_row *above = &comparison->rows[order[i]];
		const struct comparison_row *below = &comparison->rows[order[i + 1]];
		const double p = above->cpu_truth + below->cpu_truth;
		const double apart = above->cpu_truth - below->cpu_truth;

		if (above->cpu_read < below->cpu_read &&
		    apart > NOISE * sqrt(p / comparison->hits)) /* of a difference of shares */
			return false;
	}
	return true;
}

int truth__compare(const double shares[CATALOGUE_OPERATIONS], const struct recording *recording,
		   struct comparison *comparison)
{
	const struct profile_fine *fine[CATALOGUE_OPERATIONS];
	double ratios[CATALOGUE_OPERATIONS], rows_with_hits = 0;
	size_t ratio_count = 0;

	memset(comparison, 0, sizeof(*comparison));
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++) {
		fine[id] = recording__fine(recording, catalogue[id].name);
		if (!fine[id])
			return -ENOENT;
		comparison->hits += (double)fine[id]->hits;
		comparison->running_ns += (double)fine[id]->running_ns;
		rows_with_hits += fine[id]->hits > 0;
	}
	if (comparison->hits == 0)
		return -ENOENT;
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++) {
		struct comparison_row *row = &comparison->rows[id];

		compare_row(row, fine[id], shares[id], comparison, &recording->profile->totals,
			    rows_with_hits);
		comparison->inside += row->inside;
		comparison->worst_pp =
			fmax(comparison->worst_pp, 100 * fabs(row->cpu_read - row->cpu_truth));
		if (row->hits > 0)
			ratios[ratio_count++] = row->width / row->ideal_width;
	}
	comparison->width_ratio = numbers__median(ratios, ratio_count);
	comparison->top_ten_in_order = truth__in_order(comparison);
	return 0;
}

static json_t *operation_row(int id, const struct truth *truth, const struct comparison_row *row)
{
	return json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:b}", "operation",
			 catalogue[id].name, "calls", (json_int_t)truth->calls[id], "configured",
			 truth->configured[id], "measured", truth->measured[id], "cpu_share",
			 row->cpu_read, "true_share", row->truth, "share", row->read, "share_lo",
			 row->lo, "share_hi", row->hi, "hits", row->hits, "inside", row->inside);
}

void truth__print(const struct truth *truth, const struct comparison *comparison,
		  struct outcome *outcome)
{
	outcome__text(outcome, "%-14s %8s %11s %11s %9s %9s %9s %17s\n", "operation", "self",
		      "configured", "measured", "read", "off by", "of itself", "bound holds");
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++) {
		const struct comparison_row *row = &comparison->rows[id];
		const double off = row->cpu_read - row->cpu_truth;

		outcome__text(outcome,
			      "%-14s %5.0f ns %10.3f%% %10.3f%% %8.3f%% %+6.3f pp %+8.2f%% "
			      "%7.3f-%6.3f %s\n",
			      catalogue[id].name, catalogue[id].self_ns,
			      100 * truth->configured[id], 100 * truth->measured[id],
			      100 * row->cpu_read, 100 * off, 100 * off / row->cpu_truth,
			      100 * row->lo, 100 * row->hi, row->inside ? "yes" : "NO");
		outcome__row(outcome, "operations", operation_row(id, truth, row));
	}
}
