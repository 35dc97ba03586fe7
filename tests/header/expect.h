/* SPDX-License-Identifier: MIT */
/* expect.h - for programs that check themselves: says what does not hold, and returns 1. */
#ifndef TICKSNICK_TESTS_EXPECT_H
#define TICKSNICK_TESTS_EXPECT_H

#include <stdio.h>

#define EXPECT(condition)                                                               \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			return 1;                                                       \
		}                                                                       \
	} while (0)

#endif
