// SPDX-License-Identifier: MIT
#include "collect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "collect_spans.h"
#include "host.h"
#include "model.h"

/* What one enter and exit of a coarse label costs, as measured; mostly two readings of the clock.
 */
#define COARSE_COST_NS 65

/* Part of the session that reading durations at its edges may take. */
#define SPANS_LATE 0.02

const char *collect__end_name(enum session_end end)
{
	static const char *const names[] = {
		[SESSION_ENDED_BY_DURATION] = "duration",
		[SESSION_ENDED_BY_TARGET] = "target",
		[SESSION_ENDED_BY_SIGNAL] = "signal",
		[SESSION_ENDED_BY_VIOLATION] = "violation",
	};

	return names[end];
}

/* ---- labels ---- */

/* One model label per target and label id, found by index. */
struct labels {
	struct model_label *label;
	size_t count, capacity;
	int32_t *place; /* by index * TSN_LABELS_MAX + id: place in label, -1: none */
	struct label_names *names;
};

static void labels_free(struct labels *labels)
{
	free(labels->label);
	free(labels->place);
	free(labels->names);
}

static int labels_init(struct labels *labels)
{
	size_t places = (size_t)TSN_TARGETS_MAX * TSN_LABELS_MAX, i;

	*labels = (struct labels){.place = malloc(places * sizeof(*labels->place)),
				  .names = calloc(1, sizeof(*labels->names))};
	if (!labels->place || !labels->names) {
		labels_free(labels);
		return -1;
	}
	for (i = 0; i < places; i++)
		labels->place[i] = -1;
	return 0;
}

static struct model_label *label_of(struct labels *labels, const struct session *session,
				    uint32_t index, uint32_t id)
{
	int32_t *place = &labels->place[index * TSN_LABELS_MAX + id];
	const struct table *table = &session->members[index]->table;
	struct model_label *grown, *label;
	int32_t row;

	if (*place >= 0)
		return &labels->label[*place];
	if (labels->count == labels->capacity) {
		labels->capacity = labels->capacity ? labels->capacity * 2 : 64;
		grown = realloc(labels->label, labels->capacity * sizeof(*grown));
		if (!grown)
			return NULL;
		labels->label = grown;
	}
	*place = (int32_t)labels->count;
	label = &labels->label[labels->count++];
	*label = (struct model_label){0};
	row = session->window_rows[index * TSN_LABELS_MAX + id];
	label->window_row = id && row >= 0 ? (size_t)row : id ? session->window_row_count : 0;
	label->name = label_names__get(labels->names, table, id);
	label->idle = id && id < table->label_count && table->labels[id].kind == TSN_KIND_IDLE;
	return label;
}

static int labels_from_cells(struct labels *labels, const struct session *session)
{
	size_t i;

	for (i = 0; i < session->snapshot.cell_count; i++) {
		const struct tsn_cell_key *key = &session->snapshot.cells[i].key;
		const struct tsn_cell *cell = &session->snapshot.cells[i].cell;
		struct model_label *label;

		if (key->target >= session->member_count || key->fine >= TSN_LABELS_MAX ||
		    key->role == TSN_CELL_OUTER)
			continue;
		label = label_of(labels, session, key->target, key->fine);
		if (!label)
			return -1;
		label->hits_user += cell->hits_user;
		label->hits_kernel += cell->hits_kernel;
		label->weight_ns += cell->weight_user_ns + cell->weight_kernel_ns;
		label->runnable_ns += cell->runnable_ns;
		label->blocked_ns += cell->blocked_ns;
		label->io_ns += cell->io_ns;
		label->elapsed_on_ns += cell->elapsed_on_ns;
		label->long_hits += cell->long_hits;
		label->glances += cell->glances;
		label->glances_shared += cell->glances_shared;
	}
	return 0;
}

