/* SPDX-License-Identifier: MIT */
/* The bounds: what widens them, and whether they hold. */
#include <math.h>
#include <stdlib.h>

#include "model_fixture.h"
#include "stats.h"

START_TEST(more_hits_narrow_the_bound)
{
	static const uint64_t scales[] = {1, 10, 100, 1000, 100000};
	double last = 1;

	for (size_t i = 0; i < COUNT(scales); i++) {
		const struct model_label labels[] = {hit("a", 7 * scales[i]),
						     hit("b", 3 * scales[i])};

		compute(labels, COUNT(labels), SECOND);
		ck_assert_double_lt(profile->totals.bound, last);
		last = profile->totals.bound;
	}
	ck_assert_double_lt(last, 0.0013);
}
END_TEST

START_TEST(waiting_dilutes_what_is_uncertain)
{
	struct model_label labels[] = {hit("a", 70), hit("b", 30)};
	double alone;

	compute(labels, COUNT(labels), SECOND);
	alone = width("a");
	labels[0].blocked_ns = 9 * SECOND;
	compute(labels, COUNT(labels), SECOND);
	ck_assert_double_eq(row("a")->share, 0.97);
	ck_assert_double_lt(width("a"), alone / 9);
}
END_TEST

START_TEST(a_small_labelled_part_is_uncertain_only_where_something_waits)
{
	struct model_label labels[] = {hit("a", 10), hit(NULL, 100000)};

	compute(labels, COUNT(labels), SECOND);
	ck_assert_double_eq(row("a")->share, 1);
	labels[1] = hit("b", 0);
	labels[1].blocked_ns = 100 * MS;
	compute((struct model_label[]){labels[0], labels[1], hit(NULL, 100000)}, 3, SECOND);
	/* 0.1 ms of running against 100 ms of waiting, known to a factor of about 2.4 */
	ck_assert_double_le(row("a")->share_lo, row("a")->share / 2);
	ck_assert_double_ge(row("a")->share_hi, row("a")->share * 1.8);
	ck_assert_double_le(row("a")->share_hi, row("a")->share * 3);
}
END_TEST

START_TEST(unequal_weights_widen)
{
	const struct model_label labels[] = {hit("a", 500), hit("b", 500)};
	struct model_input input = input_of(labels, COUNT(labels), SECOND);
	double equal;

	input.weight_square_sum = 1000 * (MS >> 10) * (MS >> 10);
	ck_assert_int_eq(model__compute(&input, profile), 0);
	equal = width("a");
	compute(labels, COUNT(labels), SECOND); /* unknown counts as equal */
	ck_assert_double_eq_tol(width("a"), equal, 1e-9);
	input.weight_square_sum *= 4; /* as good as 250 hits */
	ck_assert_int_eq(model__compute(&input, profile), 0);
	ck_assert_double_eq_tol(width("a"), 2 * equal, 0.05 * equal);
}
END_TEST

START_TEST(losses_widen_by_the_mass_they_could_move)
{
	const struct model_label labels[] = {hit("a", 70000), hit("b", 30000), hit(NULL, 100000)};
	struct model_input input = input_of(labels, COUNT(labels), SECOND);

	input.lost_hits = 25000;
	ck_assert_int_eq(model__compute(&input, profile), 0);
	/* all of them in b: 70 of 125; all in a: 95 of 125 */
	ck_assert_double_le(row("a")->share_lo, 0.56);
	ck_assert_double_ge(row("a")->share_lo, 0.55);
	ck_assert_double_ge(row("a")->share_hi, 0.76);
	ck_assert_double_le(row("a")->share_hi, 0.77);
	ck_assert_double_eq(row("a")->share, 0.7);
}
END_TEST

START_TEST(lost_waiting_widens)
{
	struct model_label labels[] = {hit("a", 0), hit("b", 0)};
	struct model_input input = input_of(labels, COUNT(labels), 0);

	labels[0].blocked_ns = 6 * SECOND;
	labels[1].blocked_ns = 2 * SECOND;
	input.lost_wait_ns = 2 * SECOND;
	ck_assert_int_eq(model__compute(&input, profile), 0);
	ck_assert_double_eq(row("a")->share, 0.75);
	ck_assert_double_eq(row("a")->share_lo, 0.6); /* 6 of 10 */
	ck_assert_double_eq(row("a")->share_hi, 0.8); /* 8 of 10 */
	ck_assert_uint_eq(profile->totals.thread_time_ns, 8 * SECOND);
}
END_TEST

