/* SPDX-License-Identifier: MIT */
/* Expected numbers are worked out by hand; binomial intervals by exact sums in another program. */
#include <stdlib.h>

#include "histogram.h"
#include "model_fixture.h"
#include "spans.h"

#define OWN   TSN_CELL_OWN
#define OUTER TSN_CELL_OUTER
#define STALE TSN_CELL_STALE

static struct spans_cell cell(const char *coarse, const char *fine, enum tsn_cell_role role,
			      uint64_t hits)
{
	return (struct spans_cell){
		.coarse = coarse, .fine = fine, .role = role, .hits = hits, .weight_ns = hits * MS};
}

static struct spans_label label(const char *name, uint64_t executions, uint64_t sum_units)
{
	return (struct spans_label){.name = name,
				    .unit_ns = 1,
				    .stretch = 1,
				    .executions = executions,
				    .sum_units = sum_units};
}

static int compute_spans(const struct spans_label *labels, size_t label_count,
			 const struct spans_cell *cells, size_t cell_count, uint64_t running_ns)
{
	const struct spans_input input = {.labels = labels,
					  .label_count = label_count,
					  .cells = cells,
					  .cell_count = cell_count,
					  .running_ns = running_ns,
					  .alpha = 0.05,
					  .cost_ns = 40};

	return spans__compute(&input, profile);
}

static const struct profile_coarse *coarse(const char *name)
{
	for (size_t i = 0; i < profile->coarse_count; i++)
		if (!strcmp(profile->coarse[i].label, name))
			return &profile->coarse[i];
	ck_abort_msg("no coarse row %s", name);
	return NULL;
}

/* fine NULL: in no fine label. */
static const struct profile_pair *pair(const char *name, const char *fine)
{
	for (size_t i = 0; i < profile->pair_count; i++) {
		const struct profile_pair *row = &profile->pairs[i];

		if (!strcmp(row->coarse, name) &&
		    (fine && row->fine ? !strcmp(row->fine, fine) : !fine && !row->fine))
			return row;
	}
	ck_abort_msg("no pair %s, %s", name, fine ? fine : "itself");
	return NULL;
}

/*
 * Of 1,000 hits in 10 s of running, 400 are in request and its execution was going on: 4 s. With 2
 * s in a lock that is 6 s: 1/2 parse, 1/3 lock, 1/6 itself. Intervals of 300, 0 and 100 of 400 hits
 * at 0.05 / 3: 0.69445..0.80022, 0..0.011897, 0.19978..0.30555; times 4 s / 6 s.
 */
START_TEST(pairs_split_a_label_by_hits_and_measured_waits)
{
	struct spans_cell cells[] = {
		cell("request", "parse", OWN, 200), cell("request", NULL, OWN, 100),
		cell("request", "parse", OWN, 100), cell("request", "lock", OWN, 0),
		cell(NULL, "parse", OWN, 300),	    cell(NULL, NULL, OWN, 150),
		cell(NULL, "poll", OWN, 50),	    cell("request", "parse", STALE, 80),
		cell("request", "poll", STALE, 20),
	};
	struct spans_label labels[] = {label("request", 6, 5 * SECOND)};
	const struct profile_coarse *row;
	const struct profile_pair *parse;

	labels[0].open_last = 4; /* begun just now: they have no part in the span */
	cells[3].runnable_ns = SECOND / 2;
	cells[3].blocked_ns = SECOND;
	cells[3].io_ns = SECOND / 2;
	cells[4].blocked_ns = SECOND;
	cells[6].idle = cells[8].idle = true;
	cells[6].blocked_ns = 7 * SECOND;
	cells[7].io_ns = SECOND;
	ck_assert_int_eq(compute_spans(labels, 1, cells, COUNT(cells), 10 * SECOND), 0);
	row = coarse("request");
	ck_assert_uint_eq(row->hits, 400);
	ck_assert_uint_eq(row->running_ns, 4 * SECOND);
	ck_assert_uint_eq(row->runnable_ns, SECOND / 2);
	ck_assert_uint_eq(row->blocked_ns, SECOND);
	ck_assert_uint_eq(row->io_ns, SECOND / 2);
	ck_assert_uint_eq(row->thread_time_ns, 6 * SECOND);
	ck_assert_uint_eq(row->stale_hits, 100);
	ck_assert_uint_eq(row->stale_ns, 2 * SECOND);
	ck_assert_double_eq_tol(row->inside, 1.2, 1e-12);
	ck_assert_double_eq_tol(row->working, 0.8, 1e-12);
	ck_assert_double_eq_tol(row->busy_per_exec_ns, 2 * SECOND / 3.0, 1e-3);
	ck_assert_uint_eq(profile->totals.outside_ns, 5 * SECOND + SECOND / 2);
	ck_assert_uint_eq(profile->totals.stale_ns, SECOND + SECOND * 8 / 10);
	ck_assert_uint_eq(profile->pair_count, 3);
	parse = pair("request", "parse");
	ck_assert_uint_eq(parse->hits, 300);
	ck_assert_uint_eq(parse->running_ns, 3 * SECOND);
	ck_assert_double_eq_tol(parse->part, 0.5, 1e-12);
	ck_assert_double_eq_tol(parse->part_lo, 0.462963, 1e-6);
	ck_assert_double_eq_tol(parse->part_hi, 0.533481, 1e-6);
	ck_assert_uint_eq(pair("request", "lock")->thread_time_ns, 2 * SECOND);
	ck_assert_double_eq_tol(pair("request", "lock")->part_lo, 1 / 3., 1e-12);
	ck_assert_double_eq_tol(pair("request", "lock")->part_hi, 0.341265, 1e-6);
	ck_assert_double_eq_tol(pair("request", NULL)->part, 1 / 6., 1e-12);
	ck_assert_double_eq_tol(pair("request", NULL)->part_lo, 0.133186, 1e-6);
	ck_assert_double_eq_tol(pair("request", NULL)->part_hi, 0.203704, 1e-6);
}
END_TEST

