// SPDX-License-Identifier: MIT
#include "ledger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "saturate.h"

#define BUCKET_BYTES (TSN_DURATION_BUCKETS * sizeof(uint64_t))

struct ledger *ledger__new(size_t *room)
{
	struct ledger *ledger = calloc(1, sizeof(*ledger));

	if (!ledger)
		return NULL;
	ledger->names.label_count = 1;
	ledger->room = room;
	return ledger;
}

void ledger__free(struct ledger *ledger)
{
	size_t i;

	if (!ledger)
		return;
	for (i = 0; i < TSN_LABELS_MAX && ledger->spans; i++) {
		*ledger->room += ledger->spans[i].buckets != NULL;
		free(ledger->spans[i].buckets);
	}
	free(ledger->spans);
	free(ledger);
}

bool ledger__fits(const struct ledger *ledger, const struct table *table, uint32_t clock)
{
	const struct table *names = &ledger->names;
	uint32_t id;

	if (clock && ledger->clock && clock != ledger->clock)
		return false;
	for (id = 1; id < table->label_count && id < names->label_count; id++)
		if (table->labels[id].kind != names->labels[id].kind ||
		    strcmp(table->labels[id].name, names->labels[id].name) != 0)
			return false;
	return true;
}

void ledger__name(struct ledger *ledger, const struct table *table, uint32_t clock)
{
	struct table *names = &ledger->names;

	if (clock)
		ledger->clock = clock;
	if (table->label_count <= names->label_count)
		return;
	memcpy(&names->labels[names->label_count], &table->labels[names->label_count],
	       (table->label_count - names->label_count) * sizeof(names->labels[0]));
	names->label_count = table->label_count;
}

void ledger__add_calls(struct ledger *ledger, const struct table_calls *base,
		       const struct table_calls *last)
{
	uint32_t id;

	for (id = 1; id < TSN_LABELS_MAX; id++) {
		if (last->calls[id] > base->calls[id])
			ledger->calls[id] =
				saturate__add(ledger->calls[id], last->calls[id] - base->calls[id]);
		if (last->callers[id] > ledger->callers[id])
			ledger->callers[id] = last->callers[id];
	}
}

/* The longest counts where it is in the topmost bucket; else one of another process may be longer.
 */
static void longest_check(struct ledger_span *span)
{
	uint32_t top = TSN_DURATION_BUCKETS;

	while (top && !span->buckets[top - 1])
		top--;
	if (!top || tsn_duration_bucket(span->longest_units) != top - 1)
		span->longest_units = 0;
}

/* What lies inside of the session. */
static double units_of(uint64_t sum, uint64_t open_last, uint64_t open_first)
{
	return (double)((__int128)sum + open_last - (__int128)open_first);
}

static void span_add(struct ledger *ledger, struct ledger_span *span,
		     const struct durations *durations, uint32_t id, double stretch,
		     uint64_t *buckets)
{
	const struct durations_looks *looks = &durations->looks[id];
	const struct durations_open *first = &durations->open_first[id];
	const struct durations_open *last = &durations->open_last[id];
	uint64_t executions, sum, longest;
	bool complete = durations__difference(durations, id, &executions, &sum, &longest, buckets);
	uint32_t i;

	span->executions = saturate__add(span->executions, executions);
	span->sum_units = saturate__add(span->sum_units, sum);
	span->open_first = saturate__add(span->open_first, first->count);
	span->open_first_units = saturate__add(span->open_first_units, first->units);
	span->open_last = saturate__add(span->open_last, last->count);
	span->open_last_units = saturate__add(span->open_last_units, last->units);
	span->stretched_units += stretch * units_of(sum, last->units, first->units);
	span->readings = saturate__add(span->readings, looks->readings);
	span->readings_shared = saturate__add(span->readings_shared, looks->shared);
	if (looks->caller_count > span->callers)
		span->callers = looks->caller_count;
	if (!complete || !executions)
		return;
	if (!span->buckets && *ledger->room) {
		span->buckets = calloc(1, BUCKET_BYTES);
		*ledger->room -= span->buckets != NULL;
	}
	if (!span->buckets)
		return;
	for (i = 0; i < TSN_DURATION_BUCKETS; i++)
		span->buckets[i] = saturate__add(span->buckets[i], buckets[i]);
	if (longest > span->longest_units)
		span->longest_units = longest;
	longest_check(span);
}

double ledger__stretch(const struct ledger_span *span)
{
	double units = units_of(span->sum_units, span->open_last_units, span->open_first_units);

	return units > 0 && span->stretched_units > 0 ? span->stretched_units / units : 1;
}

int ledger__add_durations(struct ledger *ledger, const struct durations *durations, double stretch)
{
	uint64_t *buckets = malloc(BUCKET_BYTES);
	uint32_t id;

	if (buckets && !ledger->spans)
		ledger->spans = calloc(TSN_LABELS_MAX, sizeof(*ledger->spans));
	if (!buckets || !ledger->spans) {
		free(buckets);
		return -ENOMEM;
	}
	for (id = 1; id < durations->labels; id++)
		if (durations->last[id].count || durations->open_first[id].count ||
		    durations->open_last[id].count || durations->looks[id].readings)
			span_add(ledger, &ledger->spans[id], durations, id, stretch, buckets);
	free(buckets);
	return 0;
}

void ledger_note__add(struct ledger_note *note, uint64_t count, pid_t pid, uint32_t label)
{
	if (!count)
		return;
	note->count = saturate__add(note->count, count);
	note->processes++;
	note->pid = pid;
	note->label = label;
}
