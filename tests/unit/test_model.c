/* SPDX-License-Identifier: MIT */
/* Expected values are worked by hand in the comments. Weights are in ns: one hit at 1 kHz weighs a
 * MS. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "suites.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MS	     1000000ull
#define SECOND	     1000000000ull

static struct profile *profile;

static void setup(void)
{
	profile = profile__new();
	ck_assert_ptr_nonnull(profile);
}

static void teardown(void)
{
	profile__free(profile);
}

/* A label with `hits` hits of a millisecond. */
static struct model_label hit(const char *name, uint64_t hits)
{
	return (struct model_label){
		.name = name, .hits_user = hits, .weight_ns = hits * MS, .calls = hits * 1000};
}

static struct model_input input_of(const struct model_label *labels, size_t count,
				   uint64_t running_ns)
{
	return (struct model_input){
		.labels = labels, .label_count = count, .running_ns = running_ns, .alpha = 0.05};
}

static void compute(const struct model_label *labels, size_t count, uint64_t running_ns)
{
	const struct model_input input = input_of(labels, count, running_ns);

	ck_assert_int_eq(model__compute(&input, profile), 0);
}

static const struct profile_fine *row(const char *name)
{
	for (size_t i = 0; i < profile->fine_count; i++)
		if (!strcmp(profile->fine[i].label, name))
			return &profile->fine[i];
	ck_abort_msg("no row %s", name);
	return NULL;
}

static const struct profile_warning *warning(const char *code)
{
	for (size_t i = 0; i < profile->warning_count; i++)
		if (!strcmp(profile->warnings[i].code, code))
			return &profile->warnings[i];
	return NULL;
}

static double width(const char *name)
{
	return row(name)->share_hi - row(name)->share_lo;
}

/* What must be true of every profile. */
static void assert_consistent(const struct model_input *input)
{
	const struct profile_totals *totals = &profile->totals;
	double shares = 0, bound = 0;
	uint64_t running = 0;

	for (size_t i = 0; i < profile->fine_count; i++) {
		const struct profile_fine *fine = &profile->fine[i];

		running += fine->running_ns;
		ck_assert_uint_eq(fine->thread_time_ns, fine->running_ns + fine->runnable_ns +
								fine->blocked_ns + fine->io_ns);
		ck_assert_uint_le(fine->elapsed_ns, fine->thread_time_ns);
		ck_assert(!isinf(fine->per_call_ns) && !isinf(fine->in_flight));
		if (fine->idle || totals->labelled_ns == 0) {
			ck_assert(isnan(fine->share) && isnan(fine->share_lo) &&
				  isnan(fine->share_hi));
			continue;
		}
		shares += fine->share;
		ck_assert_double_ge(fine->share_lo, 0);
		ck_assert_double_le(fine->share_lo, fine->share);
		ck_assert_double_le(fine->share, fine->share_hi);
		ck_assert_double_le(fine->share_hi, 1);
		bound = fmax(bound,
			     fmax(fine->share - fine->share_lo, fine->share_hi - fine->share));
	}
	ck_assert_uint_le(running, input->running_ns);
	ck_assert_uint_eq(totals->running_ns, input->running_ns);
	ck_assert_uint_eq(totals->thread_time_ns, totals->running_ns + totals->runnable_ns +
							  totals->blocked_ns + totals->io_ns);
	ck_assert_uint_eq(totals->thread_time_ns,
			  totals->labelled_ns + totals->unlabelled_ns + totals->idle_ns);
	if (totals->labelled_ns == 0) {
		ck_assert(isnan(totals->bound));
		return;
	}
	ck_assert_double_eq_tol(shares, 1, 1e-9);
	ck_assert_double_eq(totals->bound, bound);
}

/* --- shares --- */

START_TEST(running_time_is_split_by_hits)
{
	const struct model_label labels[] = {hit("a", 70), hit("b", 30)};

	compute(labels, COUNT(labels), SECOND);
	ck_assert_uint_eq(profile->fine_count, 2);
	ck_assert_str_eq(profile->fine[0].label, "a");
	ck_assert_uint_eq(row("a")->running_ns, 700 * MS);
	ck_assert_uint_eq(row("b")->running_ns, 300 * MS);
	ck_assert_double_eq(row("a")->share, 0.7);
	ck_assert_double_eq(row("b")->share, 0.3);
	ck_assert_double_eq(row("a")->cpu_share, 0.7);
	ck_assert_double_eq(row("a")->per_call_ns, 10000); /* 700 ms / 70,000 */
	ck_assert_uint_eq(profile->totals.hits, 100);
	ck_assert_uint_eq(profile->totals.labelled_ns, SECOND);
	ck_assert_double_eq(profile->totals.coverage, 1);
	/* Clopper-Pearson of 70 in 100 at 0.05 / 3 (SciPy 1.10); no waiting, so the labelled part
	 * cancels */
	ck_assert_double_eq_tol(row("a")->share_lo, 0.5785172, 1e-6);
	ck_assert_double_eq_tol(row("a")->share_hi, 0.8042293, 1e-6);
	ck_assert_double_eq_tol(profile->totals.bound, 0.7 - 0.5785172, 1e-6);
}
END_TEST