/* Time under an inner label is the outer one's as well, but there is no more of it to run. */
START_TEST(outer_labels_have_the_time_of_inner_ones)
{
	const struct spans_cell cells[] = {
		cell("query", "scan", OWN, 300), cell("request", "scan", OUTER, 300),
		cell("request", "parse", OWN, 100),
		cell(NULL, "scan", OUTER, 5000), /* of nothing */
	};

	ck_assert_int_eq(compute_spans(NULL, 0, cells, COUNT(cells), 4 * SECOND), 0);
	ck_assert_uint_eq(coarse("request")->running_ns, 4 * SECOND);
	ck_assert_uint_eq(coarse("query")->running_ns, 3 * SECOND);
	ck_assert_uint_eq(pair("request", "scan")->running_ns, 3 * SECOND);
	ck_assert_uint_eq(pair("request", "parse")->running_ns, SECOND);
	ck_assert_uint_eq(pair("query", "scan")->running_ns, 3 * SECOND);
	ck_assert_uint_eq(profile->pair_count, 3);
	ck_assert_uint_eq(profile->totals.outside_ns + profile->totals.stale_ns, 0);
	ck_assert_str_eq(profile->coarse[0].label, "request");
	ck_assert_str_eq(profile->pairs[0].fine, "scan");
	ck_assert_str_eq(profile->pairs[2].coarse, "query");
}
END_TEST

/* An execution inside one of the same label: two spans, but its threads are inside once. */
START_TEST(recursion_counts_time_once)
{
	const struct spans_cell cells[] = {cell("walk", "visit", OWN, 100)};
	const struct spans_label labels[] = {label("walk", 2, 2 * SECOND)};

	ck_assert_int_eq(compute_spans(labels, 1, cells, 1, SECOND), 0);
	ck_assert_uint_eq(coarse("walk")->thread_time_ns, SECOND);
	ck_assert_uint_eq(coarse("walk")->span_ns, 2 * SECOND);
	ck_assert_double_eq_tol(coarse("walk")->inside, 0.5, 1e-12);
}
END_TEST

