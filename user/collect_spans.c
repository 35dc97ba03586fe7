// SPDX-License-Identifier: MIT
#include "collect_spans.h"

#include <errno.h>
#include <stdlib.h>

#include "session_coarse.h"

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

		if (key->target >= session->ledger_count || key->fine >= TSN_LABELS_MAX ||
		    key->coarse >= TSN_LABELS_MAX)
			continue;
		table = &session->ledgers[key->target]->names;
		cells[n++] = (struct spans_cell){
			.coarse = label_names__get(names, table, key->coarse),
			.fine = label_names__get(names, table, key->fine),
			.idle = key->fine < table->label_count &&
				table->labels[key->fine].kind == TSN_KIND_IDLE,
			.role = key->role,
			.hits = cell->hits_user + cell->hits_kernel,
			.weight_ns = snapshot__weight_ns(cell),
			.runnable_ns = cell->runnable_ns,
			.blocked_ns = cell->blocked_ns,
			.io_ns = cell->io_ns,
		};
	}
	input->cell_count = n;
	return 0;
}

/* Marks the label ids of a ledger that some cell names as coarse. */
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

/* What the durations say of one label. */
static void label_measure(const struct ledger_span *span, struct spans_label *label)
{
	label->executions = span->executions;
	label->sum_units = span->sum_units;
	label->buckets = span->buckets;
	label->longest_units = span->longest_units;
	label->open_first = span->open_first;
	label->open_first_units = span->open_first_units;
	label->open_last = span->open_last;
	label->open_last_units = span->open_last_units;
	label->stretch = ledger__stretch(span);
	label->callers = span->callers;
	label->readings = span->readings;
	label->readings_shared = span->readings_shared;
}

/* The coarse labels of one ledger: those that are registered, and whatever its cells call one. */
static void ledger_fill(const struct session *session, uint32_t index, struct label_names *names,
			struct spans_label *labels, size_t *count)
{
	const struct ledger *ledger = session->ledgers[index];
	bool charged[TSN_LABELS_MAX] = {false};
	uint32_t id;

	charged_mark(session, index, charged);
	for (id = 1; id < TSN_LABELS_MAX; id++) {
		bool registered = id < ledger->names.label_count &&
				  ledger->names.labels[id].kind == TSN_KIND_COARSE;
		struct spans_label *label = &labels[*count];

		if (!registered && !charged[id])
			continue;
		*label = (struct spans_label){
			.name = label_names__get(names, &ledger->names, id),
			.unit_ns = session_coarse__unit_ns(session, ledger->clock),
			.stretch = 1,
		};
		(*count)++;
		if (ledger->spans)
			label_measure(&ledger->spans[id], label);
	}
}

int collect_spans__fill(const struct session *session, struct label_names *names,
			struct spans_input *input)
{
	struct spans_label *labels, *grown;
	uint32_t i;
	int err;

	input->labels = NULL;
	input->cells = NULL;
	input->label_count = input->cell_count = 0;
	err = cells_fill(session, names, input);
	for (i = 0; i < session->ledger_count && !err; i++) {
		/* As many as it may have. */
		grown = realloc((void *)input->labels,
				(input->label_count + TSN_LABELS_MAX) * sizeof(*labels));
		if (!grown)
			return -ENOMEM;
		labels = grown;
		input->labels = labels;
		ledger_fill(session, i, names, labels, &input->label_count);
	}
	return err;
}

void collect_spans__free(struct spans_input *input)
{
	free((void *)input->labels);
	free((void *)input->cells);
	input->labels = NULL;
	input->cells = NULL;
	input->label_count = input->cell_count = 0;
}
