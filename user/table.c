// SPDX-License-Identifier: MIT
#include "table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USER_MAX \
	(1ULL << 56) /* no user address is beyond, on x86-64 (5 levels) and arm64 (52 bits) */
#define CHUNK_SLOTS 64
#define READ_TRIES  5

static bool range_fits(uint64_t address, uint64_t stride, uint64_t count)
{
	return address && address < USER_MAX && stride * count < USER_MAX - address;
}

static bool descriptor_fits(const struct tsn_process *p)
{
	return p->slots_max && p->slots_max <= TSN_SLOTS_MAX && p->slots_used <= p->slots_max &&
	       p->slot_stride == TSN_SLOT_STRIDE && p->labels_max &&
	       p->labels_max <= TSN_LABELS_MAX && p->labels_count &&
	       p->labels_count <= p->labels_max && p->label_stride == sizeof(struct tsn_label) &&
	       range_fits(p->slots, p->slot_stride, p->slots_max) &&
	       range_fits(p->labels, p->label_stride, p->labels_max) &&
	       range_fits(p->retired, sizeof(uint64_t), p->labels_max);
}

/* Where what is said of coarse labels does not fit, the process is taken to have said nothing.
 * True: so it was. */
static bool coarse_check(struct tsn_process *p)
{
	bool distrusted = false;

	if (!p->contexts_max || p->contexts_max > TSN_CONTEXTS_MAX ||
	    p->contexts_used > p->contexts_max || p->context_stride != sizeof(struct tsn_context) ||
	    !range_fits(p->contexts, p->context_stride, p->contexts_max)) {
		distrusted |= p->contexts != 0;
		p->contexts = 0;
		p->contexts_max = p->contexts_used = 0;
	}
	if ((p->clock != TSN_CLOCK_MONOTONIC && p->clock != TSN_CLOCK_TSC) ||
	    p->durations_max > TSN_DURATIONS_MAX || p->durations_used > p->durations_max ||
	    p->durations_stride != TSN_DURATIONS_STRIDE ||
	    !range_fits(p->durations, p->durations_stride, p->durations_max)) {
		distrusted |= p->durations != 0;
		p->durations = 0;
		p->durations_max = p->durations_used = 0;
	}
	return distrusted;
}

static int descriptor_read(const struct remote *remote, uint64_t address,
			   struct tsn_process *process, bool *coarse_distrusted)
{
	int err = remote__read(remote, address, process, sizeof(*process));

	if (err)
		return err;
	if (process->magic != TSN_MAGIC || process->version != TSN_ABI_VERSION ||
	    process->size < sizeof(*process))
		return -EINVAL;
	*coarse_distrusted = coarse_check(process);
	return 0;
}

int table__open(struct table *table, const struct remote *remote, uint64_t address, uint32_t pid)
{
	struct tsn_process process;
	bool distrusted;
	int err = descriptor_read(remote, address, &process, &distrusted);

	if (!err && process.state == TSN_STATE_FOLLOWER) {
		address = process.leader;
		err = descriptor_read(remote, address, &process, &distrusted);
	}
	if (err)
		return err;
	if (process.state == TSN_STATE_VOID)
		return -EAGAIN;
	if (process.state != TSN_STATE_READY || !descriptor_fits(&process))
		return -EINVAL;
	if (process.pid != pid)
		return -ESTALE;

	memset(table->labels, 0, table->label_count * sizeof(table->labels[0]));
	table->distrusted = 0;
	table->address = address;
	table->process = process;
	table->label_count = 1;
	return table__refresh(table, remote);
}

void table__copy(struct table *to, const struct table *from)
{
	to->address = from->address;
	to->process = from->process;
	to->label_count = from->label_count;
	to->distrusted = from->distrusted;
	to->coarse_distrusted = from->coarse_distrusted;
	memcpy(to->labels, from->labels, from->label_count * sizeof(from->labels[0]));
}

/* Takes over one entry; false if it is nonsense. */
static bool label_take(struct table_label *label, const struct tsn_label *entry, uint32_t id)
{
	label->kind = TSN_KIND_NONE;
	if (entry->kind == TSN_KIND_NONE || entry->kind > TSN_KIND_COARSE || !entry->name[0] ||
	    !memchr(entry->name, 0, sizeof(entry->name)) || entry->base > id ||
	    (entry->arity && id - entry->base >= entry->arity)) {
		snprintf(label->name, sizeof(label->name), "#%u", id);
		return false;
	}
	label->kind = entry->kind;
	if (entry->arity)
		snprintf(label->name, sizeof(label->name), "%s[%u]", entry->name, id - entry->base);
	else
		snprintf(label->name, sizeof(label->name), "%s", entry->name);
	return true;
}

/* What comes with the first coarse label stays where it is from then on. */
static bool moved(uint64_t before, uint64_t now)
{
	return before && now != before;
}

/* As table__read_process(). */
static int process_read(const struct table *table, const struct remote *remote,
			struct tsn_process *process, bool *distrusted)
{
	int err = descriptor_read(remote, table->address, process, distrusted);

	if (err)
		return err;
	if (process->state != TSN_STATE_READY || !descriptor_fits(process) ||
	    process->slots != table->process.slots || process->labels != table->process.labels ||
	    process->retired != table->process.retired ||
	    moved(table->process.contexts, process->contexts) ||
	    moved(table->process.durations, process->durations))
		return -EINVAL;
	return 0;
}