/* Any weights, in every state. */
START_TEST(pairs_add_up_to_their_label_exactly)
{
	static const char *const names[] = {NULL, "a", "b", "c", "d", "e"};
	struct spans_cell cells[60];
	uint64_t running_ns, sum;

	random_state = (uint64_t)_i;
	for (size_t i = 0; i < COUNT(cells); i++) {
		cells[i] = cell(names[random_u64() % 4], names[random_u64() % 6],
				(enum tsn_cell_role)(random_u64() % 3), random_count() >> 20);
		cells[i].weight_ns = random_count();
		cells[i].runnable_ns = random_count();
		cells[i].blocked_ns = random_count();
		cells[i].io_ns = random_count();
	}
	running_ns = random_count();
	ck_assert_int_eq(compute_spans(NULL, 0, cells, COUNT(cells), running_ns), 0);
	for (size_t i = 0, k = 0; i < profile->coarse_count; i++) {
		const struct profile_coarse *row = &profile->coarse[i];
		struct profile_pair sums = {0};

		for (; k < profile->pair_count && !strcmp(profile->pairs[k].coarse, row->label);
		     k++) {
			const struct profile_pair *of = &profile->pairs[k];

			sums.hits += of->hits;
			sums.running_ns += of->running_ns;
			sums.runnable_ns += of->runnable_ns;
			sums.blocked_ns += of->blocked_ns;
			sums.io_ns += of->io_ns;
			sums.thread_time_ns += of->thread_time_ns;
			sum = of->running_ns + of->runnable_ns + of->blocked_ns + of->io_ns;
			ck_assert_uint_eq(of->thread_time_ns, sum);
			ck_assert(of->part_lo >= 0 && of->part_lo <= of->part);
			ck_assert(of->part_hi <= 1 && of->part <= of->part_hi);
			ck_assert(sums.hits == of->hits ||
				  of->thread_time_ns <= of[-1].thread_time_ns);
		}
		ck_assert_uint_eq(row->hits, sums.hits);
		ck_assert_uint_eq(row->running_ns, sums.running_ns);
		ck_assert_uint_eq(row->runnable_ns, sums.runnable_ns);
		ck_assert_uint_eq(row->blocked_ns, sums.blocked_ns);
		ck_assert_uint_eq(row->io_ns, sums.io_ns);
		ck_assert_uint_eq(row->thread_time_ns, sums.thread_time_ns);
		ck_assert(i == 0 || row->thread_time_ns <= row[-1].thread_time_ns);
	}
}
END_TEST

/* Each of them is 1/3 of a second, and of no whole number of ns. */
START_TEST(running_time_is_split_without_a_rest)
{
	const struct spans_cell cells[] = {cell("a", "x", OWN, 1), cell("a", "y", OWN, 1),
					   cell("a", "z", OWN, 1)};
	uint64_t sum = 0;

	ck_assert_int_eq(compute_spans(NULL, 0, cells, 3, SECOND), 0);
	for (size_t i = 0; i < 3; i++) {
		sum += profile->pairs[i].running_ns;
		ck_assert_uint_le(profile->pairs[i].running_ns - 333333333, 1);
	}
	ck_assert_uint_eq(sum, SECOND);
}
END_TEST

/* A session of 100 units: when executions began and ended, and what of them lies in it. */
static const struct {
	uint64_t executions, sum, open_first, first_units, open_last, last_units, span;
} edges[] = {
	{0, 0, 0, 0, 0, 0, 0},
	{1, 30, 0, 0, 0, 0, 30},
	{1, 70, 1, 50, 0, 0, 20},     /* from -50 to 20 */
	{0, 0, 0, 0, 1, 40, 40},      /* from 60 on */
	{0, 0, 1, 50, 1, 150, 100},   /* from -50 on */
	{2, 100, 2, 70, 2, 130, 160}, /* -50..20, 30..60, -20.., 90.. : 20 + 30 + 100 + 10 */
	{0, 0, 1, 50, 0, 0, 0},	      /* its end was not seen: not below 0 */
	{1, UINT64_MAX, 0, 0, 1, UINT64_MAX, UINT64_MAX},
	{0, 0, 1, UINT64_MAX, 0, 0, 0},
};

START_TEST(a_span_is_the_part_in_the_session)
{
	struct spans_label labels[] = {label("a", edges[_i].executions, edges[_i].sum)};

	labels[0].open_first = edges[_i].open_first;
	labels[0].open_first_units = edges[_i].first_units;
	labels[0].open_last = edges[_i].open_last;
	labels[0].open_last_units = edges[_i].last_units;
	ck_assert_int_eq(compute_spans(labels, 1, NULL, 0, 0), 0);
	ck_assert_uint_eq(coarse("a")->span_ns, edges[_i].span);
	ck_assert_uint_eq(coarse("a")->open_start, edges[_i].open_first);
	ck_assert_uint_eq(coarse("a")->open_end, edges[_i].open_last);
	ck_assert_int_eq(!!(coarse("a")->flags & PROFILE_FLAG_OPEN), edges[_i].open_last > 0);
	ck_assert_int_eq(!!(coarse("a")->flags & PROFILE_FLAG_UNSAMPLED),
			 _i == 0 || _i == 6 || _i == 8);
}
END_TEST