START_TEST(weights_count_not_hits)
{
	struct model_label labels[] = {hit("a", 100), hit("b", 100)};

	labels[0].weight_ns *= 3;
	compute(labels, COUNT(labels), SECOND);
	ck_assert_double_eq(row("a")->share, 0.75);
}
END_TEST

/* One thread of nine runs, eight sleep in "sleep" for as long. */
START_TEST(sleepers_have_their_share)
{
	struct model_label labels[] = {hit("work", 1000), hit("sleep", 0)};

	labels[1].blocked_ns = 8 * SECOND;
	compute(labels, COUNT(labels), SECOND);
	ck_assert_double_eq(row("sleep")->share, 8 / 9.);
	ck_assert_double_eq(row("sleep")->cpu_share, 0);
	ck_assert_double_eq(row("work")->share, 1 / 9.);
	ck_assert_double_eq(row("work")->cpu_share, 1);
	ck_assert_uint_eq(row("sleep")->flags & PROFILE_FLAG_UNSAMPLED, 0);
	/* 1 - 0.0125^(1 / 1000) = 0.0044 of 1 s may be in no label, and as much in "sleep": of 9 s
	 */
	ck_assert_double_le(profile->totals.bound, 2 * 0.0044 / 9);
}
END_TEST

START_TEST(waiting_alone_is_exact)
{
	static const double expected[] = {0.5, 0.3, 0.2};
	struct model_label labels[] = {hit("a", 0), hit("b", 0), hit("c", 0)};

	labels[0].blocked_ns = 5 * SECOND;
	labels[1].io_ns = 3 * SECOND;
	labels[2].runnable_ns = 2 * SECOND;
	compute(labels, COUNT(labels), 0);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_double_eq(profile->fine[i].share, expected[i]);
		ck_assert_double_eq(profile->fine[i].share_lo, profile->fine[i].share);
		ck_assert_double_eq(profile->fine[i].share_hi, profile->fine[i].share);
		ck_assert_uint_eq(profile->fine[i].flags, 0);
		ck_assert(isnan(profile->fine[i].cpu_share));
	}
	ck_assert_double_eq(profile->totals.bound, 0);
}
END_TEST

START_TEST(idle_time_is_kept_out_of_shares)
{
	struct model_label labels[] = {hit("a", 60), hit("b", 20), hit("poll", 100), hit(NULL, 20)};

	labels[2].idle = true;
	labels[2].blocked_ns = 100 * SECOND;
	compute(labels, COUNT(labels), 2 * SECOND);
	ck_assert_double_eq(row("a")->share, 0.75);
	ck_assert(isnan(row("poll")->share) && isnan(row("poll")->cpu_share));
	ck_assert_str_eq(profile->fine[2].label, "poll");
	ck_assert_uint_eq(profile->totals.idle_ns, 101 * SECOND);
	ck_assert_uint_eq(profile->totals.labelled_ns, 800 * MS);
	ck_assert_uint_eq(profile->totals.unlabelled_ns, 200 * MS);
	ck_assert_double_eq(profile->totals.coverage, 0.8);
	ck_assert_double_eq(profile->totals.coverage_running, 0.8);
}
END_TEST

START_TEST(coverage_counts_waiting_and_running_apart)
{
	struct model_label labels[] = {hit(NULL, 50), hit("a", 150)};

	labels[0].blocked_ns = 4 * SECOND; /* 4.5 s in no label, 1.5 s in one */
	compute(labels, COUNT(labels), 2 * SECOND);
	ck_assert_double_eq(profile->totals.coverage, 0.25);
	ck_assert_double_eq(profile->totals.coverage_running, 0.75);
	ck_assert_ptr_nonnull(warning("coverage_low"));
}
END_TEST

