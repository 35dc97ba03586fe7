/* SPDX-License-Identifier: MIT */
/*
 * utf8 - names from a process that nobody vouches for, made fit for a report and for a terminal.
 *
 * All strings returned are the caller's to free; NULL: out of memory.
 */
#ifndef TICKSNICK_UTF8_H
#define TICKSNICK_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the well-formed sequence at s (no overlong forms, no surrogates), its code point in
 * *point; 0: malformed. At the final NUL: 1. */
size_t utf8__decode(const char *s, uint32_t *point);

/* Valid UTF-8: each byte of a malformed sequence becomes the four characters \xNN. Valid text is
 * returned as it is, so cleaning twice changes nothing more. */
char *utf8__clean(const char *s);

/* The same for one line: control characters become \xNN too. */
char *utf8__line(const char *s);

/*
 * What a terminal shows as plain characters: besides malformed bytes, control characters, line
 * separators and those that reorder or hide text become \xNN, byte by byte. Without unicode (a
 * terminal that is not UTF-8), so does all that is not ASCII.
 */
char *utf8__printable(const char *s, bool unicode);

/* Columns that printable text takes. */
size_t utf8__width(const char *s);

/* Bytes of the longest head of s that takes at most so many columns; combining characters stay with
 * their base. */
size_t utf8__head(const char *s, size_t columns);

/* Printable text made to take at most so many columns: what is too much is cut out of the middle,
 * where an ellipsis stands
 * (".." without unicode): both the start of a name and its index in a family stay readable. */
char *utf8__fit(const char *s, size_t columns, bool unicode);

#endif