int table__read_process(const struct table *table, const struct remote *remote,
			struct tsn_process *process)
{
	bool distrusted;

	return process_read(table, remote, process, &distrusted);
}

int table__refresh(struct table *table, const struct remote *remote)
{
	struct tsn_label entries[128];
	struct tsn_process process;
	bool distrusted;
	int err = process_read(table, remote, &process, &distrusted);

	if (err)
		return err;
	table->process = process;
	table->coarse_distrusted = distrusted;
	while (table->label_count < process.labels_count) {
		uint32_t first = table->label_count, n = process.labels_count - first, i;

		if (n > sizeof(entries) / sizeof(entries[0]))
			n = sizeof(entries) / sizeof(entries[0]);
		err = remote__read(remote, process.labels + first * sizeof(entries[0]), entries,
				   n * sizeof(entries[0]));
		if (err)
			return err;
		for (i = 0; i < n; i++)
			table->distrusted +=
				!label_take(&table->labels[first + i], &entries[i], first + i);
		table->label_count += n;
	}
	return 0;
}

void table__finish(struct table *table, const struct tsn_final *final)
{
	struct tsn_process *process = &table->process;

	process->contexts = final->contexts;
	process->contexts_max = final->contexts_max;
	process->context_stride = final->context_stride;
	process->durations = final->durations;
	process->durations_max = final->durations_max;
	process->durations_stride = final->durations_stride;
	process->durations_used = final->durations_used;
	process->contexts_used = final->contexts_used;
	process->clock = final->clock;
	coarse_check(process);
	/* Nothing moves any more. */
	process->folds_done = process->folds_begun;
}

/* Adds what is in the slots. */
static int slots_sum(const struct table *table, const struct remote *remote,
		     struct table_calls *calls)
{
	uint32_t used = table->process.slots_used, labels = table->label_count, at, i, l;
	uint64_t *counts = malloc((size_t)CHUNK_SLOTS * labels * sizeof(*counts));
	int err = 0;

	if (!counts)
		return -ENOMEM;
	for (at = 0; at < used && !err; at += CHUNK_SLOTS) {
		uint32_t n = used - at < CHUNK_SLOTS ? used - at : CHUNK_SLOTS;

		err = remote__gather(remote,
				     table->process.slots + (uint64_t)at * TSN_SLOT_STRIDE +
					     TSN_SLOT_COUNTS_OFFSET,
				     TSN_SLOT_STRIDE, labels * sizeof(*counts), n, counts);
		for (i = 0; i < n && !err; i++)
			for (l = 1; l < labels; l++) {
				calls->calls[l] += counts[(size_t)i * labels + l];
				calls->callers[l] += counts[(size_t)i * labels + l] != 0;
			}
	}
	free(counts);
	return err;
}

/* One try. -EAGAIN: a thread's calls moved meanwhile. */
static int calls_try(struct table *table, const struct remote *remote, struct table_calls *calls)
{
	struct tsn_process after;
	bool distrusted;
	int err = table__refresh(table, remote);

	if (err)
		return err;
	memset(calls, 0, sizeof(*calls));
	err = remote__read(remote, table->process.retired, calls->calls,
			   table->label_count * sizeof(calls->calls[0]));
	calls->calls[0] = 0;
	if (!err)
		err = slots_sum(table, remote, calls);
	if (!err)
		err = descriptor_read(remote, table->address, &after, &distrusted);
	if (err)
		return err;
	return table->process.folds_begun == table->process.folds_done &&
			       after.folds_begun == table->process.folds_begun &&
			       after.slots_used == table->process.slots_used
		       ? 0
		       : -EAGAIN;
}

int table__read_calls(struct table *table, const struct remote *remote, struct table_calls *calls)
{
	struct table_calls *read = malloc(sizeof(*read));
	int err = -EAGAIN, i;

	if (!read)
		return -ENOMEM;
	for (i = 0; i < READ_TRIES && err == -EAGAIN; i++)
		err = calls_try(table, remote, read);
	if (!err || err == -EAGAIN)
		*calls = *read;
	free(read);
	return err;
}

int table__read_heads(const struct table *table, const struct remote *remote,
		      struct tsn_slot **heads, size_t *count)
{
	size_t used = table->process.slots_used;
	struct tsn_slot *read = calloc(used ? used : 1, sizeof(*read));
	int err;

	if (!read)
		return -ENOMEM;
	err = remote__gather(remote, table->process.slots, TSN_SLOT_STRIDE, sizeof(*read), used,
			     read);
	if (err) {
		free(read);
		return err;
	}
	*heads = read;
	*count = used;
	return 0;
}

int table__read_chain(const struct table *table, const struct remote *remote,
		      const struct tsn_slot *head, struct tsn_chain *chain)
{
	uint32_t place = (uint32_t)head->context;
	struct tsn_chain taken = {0};
	struct tsn_context context;
	int err = 0;

	if (head->coarse) {
		if (!place || place >= table->process.contexts_max)
			return -EINVAL;
		err = remote__read(remote, table->process.contexts + place * sizeof(context),
				   &context, sizeof(context));
		if (!err &&
		    tsn_chain_take(&taken, &context, (uint32_t)(head->context >> 32), head->coarse))
			err = -EINVAL;
	}
	if (!err)
		*chain = taken;
	return err;
}