START_TEST(rows_of_several_processes_merge_by_name_and_kind)
{
	struct model_label labels[] = {hit("a", 10), hit(NULL, 5),  hit("b", 20), hit("a", 30),
				       hit(NULL, 5), hit("a", 100), hit("b", 30)};

	labels[0].runnable_ns = labels[3].runnable_ns = 3;
	labels[3].hits_user = 10;
	labels[3].hits_kernel = 20;
	labels[5].idle = true;
	compute(labels, COUNT(labels), 200 * MS);
	ck_assert_uint_eq(profile->fine_count, 3);
	ck_assert_str_eq(profile->fine[0].label, "b");
	ck_assert_str_eq(profile->fine[1].label, "a");
	ck_assert(!profile->fine[1].idle);
	ck_assert_uint_eq(profile->fine[1].hits, 40);
	ck_assert_uint_eq(profile->fine[1].hits_user, 20);
	ck_assert_uint_eq(profile->fine[1].hits_kernel, 20);
	ck_assert_uint_eq(profile->fine[1].calls, 40000);
	ck_assert_uint_eq(profile->fine[1].runnable_ns, 6);
	ck_assert_uint_eq(profile->fine[1].running_ns, 40 * MS);
	ck_assert(profile->fine[2].idle);
	ck_assert_uint_eq(profile->totals.unlabelled_ns, 10 * MS);
}
END_TEST

/* --- rounding and boundaries --- */

static const struct {
	uint64_t weights[4], running_ns, expected[4];
} roundings[] = {
	{{0, 0, 0, 1}, 0, {0, 0, 0, 0}},
	{{0, 0, 0, 1}, 1, {0, 0, 0, 1}},
	{{1, 1, 1, 1}, 3, {1, 1, 1, 0}}, /* equal remainders: in the order of the names */
	{{1, 1, 1, 0}, 100, {34, 33, 33, 0}},
	{{1, 2, 3, 4}, 9, {1, 2, 3, 3}}, /* 0.9 1.8 2.7 3.6: two down, from the rest */
	{{6, 1, 1, 1}, 7, {4, 1, 1, 1}}, /* 4.67 .78 .78 .78: 3 left over, none for the 4.67 */
	{{UINT64_MAX, 0, 0, 0}, UINT64_MAX, {UINT64_MAX, 0, 0, 0}},
	{{UINT64_MAX, UINT64_MAX, 0, 0}, UINT64_MAX, {UINT64_MAX / 2 + 1, UINT64_MAX / 2, 0, 0}},
};

START_TEST(running_time_adds_up_exactly)
{
	struct model_label labels[] = {hit("a", 1), hit("b", 1), hit("c", 1), hit("d", 1)};

	for (size_t i = 0; i < COUNT(labels); i++)
		labels[i].weight_ns = roundings[_i].weights[i];
	compute(labels, COUNT(labels), roundings[_i].running_ns);
	for (size_t i = 0; i < COUNT(labels); i++)
		ck_assert_uint_eq(row(labels[i].name)->running_ns, roundings[_i].expected[i]);
}
END_TEST

START_TEST(nothing_at_all_is_no_number)
{
	compute(NULL, 0, 0);
	ck_assert_uint_eq(profile->fine_count, 0);
	ck_assert(isnan(profile->totals.coverage) && isnan(profile->totals.coverage_running));
	ck_assert(isnan(profile->totals.bound));
	ck_assert_ptr_nonnull(warning("no_labels"));
	ck_assert_uint_eq(profile->warning_count, 1);
}
END_TEST

START_TEST(without_labels_all_time_is_unlabelled)
{
	const struct model_label labels[] = {hit(NULL, 100)};

	compute(labels, COUNT(labels), SECOND);
	ck_assert_uint_eq(profile->totals.unlabelled_ns, SECOND);
	ck_assert_uint_eq(profile->totals.hits, 100);
	ck_assert_double_eq(profile->totals.coverage, 0);
	ck_assert_ptr_nonnull(warning("no_labels"));
	ck_assert_uint_eq(profile->warning_count, 1);
}
END_TEST

START_TEST(without_hits_running_time_is_unlabelled_and_anywhere)
{
	struct model_label labels[] = {hit("a", 0), hit("b", 0)};

	labels[0].blocked_ns = SECOND;
	labels[1].blocked_ns = 3 * SECOND;
	compute(labels, COUNT(labels), SECOND);
	ck_assert_uint_eq(profile->totals.unlabelled_ns, SECOND);
	ck_assert_ptr_nonnull(warning("no_hits"));
	ck_assert_ptr_null(warning("few_hits"));
	ck_assert_double_eq(row("a")->share, 0.25);
	ck_assert_double_eq(row("a")->share_lo, 1 / 5.); /* the second was all in b */
	ck_assert_double_eq(row("a")->share_hi, 2 / 5.); /* or all in a */
}
END_TEST

START_TEST(a_label_never_hit_has_an_exact_upper_limit)
{
	struct model_label labels[] = {hit("a", 1000), hit("never", 0)};

	labels[1].calls = 5;
	compute(labels, COUNT(labels), SECOND);
	ck_assert_uint_eq(row("never")->flags, PROFILE_FLAG_UNSAMPLED);
	ck_assert_double_eq(row("never")->share, 0);
	ck_assert_double_eq(row("never")->share_lo, 0);
	/* one row with hits: at 0.05 / 2, so each side at 0.0125 */
	ck_assert_double_eq_tol(row("never")->share_hi, 1 - pow(0.0125, 1 / 1000.), 1e-12);
	ck_assert_double_eq(row("never")->per_call_ns, 0);
}
END_TEST

