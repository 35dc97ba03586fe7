/* SPDX-License-Identifier: MIT */
#ifndef TICKSNICK_TESTS_SUITES_H
#define TICKSNICK_TESTS_SUITES_H

#include <check.h>

TCase *labels__tcase(void);
TCase *threads__tcase(void);
TCase *pairs__tcase(void);
TCase *fork__tcase(void);
TCase *scopes__tcase(void);
TCase *coarse__tcase(void);
TCase *contexts__tcase(void);
TCase *mounts__tcase(void);
TCase *durations__tcase(void);

#endif
