// SPDX-License-Identifier: MIT
#include "collect.h"

#include <stdlib.h>
#include <string.h>

#include "collect_spans.h"
#include "collect_warnings.h"
#include "host.h"
#include "model.h"
#include "saturate.h"

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

/* One model label per ledger and label id, found by index. */
struct labels {
	struct model_label *label;
	size_t count, capacity;
	int32_t *place; /* by ledger * TSN_LABELS_MAX + id: place in label, -1: none */
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
	size_t places = (size_t)SESSION_LEDGERS_MAX * TSN_LABELS_MAX, i;

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
	const struct table *table = &session->ledgers[index]->names;
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
	label->processes = session->ledgers[index]->images;
	return label;
}

static int labels_from_cells(struct labels *labels, const struct session *session)
{
	size_t i;

	for (i = 0; i < session->snapshot.cell_count; i++) {
		const struct tsn_cell_key *key = &session->snapshot.cells[i].key;
		const struct tsn_cell *cell = &session->snapshot.cells[i].cell;
		struct model_label *label;

		if (key->target >= session->ledger_count || key->fine >= TSN_LABELS_MAX ||
		    key->role == TSN_CELL_OUTER)
			continue;
		label = label_of(labels, session, key->target, key->fine);
		if (!label)
			return -1;
		label->hits_user += cell->hits_user;
		label->hits_kernel += cell->hits_kernel;
		label->weight_ns += snapshot__weight_ns(cell);
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
static int labels_from_ledger(struct labels *labels, const struct session *session, uint32_t index)
{
	const struct ledger *ledger = session->ledgers[index];
	const struct table *names = &ledger->names;
	uint32_t id;

	for (id = 1; id < TSN_LABELS_MAX; id++) {
		bool named = id < names->label_count;
		struct model_label *label;

		if (named && names->labels[id].kind == TSN_KIND_COARSE)
			continue;
		if (!named && !ledger->calls[id] && labels->place[index * TSN_LABELS_MAX + id] < 0)
			continue;
		label = label_of(labels, session, index, id);
		if (!label)
			return -1;
		label->elapsed_off_ns += ledger->off_ns[id];
		label->calls += ledger->calls[id];
		label->callers += ledger->callers[id];
	}
	return 0;
}

/* ---- the rest of the profile ---- */

static char *copied(const char *text)
{
	return text ? strdup(text) : NULL;
}

static int target_add(struct profile *profile, pid_t pid, const char *comm, const char *exe,
		      const char *build_id)
{
	struct profile_target *target = &profile->target[profile->target_count++];

	target->pid = pid;
	target->comm = strdup(comm ? comm : "?");
	target->exe = copied(exe);
	target->build_id = copied(build_id);
	return target->comm ? 0 : -1;
}

/* Where children are followed. */
static int roll_fill(const struct roll *roll, struct profile *profile)
{
	size_t i;
	int err = 0;

	profile->target = calloc(roll->count + 1, sizeof(*profile->target));
	if (!profile->target)
		return -1;
	for (i = 0; i < roll->count && !err; i++) {
		const struct roll_process *process = roll->processes[i];

		err = target_add(profile, process->pid, process->comm, process->exe,
				 process->build_id);
	}
	return err;
}

static int targets_fill(const struct session *session, struct profile *profile)
{
	size_t i;
	int err = 0;

	if (session->options.follow)
		return roll_fill(&session->roll, profile);
	profile->target = calloc(session->member_count, sizeof(*profile->target));
	if (!profile->target)
		return -1;
	for (i = 0; i < session->member_count && !err; i++) {
		const struct target *target = session->members[i]->target;

		if (session->members[i]->current)
			err = target_add(profile, target->pid, target->comm, target->exe,
					 target->build_id);
	}
	return err;
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

/* By thread, the rows of its images in their order. */
static int by_thread(const void *a, const void *b)
{
	const struct tsn_thread *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->born < y->born ? -1 : x->born > y->born;
}

/* Where children are followed, a thread has a record for each image: one row for those that go on
 * from one another. from: what the rows were made of. */
static void threads_join(struct profile *profile, const struct tsn_thread *from)
{
	size_t i, left = 0;

	for (i = 0; i < profile->thread_count; i++) {
		struct profile_thread *row = &profile->threads[i], *last;

		last = left ? &profile->threads[left - 1] : NULL;
		if (!last || from[i].tgid != from[i - 1].tgid || from[i].tid != from[i - 1].tid ||
		    from[i].born != from[i - 1].since) {
			profile->threads[left++] = *row;
			continue;
		}
		last->lifetime_ns += row->lifetime_ns;
		last->running_ns += row->running_ns;
		last->runnable_ns += row->runnable_ns;
		last->blocked_ns += row->blocked_ns;
		last->io_ns += row->io_ns;
		last->hits += row->hits;
		free(last->comm);
		last->comm = row->comm;
	}
	profile->thread_count = left;
}

static int thread_add(const struct session *session, const struct tsn_thread *from,
		      struct profile *profile)
{
	struct profile_thread *to = &profile->threads[profile->thread_count++];
	uint64_t born = from->born > session->start_ns ? from->born : session->start_ns;

	*to = (struct profile_thread){
		.pid = session->options.follow ? (int)from->tgid
					       : session->members[from->target]->target->pid,
		.tid = (int)from->seen_tid,
		.comm = strndup(from->comm, sizeof(from->comm)),
		.lifetime_ns = from->since > born ? from->since - born : 0,
		.running_ns = from->running_ns,
		.runnable_ns = from->runnable_ns,
		.blocked_ns = from->blocked_ns,
		.io_ns = from->io_ns,
		.hits = from->hits,
	};
	return to->comm ? 0 : -1;
}

static int threads_fill(const struct session *session, struct profile *profile)
{
	size_t count = session->snapshot.thread_count, i;
	struct tsn_thread *threads = malloc((count + 1) * sizeof(*threads));
	int err = 0;

	profile->threads = calloc(count + 1, sizeof(*profile->threads));
	if (!profile->threads || !threads) {
		free(threads);
		return -1;
	}
	if (count)
		memcpy(threads, session->snapshot.threads, count * sizeof(*threads));
	qsort(threads, count, sizeof(*threads), by_thread);
	for (i = 0; i < count && !err; i++)
		err = thread_add(session, &threads[i], profile);
	if (!err && session->options.follow)
		threads_join(profile, threads);
	free(threads);
	qsort(profile->threads, profile->thread_count, sizeof(*profile->threads), by_thread_time);
	return err;
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
			     counter(session, TSN_COUNT_TABLE_FULL_OUTER) + session->gone.full;
	losses->tick_missed = counter(session, TSN_COUNT_TICK_MISSED);
	losses->switch_missed = counter(session, TSN_COUNT_SWITCH_MISSED);
	losses->clock_stepped = counter(session, TSN_COUNT_CLOCK_STEPPED);
	losses->glance_partial = counter(session, TSN_COUNT_GLANCE_PARTIAL);
	losses->threads_folded = session->exited_folded;
	if (!session->options.follow)
		losses->threads_folded += counter(session, TSN_COUNT_EXIT_UNSENT);
	losses->processes_untracked = counter(session, TSN_COUNT_PROCESS_UNTRACKED);
	losses->processes_unread = session->roll.unread;
	losses->processes_folded = session->roll.folded;
	losses->context_unreadable = counter(session, TSN_COUNT_CONTEXT_UNREADABLE);
	for (i = 0; i < session->ledger_count; i++) {
		const struct ledger *ledger = session->ledgers[i];
		const struct ledger_note *violations = ledger->violations;

		losses->calls_unread += ledger->calls_unread.processes;
		losses->memory_unread += ledger->unread.count;
		losses->calls_lost = saturate__add(losses->calls_lost, ledger->calls_lost);
		losses->labels_lost += violations[TSN_VIOLATION_LABELS_FULL].count;
		losses->contexts_lost += violations[TSN_VIOLATION_CONTEXTS_FULL].count +
					 violations[TSN_VIOLATION_CHAIN].count;
	}
}

static void overhead_fill(const struct session *session, struct profile *profile)
{
	struct profile_overhead *overhead = &profile->overhead;
	uint64_t tick_timed = 0, tick_timed_ns = 0, switch_timed = 0, switch_timed_ns = 0;
	double tick_mean = 0, total;
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
		profile->session.pace_runs += cpu->pace_runs;
		profile->session.pace_ns += cpu->pace_ns;
	}
	/* Ticks that take the pace are not among the timed ones. */
	if (tick_timed && overhead->ticks)
		tick_mean =
			(double)tick_timed_ns / (double)tick_timed +
			TSN_PACE_TRIES * (double)profile->session.pace_ns / (double)overhead->ticks;
	overhead->tick_ns = (uint64_t)tick_mean;
	overhead->switch_ns = switch_timed ? switch_timed_ns / switch_timed : 0;
	total = tick_mean * (double)overhead->ticks;
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
	input->running_ns += session->gone.running_ns;
	input->stolen_ns += session->gone.stolen_ns;
	input->weight_square_sum += session->gone.weight_square_sum;
	for (i = 0; i < session->member_count && !session->options.follow; i++) {
		const struct tsn_target *target = &session->engine->targets[i];

		input->running_ns += target->exited_running_ns;
		input->stolen_ns += target->exited_stolen_ns;
		input->weight_square_sum += target->weight_square_sum;
	}
}

/* The coarse table and its pairs; after the model. */
static int spans_compute(const struct session *session, struct label_names *names,
			 uint64_t running_ns, struct profile *profile)
{
	struct spans_input input = {
		.running_ns = running_ns, .alpha = MODEL_ALPHA, .cost_ns = SPANS_COST_NS};
	int err = collect_spans__fill(session, names, &input);

	err = err ? err : spans__compute(&input, profile);
	collect_spans__free(&input);
	return err;
}

struct profile *collect__profile(const struct session *session)
{
	struct profile *profile = profile__new();
	struct model_input input = {.windows = session->windows, .alpha = MODEL_ALPHA};
	struct labels labels;
	uint32_t i;
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
	profile->session.follow_children = session->options.follow;
	err = !profile->tool_version || !profile->session.ended_by ||
	      host__read("", &profile->host);
	err = err || targets_fill(session, profile) || threads_fill(session, profile) ||
	      labels_from_cells(&labels, session);
	for (i = 0; i < session->ledger_count && !err; i++)
		err = labels_from_ledger(&labels, session, i);

	losses_fill(session, &profile->losses);
	running_sum(session, &input);
	input.labels = labels.label;
	input.label_count = labels.count;
	input.lost_hits = counter(session, TSN_COUNT_SLOT_UNREADABLE_TICK) +
			  counter(session, TSN_COUNT_SLOT_FOREIGN_TICK) +
			  counter(session, TSN_COUNT_TABLE_FULL_TICK) +
			  profile->losses.tick_missed + session->gone.full_hits;
	input.lost_wait_ns = session->lost_wait_ns + counter(session, TSN_COUNT_LOST_WAIT_NS) +
			     session->gone.full_wait_ns;
	err = err || collect_warnings__fill(session, profile) || model__compute(&input, profile) ||
	      spans_compute(session, labels.names, input.running_ns, profile);
	overhead_fill(session, profile);
	labels_free(&labels);
	if (err) {
		profile__free(profile);
		return NULL;
	}
	return profile;
}
