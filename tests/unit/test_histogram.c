/* SPDX-License-Identifier: MIT */
/* Expected buckets and ranks are worked out by hand; percentiles are held against sorted samples.
 */
#include <stdlib.h>

#include <ticksnick/slot.h>

#include "histogram.h"
#include "model_fixture.h"

static const struct {
	uint64_t ns;
	uint32_t bucket;
	uint64_t low, middle;
} boundaries[] = {
	{0, 0, 0, 0},
	{1, 1, 1, 1},
	{1023, 1023, 1023, 1023},
	{1024, 1024, 1024, 1024},
	{2047, 2047, 2047, 2047},
	{2048, 2048, 2048, 2048}, /* 2048 and 2049 */
	{2049, 2048, 2048, 2048},
	{2050, 2049, 2050, 2050},
	{4095, 3071, 4094, 4094},
	{4096, 3072, 4096, 4097}, /* 4096 to 4099 */
	{4099, 3072, 4096, 4097},
	{1ull << 63, 55296, 1ull << 63, (1ull << 63) + (1ull << 52) - 1},
	{UINT64_MAX, 56319, 2047ull << 53, (2047ull << 53) + (1ull << 52) - 1},
};

START_TEST(buckets_are_1024_an_octave)
{
	ck_assert_uint_eq(histogram__bucket(boundaries[_i].ns), boundaries[_i].bucket);
	ck_assert_uint_eq(histogram__low(boundaries[_i].bucket), boundaries[_i].low);
	ck_assert_uint_le(boundaries[_i].middle - histogram__middle(boundaries[_i].bucket), 1);
}
END_TEST

START_TEST(every_value_is_in_one_bucket)
{
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		ck_assert_uint_eq(histogram__bucket(histogram__low(i)), i);
		ck_assert_uint_eq(histogram__bucket(histogram__middle(i)), i);
		if (i > 0)
			ck_assert_uint_eq(histogram__bucket(histogram__low(i) - 1), i - 1);
	}
	ck_assert_uint_eq(histogram__low(HISTOGRAM_BUCKETS), UINT64_MAX);
}
END_TEST

