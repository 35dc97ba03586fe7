/* SPDX-License-Identifier: MIT */
/*
 * model_fixture - what the tests of the model share: a profile, labels by their hits, look-ups,
 * random numbers from a fixed seed. Weights are in ns: one hit at 1 kHz weighs a MS.
 */
#ifndef TICKSNICK_TESTS_MODEL_FIXTURE_H
#define TICKSNICK_TESTS_MODEL_FIXTURE_H

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model.h"
#include "suites.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MS	     1000000ull
#define SECOND	     1000000000ull

static struct profile *profile;

static inline void setup(void)
{
	profile = profile__new();
	ck_assert_ptr_nonnull(profile);
}

static inline void teardown(void)
{
	profile__free(profile);
}

/* A label with `hits` hits of a millisecond. */
static inline struct model_label hit(const char *name, uint64_t hits)
{
	return (struct model_label){
		.name = name, .hits_user = hits, .weight_ns = hits * MS, .calls = hits * 1000};
}

static inline struct model_input input_of(const struct model_label *labels, size_t count,
					  uint64_t running_ns)
{
	return (struct model_input){
		.labels = labels, .label_count = count, .running_ns = running_ns, .alpha = 0.05};
}

static inline void compute(const struct model_label *labels, size_t count, uint64_t running_ns)
{
	const struct model_input input = input_of(labels, count, running_ns);

	ck_assert_int_eq(model__compute(&input, profile), 0);
}

static inline const struct profile_fine *row(const char *name)
{
	for (size_t i = 0; i < profile->fine_count; i++)
		if (!strcmp(profile->fine[i].label, name))
			return &profile->fine[i];
	ck_abort_msg("no row %s", name);
	return NULL;
}

static inline const struct profile_warning *warning(const char *code)
{
	for (size_t i = 0; i < profile->warning_count; i++)
		if (!strcmp(profile->warnings[i].code, code))
			return &profile->warnings[i];
	return NULL;
}

static inline double width(const char *name)
{
	return row(name)->share_hi - row(name)->share_lo;
}

/* What must be true of every profile. */
static inline void assert_consistent(const struct model_input *input)
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

static uint64_t random_state;

/* SplitMix64 (G. Steele, D. Lea, C. Flood, 2014). */
static inline uint64_t random_u64(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static inline double random_part(void)
{
	return (random_u64() >> 11) * 0x1p-53;
}

/* Of any magnitude up to 2^50, often 0. */
static inline uint64_t random_count(void)
{
	return random_u64() % 3 ? random_u64() >> (14 + random_u64() % 50) : 0;
}

static inline TCase *add_tcase(Suite *suite, const char *name)
{
	TCase *tcase = tcase_create(name);

	tcase_add_checked_fixture(tcase, setup, teardown);
	suite_add_tcase(suite, tcase);
	return tcase;
}

#endif
