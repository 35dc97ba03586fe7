/* SPDX-License-Identifier: MIT */
/*
 * outcome - what a mode found: gates, each passed or failed, figures that decide nothing, and text
 * for people. Printed as text or as one JSON object.
 */
#ifndef TICKSNICK_BENCH_OUTCOME_H
#define TICKSNICK_BENCH_OUTCOME_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

struct outcome;

enum gate {
	GATE_AT_MOST,
	GATE_AT_LEAST,
};

/* Exits the program where memory runs out, as does everything here that needs some. */
struct outcome *outcome__new(const char *mode);
void outcome__free(struct outcome *outcome); /* NULL is fine */

/* value <= limit, or >= limit; NaN fails. Units are short words ("ns", "pp") or "". Returns whether
 * it passed. */
bool outcome__gate(struct outcome *outcome, const char *name, double value, enum gate gate,
		   double limit, const char *unit);

/* A figure that decides nothing. */
void outcome__figure(struct outcome *outcome, const char *name, double value, const char *unit);

/* A line or several of text, printf-style, shown where JSON is not asked for. */
void outcome__text(struct outcome *outcome, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Appends an object to the array under that key; the reference is taken over. */
void outcome__row(struct outcome *outcome, const char *key, json_t *row);

/* The mode, or the truth that it holds the recorder against, does not work: why. Fails the mode. */
void outcome__broken(struct outcome *outcome, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Every gate passed, there was at least one, and nothing is broken. */
bool outcome__passed(const struct outcome *outcome);

void outcome__print_text(const struct outcome *outcome, FILE *file);
void outcome__print_json(const struct outcome *outcome, FILE *file);

#endif