START_TEST(only_other_time_was_hit)
{
	struct model_label labels[] = {hit(NULL, 1000), hit("a", 0), hit("b", 0)};

	compute(labels, COUNT(labels), SECOND);
	ck_assert(isnan(row("a")->share) && isnan(profile->totals.bound));
	ck_assert_uint_eq(row("a")->flags, PROFILE_FLAG_UNSAMPLED);
	ck_assert_double_eq(profile->totals.coverage, 0);
}
END_TEST

START_TEST(a_row_without_calls_has_no_per_call)
{
	struct model_label labels[] = {hit("a", 100), hit("b", 100)};

	labels[0].calls = 0;
	compute(labels, COUNT(labels), SECOND);
	ck_assert(isnan(row("a")->per_call_ns));
	ck_assert_uint_eq(row("a")->flags & PROFILE_FLAG_TINY, 0);
}
END_TEST

START_TEST(sums_saturate)
{
	struct model_label labels[] = {hit("a", 1), hit("a", 1), hit(NULL, 1)};

	labels[0].blocked_ns = labels[1].io_ns = labels[0].calls = UINT64_MAX - 1;
	labels[2].blocked_ns = labels[1].weight_ns = labels[1].elapsed_on_ns = UINT64_MAX;
	compute(labels, COUNT(labels), UINT64_MAX);
	ck_assert_uint_eq(row("a")->thread_time_ns, UINT64_MAX);
	ck_assert_uint_eq(row("a")->calls, UINT64_MAX);
	ck_assert_uint_eq(profile->totals.thread_time_ns, UINT64_MAX);
	ck_assert_double_eq(row("a")->share, 1);
}
END_TEST

START_TEST(an_impossible_level_is_refused)
{
	static const double levels[] = {0, 1, -1, NAN};
	const struct model_label labels[] = {hit("a", 1)};
	struct model_input input = input_of(labels, 1, SECOND);

	input.alpha = levels[_i];
	ck_assert_int_eq(model__compute(&input, profile), -EINVAL);
	ck_assert_uint_eq(profile->fine_count, 0);
}
END_TEST

START_TEST(computing_again_replaces_the_rows)
{
	const struct model_label labels[] = {hit("a", 100), hit("b", 100)};

	compute(labels, 2, SECOND);
	compute(labels, 1, SECOND);
	ck_assert_uint_eq(profile->fine_count, 1);
	ck_assert_double_eq(row("a")->share, 1);
}
END_TEST

/* --- bounds --- */

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

/* --- flags --- */

static const struct {
	uint64_t hits[4];
	const char *tied; /* those of a, b, c, d that are */
} ties[] = {
	{{1000, 1000, 0, 0}, "ab"},
	{{8000, 1000, 0, 0}, ""},
	{{5000, 2000, 1900, 500}, "bc"},
	{{5000, 4900, 500, 490}, "abcd"},
	{{1, 0, 0, 0}, ""}, /* rows never seen tie with nothing */
	{{2, 1, 0, 0}, "ab"},
};

START_TEST(rows_whose_intervals_overlap_are_tied)
{
	const struct model_label labels[] = {hit("a", ties[_i].hits[0]), hit("b", ties[_i].hits[1]),
					     hit("c", ties[_i].hits[2]),
					     hit("d", ties[_i].hits[3])};

	compute(labels, COUNT(labels), 10 * SECOND);
	for (size_t i = 0; i < COUNT(labels); i++)
		ck_assert_int_eq(!!(row(labels[i].name)->flags & PROFILE_FLAG_TIED),
				 !!strchr(ties[_i].tied, labels[i].name[0]));
}
END_TEST

START_TEST(exact_rows_are_tied_only_when_equal)
{
	struct model_label labels[] = {hit("a", 0), hit("b", 0), hit("c", 0)};

	labels[0].blocked_ns = SECOND + 1;
	labels[1].blocked_ns = labels[2].blocked_ns = SECOND;
	compute(labels, COUNT(labels), 0);
	ck_assert_uint_eq(row("a")->flags, 0);
	ck_assert_uint_eq(row("b")->flags, PROFILE_FLAG_TIED);
	ck_assert_uint_eq(row("c")->flags, PROFILE_FLAG_TIED);
}
END_TEST

/* 100,000 hits in 100 s, half in each: q_hi = 0.5038 at 0.05 / 3, so at most 50.38 s per row. */
static const struct {
	uint64_t calls;
	bool idle, tiny;
} tinies[] = {
	{0, false, false},	    {1, false, false},
	{1000000000, false, false}, /* 50.4 ns */
	{1007000000, false, false}, /* 50.03 ns */
	{1008000000, false, true},  /* 49.98 ns */
	{5000000000, false, true},  {5000000000, true, false},
};

