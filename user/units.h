/* SPDX-License-Identifier: MIT */
/*
 * units - numbers as people read them. The decimal sign is that of LC_NUMERIC, which the renderers
 * set to "C".
 */
#ifndef TICKSNICK_UNITS_H
#define TICKSNICK_UNITS_H

#include <stdint.h>

#define UNITS_SIZE 32

/* "41.2 ns", "1.05 us", "12.3 ms", "5.30 s", "2.78 h": three significant digits (seconds up to
 * 9999); "-" for NaN. */
const char *units__time(char buffer[UNITS_SIZE], double ns);

/* The same of an upper limit: rounded up. */
const char *units__time_limit(char buffer[UNITS_SIZE], double ns);

/* "24,518" */
const char *units__grouped(char buffer[UNITS_SIZE], uint64_t count);

/* "99999", above that three significant digits with k, M, G, T: "12.3M". */
const char *units__short(char buffer[UNITS_SIZE], uint64_t count);

/* Three significant digits at most two of them decimals: "1.93", "12.3", "123"; "-" for NaN. */
const char *units__real(char buffer[UNITS_SIZE], double value);

/* part / whole: "43", "100", "<1" for what rounds to nothing, "0" for nothing; "-" where whole is
 * 0. */
const char *units__percent(char buffer[UNITS_SIZE], uint64_t part, uint64_t whole);

/* A part of one as a percentage with one decimal, cut rather than rounded: "99.9%", and only all is
 * "100.0%"; "n/a" for NaN. */
const char *units__part(char buffer[UNITS_SIZE], double part);

#endif
