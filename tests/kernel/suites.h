/* SPDX-License-Identifier: MIT */
#ifndef TICKSNICK_TESTS_KERNEL_SUITES_H
#define TICKSNICK_TESTS_KERNEL_SUITES_H

#include <check.h>

Suite *share_suite(void);   /* shares and their bounds */
Suite *waiting_suite(void); /* thread states, elapsed, in flight */
Suite *calls_suite(void);   /* exact counts, late labels */

#endif