/* 400 ns of running in 5 executions of 100 ns and one of 200 that goes on: 4/7 of 100 ns. Not
 * 400 / 6, which took the one that goes on for a whole one. */
START_TEST(what_an_execution_runs_counts_those_cut_by_an_edge_by_their_part)
{
	struct spans_label labels[] = {label("a", 5, 500)};
	struct spans_cell cells[] = {cell("a", NULL, OWN, 4)};

	labels[0].open_last = 1;
	labels[0].open_last_units = 200;
	ck_assert_int_eq(compute_spans(labels, 1, cells, 1, 400), 0);
	ck_assert_uint_eq(coarse("a")->running_ns, 400);
	ck_assert_double_eq_tol(coarse("a")->busy_per_exec_ns, 400.0 / 7, 1e-9);
	labels[0].executions = labels[0].sum_units = 0;
	ck_assert_int_eq(compute_spans(labels, 1, cells, 1, 400), 0);
	ck_assert_double_eq_tol(coarse("a")->busy_per_exec_ns, 400, 1e-9);
}
END_TEST

/* Read from 10 to 90 of 100 units, in which 40 of the 80 were inside: 50 of 100. */
START_TEST(a_span_is_stretched_from_between_the_readings_to_the_session)
{
	struct spans_label labels[] = {label("a", 4, 40)};

	labels[0].stretch = 100.0 / 80;
	ck_assert_int_eq(compute_spans(labels, 1, NULL, 0, 0), 0);
	ck_assert_uint_eq(coarse("a")->span_ns, 50);
	ck_assert_uint_eq(coarse("a")->sum_ns, 40);
	ck_assert_uint_eq(coarse("a")->mean_ns, 10);
	labels[0].stretch = 0;
	ck_assert_int_eq(compute_spans(labels, 1, NULL, 0, 0), -EINVAL);
}
END_TEST

/* 98 of 100 units, one of 1,000,001 (its bucket: 999,424..1,015,807, the middle 1,007,615.5, too
 * long), one of 64,000 (64,000..64,511: 64,255.5). Sum by hand. */
START_TEST(durations_are_told_by_mean_percentiles_and_maximum)
{
	static uint64_t buckets[TSN_DURATION_BUCKETS];
	struct spans_label labels[] = {label("a", 100, 9800 + 64000 + 1000001)};
	const struct profile_coarse *row;

	labels[0].buckets = buckets;
	labels[0].longest_units = 1000001;
	labels[0].unit_ns = 0.5;
	labels[0].open_last = 1;
	memset(buckets, 0, sizeof(buckets));
	buckets[tsn_duration_bucket(100)] = 98;
	buckets[tsn_duration_bucket(64000)] = 1;
	buckets[tsn_duration_bucket(1000001)] = 1;
	ck_assert_int_eq(compute_spans(labels, 1, NULL, 0, 0), 0);
	row = coarse("a");
	ck_assert_uint_eq(row->executions, 100);
	ck_assert_uint_eq(row->sum_ns, 536901); /* 1,073,801 / 2, half up */
	ck_assert_uint_eq(row->mean_ns, 5369);
	ck_assert_uint_eq(row->p50_ns, 50);
	ck_assert_uint_eq(row->p90_ns, 50);
	ck_assert_uint_eq(row->p99_ns, histogram__middle(histogram__bucket(32128)));
	ck_assert_uint_eq(row->max_ns, 500001);
	ck_assert_uint_eq(row->histogram_count, 3);
	ck_assert_double_eq(row->busy_per_exec_ns, 0);
}
END_TEST