START_TEST(a_row_below_50_ns_per_call_is_tiny)
{
	struct model_label labels[] = {hit("a", 50000), hit("b", 50000), hit("c", 50000)};

	labels[0].calls = tinies[_i].calls;
	labels[1].calls = 1;
	labels[2].calls = 1;
	labels[0].idle = tinies[_i].idle;
	compute(labels, tinies[_i].idle ? 3 : 2, tinies[_i].idle ? 150 * SECOND : 100 * SECOND);
	ck_assert_int_eq(!!(row("a")->flags & PROFILE_FLAG_TINY), tinies[_i].tiny);
	ck_assert_int_eq(!!warning("tiny"), tinies[_i].tiny);
}
END_TEST

START_TEST(tiny_warning_names_label_and_limit)
{
	struct model_label labels[] = {hit("a", 50000), hit("b", 50000)};

	labels[0].calls = 2190000000; /* 50.38 s / 2.19e9 = 23.0 ns */
	compute(labels, COUNT(labels), 100 * SECOND);
	ck_assert_ptr_nonnull(warning("tiny"));
	ck_assert_str_eq(warning("tiny")->label, "a");
	ck_assert_ptr_nonnull(strstr(warning("tiny")->text, "at most 23 ns per call"));
}
END_TEST

static const struct {
	uint64_t long_hits, hits, blocked_ms;
	const char *text; /* in the warning; NULL: none */
} longs[] = {
	{0, 100, 0, NULL},
	{19, 100, 0, NULL},
	{20, 100, 0, "its single executions run long"},
	{20, 1000, 0, NULL}, /* 2.0%, and it takes more */
	{21, 1000, 0, "its single executions run long"},
	{50, 95, 5, "its single executions run long"}, /* 5% waiting */
	{50, 94, 6, "6% of it waiting"},
	{50, 51, 49, "49% of it waiting"},
	{50, 50, 50, "mostly waiting"},
};

START_TEST(executions_longer_than_a_tick_are_flagged)
{
	struct model_label labels[] = {hit("a", longs[_i].hits)};

	labels[0].long_hits = longs[_i].long_hits;
	labels[0].blocked_ns = longs[_i].blocked_ms * MS;
	compute(labels, COUNT(labels), longs[_i].hits * MS);
	ck_assert_int_eq(!!(row("a")->flags & PROFILE_FLAG_LONG), longs[_i].text != NULL);
	ck_assert_int_eq(!!warning("long"), longs[_i].text != NULL);
	if (longs[_i].text)
		ck_assert_ptr_nonnull(strstr(warning("long")->text, longs[_i].text));
}
END_TEST

/* One second of thread-time of which `elapsed` ms had a thread inside. */
static const struct {
	unsigned callers;
	uint64_t glances, shared, elapsed_ms;
	bool serialised;
} glances[] = {
	{2, 25, 0, 1000, true},	   {2, 24, 0, 1000, false},
	{1, 1000, 0, 1000, false}, {0, 1000, 0, 1000, false},
	{2, 1000, 1, 1000, false}, {2, 1000, 0, 996, true}, /* in flight 1.004 */
	{2, 1000, 0, 994, false}, /* in flight 1.006: two were inside off the CPU */
	{2, 1000, 0, 0, false},	  /* not known */
};

START_TEST(callers_that_take_turns_are_serialised)
{
	struct model_label labels[] = {hit("a", 1000)};

	labels[0].callers = glances[_i].callers;
	labels[0].glances = glances[_i].glances;
	labels[0].glances_shared = glances[_i].shared;
	labels[0].elapsed_on_ns = glances[_i].elapsed_ms * MS;
	compute(labels, COUNT(labels), SECOND);
	ck_assert_int_eq(!!(row("a")->flags & PROFILE_FLAG_SERIALISED), glances[_i].serialised);
	ck_assert_int_eq(!!warning("serialised"), glances[_i].serialised);
}
END_TEST

/* 49 glances at 1 s of thread-time: callers that come at random would have met 12 times in 2 s, but not in 100 s. */
static const struct {
	uint64_t duration_s;
	bool serialised;
} rare[] = {{2, true}, {4, true}, {5, false}, {100, false}};

START_TEST(callers_that_are_hardly_ever_inside_are_not_called_serialised)
{
	struct model_label labels[] = {hit("a", 1000)};

	labels[0].callers = 2;
	labels[0].glances = 49;
	labels[0].elapsed_on_ns = SECOND;
	profile->session.duration_ns = rare[_i].duration_s * SECOND;
	compute(labels, COUNT(labels), SECOND);
	ck_assert_int_eq(!!(row("a")->flags & PROFILE_FLAG_SERIALISED), rare[_i].serialised);
}
END_TEST

