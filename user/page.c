// SPDX-License-Identifier: MIT
#include "page.h"

#include <errno.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

#define MARGIN	      12 /* the longest key and two blanks */
#define MARGIN_NARROW 2	 /* of the second line on, where the page has no room for the other */
#define COLUMNS_WIDE  60

static const char *const styles[PAGE_STYLES] = {
	[PAGE_PLAIN] = "",	     [PAGE_BOLD] = "\033[1m", [PAGE_DIM] = "\033[2m",
	[PAGE_WARNING] = "\033[33m", [PAGE_BAD] = "\033[31m", [PAGE_GOOD] = "\033[32m",
};

struct page page__new(const struct render_options *options, FILE *out)
{
	struct page page = {.out = out, .columns = options->columns, .colour = options->colour};

	page.unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	if (page.columns == 0 || page.columns > RENDER_COLUMNS_MAX)
		page.columns = RENDER_COLUMNS_MAX;
	if (page.columns < RENDER_COLUMNS_MIN)
		page.columns = RENDER_COLUMNS_MIN;
	return page;
}

const char *page__on(const struct page *page, enum page_style style)
{
	return page->colour ? styles[style] : "";
}

const char *page__off(const struct page *page, enum page_style style)
{
	return page->colour && style != PAGE_PLAIN ? "\033[0m" : "";
}

/* Whether the blank at text + at stands between a number and its unit. */
static bool is_before_unit(const char *text, size_t at)
{
	static const char *const names[] = {"ns", "us", "ms", "s", "h", "Hz"};
	size_t length = strspn(text + at + 1, "nmushHz"), i;

	if (at == 0 || text[at - 1] < '0' || text[at - 1] > '9')
		return false;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == length && strncmp(text + at + 1, names[i], length) == 0)
			return true;
	return false;
}

/* Bytes of text that go on a line of so many columns: whole words, or a part of one that is too
 * long for any line. */
static size_t line_length(const char *text, size_t columns, bool may_leave_to_next)
{
	size_t fitting = utf8__head(text, columns), length = fitting;

	if (!text[fitting])
		return fitting;
	while (length > 0 && (text[length] != ' ' || is_before_unit(text, length)))
		length--;
	if (length > 0 || may_leave_to_next)
		return length;
	while (fitting > 1 && text[fitting] == ':') /* see begins_command */
		fitting--;
	return fitting ? fitting : 1;
}

/* The cursor stands at column at; later lines begin at column margin. */
static void write_words(const struct page *page, const char *text, size_t at, size_t margin)
{
	size_t length;

	for (;;) {
		length =
			line_length(text, page->columns > at ? page->columns - at : 0, at > margin);
		fwrite(text, 1, length, page->out);
		text += length;
		while (*text == ' ')
			text++;
		if (!*text)
			break;
		fprintf(page->out, "\n%*s", (int)margin, "");
		at = margin;
	}
}

void page__write(struct page *page, enum page_style style, const char *key, const char *format, ...)
{
	bool wide = page->columns >= COLUMNS_WIDE;
	size_t margin = wide && key ? MARGIN : MARGIN_NARROW, at = 0;
	const char *on = page__on(page, style), *off = page__off(page, style);
	va_list arguments;
	char *text;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0) {
		page->error = -ENOMEM;
		return;
	}
	fputs(on, page->out);
	if (key) {
		at = wide ? MARGIN : strlen(key) + 2;
		fprintf(page->out, "%s%s%s%*s", key, off, wide ? "" : ":",
			(int)(at - strlen(key)) - (wide ? 0 : 1), "");
	}
	write_words(page, text, at, margin);
	fprintf(page->out, "%s\n", key ? "" : off);
	free(text);
}

/*
 * Where pages are printed to the log of a CI job, its runner takes some lines for commands:
 * GitHub's where "::" begins a line, which may be broken at any blank, or "##[" is in it, Azure's
 * for "##vso[".
 */
static bool begins_command(const char *text, const char *at)
{
	return ((at == text || at[-1] == ' ') && strncmp(at, "::", 2) == 0) ||
	       strncmp(at, "##[", 3) == 0 || strncmp(at, "##vso[", 6) == 0;
}

char *page__printable(struct page *page, const char *text)
{
	char *printable = utf8__printable(text ? text : "", page->unicode);
	char *safe = printable ? malloc(4 * strlen(printable) + 1) : NULL, *to = safe;

	if (!safe)
		page->error = -ENOMEM;
	for (const char *at = printable; safe && *at; at++) {
		if (begins_command(printable, at))
			to += sprintf(to, "\\x%02x", (unsigned char)*at);
		else
			*to++ = *at;
	}
	if (safe)
		*to = 0;
	free(printable);
	return safe;
}
