/* SPDX-License-Identifier: MIT */
/* throwing.h - the C++ translation unit of the tests. */
#ifndef TICKSNICK_TESTS_THROWING_H
#define TICKSNICK_TESTS_THROWING_H

#include <ticksnick/ticksnick.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Throws out of two nested scopes; the thread's label where it is caught, and where it was thrown.
 */
void throwing__unwind(uint32_t *thrown, uint32_t *caught);
/* The same with coarse scopes, and the thread's context. */
void throwing__unwind_coarse(uint64_t *thrown, uint64_t *caught);
tsn_fine_t throwing__label(void);
tsn_coarse_t throwing__coarse(void);
tsn_fine_t throwing__shared(void);
const void *throwing__descriptor(void);
const void *throwing__thread(void);

#ifdef __cplusplus
}
#endif

#endif