START_TEST(without_executions_there_are_no_durations)
{
	static uint64_t buckets[TSN_DURATION_BUCKETS] = {[5] = 1};
	struct spans_label labels[] = {label("a", 0, 0), label("b", 3, 30), label("c", 1, 100)};

	labels[0].buckets = labels[2].buckets = buckets;
	labels[0].longest_units = 5;
	ck_assert_int_eq(compute_spans(labels, 3, NULL, 0, 0), 0);
	ck_assert_uint_eq(coarse("a")->max_ns + coarse("a")->p50_ns + coarse("a")->mean_ns, 0);
	ck_assert_uint_eq(coarse("a")->histogram_count, 0);
	ck_assert(isnan(coarse("a")->inside) && isnan(coarse("a")->working));
	ck_assert(isnan(coarse("a")->busy_per_exec_ns));
	ck_assert_uint_eq(coarse("b")->mean_ns, 10);
	ck_assert_uint_eq(coarse("b")->p50_ns + coarse("b")->p99_ns, 0); /* no buckets */
	ck_assert_uint_eq(coarse("c")->max_ns, 5); /* not known, so by the buckets */
	ck_assert_uint_eq(coarse("c")->p99_ns, 5);
}
END_TEST

/* 10 of 100 units of 1 ns in one process, 30 of 100 units of 3 ns in another: one row. */
START_TEST(processes_with_the_same_label_are_one_row)
{
	static uint64_t one[TSN_DURATION_BUCKETS], other[TSN_DURATION_BUCKETS];
	struct spans_label labels[] = {label("a", 10, 1000), label("a", 30, 3000)};
	const struct spans_cell cells[] = {cell("a", "x", OWN, 10), cell("a", "x", OWN, 30)};

	one[tsn_duration_bucket(100)] = 10;
	other[tsn_duration_bucket(100)] = 30;
	labels[0].buckets = one;
	labels[1].buckets = other;
	labels[1].unit_ns = 3;
	labels[0].longest_units = labels[1].longest_units = 101;
	labels[1].open_first_units = 4000; /* 3,000 units are less: that process has no span */
	labels[0].callers = labels[1].callers = 1;
	labels[0].readings = labels[1].readings = 100;
	ck_assert_int_eq(compute_spans(labels, 2, cells, 2, SECOND), 0);
	ck_assert_uint_eq(profile->coarse_count, 1);
	ck_assert_uint_eq(profile->pair_count, 1);
	ck_assert_uint_eq(coarse("a")->executions, 40);
	ck_assert_uint_eq(coarse("a")->sum_ns, 10000);
	ck_assert_uint_eq(coarse("a")->mean_ns, 250);
	ck_assert_uint_eq(coarse("a")->span_ns, 1000);
	ck_assert_uint_eq(coarse("a")->max_ns, 303);
	ck_assert_uint_eq(coarse("a")->p50_ns, 300);
	ck_assert_uint_eq(coarse("a")->histogram_count, 2);
	ck_assert_ptr_null(warning("coarse_serialised")); /* one caller each */
}
END_TEST

START_TEST(nothing_makes_nothing)
{
	const struct spans_cell cells[] = {cell(NULL, "x", OWN, 10), cell(NULL, NULL, OWN, 10)};
	const struct spans_label labels[] = {label("a", 0, 0)};

	ck_assert_int_eq(compute_spans(NULL, 0, NULL, 0, SECOND), 0);
	ck_assert_uint_eq(profile->coarse_count + profile->pair_count + profile->warning_count, 0);
	ck_assert_uint_eq(profile->totals.outside_ns, 0);
	profile->totals.labelled_ns = SECOND;
	ck_assert_int_eq(compute_spans(NULL, 0, cells, 2, SECOND), 0);
	ck_assert_uint_eq(profile->totals.outside_ns, 0); /* of no coarse label */
	ck_assert_ptr_null(warning("coarse_outside"));
	ck_assert_int_eq(compute_spans(labels, 1, NULL, 0, SECOND), 0);
	ck_assert_uint_eq(profile->totals.outside_ns, SECOND); /* no hit says where it is */
	ck_assert_uint_eq(coarse("a")->flags, PROFILE_FLAG_UNSAMPLED);
	ck_assert_int_eq(compute_spans(labels, 1, cells, 2, SECOND), 0);
	ck_assert_uint_eq(profile->coarse_count, 1); /* replaced, not added to */
}
END_TEST