START_TEST(callers_of_different_processes_cannot_meet)
{
	struct model_label labels[] = {hit("a", 1000), hit("a", 1000)};

	for (size_t i = 0; i < 2; i++) {
		labels[i].callers = 1;
		labels[i].glances = 1000;
		labels[i].elapsed_on_ns = SECOND;
	}
	compute(labels, COUNT(labels), 2 * SECOND);
	ck_assert_uint_eq(row("a")->flags & PROFILE_FLAG_SERIALISED, 0);
}
END_TEST

static const struct {
	uint64_t hits;
	bool few;
} hit_counts[] = {{1, true}, {49, true}, {50, false}, {51, false}};

START_TEST(few_hits_are_warned_about)
{
	struct model_label labels[] = {hit("a", hit_counts[_i].hits), hit("poll", 1000)};

	labels[1].idle = true;
	compute(labels, COUNT(labels), SECOND);
	ck_assert_int_eq(!!warning("few_hits"), hit_counts[_i].few);
	ck_assert_ptr_null(warning("no_hits"));
}
END_TEST

START_TEST(low_coverage_is_warned_about)
{
	static const uint64_t labelled[] = {499, 500};
	const struct model_label labels[] = {hit("a", labelled[_i]),
					     hit(NULL, 1000 - labelled[_i])};

	compute(labels, COUNT(labels), SECOND);
	ck_assert_int_eq(!!warning("coverage_low"), _i == 0);
}
END_TEST

/* --- elapsed --- */

START_TEST(elapsed_is_measured_off_the_cpu_and_scaled_on_it)
{
	struct model_label labels[] = {hit("a", 100), hit(NULL, 100)};

	labels[0].blocked_ns = 4 * SECOND;
	labels[0].elapsed_off_ns = SECOND;
	labels[0].elapsed_on_ns = 50 * MS; /* of 200 ms of weight, so a quarter of running time */
	compute(labels, COUNT(labels), 2 * SECOND);
	ck_assert_uint_eq(row("a")->elapsed_ns, 1500 * MS);
	ck_assert_double_eq(row("a")->in_flight, 5 / 1.5);
}
END_TEST

START_TEST(elapsed_has_caps)
{
	struct model_label labels[] = {hit("a", 100), hit("a", 100)};

	labels[0].blocked_ns = 10 * SECOND;
	labels[0].elapsed_off_ns = 4 * SECOND;
	compute(labels, 1, SECOND); /* duration not known */
	ck_assert_uint_eq(row("a")->elapsed_ns, 4 * SECOND);
	profile->session.duration_ns = 3 * SECOND;
	compute(labels, 1, SECOND);
	ck_assert_uint_eq(row("a")->elapsed_ns, 3 * SECOND);
	labels[1].elapsed_off_ns = 2 * SECOND; /* another process: adds up */
	compute(labels, 2, SECOND);
	ck_assert_uint_eq(row("a")->elapsed_ns, 5 * SECOND);
	labels[0].blocked_ns = SECOND; /* never more than thread-time */
	compute(labels, 2, SECOND);
	ck_assert_uint_eq(row("a")->elapsed_ns, 2 * SECOND);
	ck_assert_double_eq(row("a")->in_flight, 1);
}
END_TEST

START_TEST(nothing_elapsed_has_no_in_flight)
{
	const struct model_label labels[] = {hit("a", 100)};

	compute(labels, COUNT(labels), SECOND);
	ck_assert_uint_eq(row("a")->elapsed_ns, 0);
	ck_assert(isnan(row("a")->in_flight));
}
END_TEST

/* --- order --- */

START_TEST(rows_are_in_order)
{
	static const char *const order[] = {"big",   "tie1",   "tie2",	 "idle2",
					    "idle1", "called", "never1", "never2"};
	struct model_label labels[] = {hit("never2", 0), hit("idle1", 10), hit("called", 0),
				       hit("tie2", 20),	 hit("never1", 0), hit("big", 100),
				       hit("tie1", 20),	 hit("idle2", 10)};

	labels[1].idle = labels[7].idle = true;
	labels[7].blocked_ns = 1000 * SECOND;
	labels[2].calls = 1;
	compute(labels, COUNT(labels), SECOND);
	ck_assert_uint_eq(profile->fine_count, COUNT(order));
	for (size_t i = 0; i < COUNT(order); i++)
		ck_assert_str_eq(profile->fine[i].label, order[i]);
}
END_TEST

