/* SPDX-License-Identifier: MIT */
/*
 * diff_words - a comparison in words and figures that its formats share. Plain ASCII; the decimal
 * sign is that of LC_NUMERIC, which the formats set to "C".
 */
#ifndef TICKSNICK_DIFF_WORDS_H
#define TICKSNICK_DIFF_WORDS_H

#include "compare.h"

#define DIFF_WORDS_SIZE 64

/* A relative change: "+12.3%", from four times on "x4.25"; "from 0" where it is infinite; "-" for
 * NaN. */
const char *diff_words__change(char buffer[DIFF_WORDS_SIZE], double change);

/* "+10.1..+14.2%", rounded outwards; an open end, or one beyond 1000 times, is left out, as in
 * "+10.1%.."; "anything" where both are; "-" for NaN. */
const char *diff_words__limits(char buffer[DIFF_WORDS_SIZE], struct interval limits);

/* "41.2 ns"; "<18.8 ns", its upper limit, where a side was never hit; "-" for NaN. */
const char *diff_words__value(char buffer[DIFF_WORDS_SIZE], const struct compare_test *test,
			      int side);

/* The verdict, or why there is none: "slower", "cannot say", "added", "unsampled" ... */
const char *diff_words__verdict(enum compare_verdict verdict, enum compare_state state);

/*
 * Whole sentences, the caller frees them; NULL: out of memory. The summary: how many labels are
 * slower, faster, not told. The basis: how sure that is and why. The shares: what a share cannot
 * say.
 */
char *diff_words__summary(const struct comparison *comparison);
char *diff_words__basis(const struct comparison *comparison);
extern const char diff_words_shares[];

/* One sentence on a quantity with a verdict: "per call 102 ns, was 98.4 ns: +3.7% (+2.1..+5.2%)".
 * what: "per call", "mean" ... */
#define DIFF_WORDS_SENTENCE_SIZE 256
const char *diff_words__test(char buffer[DIFF_WORDS_SENTENCE_SIZE], const char *what,
			     const struct compare_test *test);

/* Relative change of two numbers that need no interval; INFINITY: from 0; NaN: both are 0. */
double diff_words__ratio(double base, double new);

/* Calls or executions of a recording of that side. */
double diff_words__per_recording(const struct comparison *comparison, int side, uint64_t sum);

#endif