/* Registered labels, hit or not: calls, callers and the time with a thread off the CPU inside. */
static int labels_from_member(struct labels *labels, const struct session *session,
			      const struct session_member *member)
{
	uint32_t id;

	for (id = 1; id < TSN_LABELS_MAX; id++) {
		const struct tsn_presence *presence =
			&session->engine->presence[member->index * TSN_LABELS_MAX + id];
		bool named = id < member->table.label_count;
		struct model_label *label;

		if (named && member->table.labels[id].kind == TSN_KIND_COARSE)
			continue;
		if (!named && labels->place[member->index * TSN_LABELS_MAX + id] < 0)
			continue;
		label = label_of(labels, session, member->index, id);
		if (!label)
			return -1;
		label->elapsed_off_ns +=
			presence->off_ns + (presence->outside > 0 ? session->stop_ns : 0);
		if (member->last.calls[id] > member->base.calls[id])
			label->calls += member->last.calls[id] - member->base.calls[id];
		label->callers += member->last.callers[id];
	}
	return 0;
}

/* ---- the rest of the profile ---- */

static char *copied(const char *text)
{
	return text ? strdup(text) : NULL;
}

static int targets_fill(const struct session *session, struct profile *profile)
{
	size_t i;

	profile->target = calloc(session->member_count, sizeof(*profile->target));
	if (!profile->target)
		return -1;
	for (i = 0; i < session->member_count; i++) {
		const struct session_member *member = session->members[i];
		struct profile_target *target;

		if (!member->current)
			continue;
		target = &profile->target[profile->target_count++];
		target->pid = member->target->pid;
		target->comm = strdup(member->target->comm ? member->target->comm : "?");
		target->exe = copied(member->target->exe);
		target->build_id = copied(member->target->build_id);
		if (!target->comm)
			return -1;
	}
	return 0;
}

static uint64_t thread_time(const struct profile_thread *thread)
{
	return thread->running_ns + thread->runnable_ns + thread->blocked_ns + thread->io_ns;
}

