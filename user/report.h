/* SPDX-License-Identifier: MIT */
/*
 * report - reads a JSON report back into a profile. Strict about what it needs, ignorant of keys it
 * does not know.
 */
#ifndef TICKSNICK_REPORT_H
#define TICKSNICK_REPORT_H

#include <stddef.h>

#include "profile.h"

#define REPORT_ERROR_SIZE 256

/*
 * Reads a report from a file ("-": standard input), or from memory. On failure returns a negative
 * errno (-EINVAL: not a report, -EPROTONOSUPPORT: a schema number this program does not know, else
 * as open and read give it), leaves *profile untouched and puts one clause into error, such as "not
 * JSON: line 3: ...". On success the caller frees *profile.
 */
int report__read(const char *path, struct profile **profile, char error[REPORT_ERROR_SIZE]);
int report__parse(const char *text, size_t length, struct profile **profile,
		  char error[REPORT_ERROR_SIZE]);

#endif