START_TEST(only_sorted_lists_of_counts_are_valid)
{
	static const struct {
		struct profile_bucket at[3];
		size_t count;
		bool valid;
	} rows[] = {
		{{{0}}, 0, true},
		{{{0, 1}, {1, 1}, {56319, UINT64_MAX}}, 3, true},
		{{{56320, 1}}, 1, false},
		{{{UINT32_MAX, 1}}, 1, false},
		{{{5, 0}}, 1, false},
		{{{5, 1}, {5, 1}}, 2, false},
		{{{6, 1}, {5, 1}}, 2, false},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		ck_assert_int_eq(histogram__valid(rows[i].at, rows[i].count), rows[i].valid);
}
END_TEST

/* Buckets below 1024 are single values, so the percentile is the value. */
START_TEST(percentiles_are_by_nearest_rank)
{
	static const struct {
		struct profile_bucket at[3];
		size_t count;
		unsigned percent;
		uint64_t max_ns, expected;
	} rows[] = {
		{{{0}}, 0, 50, 1000, 0},
		{{{7, 1}}, 1, 1, 1000, 7},
		{{{7, 1}}, 1, 100, 1000, 7},
		{{{7, 1}, {9, 1}}, 2, 50, 1000, 7}, /* rank 1 */
		{{{7, 1}, {9, 1}}, 2, 51, 1000, 9},
		{{{7, 99}, {9, 1}}, 2, 99, 1000, 7}, /* rank 99 of 100 */
		{{{7, 98}, {9, 2}}, 2, 99, 1000, 9},
		{{{7, 99}, {9, 2}}, 2, 99, 1000, 9}, /* rank 100 of 101 */
		{{{7, 100}, {9, 1}}, 2, 99, 1000, 7},
		{{{7, 99}, {9, 1}}, 2, 100, 1000, 9},
		{{{1, UINT64_MAX}, {2, UINT64_MAX}, {3, 1}}, 3, 50, 1000, 2}, /* rank 2^64 */
		{{{1, UINT64_MAX}, {2, UINT64_MAX}, {3, 1}}, 3, 100, 1000, 3},
		{{{3072, 1}}, 1, 50, 0, 4097},	  /* the longest is not known */
		{{{3072, 1}}, 1, 50, 4096, 4096}, /* its middle is 4097, but none is over 4096 */
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		ck_assert_msg(histogram__percentile(rows[i].at, rows[i].count, rows[i].percent,
						    rows[i].max_ns) == rows[i].expected,
			      "row %zu", i);
}
END_TEST

static void assert_list(const struct profile_bucket *at, size_t count,
			const struct profile_bucket *expected, size_t expected_count)
{
	ck_assert_uint_eq(count, expected_count);
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_eq(at[i].bucket, expected[i].bucket);
		ck_assert_uint_eq(at[i].count, expected[i].count);
	}
}

START_TEST(merging_adds_counts_and_keeps_order)
{
	static const struct profile_bucket a[] = {{1, 10}, {5, UINT64_MAX}, {9, 1}},
					   b[] = {{0, 2}, {5, 1}, {9, 4}, {12, 8}},
					   sum[] = {
						   {0, 2}, {1, 10}, {5, UINT64_MAX},
						   {9, 5}, {12, 8},
					   };
	struct profile_bucket *list = NULL;
	size_t count = 0;

	ck_assert_int_eq(histogram__merge(&list, &count, NULL, 0), 0);
	ck_assert_ptr_null(list);
	ck_assert_int_eq(histogram__merge(&list, &count, a, COUNT(a)), 0);
	assert_list(list, count, a, COUNT(a));
	ck_assert_int_eq(histogram__merge(&list, &count, b, COUNT(b)), 0);
	assert_list(list, count, sum, COUNT(sum));
	ck_assert_int_eq(histogram__merge(&list, &count, NULL, 0), 0);
	assert_list(list, count, sum, COUNT(sum));
	ck_assert_uint_eq(histogram__total(list, count), UINT64_MAX);
	free(list);
}
END_TEST

/* Units of the clock: the middles are 200.5 (200 and 201) and 2^45 - 2^37 (the last bucket). */
START_TEST(units_become_ns_by_the_middle_of_their_bucket)
{
	static const struct {
		uint64_t units, longest;
		double unit_ns;
		uint64_t ns;
	} rows[] = {
		{0, 0, 1, 0},
		{127, 0, 1, 127},
		{200, 0, 2, 401},
		{200, 200, 2, 400}, /* none is longer */
		{200, 201, 2, 401},
		{200, 0, 0.5, 100}, /* 100.25 */
		{1ull << 45, 0, 1, (1ull << 45) - (1ull << 37)},
		{UINT64_MAX, 1ull << 50, 1, 1ull << 50},
		{UINT64_MAX, UINT64_MAX, 1e6, UINT64_MAX},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t *buckets = calloc(TSN_DURATION_BUCKETS, sizeof(*buckets));
		struct profile_bucket *list = NULL;
		size_t count = 0;

		buckets[tsn_duration_bucket(rows[i].units)] = 3;
		ck_assert_int_eq(histogram__add_units(&list, &count, buckets, rows[i].unit_ns,
						      rows[i].longest),
				 0);
		ck_assert_uint_eq(count, 1);
		ck_assert_uint_eq(list[0].count, 3);
		ck_assert_msg(list[0].bucket == histogram__bucket(rows[i].ns), "row %zu: %u", i,
			      list[0].bucket);
		free(list);
		free(buckets);
	}
}
END_TEST

#define SAMPLES 20000

static double gauss(void)
{
	double sum = -6;

	for (size_t i = 0; i < 12; i++)
		sum += random_part();
	return sum;
}

/* Durations in ns of several shapes. */
static double sample(int shape)
{
	switch (shape) {
	case 0:
		return 123456;
	case 1:
		return 1e6 * random_part();
	case 2:
		return -50e3 * log(1 - random_part());
	case 3:
		return exp(13 + 2 * gauss());
	case 4:
		return random_part() < 0.95 ? 1000 + 50 * gauss() : 2e9 + 1e7 * gauss();
	case 5:
		return 200 * pow(1 - random_part(), -0.8); /* no mean */
	default:
		return 70 + random_part(); /* few units */
	}
}

static int compare_samples(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* Against the sorted units themselves; half a ns for the rounding to ns. */
START_TEST(percentiles_are_within_one_percent_of_sorted_samples)
{
	static const double units_ns[] = {1, 0.3125, 0.4166667, 41.6666667};
	static const unsigned percents[] = {1, 10, 50, 90, 99, 100};
	const double unit_ns = units_ns[_i % 4];
	static uint64_t units[SAMPLES], buckets[TSN_DURATION_BUCKETS];
	struct profile_bucket *list = NULL;
	size_t count = 0;

	random_state = (uint64_t)_i;
	memset(buckets, 0, sizeof(buckets));
	for (size_t i = 0; i < SAMPLES; i++) {
		units[i] = (uint64_t)fmax(0, sample(_i / 4) / unit_ns);
		buckets[tsn_duration_bucket(units[i])]++;
	}
	qsort(units, SAMPLES, sizeof(*units), compare_samples);
	ck_assert_int_eq(histogram__add_units(&list, &count, buckets, unit_ns, units[SAMPLES - 1]),
			 0);
	ck_assert(histogram__valid(list, count));
	ck_assert_uint_eq(histogram__total(list, count), SAMPLES);
	for (size_t i = 0; i < COUNT(percents); i++) {
		const double exact = units[SAMPLES * percents[i] / 100 - 1] * unit_ns;
		const uint64_t max_ns = (uint64_t)(units[SAMPLES - 1] * unit_ns + 0.5);
		const uint64_t got = histogram__percentile(list, count, percents[i], max_ns);

		ck_assert_double_eq_tol((double)got, exact, 0.01 * exact + 0.5);
		ck_assert_uint_le(got, max_ns);
	}
	free(list);
}
END_TEST

Suite *histogram_suite(void)
{
	Suite *suite = suite_create("histogram");
	TCase *cases = tcase_create("histogram");

	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, buckets_are_1024_an_octave, 0, COUNT(boundaries));
	tcase_add_test(cases, every_value_is_in_one_bucket);
	tcase_add_test(cases, only_sorted_lists_of_counts_are_valid);
	tcase_add_test(cases, percentiles_are_by_nearest_rank);
	tcase_add_test(cases, merging_adds_counts_and_keeps_order);
	tcase_add_test(cases, units_become_ns_by_the_middle_of_their_bucket);
	tcase_add_loop_test(cases, percentiles_are_within_one_percent_of_sorted_samples, 0, 28);
	suite_add_tcase(suite, cases);
	return suite;
}
