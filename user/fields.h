/* SPDX-License-Identifier: MIT */
/*
 * fields - one row per key of the report and where it lives in a profile, so that the JSON writer,
 * the reader and the CSV header cannot disagree. docs/report.schema.json says the same to other
 * programs.
 */
#ifndef TICKSNICK_FIELDS_H
#define TICKSNICK_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile.h"

enum field_kind {
	FIELD_U64,	       /* uint64_t; written as INT64_MAX where greater */
	FIELD_LATER,	       /* the same; absent in reports of earlier versions: 0 */
	FIELD_MEASURED,	       /* the same; absent: 0, which is no measurement */
	FIELD_SUM,	       /* the same; what other figures are made from, so not in CSV */
	FIELD_INT,	       /* int, at least 0 */
	FIELD_UNSIGNED,	       /* unsigned */
	FIELD_BOOL,	       /* bool */
	FIELD_LATER_BOOL,      /* bool; absent in reports of earlier versions: false */
	FIELD_SHARE,	       /* double, 0..1; absent: NaN */
	FIELD_REAL,	       /* double, at least 0; absent: NaN */
	FIELD_ROUNDED,	       /* double, written as an integer; absent: NaN */
	FIELD_STRING,	       /* char *; NULL is written as "" */
	FIELD_OPTIONAL_STRING, /* char *; absent: NULL */
	FIELD_FLAGS,	       /* uint32_t of enum profile_flag, an array of names */
	FIELD_HISTOGRAM,       /* struct profile_bucket *, its size_t count follows; an object */
};

struct field {
	const char *name;
	enum field_kind kind;
	size_t offset; /* in its structure */
};

struct fields {
	const struct field *at;
	size_t count;
};

/* An object of the report: a structure inside struct profile. */
struct fields_section {
	const char *name;
	size_t offset; /* in struct profile */
	struct fields fields;
};

/* An array of objects: a pointer and a count inside struct profile. */
struct fields_array {
	const char *name;
	size_t offset, count_offset; /* in struct profile */
	size_t row_size;
	struct fields fields;
	bool later; /* absent where it is empty, and in reports of earlier versions */
};

extern const struct fields_section fields_tool, fields_host, fields_session, fields_overhead,
	fields_totals;
extern const struct fields_array fields_target, fields_threads, fields_fine, fields_coarse,
	fields_pairs, fields_warnings, fields_sources;

/* Where a field of a structure is. */
static inline void *fields__at(const void *structure, size_t offset)
{
	return (char *)(uintptr_t)structure + offset;
}

/* A real number as the report stores it: nine significant digits, which reading and writing again
 * does not change. */
#define FIELDS_DIGITS 9

/* Keys of a FIELD_HISTOGRAM: its layout, and pairs of bucket and count. */
#define FIELDS_HISTOGRAM_LAYOUT "buckets_per_octave"
#define FIELDS_HISTOGRAM_COUNTS "counts"

/* Where the count of a FIELD_HISTOGRAM's buckets is. */
static inline size_t *fields__histogram_count(const void *at)
{
	return fields__at(at, sizeof(struct profile_bucket *));
}

/* The integer a FIELD_ROUNDED is written as; value is not NaN. */
int64_t fields__rounded(double value);

/* A share as written: rounding errors of the arithmetic do not leave 0..1. */
double fields__share(double value);

#endif