START_TEST(what_does_not_fit_saturates)
{
	static uint64_t buckets[TSN_DURATION_BUCKETS] = {[2559] = UINT64_MAX, [7] = UINT64_MAX};
	struct spans_label labels[] = {label("a", UINT64_MAX, UINT64_MAX), label("a", 1, 1)};
	struct spans_cell cells[] = {cell("a", "x", OWN, 1), cell("a", "y", OWN, 1),
				     cell("b", NULL, OUTER, 1), cell("a", "x", STALE, 1)};
	const struct profile_coarse *row;

	labels[0].buckets = labels[1].buckets = buckets;
	labels[0].unit_ns = labels[1].unit_ns = 1e9;
	labels[0].longest_units = UINT64_MAX;
	labels[0].open_last = labels[1].open_last = UINT64_MAX;
	labels[0].open_last_units = UINT64_MAX;
	for (size_t i = 0; i < COUNT(cells); i++) {
		cells[i].hits = cells[i].weight_ns = UINT64_MAX;
		cells[i].runnable_ns = cells[i].blocked_ns = cells[i].io_ns = UINT64_MAX;
	}
	ck_assert_int_eq(compute_spans(labels, 2, cells, COUNT(cells), UINT64_MAX), 0);
	row = coarse("a");
	ck_assert_uint_eq(row->executions, UINT64_MAX);
	ck_assert_uint_eq(row->sum_ns, UINT64_MAX);
	ck_assert_uint_eq(row->span_ns, UINT64_MAX);
	ck_assert_uint_eq(row->max_ns, UINT64_MAX);
	ck_assert_uint_eq(row->p99_ns, histogram__middle(HISTOGRAM_BUCKETS - 1));
	ck_assert_uint_eq(row->thread_time_ns, UINT64_MAX);
	ck_assert_uint_eq(row->hits, UINT64_MAX);
	ck_assert_uint_eq(row->stale_ns, UINT64_MAX);
	ck_assert(isfinite(row->inside) && isfinite(row->working) &&
		  isfinite(row->busy_per_exec_ns));
	/* two of the three innermost cells are its own: 2/3 of the running time, half for each */
	ck_assert_double_eq_tol((double)row->running_ns, 0x1p65 / 3, 0x1p65 * 1e-9);
	ck_assert_uint_le(pair("a", "x")->running_ns - pair("a", "y")->running_ns + 1, 2);
	ck_assert_double_eq_tol((double)coarse("b")->running_ns, 0x1p64 / 3, 0x1p64 * 1e-9);
	ck_assert_uint_eq(profile->totals.stale_ns, UINT64_MAX);
}
END_TEST

/* More hits further out than there are at all: nonsense, but no wrapped number. */
START_TEST(outer_hits_of_nothing_saturate)
{
	struct spans_cell cells[] = {cell(NULL, NULL, OWN, 1), cell("a", "x", OUTER, 1),
				     cell("a", "y", OUTER, 1)};

	cells[1].weight_ns = UINT64_MAX;
	cells[2].weight_ns = 1; /* 2^64 together */
	ck_assert_int_eq(compute_spans(NULL, 0, cells, 3, SECOND), 0);
	ck_assert_uint_eq(coarse("a")->running_ns, UINT64_MAX);
	ck_assert_uint_eq(pair("a", "x")->running_ns + pair("a", "y")->running_ns, UINT64_MAX);
}
END_TEST

static const struct {
	uint64_t stale_hits, hits;
	bool violates;
} violations[] = {
	{0, 0, false},	      {20, 20, false},
	{21, 21, true},	      {21, 2099, true},
	{21, 2100, false},    {1000, 100000, false},
	{1001, 100000, true}, {UINT64_MAX, UINT64_MAX, true},
};

START_TEST(stale_work_violates_above_20_hits_and_one_percent)
{
	ck_assert_int_eq(spans__stale_violates(violations[_i].stale_hits, violations[_i].hits),
			 violations[_i].violates);
}
END_TEST

