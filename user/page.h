/* SPDX-License-Identifier: MIT */
/*
 * page - paragraphs of a text report: a key in the margin, and words that are broken at the page's
 * width.
 */
#ifndef TICKSNICK_PAGE_H
#define TICKSNICK_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "render.h"

enum page_style { PAGE_PLAIN, PAGE_BOLD, PAGE_DIM, PAGE_WARNING, PAGE_BAD, PAGE_GOOD, PAGE_STYLES };

struct page {
	FILE *out;
	unsigned columns;
	bool colour;
	bool unicode; /* what is not ASCII can be shown */
	int error;    /* 0, or the first -ENOMEM; the caller looks at it once, at the end */
};

/* An empty page as the options say, within RENDER_COLUMNS_MIN..MAX, in the locale's characters. */
struct page page__new(const struct render_options *options, FILE *out);

/* Escape sequences that begin and end a style; "" without colour. */
const char *page__on(const struct page *page, enum page_style style);
const char *page__off(const struct page *page, enum page_style style);

/* A paragraph, printf-style, of printable text; the style goes for its key, or for all of it where
 * the key is NULL. */
void page__write(struct page *page, enum page_style style, const char *key, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Printable, for arguments of the above; NULL: out of memory, and noted in page->error. The caller
 * frees it. */
char *page__printable(struct page *page, const char *text);

#endif
