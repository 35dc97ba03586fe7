/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"
#include "suites.h"

START_TEST(a_new_profile_has_no_ratios_and_no_rows)
{
	struct profile *profile = profile__new();

	ck_assert(isnan(profile->totals.coverage));
	ck_assert(isnan(profile->totals.coverage_running));
	ck_assert(isnan(profile->totals.bound));
	ck_assert(isnan(profile->overhead.fraction));
	ck_assert_uint_eq(profile->fine_count + profile->thread_count + profile->warning_count, 0);
	profile__free(profile);
	profile__free(NULL);
}
END_TEST

START_TEST(warnings_are_appended_in_order)
{
	struct profile *profile = profile__new();

	ck_assert_int_eq(profile__warn(profile, "tiny", "parse", "%s: %d ns", "parse", 12), 0);
	ck_assert_int_eq(profile__warn(profile, "no_hits", NULL, "nothing"), 0);
	ck_assert_uint_eq(profile->warning_count, 2);
	ck_assert_str_eq(profile->warnings[0].code, "tiny");
	ck_assert_str_eq(profile->warnings[0].label, "parse");
	ck_assert_str_eq(profile->warnings[0].text, "parse: 12 ns");
	ck_assert_ptr_null(profile->warnings[1].label);
	profile__free(profile);
}
END_TEST

START_TEST(every_flag_has_a_name_that_leads_back)
{
	uint32_t flag, named = 0;

	for (flag = 1; flag; flag <<= 1) {
		if (!profile__flag_name(flag))
			continue;
		ck_assert_uint_eq(profile__flag_by_name(profile__flag_name(flag)), flag);
		named |= flag;
	}
	ck_assert_uint_eq(named, PROFILE_FLAG_TIED | PROFILE_FLAG_TINY | PROFILE_FLAG_LONG |
					 PROFILE_FLAG_SERIALISED | PROFILE_FLAG_UNSAMPLED |
					 PROFILE_FLAG_OPEN | PROFILE_FLAG_STALE);
	ck_assert_uint_eq(profile__flag_by_name(""), 0);
	ck_assert_uint_eq(profile__flag_by_name("tie"), 0);
	ck_assert_ptr_null(profile__flag_name(PROFILE_FLAG_TIED | PROFILE_FLAG_TINY));
}
END_TEST

/* Each counter alone: it is a loss unless its row says that nothing is missing. */
START_TEST(each_missing_observation_is_a_loss)
{
	const struct profile_loss_field *field = &profile_loss_fields[_i];
	struct profile_losses losses = {0};

	*(uint64_t *)((char *)&losses + field->offset) = 7;
	ck_assert_uint_eq(profile__losses(&losses), field->missing ? 7 : 0);
	ck_assert_int_eq(field->missing, strcmp(field->name, "switch_missed") != 0 &&
						 strcmp(field->name, "threads_folded") != 0 &&
						 strcmp(field->name, "processes_folded") != 0);
}
END_TEST

START_TEST(the_sum_of_losses_saturates)
{
	struct profile_losses losses = {.slot_unreadable = UINT64_MAX, .labels_lost = 1};

	ck_assert_uint_eq(profile__losses(&losses), UINT64_MAX);
}
END_TEST

Suite *profile_suite(void)
{
	Suite *suite = suite_create("profile");
	TCase *cases = tcase_create("profile");

	tcase_add_test(cases, a_new_profile_has_no_ratios_and_no_rows);
	tcase_add_test(cases, warnings_are_appended_in_order);
	tcase_add_test(cases, every_flag_has_a_name_that_leads_back);
	tcase_add_loop_test(cases, each_missing_observation_is_a_loss, 0,
			    (int)profile_loss_field_count);
	tcase_add_test(cases, the_sum_of_losses_saturates);
	suite_add_tcase(suite, cases);
	return suite;
}