/* The same hits, spread evenly over 20 windows or the labels taking turns by window. */
START_TEST(phases_widen_the_bound)
{
	struct model_label labels[] = {hit("a", 1000), hit("b", 1000)};
	struct windows *even = windows__new(), *phases = windows__new();
	struct model_input input = input_of(labels, COUNT(labels), 2 * SECOND);
	double steady;

	labels[1].window_row = 1;
	for (size_t i = 0; i < 20; i++) {
		windows__add(even, (double[]){50 * MS, 50 * MS}, 2);
		windows__add(phases, (double[]){i % 2 ? 100 * MS : 0, i % 2 ? 0 : 100 * MS}, 2);
	}
	input.windows = even;
	ck_assert_int_eq(model__compute(&input, profile), 0);
	steady = width("a");
	compute(labels, COUNT(labels), 2 * SECOND);
	ck_assert_double_eq_tol(width("a"), steady, 1e-12);
	input.windows = phases;
	ck_assert_int_eq(model__compute(&input, profile), 0);
	ck_assert_double_gt(width("a"), 5 * steady);
	windows__free(even);
	windows__free(phases);
}
END_TEST

/* Even rows that share a window row, as labels of the same name may, are not counted twice. */
START_TEST(windows_of_merged_rows_are_summed)
{
	struct model_label labels[] = {hit("a", 500), hit("a", 500), hit("b", 1000), hit("a", 0)};
	struct windows *windows = windows__new();
	struct model_input input = input_of(labels, COUNT(labels), 2 * SECOND);
	double alone;

	labels[0].window_row = 1;
	labels[1].window_row = labels[3].window_row = 2;
	labels[2].window_row = 3;
	compute(labels, COUNT(labels), 2 * SECOND);
	alone = width("a");
	for (size_t i = 0; i < 20; i++) /* a is steady only as the sum of its two */
		windows__add(windows,
			     (double[]){0, i % 2 ? 50 * MS : 0, i % 2 ? 0 : 50 * MS, 50 * MS}, 4);
	input.windows = windows;
	ck_assert_int_eq(model__compute(&input, profile), 0);
	ck_assert_double_eq_tol(width("a"), alone, 1e-12);
	windows__free(windows);
}
END_TEST

START_TEST(one_window_bounds_nothing)
{
	const struct model_label labels[] = {hit("a", 70), hit("b", 30)};
	struct windows *windows = windows__new();
	struct model_input input = input_of(labels, COUNT(labels), SECOND);

	windows__add(windows, (double[]){100 * MS}, 1);
	input.windows = windows;
	ck_assert_int_eq(model__compute(&input, profile), 0);
	ck_assert_double_eq(row("a")->share_lo, 0);
	ck_assert_double_eq(row("a")->share_hi, 1);
	windows__free(windows);
}
END_TEST

/* --- coverage: do all intervals of a session hold the truth together, in 95 of 100 sessions? ---
 */

#define SIM_ROWS  16 /* row 0: no label */
#define SIM_RUNS  1000
#define SIM_SLICE 100 /* ticks */
#define WIDTH_MAX 1.6 /* of independent hits: not by being wide do the intervals hold */

static const double sim_parts[SIM_ROWS] = {0.1,	 0.25, 0.18,  0.13,  0.1,   0.07,  0.05,   0.04,
					   0.03, 0.02, 0.012, 0.009, 0.005, 0.002, 0.0015, 0.0005};

/*
 * Streams of ticks. A label stays for 1 .. dwell ticks, each equally likely, before the next is
 * drawn by sim_parts, so these parts are the long-run truth. Then each label may also wait: odd
 * ones for as long as `waiting` sessions. Rows 1 and 2 may drift: the part of one grows by `drift`
 * and shrinks by it while the other's does the opposite, `turns` times per session, 1/2 being from
 * one end to the other; their means stay what they are.
 */
static const struct stream {
	size_t ticks, dwell;
	double waiting;
	bool redraw; /* the period within +-25% */
	double drift, turns;
} streams[] = {
	{1000, 1, 0, true},
	{3000, 1, 0, false},
	{3000, 1, 0.1, true},
	{1000, 9, 0, true},
	{3000, 9, 0, false},
	{3000, 9, 0.1, true},
	{10000, 40, 0, false},
	{1000, 1, 0, true, 0.15, 0.5},
	{3000, 1, 0, true, 0.15, 0.5},
	{10000, 1, 0, false, 0.17, 3},
	{3000, 9, 0.1, true, 0.15, 0.5},
	{10000, 9, 0, true, 0.15, 40},
};

struct sim {
	struct model_label labels[SIM_ROWS];
	char names[SIM_ROWS][4];
	struct windows *windows;
	uint64_t squares;
};

/* at: how far the session is, 0..1. */
static size_t draw_row(const struct stream *stream, double at)
{
	const double moved = stream->drift * cos(2 * M_PI * stream->turns * at);
	double u = random_part();

	for (size_t i = 0; i < SIM_ROWS - 1; i++) {
		const double part = sim_parts[i] + (i == 1 ? moved : i == 2 ? -moved : 0);

		if (u < part)
			return i;
		u -= part;
	}
	return SIM_ROWS - 1;
}