static int by_thread_time(const void *a, const void *b)
{
	const struct profile_thread *x = a, *y = b;
	uint64_t s = thread_time(x), t = thread_time(y);

	if (s != t)
		return s > t ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int threads_fill(const struct session *session, struct profile *profile)
{
	const struct snapshot *snapshot = &session->snapshot;
	size_t i;

	profile->threads = calloc(snapshot->thread_count + 1, sizeof(*profile->threads));
	if (!profile->threads)
		return -1;
	for (i = 0; i < snapshot->thread_count; i++) {
		const struct tsn_thread *from = &snapshot->threads[i];
		struct profile_thread *to = &profile->threads[profile->thread_count++];
		uint64_t born = from->born > session->start_ns ? from->born : session->start_ns;

		*to = (struct profile_thread){
			.pid = session->members[from->target]->target->pid,
			.tid = (int)from->seen_tid,
			.comm = strndup(from->comm, sizeof(from->comm)),
			.lifetime_ns = from->since > born ? from->since - born : 0,
			.running_ns = from->running_ns,
			.runnable_ns = from->runnable_ns,
			.blocked_ns = from->blocked_ns,
			.io_ns = from->io_ns,
			.hits = from->hits,
		};
		if (!to->comm)
			return -1;
	}
	qsort(profile->threads, profile->thread_count, sizeof(*profile->threads), by_thread_time);
	return 0;
}

static uint64_t counter(const struct session *session, enum tsn_counter which)
{
	return session->engine->control->counters[which];
}

static void losses_fill(const struct session *session, struct profile_losses *losses)
{
	size_t i;

	losses->slot_unreadable = counter(session, TSN_COUNT_SLOT_UNREADABLE_TICK) +
				  counter(session, TSN_COUNT_SLOT_UNREADABLE_SWITCH);
	losses->slot_foreign = counter(session, TSN_COUNT_SLOT_FOREIGN_TICK) +
			       counter(session, TSN_COUNT_SLOT_FOREIGN_SWITCH);
	losses->thread_untracked = counter(session, TSN_COUNT_THREAD_UNTRACKED);
	losses->table_full = counter(session, TSN_COUNT_TABLE_FULL_TICK) +
			     counter(session, TSN_COUNT_TABLE_FULL_SWITCH) +
			     counter(session, TSN_COUNT_TABLE_FULL_OUTER);
	losses->tick_missed = counter(session, TSN_COUNT_TICK_MISSED);
	losses->switch_missed = counter(session, TSN_COUNT_SWITCH_MISSED);
	losses->clock_stepped = counter(session, TSN_COUNT_CLOCK_STEPPED);
	losses->glance_partial = counter(session, TSN_COUNT_GLANCE_PARTIAL);
	losses->threads_folded = session->exited_folded + counter(session, TSN_COUNT_EXIT_UNSENT);
	losses->context_unreadable = counter(session, TSN_COUNT_CONTEXT_UNREADABLE);
	for (i = 0; i < session->member_count; i++) {
		const struct session_member *member = session->members[i];
		const struct tsn_process *now = &member->table.process, *then = &member->first;
		const char *label;

		losses->calls_unread += member->calls_unread;
		losses->calls_lost += now->calls_lost - then->calls_lost;
		losses->labels_lost +=
			session__violations(member, TSN_VIOLATION_LABELS_FULL, &label);
		losses->contexts_lost +=
			session__violations(member, TSN_VIOLATION_CONTEXTS_FULL, &label) +
			session__violations(member, TSN_VIOLATION_CHAIN, &label);
	}
}

static void overhead_fill(const struct session *session, struct profile *profile)
{
	struct profile_overhead *overhead = &profile->overhead;
	uint64_t tick_timed = 0, tick_timed_ns = 0, switch_timed = 0, switch_timed_ns = 0;
	double total;
	unsigned i;

	for (i = 0; i < TSN_CPUS_MAX; i++) {
		const struct tsn_cpu *cpu = &session->engine->cpus[i];

		profile->session.ticks_delivered += cpu->ticks;
		overhead->ticks += cpu->tick_runs;
		overhead->switches += cpu->switch_runs;
		tick_timed += cpu->tick_timed;
		tick_timed_ns += cpu->tick_timed_ns;
		switch_timed += cpu->switch_timed;
		switch_timed_ns += cpu->switch_timed_ns;
	}
	overhead->tick_ns = tick_timed ? tick_timed_ns / tick_timed : 0;
	overhead->switch_ns = switch_timed ? switch_timed_ns / switch_timed : 0;
	total = tick_timed ? (double)tick_timed_ns / (double)tick_timed * (double)overhead->ticks
			   : 0;
	total += switch_timed ? (double)switch_timed_ns / (double)switch_timed *
					(double)overhead->switches
			      : 0;
	overhead->kernel_ns = (uint64_t)total;
	if (profile->totals.running_ns)
		overhead->fraction = total / (double)profile->totals.running_ns;
}

static void running_sum(const struct session *session, struct model_input *input)
{
	const struct snapshot *snapshot = &session->snapshot;
	size_t i;

	/* Those that exited are in the targets' totals, whether they have a row or not. */
	for (i = session->exited_rows; i < snapshot->thread_count; i++) {
		input->running_ns += snapshot->threads[i].running_ns;
		input->stolen_ns += snapshot->threads[i].stolen_ns;
	}
	for (i = 0; i < session->member_count; i++) {
		const struct tsn_target *target = &session->engine->targets[i];

		input->running_ns += target->exited_running_ns;
		input->stolen_ns += target->exited_stolen_ns;
		input->weight_square_sum += target->weight_square_sum;
	}
}

static const struct {
	unsigned kind;
	const char *code, *text,
		*label; /* label: printf-style, what is said of the label if it is known */
} violation_warnings[] = {
	{TSN_VIOLATION_LEAK, "violation_leak", "a label was still open at tsn_expect_balanced()",
	 ", the latest: %s"},
	{TSN_VIOLATION_MISMATCH, "violation_mismatch",
	 "tsn_exit() closed a label that was not the innermost open one", ", the latest: %s"},
	{TSN_VIOLATION_DEPTH, "violation_depth",
	 "more than 64 enter/exit pairs were open in one thread", ", the latest not set: %s"},
	{TSN_VIOLATION_INDEX, "violation_index",
	 "tsn_at() was given an index that its family has not",
	 "; the latest family begins with %s"},
	{TSN_VIOLATION_SLOTS_FULL, "slots_full",
	 "a thread found no free slot, so it is in no label", ""},
	{TSN_VIOLATION_LABELS_FULL, "labels_full",
	 "a registration found no free label id (1,023 are allowed): its time is in no label", ""},
	{TSN_VIOLATION_TLS, "tls_dynamic",
	 "a thread keeps its slot pointer in dynamic thread-local storage, where it is not found",
	 ""},
	{TSN_VIOLATION_NAME, "label_refused",
	 "a registration was refused, so its time is in no label: names have 1 to 63 bytes, and "
	 "one kind",
	 "; the name is there with another: %s"},
	{TSN_VIOLATION_CONTEXTS_FULL, "contexts_full",
	 "an execution found no free context (8,191 may be open, less a spare for each thread), so "
	 "it was not timed",
	 ", the latest: %s"},
	{TSN_VIOLATION_CHAIN, "chain_depth",
	 "more than 16 coarse labels were inside each other (is an exit missing?); what is further "
	 "in was not timed",
	 ", the latest: %s"},
	{TSN_VIOLATION_ABANDONED, "abandoned",
	 "an execution was never left (a tsn_exit that is missing, longjmp, the end of its "
	 "thread), so it is in no duration, but the time under it is in its row",
	 ", the latest: %s"},
};

/* One violation of one member. 0 or -ENOMEM. */
static int violation_warn(const struct session_member *member, size_t which,
			  struct profile *profile)
{
	const char *label;
	uint64_t n = session__violations(member, violation_warnings[which].kind, &label);
	char about[TABLE_NAME_SIZE + 64] = "";

	if (!n)
		return 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
	if (label)
		snprintf(about, sizeof(about), violation_warnings[which].label, label);
#pragma GCC diagnostic pop
	return profile__warn(profile, violation_warnings[which].code, label,
			     "%" PRIu64 " time%s %s%s", n, n == 1 ? "" : "s",
			     violation_warnings[which].text, about);
}

/* Whether reading durations at the edges took so long that spans show it, and how long. */
static bool spans_late(const struct session *session, const struct session_member *member,
		       double *late_ns)
{
	*late_ns = (double)member->spans_took_ns;
	return *late_ns > SPANS_LATE * (double)(session->stop_ns - session->start_ns);
}

static int warnings_fill(const struct session *session, struct profile *profile)
{
	size_t i, v;
	int err = 0;

	for (i = 0; i < session->member_count; i++) {
		const struct session_member *member = session->members[i];
		int pid = member->target->pid;
		double late_ns;

		if (member->current && member->target->thread_id)
			err |= profile__warn(
				profile, "thread_id_resolved", NULL,
				"%d is a thread of process %d; the whole process was recorded",
				member->target->thread_id, pid);
		if (!member->current)
			err |= profile__warn(profile, "image_replaced", NULL,
					     "process %d replaced its image (exec); both images "
					     "are in this report",
					     pid);
		if (member->images_lost)
			err |= profile__warn(
				profile, "images_lost", NULL,
				"process %d replaced its image more often than the %d times "
				"there is room for; its later time is in no label",
				pid, TSN_TARGETS_MAX);
		else if (member->current && !member->published)
			err |= profile__warn(profile, "no_slot", NULL,
					     "process %d published no ticksnick slot, so all its "
					     "time is in no label",
					     pid);
		if (member->table.distrusted)
			err |= profile__warn(
				profile, "label_distrusted", NULL,
				"%" PRIu64
				" label names of process %d were not valid; they are shown as #id",
				member->table.distrusted, pid);
		if (member->calls_unread)
			err |= profile__warn(profile, "calls_unread", NULL,
					     "process %d ended before its last calls could be "
					     "read; calls of its last second may be missing",
					     pid);
		if (member->executions_unread)
			err |= profile__warn(profile, "executions_unread", NULL,
					     "process %d ended before its last executions could be "
					     "read; those of its last second may be missing",
					     pid);
		if (spans_late(session, member, &late_ns))
			err |= profile__warn(
				profile, "executions_late", NULL,
				"reading the executions of process %d took %.0f ms: "
				"inside and working are off by up to %.1f%%",
				pid, late_ns / 1e6,
				100 * late_ns / (double)(session->stop_ns - session->start_ns));
		if (session->engine->targets[member->index].forks)
			err |= profile__warn(profile, "children_left_out", NULL,
					     "process %d forked %" PRIu64
					     " times; its children are not in this report",
					     pid, session->engine->targets[member->index].forks);
		for (v = 0; v < sizeof(violation_warnings) / sizeof(violation_warnings[0]); v++)
			err |= violation_warn(member, v, profile);
	}
	return err;
}

/* The coarse table and its pairs; after the model. */
static int spans_compute(const struct session *session, struct label_names *names,
			 uint64_t running_ns, struct profile *profile)
{
	struct spans_input input = {
		.running_ns = running_ns, .alpha = COLLECT_ALPHA, .cost_ns = COARSE_COST_NS};
	int err = collect_spans__fill(session, names, &input);

	err = err ? err : spans__compute(&input, profile);
	collect_spans__free(&input);
	return err;
}

struct profile *collect__profile(const struct session *session)
{
	struct profile *profile = profile__new();
	struct model_input input = {.windows = session->windows, .alpha = COLLECT_ALPHA};
	struct labels labels;
	size_t i;
	int err;

	if (!profile)
		return NULL;
	if (labels_init(&labels)) {
		profile__free(profile);
		return NULL;
	}
	profile->tool_version = strdup(TICKSNICK_VERSION);
	profile->tool_abi = TSN_ABI_VERSION;
	profile->session.start_unix_ns = session->start_unix_ns;
	profile->session.duration_ns = session->stop_ns - session->start_ns;
	profile->session.frequency_hz = session->options.frequency_hz;
	profile->session.ticks_expected = session->ticks_expected;
	profile->session.glances = counter(session, TSN_COUNT_GLANCES);
	profile->session.windows = windows__count(session->windows);
	profile->session.ended_by = strdup(collect__end_name(session->ended_by));
	profile->session.strict = session->options.strict;
	err = !profile->tool_version || !profile->session.ended_by ||
	      host__read("", &profile->host);
	err = err || targets_fill(session, profile) || threads_fill(session, profile) ||
	      labels_from_cells(&labels, session);
	for (i = 0; i < session->member_count && !err; i++)
		err = labels_from_member(&labels, session, session->members[i]);

	losses_fill(session, &profile->losses);
	running_sum(session, &input);
	input.labels = labels.label;
	input.label_count = labels.count;
	input.lost_hits = counter(session, TSN_COUNT_SLOT_UNREADABLE_TICK) +
			  counter(session, TSN_COUNT_SLOT_FOREIGN_TICK) +
			  counter(session, TSN_COUNT_TABLE_FULL_TICK) + profile->losses.tick_missed;
	input.lost_wait_ns = session->lost_wait_ns + counter(session, TSN_COUNT_LOST_WAIT_NS);
	err = err || warnings_fill(session, profile) || model__compute(&input, profile) ||
	      spans_compute(session, labels.names, input.running_ns, profile);
	overhead_fill(session, profile);
	labels_free(&labels);
	if (err) {
		profile__free(profile);
		return NULL;
	}
	return profile;
}
