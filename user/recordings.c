// SPDX-License-Identifier: MIT
#include "recordings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "field_rows.h"

/* One recording, and the report that it was in. */
struct seen {
	char *id;
	const char *name;
};

struct recordings {
	struct seen *seen; /* by id */
	size_t count;
};

struct recordings *recordings__new(void)
{
	return calloc(1, sizeof(struct recordings));
}

void recordings__free(struct recordings *recordings)
{
	if (!recordings)
		return;
	for (size_t i = 0; i < recordings->count; i++)
		free(recordings->seen[i].id);
	free(recordings->seen);
	free(recordings);
}

void recordings__id(const struct profile *profile, char id[RECORDINGS_ID_SIZE])
{
	snprintf(id, RECORDINGS_ID_SIZE, "%016llx", (unsigned long long)field_rows__hash(profile));
}

static int compare_seen(const void *left, const void *right)
{
	return strcmp(((const struct seen *)left)->id, ((const struct seen *)right)->id);
}

static const char *name_of(const struct recordings *recordings, char *id)
{
	const struct seen key = {.id = id};
	const struct seen *found = recordings->count
					   ? bsearch(&key, recordings->seen, recordings->count,
						     sizeof(*recordings->seen), compare_seen)
					   : NULL;

	return found ? found->name : NULL;
}

const char *recordings__seen_in(const struct recordings *recordings, const struct profile *profile)
{
	char id[RECORDINGS_ID_SIZE];
	const char *name = NULL;

	if (profile->source_count == 0) {
		recordings__id(profile, id);
		return name_of(recordings, id);
	}
	for (size_t i = 0; i < profile->source_count && !name; i++)
		name = name_of(recordings, profile->sources[i].id);
	return name;
}

static int add_id(struct recordings *recordings, const char *id, const char *name)
{
	struct seen *seen = &recordings->seen[recordings->count];

	*seen = (struct seen){strdup(id), name};
	if (!seen->id)
		return -ENOMEM;
	recordings->count++;
	return 0;
}

int recordings__add(struct recordings *recordings, const struct profile *profile, const char *name)
{
	const size_t count = recordings->count + profile->source_count + 1;
	struct seen *grown = reallocarray(recordings->seen, count, sizeof(*grown));
	char id[RECORDINGS_ID_SIZE];
	int error = 0;

	if (!grown)
		return -ENOMEM;
	recordings->seen = grown;
	if (profile->source_count == 0) {
		recordings__id(profile, id);
		error = add_id(recordings, id, name);
	}
	for (size_t i = 0; i < profile->source_count && !error; i++)
		error = add_id(recordings, profile->sources[i].id, name);
	qsort(grown, recordings->count, sizeof(*grown), compare_seen);
	return error;
}
