/* SPDX-License-Identifier: MIT */
/*
 * render_diff - the output formats of a comparison, one vtable each. docs/diff.md explains what
 * they write. Numbers never follow the locale; names are what a process called its labels, so each
 * format makes them harmless in its own way.
 */
#ifndef TICKSNICK_RENDER_DIFF_H
#define TICKSNICK_RENDER_DIFF_H

#include "compare.h"
#include "render.h"

struct render_diff_format {
	const char *name; /* as given to -f */
	/* 0 or a negative errno; -EIO where out reports an error. Does not flush. */
	int (*write)(const struct comparison *comparison, const struct render_options *options,
		     FILE *out);
};

extern const struct render_diff_format render_diff_text, render_diff_markdown, render_diff_json,
	render_diff_junit, render_diff_github;

/* NULL: no such format. */
const struct render_diff_format *render_diff__find(const char *name);

#endif