/* Hits under executions that are over, of a and b, and under open ones of a; who is named. */
START_TEST(stale_work_is_told_of_the_labels_that_have_it)
{
	static const struct {
		uint64_t a, b, open;
		uint32_t named; /* 1: a, 2: b */
	} rows[] = {
		{0, 0, 1000, 0},  {20, 0, 100, 0},  {30, 0, 100, 1},  {15, 14, 100, 1},
		{14, 15, 100, 2}, {30, 40, 100, 3}, {30, 0, 2971, 0}, {30, 0, 2969, 1},
	};
	const struct spans_cell cells[] = {
		cell("a", NULL, STALE, rows[_i].a), cell("b", "x", STALE, rows[_i].b),
		cell("a", "x", OWN, rows[_i].open), cell("c", "x", OUTER, rows[_i].open)};
	uint32_t named = 0;

	ck_assert_int_eq(compute_spans(NULL, 0, cells, COUNT(cells), SECOND), 0);
	for (size_t i = 0; i < profile->warning_count; i++)
		if (!strcmp(profile->warnings[i].code, "coarse_stale"))
			named |= *profile->warnings[i].label == 'a' ? 1 : 2;
	ck_assert_uint_eq(named, rows[_i].named);
	ck_assert_int_eq(!!(coarse("a")->flags & PROFILE_FLAG_STALE), !!(named & 1));
	ck_assert_int_eq(!!(coarse("b")->flags & PROFILE_FLAG_STALE), !!(named & 2));
}
END_TEST

/* Timing costs 40 ns: the floor is 800 ns, or 4 us x share: of 10 s, 5 s are under the label. */
START_TEST(a_label_whose_timing_shows_is_small)
{
	static const struct {
		uint64_t executions, sum, thread_ns;
		double cost_ns;
		bool small;
	} rows[] = {
		{1000, 799999, 0, 40, true},
		{1000, 800000, 0, 40, false},
		{1000, 1999999, 5 * SECOND, 40, true}, /* 4 us x 0.5 = 2 us */
		{1000, 2000000, 5 * SECOND, 40, false},
		{1, 0, 0, 40, true},
		{0, 0, 5 * SECOND, 40, false},
		{1000, 1, 5 * SECOND, 0, false},
		{1000, 1, 5 * SECOND, NAN, false}, /* not known */
	};
	const struct spans_label labels[] = {label("a", rows[_i].executions, rows[_i].sum)};
	struct spans_cell cells[] = {cell("a", "x", OWN, 0)};
	const struct spans_input input = {.labels = labels,
					  .label_count = 1,
					  .cells = cells,
					  .cell_count = 1,
					  .alpha = 0.05,
					  .cost_ns = rows[_i].cost_ns};

	cells[0].blocked_ns = rows[_i].thread_ns;
	profile->totals.labelled_ns = 4 * SECOND;
	profile->totals.unlabelled_ns = 6 * SECOND;
	ck_assert_int_eq(spans__compute(&input, profile), 0);
	ck_assert_int_eq(!!warning("coarse_small"), rows[_i].small);
	ck_assert_int_eq(!!(coarse("a")->flags & PROFILE_FLAG_TINY), rows[_i].small);
	if (_i == 0)
		ck_assert_ptr_nonnull(strstr(warning("coarse_small")->text, "about 40.0 ns"));
}
END_TEST

START_TEST(callers_that_never_meet_are_serialised)
{
	static const struct {
		unsigned callers;
		uint64_t readings, shared;
		bool serialised;
	} rows[] = {
		{2, 25, 0, true},  {2, 24, 0, false}, {1, 25, 0, false},
		{2, 25, 1, false}, {0, 0, 0, false},
	};
	struct spans_label labels[] = {label("a", 1, MS)};

	labels[0].callers = rows[_i].callers;
	labels[0].readings = rows[_i].readings;
	labels[0].readings_shared = rows[_i].shared;
	ck_assert_int_eq(compute_spans(labels, 1, NULL, 0, 0), 0);
	ck_assert_int_eq(!!warning("coarse_serialised"), rows[_i].serialised);
	ck_assert_int_eq(!!(coarse("a")->flags & PROFILE_FLAG_SERIALISED), rows[_i].serialised);
}
END_TEST

