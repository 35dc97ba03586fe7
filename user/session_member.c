// SPDX-License-Identifier: MIT
#include "session_member.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "proc.h"
#include "remains.h"
#include "saturate.h"
#include "session_coarse.h"

int session_member__add(struct session *session, struct target *target, uint32_t index,
			struct session_member **made)
{
	struct session_member *member, **grown;

	grown = realloc(session->members, (session->member_count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	session->members = grown;
	member = calloc(1, sizeof(*member));
	if (!member)
		return -ENOMEM;
	member->target = target;
	member->index = index;
	member->ledger = -1;
	member->owned = true;
	member->current = true;
	grown[session->member_count++] = member;
	session->places[index] = member;
	if (made)
		*made = member;
	return 0;
}

void session_member__free(struct session_member *member, bool owns_target)
{
	if (owns_target)
		target__free(member->target);
	durations__free(member->durations);
	free(member);
}

static struct tsn_target *shared_of(struct session *session, const struct session_member *member)
{
	return &session->engine->targets[member->index];
}

/* True once what the process publishes is that of its next image. */
static bool replaced(struct session *session, const struct session_member *member)
{
	return __atomic_load_n(&shared_of(session, member)->state, __ATOMIC_ACQUIRE) ==
	       TSN_TARGET_REPLACED;
}

void session_member__clock(struct session *session, struct session_member *member)
{
	int64_t offset = proc__clock_offset(member->target->pid);

	/* Of one that has ended meanwhile, what was known before holds. */
	if (!target__gone(member->target))
		shared_of(session, member)->clock_offset = offset;
}

/* Tells the programs where the slots are. */
static void publish(struct session *session, struct session_member *member)
{
	struct tsn_target *shared = shared_of(session, member);
	const struct tsn_process *process = &member->target->table.process;

	shared->tls_offset = process->tls_offset;
	shared->slots = process->slots;
	shared->slots_end = process->slots + (uint64_t)process->slots_max * TSN_SLOT_STRIDE;
	shared->retired = process->retired;
	shared->process = member->target->table.address;
	shared->clock = process->clock;
	shared->contexts = process->contexts;
	shared->contexts_end =
		process->contexts + process->contexts_max * sizeof(struct tsn_context);
	shared->labels_count = member->target->table.label_count;
	shared->inherited = 0;
	__atomic_store_n(&shared->ready, 1, __ATOMIC_SEQ_CST);
	member->published = true;
}

/* What it has run so far by its hits: in no label, as nothing is while its labels are unknown. */
static uint64_t ran_ns(const struct session *session, const struct session_member *member)
{
	const struct tsn_cell_key none = {.target = member->index, .role = TSN_CELL_OWN};
	struct tsn_cell cell;

	if (bpf_map_lookup_elem(session->engine->cells_fd, &none, &cell))
		return 0;
	return snapshot__weight_ns(&cell);
}

/* True once the process is another image than this member was told of: what can be read is that
 * one's. */
static bool overtaken(struct session *session, const struct session_member *member)
{
	return replaced(session, member) || __atomic_load_n(&shared_of(session, member)->execs,
							    __ATOMIC_ACQUIRE) != member->execs;
}

void session_member__locate(struct session *session, struct session_member *member)
{
	int err;

	if (overtaken(session, member))
		return;
	err = target__locate(member->target);
	member->looked_at |= err == -ENOENT;
	if (err || overtaken(session, member))
		return;
	/* An image keeps its clock: what it unshares is for its children. */
	session_member__clock(session, member);
	publish(session, member);
	member->unlocated_ns = ran_ns(session, member);
	member->owned = true;
	table__copy(&member->table, &member->target->table);
}

void session_member__settle(struct session_member *member, bool goes_on)
{
	if (member->unread_doubtful && !goes_on)
		member->unread--;
	member->unread_doubtful = false;
}

void session__note_unread(struct session_member *member, int err)
{
	session_member__settle(member, true);
	if (!err || err == -EAGAIN || err == -ESRCH || err == -ENOENT)
		return;
	member->unread++;
	member->unread_error = err;
	member->unread_doubtful = true;
}

void session_member__base(struct session *session, struct session_member *member)
{
	int err;

	if (!member->published)
		return;
	err = table__read_calls(&member->target->table, &member->target->remote, &member->base);
	session__note_unread(member, err);
	member->base_known = !err || err == -EAGAIN;
	if (!member->base_known)
		return;
	table__copy(&member->table, &member->target->table);
	member->first = member->table.process;
	member->last = member->base;
	session_coarse__base(session, member);
}

int session_member__refresh(struct session *session, struct session_member *member, bool calls)
{
	struct target *target = member->target;
	int err;

	if (!member->published || replaced(session, member))
		return 0;
	/* Before a child has registered anew, what stands there is its parent's. */
	if (!member->owned) {
		err = table__refresh(&target->table, &target->remote);
		session__note_unread(member, err);
		if (err || target->table.process.pid != target->own_pid)
			return err;
		member->owned = true;
	}
	if (calls)
		err = table__read_calls(&target->table, &target->remote, &member->last);
	else
		err = table__refresh(&target->table, &target->remote);
	session__note_unread(member, err);
	if (err && err != -EAGAIN)
		return err;
	table__copy(&member->table, &target->table);
	publish(session, member);
	return 0;
}

/* What a process that has ended registered and said of itself after it was last looked at. */
static void described_take(const struct session *session, struct session_member *member)
{
	uint32_t described = session->engine->targets[member->index].described;
	struct remains *remains;
	struct remote remote;
	struct table *last;

	/* Only one that has registered itself describes itself. */
	member->owned |= described != 0;
	if (described != 1)
		return;
	last = malloc(sizeof(*last));
	if (!last)
		return;
	table__copy(last, &member->table);
	remains = remains__new(session->engine, member->index, last);
	if (remains && remains__descriptor(remains, &last->process)) {
		remote = remains__remote(remains);
		table__refresh(&member->table, &remote);
	}
	remains__free(remains);
	free(last);
}

static void last_words_take(struct session *session, struct session_member *member)
{
	const struct tsn_target *shared = shared_of(session, member);
	const uint64_t *final = &session->engine->final_calls[member->index * TSN_LABELS_MAX];
	unsigned i;

	described_take(session, member);
	if (member->owned)
		session_coarse__finish(session, member, true);
	if (!shared->calls_final || !session->engine->final_calls_work) {
		member->calls_unread = true;
		return;
	}
	member->calls_unread = shared->calls_final != 1;
	/* Nothing is written where nothing is said: it would only take memory. */
	for (i = 0; i < TSN_LABELS_MAX; i++) {
		bool more = final[i] > member->last.calls[i];

		/* What is in no final sum may have been read before. */
		if (more || (!member->calls_unread && final[i] != member->last.calls[i]))
			member->last.calls[i] = final[i];
	}
}

void session_member__finish(struct session *session, struct session_member *member, bool gone)
{
	if (!member->published)
		return;
	/* One that is about to end has no memory any more, and has had its last words. */
	gone = gone || session_member__refresh(session, member, true) == -ESRCH;
	if (gone) {
		session_member__settle(member, false);
		last_words_take(session, member);
		return;
	}
	if (member->owned)
		session_coarse__finish(session, member, false);
}

bool session_member__violates(const struct session_member *member)
{
	const char *label;

	return session__violations(member, TSN_VIOLATION_LEAK, &label) ||
	       session__violations(member, TSN_VIOLATION_MISMATCH, &label);
}

/* ---- ledgers ---- */

bool session_member__assign(struct session *session, struct session_member *member)
{
	uint32_t clock = member->table.process.clock;
	size_t i = session->ledger_count;

	if (member->ledger >= 0 &&
	    ledger__fits(session->ledgers[member->ledger], &member->table, clock))
		i = (size_t)member->ledger;
	else if (session->options.follow)
		for (i = 0; i < session->ledger_count; i++)
			if (ledger__fits(session->ledgers[i], &member->table, clock))
				break;
	if (i == SESSION_LEDGERS_MAX)
		return false;
	if (i == session->ledger_count) {
		session->ledgers[i] = ledger__new(&session->histograms_left);
		if (!session->ledgers[i])
			return false;
		session->ledger_count++;
	}
	ledger__name(session->ledgers[i], &member->table, clock);
	member->ledger = (int)i;
	return true;
}

static void violations_enter(const struct session_member *member, struct ledger *ledger)
{
	const struct tsn_process *process = &member->table.process;
	const char *label;
	unsigned kind;

	for (kind = 0; kind < TSN_VIOLATION_KINDS; kind++) {
		uint64_t count = session__violations(member, kind, &label);

		ledger_note__add(&ledger->violations[kind], count, member->target->pid,
				 label ? process->violations[kind].label : 0);
	}
}

int session_member__enter(struct session *session, struct session_member *member, uint64_t end_ns)
{
	const struct tsn_presence *presence =
		&session->engine->presence[(size_t)member->index * TSN_LABELS_MAX];
	struct ledger *ledger = session->ledgers[member->ledger];
	pid_t pid = member->target->pid;
	uint32_t id;

	ledger->images++;
	for (id = 1; id < TSN_LABELS_MAX; id++)
		ledger->off_ns[id] += presence[id].off_ns + (presence[id].outside > 0 ? end_ns : 0);
	ledger__add_calls(ledger, &member->base, &member->last);
	if (member->owned) {
		violations_enter(member, ledger);
		if (member->table.process.calls_lost > member->first.calls_lost)
			ledger->calls_lost =
				saturate__add(ledger->calls_lost, member->table.process.calls_lost -
									  member->first.calls_lost);
	}
	ledger_note__add(&ledger->distrusted, member->table.distrusted, pid, 0);
	ledger_note__add(&ledger->coarse_distrusted, member->table.coarse_distrusted, pid, 0);
	ledger_note__add(&ledger->unread, member->unread, pid, 0);
	if (member->unread)
		ledger->unread_error = member->unread_error;
	ledger_note__add(&ledger->calls_unread, member->calls_unread, pid, 0);
	ledger_note__add(&ledger->executions_unread, member->executions_unread, pid, 0);
	ledger_note__add(&ledger->unlocated_ns, member->unlocated_ns, pid, 0);
	ledger_note__add(&ledger->replaced, !member->current, pid, 0);
	ledger_note__add(&ledger->images_lost, member->images_lost, pid, 0);
	if (member->spans_took_ns > ledger->spans_took_ns) {
		ledger->spans_took_ns = member->spans_took_ns;
		ledger->spans_took_pid = pid;
	}
	if (member->durations && !member->durations_failed)
		return ledger__add_durations(ledger, member->durations,
					     session_coarse__stretch(session, member));
	return 0;
}