static void sim_run(struct sim *sim, const struct stream *stream)
{
	const size_t ticks = stream->ticks, dwell = stream->dwell;
	const bool redraw = stream->redraw;
	double slice[SIM_ROWS] = {0};
	size_t current = 0, left = 0;

	for (size_t t = 0; t < ticks; t++) {
		const uint64_t weight = redraw ? 750000 + random_u64() % 500001 : MS;

		if (left == 0) {
			current = draw_row(stream, (double)t / ticks);
			left = 1 + random_u64() % dwell;
		}
		left--;
		sim->labels[current].hits_user++;
		sim->labels[current].weight_ns += weight;
		sim->squares += (weight >> 10) * (weight >> 10);
		slice[current] += weight;
		if ((t + 1) % SIM_SLICE == 0) {
			windows__add(sim->windows, slice, SIM_ROWS);
			memset(slice, 0, sizeof(slice));
		}
	}
}

static bool sim_holds(const double *truth)
{
	for (size_t i = 0; i < profile->fine_count; i++) {
		const struct profile_fine *fine = &profile->fine[i];
		const double share = truth[atoi(fine->label)];

		if (share < fine->share_lo || share > fine->share_hi)
			return false;
	}
	return true;
}

/* Mean over rows with hits of the interval's width, in terms of the exact binomial interval of as
 * many independent hits at the same level. */
static double sim_width(void)
{
	double hits = 0, rows = 0, sum = 0;

	for (size_t i = 0; i < profile->fine_count; i++) {
		hits += profile->fine[i].hits;
		rows += profile->fine[i].hits > 0;
	}
	for (size_t i = 0; i < profile->fine_count; i++) {
		const struct profile_fine *fine = &profile->fine[i];
		const struct interval ideal =
			stats__binomial_interval(fine->hits, hits, 0.05 / rows);

		if (fine->hits > 0)
			sum += (fine->share_hi - fine->share_lo) / (ideal.hi - ideal.lo) / rows;
	}
	return sum;
}

START_TEST(all_intervals_hold_together)
{
	const uint64_t running_ns = streams[_i].ticks * MS;
	const bool independent = streams[_i].dwell == 1 && !(streams[_i].drift > 0);
	double truth[SIM_ROWS], labelled = 0, width = 0;
	size_t held = 0;

	random_state = 1 + _i;
	for (size_t i = 1; i < SIM_ROWS; i++) {
		truth[i] = sim_parts[i] + (i % 2 ? streams[_i].waiting : 0);
		labelled += truth[i];
	}
	for (size_t i = 1; i < SIM_ROWS; i++)
		truth[i] /= labelled;
	for (size_t run = 0; run < SIM_RUNS; run++) {
		struct sim sim = {.windows = windows__new()};
		struct model_input input = input_of(sim.labels, SIM_ROWS, running_ns);

		for (size_t i = 0; i < SIM_ROWS; i++) {
			snprintf(sim.names[i], sizeof(sim.names[i]), "%zu", i);
			sim.labels[i].name = i ? sim.names[i] : NULL;
			sim.labels[i].blocked_ns =
				i % 2 ? (uint64_t)(streams[_i].waiting * running_ns) : 0;
			sim.labels[i].window_row = i;
		}
		sim_run(&sim, &streams[_i]);
		input.windows = sim.windows;
		input.weight_square_sum = sim.squares;
		ck_assert_int_eq(model__compute(&input, profile), 0);
		held += sim_holds(truth);
		width += sim_width() / SIM_RUNS;
		windows__free(sim.windows);
		profile__free(profile);
		profile = profile__new();
	}
	/* 95% less two standard deviations of a binomial of 1000 */
	ck_assert_msg(held >= 0.936 * SIM_RUNS, "held in %zu of %d sessions", held, SIM_RUNS);
	if (independent && !(streams[_i].waiting > 0))
		ck_assert_msg(width <= WIDTH_MAX, "%.2f times as wide as it must be", width);
}
END_TEST

static void add_bounds(TCase *tcase)
{
	tcase_add_test(tcase, more_hits_narrow_the_bound);
	tcase_add_test(tcase, waiting_dilutes_what_is_uncertain);
	tcase_add_test(tcase, a_small_labelled_part_is_uncertain_only_where_something_waits);
	tcase_add_test(tcase, unequal_weights_widen);
	tcase_add_test(tcase, losses_widen_by_the_mass_they_could_move);
	tcase_add_test(tcase, lost_waiting_widens);
	tcase_add_test(tcase, phases_widen_the_bound);
	tcase_add_test(tcase, windows_of_merged_rows_are_summed);
	tcase_add_test(tcase, one_window_bounds_nothing);
}

Suite *model_bounds_suite(void)
{
	Suite *suite = suite_create("model-bounds");
	TCase *simulated;

	add_bounds(add_tcase(suite, "bounds"));
	simulated = add_tcase(suite, "simulated");
	tcase_set_timeout(simulated, 60);
	tcase_add_loop_test(simulated, all_intervals_hold_together, 0, COUNT(streams));
	return suite;
}
