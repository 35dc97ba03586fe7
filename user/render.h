/* SPDX-License-Identifier: MIT */
/*
 * render - the output formats, one vtable each. docs/output.md explains what they write.
 *
 * The text format follows LC_CTYPE: UTF-8 where the program has called setlocale() and the locale
 * is one, else plain ASCII. Numbers never follow the locale.
 */
#ifndef TICKSNICK_RENDER_H
#define TICKSNICK_RENDER_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>

#include "profile.h"

#define RENDER_COLUMNS_MIN 40
#define RENDER_COLUMNS_MAX 100

struct render_options {
	unsigned columns; /* width of the terminal; used within 40..100; 0: 100 */
	bool colour;
};

struct render_format {
	const char *name; /* as given to -f */
	/* Writes the profile to out. 0 or a negative errno; -EIO where out reports an error. Does
	 * not flush. */
	int (*write)(const struct profile *profile, const struct render_options *options,
		     FILE *out);
};

extern const struct render_format render_text, render_json, render_csv, render_csv_coarse,
	render_csv_pairs;

/* NULL: no such format. */
const struct render_format *render__find(const char *name);

/* Colour and width for a stream: colour only on a terminal and only if NO_COLOR is unset or empty
 * and TERM is not "dumb"; width from the terminal, else COLUMNS, else 100. */
struct render_options render__options_for(FILE *out);

/* For formats: between the two, this thread's printf writes a decimal point whatever LC_NUMERIC
 * says. 0 or -ENOMEM. */
struct render_numbers {
	locale_t plain, before;
};
int render__plain_numbers(struct render_numbers *numbers);
void render__restore_numbers(struct render_numbers *numbers);

#endif
