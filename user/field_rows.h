/* SPDX-License-Identifier: MIT */
/*
 * field_rows - what can be done to a structure of the report by the table of its fields alone:
 * adding, comparing, hashing.
 */
#ifndef TICKSNICK_FIELD_ROWS_H
#define TICKSNICK_FIELD_ROWS_H

#include "fields.h"

/* Sums stay at INT64_MAX, as reports do: so they are the same by whatever way they came about. */
uint64_t field_rows__add_u64(uint64_t a, uint64_t b);

/* Adds every 64-bit integer of from to that of to. */
void field_rows__add(const struct fields *fields, void *to, const void *from);

/* A total order, field by field: < 0, 0, > 0. Flags and histograms are not looked at; what is
 * absent comes first. */
int field_rows__compare(const struct fields *fields, const void *a, const void *b);

/* By strcmp; NULL comes first. */
int field_rows__compare_strings(const char *a, const char *b);

/* Frees the strings and histograms that a structure owns, not itself. */
void field_rows__free(const struct fields *fields, void *structure);

/*
 * A 64-bit hash (FNV-1a) of all that a profile holds, but for fields that reports had not from the
 * first (FIELD_LATER, FIELD_LATER_BOOL, FIELD_SUM), loss counters that are zero, and sources: so it
 * is the same in all versions of the program.
 */
uint64_t field_rows__hash(const struct profile *profile);

#endif
