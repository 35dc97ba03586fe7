// SPDX-License-Identifier: MIT
#include "merge_kept.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "field_rows.h"

/* Cutting means sorting, so it waits until there are so many times as many as are kept. */
#define SLACK 4

static int compare_sources(const void *a, const void *b)
{
	return field_rows__compare(&fields_sources.fields, a, b);
}

static int compare_targets(const void *a, const void *b)
{
	return field_rows__compare(&fields_target.fields, a, b);
}

static uint64_t thread_time(const struct profile_thread *thread)
{
	return field_rows__add_u64(field_rows__add_u64(thread->running_ns, thread->runnable_ns),
				   field_rows__add_u64(thread->blocked_ns, thread->io_ns));
}

static int compare_threads(const void *left, const void *right)
{
	const uint64_t a = thread_time(left), b = thread_time(right);

	if (a != b)
		return a > b ? -1 : 1;
	return field_rows__compare(&fields_threads.fields, left, right);
}

static const struct kept {
	const struct fields_array *array;
	size_t room_offset; /* in struct merge_room */
	int (*compare)(const void *a, const void *b);
	size_t max;	      /* 0: all */
	size_t folded_offset; /* in struct profile_losses: rows beyond that */
} kept[] = {
	{&fields_sources, offsetof(struct merge_room, sources), compare_sources, 0, 0},
	{&fields_threads, offsetof(struct merge_room, threads), compare_threads, MERGE_THREADS_MAX,
	 offsetof(struct profile_losses, threads_folded)},
	{&fields_target, offsetof(struct merge_room, targets), compare_targets, MERGE_TARGETS_MAX,
	 offsetof(struct profile_losses, processes_folded)},
};
#define KEPT (sizeof(kept) / sizeof(kept[0]))

static int append(const struct kept *how, struct profile *to, size_t *room, struct profile *from)
{
	const struct fields_array *array = how->array;
	char **rows = fields__at(to, array->offset), **added = fields__at(from, array->offset);
	size_t *count = fields__at(to, array->count_offset);
	size_t *added_count = fields__at(from, array->count_offset);

	if (*count + *added_count > *room) {
		const size_t more = 2 * (*count + *added_count);
		char *grown = reallocarray(*rows, more, array->row_size);

		if (!grown)
			return -ENOMEM;
		*rows = grown;
		*room = more;
	}
	if (*added_count)
		memcpy(*rows + *count * array->row_size, *added, *added_count * array->row_size);
	*count += *added_count;
	*added_count = 0;
	return 0;
}

static void sort_and_cut(const struct kept *how, struct profile *profile)
{
	const size_t size = how->array->row_size;
	char *rows = *(char **)fields__at(profile, how->array->offset);
	size_t *count = fields__at(profile, how->array->count_offset);
	uint64_t *folded = fields__at(&profile->losses, how->folded_offset);

	if (*count)
		qsort(rows, *count, size, how->compare);
	if (!how->max || *count <= how->max)
		return;
	*folded = field_rows__add_u64(*folded, *count - how->max);
	for (size_t i = how->max; i < *count; i++)
		field_rows__free(&how->array->fields, rows + i * size);
	*count = how->max;
}

int merge_kept__add(struct profile *to, struct merge_room *room, struct profile *from)
{
	int err = 0;

	for (size_t i = 0; i < KEPT && !err; i++) {
		err = append(&kept[i], to, fields__at(room, kept[i].room_offset), from);
		if (kept[i].max &&
		    *(size_t *)fields__at(to, kept[i].array->count_offset) > SLACK * kept[i].max)
			sort_and_cut(&kept[i], to);
	}
	return err;
}

void merge_kept__conclude(struct profile *profile)
{
	for (size_t i = 0; i < KEPT; i++)
		sort_and_cut(&kept[i], profile);
}
