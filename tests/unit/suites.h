/* SPDX-License-Identifier: MIT */
/*
 * suites - one per test file. A new one is declared here and listed in main.c.
 */
#ifndef TESTS_UNIT_SUITES_H
#define TESTS_UNIT_SUITES_H

#include <check.h>

Suite *stats_suite(void);
Suite *windows_suite(void);
Suite *model_suite(void);
Suite *model_bounds_suite(void);
Suite *model_flags_suite(void);
Suite *probe_suite(void);
Suite *profile_suite(void);
Suite *render_suite(void);
Suite *report_suite(void);
Suite *table_suite(void);
Suite *image_suite(void);
Suite *reader_suite(void);
Suite *pids_suite(void);
Suite *histogram_suite(void);
Suite *spans_suite(void);
Suite *durations_suite(void);
Suite *snapshot_suite(void);
Suite *ledger_suite(void);
Suite *roll_suite(void);
Suite *merge_suite(void);
Suite *merge_bounds_suite(void);
Suite *estimate_suite(void);
Suite *compare_suite(void);
Suite *compare_warnings_suite(void);
Suite *trimmed_suite(void);

#endif
