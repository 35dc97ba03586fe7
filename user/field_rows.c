// SPDX-License-Identifier: MIT
#include "field_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "saturate.h"

#define FNV_BASIS 0xcbf29ce484222325u
#define FNV_PRIME 0x100000001b3u

uint64_t field_rows__add_u64(uint64_t a, uint64_t b)
{
	const u128 sum = (u128)a + b;

	return sum > INT64_MAX ? INT64_MAX : (uint64_t)sum;
}

static bool is_u64(enum field_kind kind)
{
	return kind == FIELD_U64 || kind == FIELD_LATER || kind == FIELD_MEASURED ||
	       kind == FIELD_SUM;
}

void field_rows__add(const struct fields *fields, void *to, const void *from)
{
	for (size_t i = 0; i < fields->count; i++) {
		const size_t offset = fields->at[i].offset;
		uint64_t *sum = fields__at(to, offset);

		if (is_u64(fields->at[i].kind))
			*sum = field_rows__add_u64(*sum, *(uint64_t *)fields__at(from, offset));
	}
}

static int compare_reals(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(b) - isnan(a);
	return (a > b) - (a < b);
}

int field_rows__compare_strings(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

/* An integer of any kind; 0 for what is none. */
static uint64_t integer_of(enum field_kind kind, const void *at)
{
	switch (kind) {
	case FIELD_U64:
	case FIELD_LATER:
	case FIELD_MEASURED:
	case FIELD_SUM:
		return *(const uint64_t *)at;
	case FIELD_INT:
		return *(const int *)at < 0 ? 0 : (uint64_t) * (const int *)at;
	case FIELD_UNSIGNED:
	case FIELD_FLAGS:
		return *(const unsigned *)at;
	case FIELD_BOOL:
	case FIELD_LATER_BOOL:
		return *(const bool *)at;
	default:
		return 0;
	}
}

static int compare_field(enum field_kind kind, const void *a, const void *b)
{
	uint64_t x, y;

	switch (kind) {
	case FIELD_SHARE:
	case FIELD_REAL:
	case FIELD_ROUNDED:
		return compare_reals(*(const double *)a, *(const double *)b);
	case FIELD_STRING:
	case FIELD_OPTIONAL_STRING:
		return field_rows__compare_strings(*(char *const *)a, *(char *const *)b);
	case FIELD_FLAGS:
	case FIELD_HISTOGRAM:
		return 0;
	default:
		x = integer_of(kind, a);
		y = integer_of(kind, b);
		return (x > y) - (x < y);
	}
}

int field_rows__compare(const struct fields *fields, const void *a, const void *b)
{
	int order = 0;

	for (size_t i = 0; i < fields->count && !order; i++)
		order = compare_field(fields->at[i].kind, fields__at(a, fields->at[i].offset),
				      fields__at(b, fields->at[i].offset));
	return order;
}

void field_rows__free(const struct fields *fields, void *structure)
{
	for (size_t i = 0; i < fields->count; i++) {
		const enum field_kind kind = fields->at[i].kind;

		if (kind == FIELD_STRING || kind == FIELD_OPTIONAL_STRING ||
		    kind == FIELD_HISTOGRAM)
			free(*(void **)fields__at(structure, fields->at[i].offset));
	}
}

/* --- the hash --- */

/* The least significant byte first, on every machine. */
static uint64_t hash_u64(uint64_t hash, uint64_t value)
{
	for (int i = 0; i < 8; i++, value >>= 8)
		hash = (hash ^ (value & 0xff)) * FNV_PRIME;
	return hash;
}

/* With its end, so that neighbours do not run into each other; NULL is not "". */
static uint64_t hash_string(uint64_t hash, const char *text)
{
	for (const char *c = text; c && *c; c++)
		hash = (hash ^ (unsigned char)*c) * FNV_PRIME;
	return (hash ^ (text ? 0xff : 0xfe)) * FNV_PRIME;
}

static uint64_t hash_histogram(uint64_t hash, const void *at)
{
	const struct profile_bucket *buckets = *(struct profile_bucket *const *)at;
	const size_t count = *fields__histogram_count(at);

	for (size_t i = 0; i < count; i++)
		hash = hash_u64(hash_u64(hash, buckets[i].bucket), buckets[i].count);
	return hash_u64(hash, count);
}

static uint64_t hash_field(uint64_t hash, enum field_kind kind, const void *at)
{
	uint64_t bits = 0;

	switch (kind) {
	case FIELD_LATER:
	case FIELD_LATER_BOOL:
	case FIELD_SUM:
		return hash;
	case FIELD_SHARE:
	case FIELD_REAL:
	case FIELD_ROUNDED:
		if (!isnan(*(const double *)at))
			memcpy(&bits, at, sizeof(bits));
		return hash_u64(hash, bits);
	case FIELD_STRING:
	case FIELD_OPTIONAL_STRING:
		return hash_string(hash, *(char *const *)at);
	case FIELD_HISTOGRAM:
		return hash_histogram(hash, at);
	default:
		return hash_u64(hash, integer_of(kind, at));
	}
}

static uint64_t hash_object(uint64_t hash, const struct fields *fields, const void *structure)
{
	for (size_t i = 0; i < fields->count; i++)
		hash = hash_field(hash, fields->at[i].kind,
				  fields__at(structure, fields->at[i].offset));
	return hash;
}

static uint64_t hash_array(uint64_t hash, const struct fields_array *array,
			   const struct profile *profile)
{
	const char *rows = *(char *const *)fields__at(profile, array->offset);
	const size_t count = *(size_t *)fields__at(profile, array->count_offset);

	for (size_t i = 0; i < count; i++)
		hash = hash_object(hash, &array->fields, rows + i * array->row_size);
	return hash_u64(hash, count);
}

static uint64_t hash_losses(uint64_t hash, const struct profile_losses *losses)
{
	for (size_t i = 0; i < profile_loss_field_count; i++) {
		const struct profile_loss_field *field = &profile_loss_fields[i];
		const uint64_t count = *(uint64_t *)fields__at(losses, field->offset);

		if (count)
			hash = hash_u64(hash_string(hash, field->name), count);
	}
	return hash;
}

uint64_t field_rows__hash(const struct profile *profile)
{
	static const struct fields_section *const sections[] = {
		&fields_tool, &fields_host, &fields_session, &fields_overhead, &fields_totals,
	};
	static const struct fields_array *const arrays[] = {
		&fields_target, &fields_threads, &fields_fine,
		&fields_coarse, &fields_pairs,	 &fields_warnings,
	};
	uint64_t hash = FNV_BASIS;

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		hash = hash_object(hash, &sections[i]->fields,
				   fields__at(profile, sections[i]->offset));
	hash = hash_losses(hash, &profile->losses);
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
		hash = hash_array(hash, arrays[i], profile);
	return hash;
}