START_TEST(differences_beyond_31_bits_are_in_order)
{
	struct model_label labels[] = {hit("a", 0), hit("b", 0), hit("c", 0)};

	labels[0].blocked_ns = 1;
	labels[1].blocked_ns = 1ull << 63;
	labels[2].blocked_ns = (1ull << 32) + 1;
	compute(labels, COUNT(labels), 0);
	ck_assert_str_eq(profile->fine[0].label, "b");
	ck_assert_str_eq(profile->fine[1].label, "c");
	ck_assert_str_eq(profile->fine[2].label, "a");
}
END_TEST

/* --- random input, fixed seed --- */

static uint64_t random_state;

/* SplitMix64 (G. Steele, D. Lea, C. Flood, 2014). */
static uint64_t random_u64(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static double random_part(void)
{
	return (random_u64() >> 11) * 0x1p-53;
}

/* Of any magnitude up to 2^50, often 0. */
static uint64_t random_count(void)
{
	return random_u64() % 3 ? random_u64() >> (14 + random_u64() % 50) : 0;
}

static void randomise(struct model_label *label, const char *name, size_t window_row)
{
	*label = (struct model_label){
		.name = name,
		.idle = random_u64() % 4 == 0,
		.hits_user = random_count() >> 20,
		.hits_kernel = random_count() >> 20,
		.weight_ns = random_count(),
		.runnable_ns = random_count(),
		.blocked_ns = random_count(),
		.io_ns = random_count(),
		.calls = random_count(),
		.elapsed_off_ns = random_count(),
		.elapsed_on_ns = random_count(),
		.long_hits = random_count() >> 20,
		.glances = random_count() >> 20,
		.callers = random_u64() % 3,
		.window_row = window_row,
	};
}

/* Not only the possible: hits without weight, windows that do not agree with them. */
START_TEST(any_input_gives_a_consistent_profile)
{
	static const char *const names[] = {NULL, "a", "b", "c", "d", "e", "f", "a", NULL, "b"};
	struct model_label labels[COUNT(names)];

	random_state = _i;
	for (size_t run = 0; run < 300; run++) {
		struct windows *windows = random_u64() % 2 ? windows__new() : NULL;
		struct model_input input =
			input_of(labels, random_u64() % (COUNT(labels) + 1), random_count());

		for (size_t i = 0; i < COUNT(labels); i++)
			randomise(&labels[i], names[i], i);
		for (size_t n = random_u64() % 100; windows && n > 0; n--) {
			double weights[COUNT(names)];

			for (size_t i = 0; i < COUNT(weights); i++)
				weights[i] = random_count();
			ck_assert_int_eq(windows__add(windows, weights, COUNT(weights)), 0);
		}
		input.windows = windows;
		input.weight_square_sum = random_count();
		input.lost_hits = random_count() >> 20;
		input.lost_wait_ns = random_count();
		profile->session.duration_ns = random_count();
		ck_assert_int_eq(model__compute(&input, profile), 0);
		assert_consistent(&input);
		windows__free(windows);
	}
}
END_TEST

/* --- coverage: do all intervals of a session hold the truth together, in 95 of 100 sessions? ---
 */

#define SIM_ROWS  16 /* row 0: no label */
#define SIM_RUNS  1000
#define SIM_SLICE 100 /* ticks */

static const double sim_parts[SIM_ROWS] = {0.1,	 0.25, 0.18,  0.13,  0.1,   0.07,  0.05,   0.04,
					   0.03, 0.02, 0.012, 0.009, 0.005, 0.002, 0.0015, 0.0005};

/*
 * Streams of ticks. A label stays for 1 .. dwell ticks, each equally likely, before the next is
 * drawn by sim_parts, so these parts are the long-run truth. Then each label may also wait: odd
 * ones for as long as `waiting` sessions.
 */
static const struct {
	size_t ticks, dwell;
	double waiting;
	bool redraw; /* the period within +-25% */
} streams[] = {
	{1000, 1, 0, true},  {3000, 1, 0, false},  {3000, 1, 0.1, true},  {1000, 9, 0, true},
	{3000, 9, 0, false}, {3000, 9, 0.1, true}, {10000, 40, 0, false},
};

struct sim {
	struct model_label labels[SIM_ROWS];
	char names[SIM_ROWS][4];
	struct windows *windows;
	uint64_t squares;
};

static size_t draw_row(void)
{
	double u = random_part();
	size_t row_index = 0;

	while (row_index < SIM_ROWS - 1 && u >= sim_parts[row_index])
		u -= sim_parts[row_index++];
	return row_index;
}

static void sim_run(struct sim *sim, size_t ticks, size_t dwell, bool redraw)
{
	double slice[SIM_ROWS] = {0};
	size_t current = 0, left = 0;

	for (size_t t = 0; t < ticks; t++) {
		const uint64_t weight = redraw ? 750000 + random_u64() % 500001 : MS;

		if (left == 0) {
			current = draw_row();
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

START_TEST(all_intervals_hold_together)
{
	const uint64_t running_ns = streams[_i].ticks * MS;
	double truth[SIM_ROWS], labelled = 0;
	size_t held = 0;

	random_state = 1 + _i;
	for (size_t i = 1; i < SIM_ROWS; i++) {
		truth[i] = sim_parts[i] / 0.9999 + (i % 2 ? streams[_i].waiting : 0);
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
		sim_run(&sim, streams[_i].ticks, streams[_i].dwell, streams[_i].redraw);
		input.windows = sim.windows;
		input.weight_square_sum = sim.squares;
		ck_assert_int_eq(model__compute(&input, profile), 0);
		held += sim_holds(truth);
		windows__free(sim.windows);
		profile__free(profile);
		profile = profile__new();
	}
	/* 95% less two standard deviations of a binomial of 1000 */
	ck_assert_msg(held >= 0.936 * SIM_RUNS, "held in %zu of %d sessions", held, SIM_RUNS);
}
END_TEST

static TCase *add_tcase(Suite *suite, const char *name)
{
	TCase *tcase = tcase_create(name);

	tcase_add_checked_fixture(tcase, setup, teardown);
	suite_add_tcase(suite, tcase);
	return tcase;
}

static void add_shares(TCase *tcase)
{
	tcase_add_test(tcase, running_time_is_split_by_hits);
	tcase_add_test(tcase, weights_count_not_hits);
	tcase_add_test(tcase, sleepers_have_their_share);
	tcase_add_test(tcase, waiting_alone_is_exact);
	tcase_add_test(tcase, idle_time_is_kept_out_of_shares);
	tcase_add_test(tcase, coverage_counts_waiting_and_running_apart);
	tcase_add_test(tcase, rows_of_several_processes_merge_by_name_and_kind);
	tcase_add_test(tcase, rows_are_in_order);
	tcase_add_test(tcase, differences_beyond_31_bits_are_in_order);
}

static void add_boundaries(TCase *tcase)
{
	tcase_add_loop_test(tcase, running_time_adds_up_exactly, 0, COUNT(roundings));
	tcase_add_test(tcase, nothing_at_all_is_no_number);
	tcase_add_test(tcase, without_labels_all_time_is_unlabelled);
	tcase_add_test(tcase, without_hits_running_time_is_unlabelled_and_anywhere);
	tcase_add_test(tcase, a_label_never_hit_has_an_exact_upper_limit);
	tcase_add_test(tcase, only_other_time_was_hit);
	tcase_add_test(tcase, a_row_without_calls_has_no_per_call);
	tcase_add_test(tcase, sums_saturate);
	tcase_add_loop_test(tcase, an_impossible_level_is_refused, 0, 4);
	tcase_add_test(tcase, computing_again_replaces_the_rows);
}

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

static void add_flags(TCase *tcase)
{
	tcase_add_loop_test(tcase, rows_whose_intervals_overlap_are_tied, 0, COUNT(ties));
	tcase_add_test(tcase, exact_rows_are_tied_only_when_equal);
	tcase_add_loop_test(tcase, a_row_below_50_ns_per_call_is_tiny, 0, COUNT(tinies));
	tcase_add_test(tcase, tiny_warning_names_label_and_limit);
	tcase_add_loop_test(tcase, executions_longer_than_a_tick_are_flagged, 0, COUNT(longs));
	tcase_add_loop_test(tcase, callers_that_take_turns_are_serialised, 0, COUNT(glances));
	tcase_add_loop_test(tcase, callers_that_are_hardly_ever_inside_are_not_called_serialised, 0,
			    COUNT(rare));
	tcase_add_test(tcase, callers_of_different_processes_cannot_meet);
	tcase_add_loop_test(tcase, few_hits_are_warned_about, 0, COUNT(hit_counts));
	tcase_add_loop_test(tcase, low_coverage_is_warned_about, 0, 2);
	tcase_add_test(tcase, elapsed_is_measured_off_the_cpu_and_scaled_on_it);
	tcase_add_test(tcase, elapsed_has_caps);
	tcase_add_test(tcase, nothing_elapsed_has_no_in_flight);
}

Suite *model_suite(void)
{
	Suite *suite = suite_create("model");
	TCase *simulated;

	add_shares(add_tcase(suite, "shares"));
	add_boundaries(add_tcase(suite, "boundaries"));
	add_bounds(add_tcase(suite, "bounds"));
	add_flags(add_tcase(suite, "flags"));
	simulated = add_tcase(suite, "simulated");
	tcase_set_timeout(simulated, 60);
	tcase_add_loop_test(simulated, any_input_gives_a_consistent_profile, 0, 4);
	tcase_add_loop_test(simulated, all_intervals_hold_together, 0, COUNT(streams));
	return suite;
}
