// SPDX-License-Identifier: MIT
#include "utf8.h"

#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define ESCAPE_LENGTH 4 /* \xNN */

size_t utf8__decode(const char *s, uint32_t *point)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *byte = (const unsigned char *)s;
	size_t length, i;
	uint32_t code;

	if (byte[0] < 0x80) {
		*point = byte[0];
		return 1;
	}
	length = byte[0] >= 0xf0 ? 4 : byte[0] >= 0xe0 ? 3 : 2;
	if (byte[0] < 0xc2 || byte[0] > 0xf4)
		return 0;
	code = byte[0] & (0x7fu >> length);
	for (i = 1; i < length; i++) {
		if ((byte[i] & 0xc0) != 0x80) /* the final NUL too */
			return 0;
		code = code << 6 | (byte[i] & 0x3f);
	}
	if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*point = code;
	return length;
}

/* Copies s; sequences for which keep() is false, and malformed bytes, are escaped. */
static char *escape(const char *s, bool (*keep)(uint32_t point))
{
	char *copy = malloc(strlen(s) * ESCAPE_LENGTH + 1), *out = copy;
	uint32_t point;
	size_t length;
	bool kept;

	if (!copy)
		return NULL;
	for (; *s; s += length) {
		length = utf8__decode(s, &point);
		kept = length && keep(point);
		if (!length)
			length = 1;
		if (kept) {
			out = mempcpy(out, s, length);
			continue;
		}
		for (size_t i = 0; i < length; i++)
			out += sprintf(out, "\\x%02x", (unsigned char)s[i]);
	}
	*out = '\0';
	return copy;
}

static bool keep_all(uint32_t point)
{
	(void)point;
	return true;
}

static bool keep_ascii(uint32_t point)
{
	return point >= 0x20 && point < 0x7f;
}

static bool keep_line(uint32_t point)
{
	return point >= 0x20 && (point < 0x7f || point > 0x9f);
}

/*
 * Columns; negative: it is none that is shown. A locale that is not UTF-8 knows ASCII alone, but
 * what is written for programs is UTF-8 there, too.
 */
static int columns_of(uint32_t point)
{
	const int columns = wcwidth((wchar_t)point);

	if (columns >= 0 || point < 0xa0 || strcmp(nl_langinfo(CODESET), "UTF-8") == 0)
		return columns;
	return 1;
}

static bool keep_shown(uint32_t point)
{
	if (point < 0x80)
		return keep_ascii(point);
	if (point == 0x061c || (point >= 0x200b && point <= 0x200f) || /* marks, zero width */
	    (point >= 0x2028 && point <= 0x202e) ||		       /* lines, embeddings */
	    (point >= 0x2060 && point <= 0x206f) || point == 0xfeff || /* isolates, joiners */
	    (point >= 0xe0000 && point <= 0xe0fff))		       /* tags */
		return false;
	return columns_of(point) >= 0;
}

char *utf8__clean(const char *s)
{
	return escape(s, keep_all);
}

char *utf8__line(const char *s)
{
	return escape(s, keep_line);
}

char *utf8__printable(const char *s, bool unicode)
{
	return escape(s, unicode ? keep_shown : keep_ascii);
}

/* Steps over one character; its columns are returned. */
static size_t step(const char **s)
{
	uint32_t point;
	size_t length = utf8__decode(*s, &point);
	int width = length ? columns_of(point) : 1;

	*s += length ? length : 1;
	return width < 0 ? 1 : (size_t)width;
}

size_t utf8__width(const char *s)
{
	size_t width = 0;

	while (*s)
		width += step(&s);
	return width;
}

size_t utf8__head(const char *s, size_t columns)
{
	const char *end = s, *next = s;
	size_t width = 0;

	while (*next) {
		width += step(&next);
		if (width > columns)
			break;
		end = next;
	}
	return (size_t)(end - s);
}

/* The longest tail of s that takes at most so many columns and does not start with a combining
 * character. */
static const char *tail(const char *s, size_t columns)
{
	size_t rest = utf8__width(s);
	const char *next;

	while (*s) {
		next = s;
		if (rest <= columns && step(&next) > 0)
			return s;
		rest -= step(&s);
	}
	return s;
}

char *utf8__fit(const char *s, size_t columns, bool unicode)
{
	const char *ellipsis = unicode ? "\u2026" : "..";
	size_t sign = unicode ? 1 : 2, head;
	char *fitted;

	if (utf8__width(s) <= columns)
		return strdup(s);
	if (columns <= sign)
		return strndup(s, utf8__head(s, columns));
	head = (columns - sign + 1) / 2;
	if (asprintf(&fitted, "%.*s%s%s", (int)utf8__head(s, head), s, ellipsis,
		     tail(s, columns - sign - head)) < 0)
		return NULL;
	return fitted;
}
