// SPDX-License-Identifier: MIT
#include "merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "field_rows.h"
#include "histogram.h"
#include "merge_kept.h"
#include "merge_parts.h"
#include "recordings.h"

struct merge {
	struct profile *sum; /* arrays that are joined are in order of what their rows are of */
	struct merge_room room;
	struct recordings *recordings;
};

struct merge *merge__new(void)
{
	struct merge *merge = calloc(1, sizeof(*merge));

	if (!merge)
		return NULL;
	merge->sum = profile__new();
	merge->recordings = recordings__new();
	if (!merge->sum || !merge->recordings) {
		merge__free(merge);
		return NULL;
	}
	return merge;
}

void merge__free(struct merge *merge)
{
	if (!merge)
		return;
	profile__free(merge->sum);
	recordings__free(merge->recordings);
	free(merge);
}

/* --- rows of the same label --- */

static int compare_fine(const void *left, const void *right)
{
	const struct profile_fine *a = left, *b = right;
	const int order = strcmp(a->label, b->label);

	return order ? order : a->idle - b->idle;
}

static int compare_coarse(const void *left, const void *right)
{
	return strcmp(((const struct profile_coarse *)left)->label,
		      ((const struct profile_coarse *)right)->label);
}

static int compare_pairs(const void *left, const void *right)
{
	const struct profile_pair *a = left, *b = right;
	const int order = strcmp(a->coarse, b->coarse);

	if (order)
		return order;
	return a->fine && b->fine ? strcmp(a->fine, b->fine)
				  : (a->fine != NULL) - (b->fine != NULL);
}

static int compare_warnings(const void *left, const void *right)
{
	return field_rows__compare(&fields_warnings.fields, left, right);
}

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int add_fine(void *to, void *from)
{
	struct profile_fine *sum = to, *row = from;
	const uint64_t callers = greater(sum->callers, row->callers);

	field_rows__add(&fields_fine.fields, sum, row);
	sum->callers = callers;
	return 0;
}

/* Of executions whose longest is not known none can be known to be the longest of all. */
static uint64_t longest(const struct profile_coarse *a, const struct profile_coarse *b)
{
	const bool known = (!a->executions || a->max_ns) && (!b->executions || b->max_ns);

	if (!known)
		return 0;
	return greater(a->executions ? a->max_ns : 0, b->executions ? b->max_ns : 0);
}

static int add_coarse(void *to, void *from)
{
	struct profile_coarse *sum = to, *row = from;
	const uint64_t callers = greater(sum->callers, row->callers);
	const uint64_t max_ns = longest(sum, row);

	field_rows__add(&fields_coarse.fields, sum, row);
	sum->callers = callers;
	sum->max_ns = max_ns;
	return histogram__merge(&sum->histogram, &sum->histogram_count, row->histogram,
				row->histogram_count);
}

static int add_pair(void *to, void *from)
{
	field_rows__add(&fields_pairs.fields, to, from);
	return 0;
}

/* Said once is enough. */
static int add_warning(void *to, void *from)
{
	(void)to;
	(void)from;
	return 0;
}

static const struct joined {
	const struct fields_array *array;
	int (*compare)(const void *left, const void *right);
	int (*add)(void *to, void *from); /* 0 or -ENOMEM */
} joined[] = {
	{&fields_fine, compare_fine, add_fine},
	{&fields_coarse, compare_coarse, add_coarse},
	{&fields_pairs, compare_pairs, add_pair},
	{&fields_warnings, compare_warnings, add_warning},
};

/* Puts a row at the end, or adds it to the one there. */
static int put(const struct joined *how, char *rows, size_t *count, char *row)
{
	const size_t size = how->array->row_size;
	char *last = rows + (*count ? *count - 1 : 0) * size;
	int err;

	if (*count == 0 || how->compare(last, row) != 0) {
		memcpy(rows + (*count)++ * size, row, size);
		return 0;
	}
	err = how->add(last, row);
	field_rows__free(&how->array->fields, row);
	return err;
}

/* Moves the rows of from into those of to, both sorted; what is the same becomes one. */
static int join(const struct joined *how, struct profile *to, struct profile *from)
{
	char **a = fields__at(to, how->array->offset), **b = fields__at(from, how->array->offset);
	size_t *a_count = fields__at(to, how->array->count_offset);
	size_t *b_count = fields__at(from, how->array->count_offset);
	const size_t size = how->array->row_size;
	size_t i = 0, k = 0, count = 0;
	char *rows;
	int err = 0;

	if (*b_count == 0)
		return 0;
	rows = calloc(*a_count + *b_count, size);
	if (!rows)
		return -ENOMEM;
	qsort(*b, *b_count, size, how->compare);
	while (i < *a_count || k < *b_count) {
		const bool first =
			k == *b_count ||
			(i < *a_count && how->compare(*a + i * size, *b + k * size) <= 0);

		err |= put(how, rows, &count, first ? *a + i++ * size : *b + k++ * size);
	}
	free(*a);
	*a = rows;
	*a_count = count;
	*b_count = 0;
	return err ? -ENOMEM : 0;
}

/* --- the rest --- */

static void drop_recomputed(struct profile *profile)
{
	size_t kept = 0;

	for (size_t i = 0; i < profile->warning_count; i++) {
		struct profile_warning *warning = &profile->warnings[i];

		if (merge_warnings__recomputed(warning->code))
			field_rows__free(&fields_warnings.fields, warning);
		else
			profile->warnings[kept++] = *warning;
	}
	profile->warning_count = kept;
}

static void add_sums(struct profile *sum, const struct profile *profile)
{
	field_rows__add(&fields_session.fields, &sum->session, &profile->session);
	field_rows__add(&fields_overhead.fields, &sum->overhead, &profile->overhead);
	field_rows__add(&fields_totals.fields, &sum->totals, &profile->totals);
	for (size_t i = 0; i < profile_loss_field_count; i++) {
		const size_t offset = profile_loss_fields[i].offset;
		uint64_t *to = fields__at(&sum->losses, offset);

		*to = field_rows__add_u64(*to, *(uint64_t *)fields__at(&profile->losses, offset));
	}
}

int merge__add(struct merge *merge, struct profile *profile, const char *name, bool allow_same,
	       char error[MERGE_ERROR_SIZE])
{
	const char *same;
	int err = merge_check__report(profile, error);

	if (err)
		return err;
	snprintf(error, MERGE_ERROR_SIZE, "%s", strerror(ENOMEM));
	err = merge_leaf__prepare(profile);
	if (err)
		return err;
	same = allow_same ? NULL : recordings__seen_in(merge->recordings, profile);
	if (same) {
		snprintf(error, MERGE_ERROR_SIZE,
			 "it holds the same recording as %.150s (--allow-same merges it all the "
			 "same)",
			 same);
		return -EEXIST;
	}
	drop_recomputed(profile);
	err = recordings__add(merge->recordings, profile, name);
	add_sums(merge->sum, profile);
	if (!err)
		err = merge_kept__add(merge->sum, &merge->room, profile);
	for (size_t i = 0; i < sizeof(joined) / sizeof(joined[0]) && !err; i++)
		err = join(&joined[i], merge->sum, profile);
	return err;
}

struct profile *merge__finish(struct merge *merge)
{
	struct profile *sum = merge->sum;

	if (merge_conclude__profile(sum))
		return NULL;
	merge->sum = NULL;
	return sum;
}