/* Told where they are one of a hundred, or a hundredth of the time. */
START_TEST(executions_open_at_the_end_are_told)
{
	static const struct {
		uint64_t executions, sum, open, units;
		const char *text; /* NULL: not worth it */
	} rows[] = {
		{0, 0, 0, 0, NULL},	      {99, 99000, 1, 10, "1 execution was open"},
		{100, 100000, 1, 10, NULL},   {1000, 99000, 1, 1000, "the time it had taken"},
		{1000, 99001, 1, 1000, NULL}, {0, 0, 3, 0, "3 executions were open"},
	};
	struct spans_label labels[] = {label("a", rows[_i].executions, rows[_i].sum)};

	labels[0].open_last = rows[_i].open;
	labels[0].open_last_units = rows[_i].units;
	ck_assert_int_eq(compute_spans(labels, 1, NULL, 0, 0), 0);
	ck_assert_int_eq(!!warning("coarse_open"), rows[_i].text != NULL);
	if (rows[_i].text)
		ck_assert_ptr_nonnull(strstr(warning("coarse_open")->text, rows[_i].text));
}
END_TEST

START_TEST(time_outside_is_told_from_one_percent_on)
{
	static const struct {
		uint64_t outside, all;
		const char *text;
	} rows[] = {
		{10 * MS, SECOND, "1.0% of the time"},
		{10 * MS - 1, SECOND, NULL},
		{SECOND, SECOND, "100.0% of the time"},
		{0, 0, NULL},
	};
	struct spans_cell cells[] = {cell(NULL, "x", OWN, 0), cell("a", "x", OWN, 0)};

	cells[0].blocked_ns = rows[_i].outside;
	profile->totals.unlabelled_ns = rows[_i].all;
	ck_assert_int_eq(compute_spans(NULL, 0, cells, 2, 0), 0);
	ck_assert_int_eq(!!warning("coarse_outside"), rows[_i].text != NULL);
	if (rows[_i].text)
		ck_assert_ptr_nonnull(strstr(warning("coarse_outside")->text, rows[_i].text));
}
END_TEST

START_TEST(what_is_out_of_range_is_refused)
{
	static const double units[] = {0, -1, NAN, INFINITY}, alphas[] = {0, 1, -1, NAN};
	struct spans_label labels[] = {label("a", 1, 1)};
	struct spans_input input = {.labels = labels, .label_count = 1, .alpha = 0.05};

	labels[0].unit_ns = units[_i];
	ck_assert_int_eq(spans__compute(&input, profile), -EINVAL);
	labels[0].unit_ns = 1;
	input.alpha = alphas[_i];
	ck_assert_int_eq(spans__compute(&input, profile), -EINVAL);
	ck_assert_uint_eq(profile->coarse_count, 0);
}
END_TEST

Suite *spans_suite(void)
{
	Suite *suite = suite_create("spans");
	TCase *cases = add_tcase(suite, "spans");

	tcase_add_test(cases, pairs_split_a_label_by_hits_and_measured_waits);
	tcase_add_test(cases, outer_labels_have_the_time_of_inner_ones);
	tcase_add_test(cases, recursion_counts_time_once);
	tcase_add_loop_test(cases, pairs_add_up_to_their_label_exactly, 0, 200);
	tcase_add_test(cases, running_time_is_split_without_a_rest);
	tcase_add_loop_test(cases, a_span_is_the_part_in_the_session, 0, COUNT(edges));
	tcase_add_test(cases, what_an_execution_runs_counts_those_cut_by_an_edge_by_their_part);
	tcase_add_test(cases, a_span_is_stretched_from_between_the_readings_to_the_session);
	tcase_add_test(cases, durations_are_told_by_mean_percentiles_and_maximum);
	tcase_add_test(cases, without_executions_there_are_no_durations);
	tcase_add_test(cases, processes_with_the_same_label_are_one_row);
	tcase_add_test(cases, nothing_makes_nothing);
	tcase_add_test(cases, what_does_not_fit_saturates);
	tcase_add_test(cases, outer_hits_of_nothing_saturate);
	tcase_add_loop_test(cases, stale_work_violates_above_20_hits_and_one_percent, 0,
			    COUNT(violations));
	tcase_add_loop_test(cases, stale_work_is_told_of_the_labels_that_have_it, 0, 8);
	tcase_add_loop_test(cases, a_label_whose_timing_shows_is_small, 0, 8);
	tcase_add_loop_test(cases, callers_that_never_meet_are_serialised, 0, 5);
	tcase_add_loop_test(cases, executions_open_at_the_end_are_told, 0, 6);
	tcase_add_loop_test(cases, time_outside_is_told_from_one_percent_on, 0, 4);
	tcase_add_loop_test(cases, what_is_out_of_range_is_refused, 0, 4);
	return suite;
}
