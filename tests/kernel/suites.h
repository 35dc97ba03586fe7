/* SPDX-License-Identifier: MIT */
#ifndef TICKSNICK_TESTS_KERNEL_SUITES_H
#define TICKSNICK_TESTS_KERNEL_SUITES_H

#include <check.h>

Suite *load_suite(void);      /* what the programs cost the verifier */
Suite *share_suite(void);     /* shares and their bounds */
Suite *waiting_suite(void);   /* thread states, elapsed, in flight */
Suite *calls_suite(void);     /* exact counts, late labels */
Suite *lifecycle_suite(void); /* what processes do meanwhile: end, exec, fork, stop */
Suite *threads_suite(void);   /* many threads, short ones, ids used again */
Suite *coarse_suite(void);    /* accounts of coarse labels, stale work, pools that lie */
Suite *children_suite(void);  /* processes that targets fork and exec */
Suite *pace_suite(void);      /* how fast the CPUs were */
Suite *soak_suite(void);      /* long sessions */

#endif
