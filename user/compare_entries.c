// SPDX-License-Identifier: MIT
/* The rows of all reports, by label and kind. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compare_parts.h"
#include "field_rows.h"
#include "histogram.h"

/* A label that is idle in one report and not in another is two: doing nothing is no work. */
static int compare_kinds(const struct compare_entry *one, const struct compare_entry *other)
{
	const int order = strcmp(one->label, other->label);

	return order ? order : one->idle - other->idle;
}

int compare__order_entries(const void *left, const void *right)
{
	const struct compare_entry *one = left, *other = right;
	const int order = compare_kinds(one, other);

	if (order)
		return order;
	if (one->side != other->side)
		return one->side < other->side ? -1 : 1;
	return one->run < other->run ? -1 : one->run > other->run;
}

size_t compare__same_label(const struct compare_entry *entries, size_t count)
{
	size_t same = 1;

	while (same < count && compare_kinds(&entries[same], &entries[0]) == 0)
		same++;
	return same;
}

static int add_coarse(struct profile_coarse *sum, const struct profile_coarse *row)
{
	/* Of executions whose longest is not known none can be known to be the longest of all. */
	const bool known = (!sum->executions || sum->max_ns) && (!row->executions || row->max_ns);
	const uint64_t longest = sum->max_ns > row->max_ns ? sum->max_ns : row->max_ns;

	field_rows__add(&fields_coarse.fields, sum, row);
	sum->max_ns = known ? longest : 0;
	return histogram__merge(&sum->histogram, &sum->histogram_count, row->histogram,
				row->histogram_count);
}

static int begin_fine(struct compare_entry *entry)
{
	struct profile_fine *sum = malloc(sizeof(*sum));

	if (!sum)
		return -ENOMEM;
	*sum = *(const struct profile_fine *)entry->row;
	entry->row = entry->sum = sum;
	return 0;
}

static int begin_coarse(struct compare_entry *entry)
{
	const struct profile_coarse *row = entry->row;
	struct profile_coarse *sum = malloc(sizeof(*sum));

	if (!sum)
		return -ENOMEM;
	*sum = *row;
	sum->histogram = NULL;
	sum->histogram_count = 0;
	entry->row = entry->sum = sum;
	return histogram__merge(&sum->histogram, &sum->histogram_count, row->histogram,
				row->histogram_count);
}

/* The label and other texts of a sum stay the report's. */
static int add_entry(struct compare_entry *to, const struct compare_entry *from, bool fine)
{
	int error = 0;

	if (!to->sum)
		error = fine ? begin_fine(to) : begin_coarse(to);
	if (!error && fine)
		field_rows__add(&fields_fine.fields, to->sum, from->row);
	else if (!error)
		error = add_coarse(to->sum, from->row);
	return error;
}

int compare__add_up_entries(struct compare_entry *entries, size_t *count, bool fine)
{
	size_t kept = 0;
	int error = 0;

	for (size_t i = 0; i < *count && !error; i++) {
		struct compare_entry *last = &entries[kept ? kept - 1 : 0];

		if (kept == 0 || compare__order_entries(last, &entries[i]) != 0)
			entries[kept++] = entries[i];
		else
			error = add_entry(last, &entries[i], fine);
	}
	*count = kept;
	return error;
}

void compare__free_entries(struct compare_entry *entries, size_t count, bool fine)
{
	for (size_t i = 0; entries && i < count; i++) {
		if (entries[i].sum && !fine)
			free(((struct profile_coarse *)entries[i].sum)->histogram);
		free(entries[i].sum);
	}
	free(entries);
}

int compare__spread(const struct compare_group *group, compare_telling *telling, int which,
		    bool adjusted, struct estimate_spread *spread)
{
	struct estimate_runs runs[ESTIMATE_SIDES] = {{0}};
	double *numbers = calloc(ESTIMATE_SIDES * 3 * group->count, sizeof(*numbers));

	if (!numbers)
		return -ENOMEM;
	for (int side = 0; side < ESTIMATE_SIDES; side++) {
		double *amount = numbers + 3 * group->count * (size_t)side;
		double *weight = amount + group->count, *x = weight + group->count;
		size_t k = 0;

		for (size_t i = 0; i < group->count; i++) {
			const struct compare_entry *entry = &group->entries[i];

			if (entry->side != side ||
			    !telling(entry->row, which, &amount[k], &weight[k]))
				continue;
			x[k++] = entry->x;
		}
		runs[side] = (struct estimate_runs){amount, weight, adjusted ? x : NULL, k};
	}
	estimate__between_runs(runs, spread);
	free(numbers);
	return 0;
}
