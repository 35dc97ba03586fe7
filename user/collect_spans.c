// SPDX-License-Identifier: MIT
#include "collect_spans.h"

#include <errno.h>
#include <stdlib.h>

#include "session_coarse.h"

static const struct table *table_of(const struct session *session, uint32_t index)
{
	return &session->members[index]->table;
}

static int cells_fill(const struct session *session, struct label_names *names,
		      struct spans_input *input)
{
	size_t i, n = 0;
	struct spans_cell *cells = calloc(session->snapshot.cell_count + 1, sizeof(*cells));

	if (!cells)
		return -ENOMEM;
	input->cells = cells;
	for (i = 0; i < session->snapshot.cell_count; i++) {
		const struct tsn_cell_key *key = &session->snapshot.cells[i].key;
		const struct tsn_cell *cell = &session->snapshot.cells[i].cell;
		const struct table *table;

		if (key->target >= session->member_count || key->fine >= TSN_LABELS_MAX ||
		    key->coarse >= TSN_LABELS_MAX)
			continue;
		table = table_of(session, key->target);
		cells[n++] = (struct spans_cell){
			.coarse = label_names__get(names, table, key->coarse),
			.fine = label_names__get(names, table, key->fine),
			.idle = key->fine < table->label_count &&
				table->labels[key->fine].kind == TSN_KIND_IDLE,
			.role = key->role,
			.hits = cell->hits_user + cell->hits_kernel,
			.weight_ns = cell->weight_user_ns + cell->weight_kernel_ns,
			.runnable_ns = cell->runnable_ns,
			.blocked_ns = cell->blocked_ns,
			.io_ns = cell->io_ns,
		};
	}
	input->cell_count = n;
	return 0;
}

/* Marks the label ids of a member that some cell names as coarse. */
static void charged_mark(const struct session *session, uint32_t index,
			 bool charged[TSN_LABELS_MAX])
{
	size_t i;

	for (i = 0; i < session->snapshot.cell_count; i++) {
		const struct tsn_cell_key *key = &session->snapshot.cells[i].key;

		if (key->target == index && key->coarse < TSN_LABELS_MAX)
			charged[key->coarse] = true;
	}
}

/* What the member's durations say of one label. */
static int label_measure(const struct session_member *member, uint32_t id,
			 struct spans_label *label)
{
	const struct durations *durations = member->durations;
	const struct durations_looks *looks = &durations->looks[id];
	uint64_t *buckets = malloc(TSN_DURATION_BUCKETS * sizeof(*buckets));

	if (!buckets)
		return -ENOMEM;
	if (durations__difference(durations, id, &label->executions, &label->sum_units,
				  &label->longest_units, buckets) &&
	    label->executions)
		label->buckets = buckets;
	else
		free(buckets);
	label->open_first = durations->open_first[id].count;
	label->open_first_units = durations->open_first[id].units;
	label->open_last = durations->open_last[id].count;
	label->open_last_units = durations->open_last[id].units;
	label->callers = looks->caller_count;
	label->readings = looks->readings;
	label->readings_shared = looks->shared;
	return 0;
}

/* The coarse labels of one member: those it has registered, and whatever its cells call one. */
static int member_fill(const struct session *session, struct session_member *member,
		       struct label_names *names, struct spans_label *labels, size_t *count)
{
	bool charged[TSN_LABELS_MAX] = {false};
	uint32_t id;

	charged_mark(session, member->index, charged);
	for (id = 1; id < TSN_LABELS_MAX; id++) {
		bool registered = id < member->table.label_count &&
				  member->table.labels[id].kind == TSN_KIND_COARSE;
		struct spans_label *label = &labels[*count];

		if (!registered && !charged[id])
			continue;
		*label = (struct spans_label){
			.name = label_names__get(names, &member->table, id),
			.unit_ns = session_coarse__unit_ns(session, member),
			.stretch = session_coarse__stretch(session, member),
		};
		(*count)++;
		if (member->durations && !member->durations_failed &&
		    label_measure(member, id, label))
			return -ENOMEM;
	}
	return 0;
}

int collect_spans__fill(const struct session *session, struct label_names *names,
			struct spans_input *input)
{
	struct spans_label *labels, *grown;
	size_t i;
	int err;

	input->labels = NULL;
	input->cells = NULL;
	input->label_count = input->cell_count = 0;
	err = cells_fill(session, names, input);
	for (i = 0; i < session->member_count && !err; i++) {
		/* As many as a member may have. */
		grown = realloc((void *)input->labels,
				(input->label_count + TSN_LABELS_MAX) * sizeof(*labels));
		if (!grown)
			return -ENOMEM;
		labels = grown;
		input->labels = labels;
		err = member_fill(session, session->members[i], names, labels, &input->label_count);
	}
	return err;
}

void collect_spans__free(struct spans_input *input)
{
	size_t i;

	for (i = 0; i < input->label_count; i++)
		free((void *)input->labels[i].buckets);
	free((void *)input->labels);
	free((void *)input->cells);
	input->labels = NULL;
	input->cells = NULL;
	input->label_count = input->cell_count = 0;
}
