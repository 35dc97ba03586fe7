// SPDX-License-Identifier: MIT
#include "session_coarse.h"

#include <stdlib.h>

#include "remains.h"
#include "spans.h"

#define CLOCK_TOLD_AFTER_NS 10000000 /* a reading is off by some 0.1 us */

static uint64_t tsc(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

struct session_clock session_coarse__clock(void)
{
	uint64_t before = tsc(), now = engine__now(), after = tsc();

	return (struct session_clock){.monotonic_ns = now, .tsc = before + (after - before) / 2};
}

void session_coarse__tell_clock(struct session *session)
{
	const struct session_clock *origin = &session->origin, now = session_coarse__clock();
	struct tsn_tsc *shared = &session->engine->control->tsc;

	if (!origin->tsc || now.tsc <= origin->tsc ||
	    now.monotonic_ns < origin->monotonic_ns + CLOCK_TOLD_AFTER_NS)
		return;
	shared->tsc = origin->tsc;
	shared->ns = origin->monotonic_ns;
	__atomic_store_n(&shared->unit,
			 (uint64_t)((double)(now.monotonic_ns - origin->monotonic_ns) /
				    (double)(now.tsc - origin->tsc) * 0x1p32),
			 __ATOMIC_RELEASE);
}

/* A moment in the member's clock. */
static uint64_t units(const struct session *session, const struct session_member *member,
		      const struct session_clock *moment)
{
	if (member->clock == TSN_CLOCK_TSC)
		return moment->tsc;
	return moment->monotonic_ns +
	       (uint64_t)session->engine->targets[member->index].clock_offset;
}

/* The moment in the middle between that one and now; adds to *took_ns what lies between them. */
static struct session_clock middle(struct session_clock moment, uint64_t *took_ns)
{
	struct session_clock now = session_coarse__clock();

	*took_ns += now.monotonic_ns - moment.monotonic_ns;
	moment.monotonic_ns += (now.monotonic_ns - moment.monotonic_ns) / 2;
	moment.tsc += (now.tsc - moment.tsc) / 2;
	return moment;
}

/* Whether the member publishes durations in a clock that can be read here; makes room for them. */
static bool member_ready(struct session *session, struct session_member *member,
			 const struct table *table)
{
	const struct tsn_process *process = &table->process;
	struct session_clock start = session->first;

	if (!member->published || !process->durations || member->durations_failed)
		return false;
	if (process->clock == TSN_CLOCK_TSC && !session->first.tsc)
		return false;
	if (member->durations)
		return process->clock == member->clock;
	start.monotonic_ns = session->start_ns;
	member->clock = process->clock;
	member->durations =
		durations__new(units(session, member, &start), &session->histograms_left);
	return member->durations;
}

void session_coarse__base(struct session *session, struct session_member *member)
{
	const struct table *table = &member->target->table;
	const struct remote *remote = &member->target->remote;
	struct session_clock now = session_coarse__clock();
	int err;

	if (!member_ready(session, member, table))
		return;
	err = durations__read_base(member->durations, table, remote, units(session, member, &now));
	session__note_unread(member, err);
	/* What it had executed before would be taken for the session's. */
	member->durations_failed = err;
	if (err)
		return;
	/* What ends while it is read is in the base or not, as if all were read half-way. */
	now = middle(now, &member->spans_took_ns);
	member->spans_from_ns = now.monotonic_ns;
	err = durations__read_open_first(member->durations, table, remote,
					 units(session, member, &now));
	session__note_unread(member, err);
}

/* Reads the state of that moment through whatever holds the process's memory. False: it could not
 * be. */
static bool state_read(const struct session *session, struct session_member *member,
		       const struct table *table, const struct remote *remote,
		       const struct session_clock *moment)
{
	uint64_t now = units(session, member, moment);

	int err = durations__read(member->durations, table, remote, now);

	session__note_unread(member, err);
	if (err)
		return false;
	/* The last word if the process ends by itself. */
	err = durations__read_open_last(member->durations, table, remote, now);
	session__note_unread(member, err);
	return true;
}

void session_coarse__refresh(struct session *session, struct session_member *member)
{
	struct session_clock now = session_coarse__clock();

	if (member_ready(session, member, &member->target->table))
		state_read(session, member, &member->target->table, &member->target->remote, &now);
}

void session_coarse__look(struct session *session, struct session_member *member)
{
	if (member_ready(session, member, &member->target->table))
		session__note_unread(member,
				     durations__look(member->durations, &member->target->table,
						     &member->target->remote));
}

/* The last state of a process that has ended, from what its end handed in. False: it is not known
 * in full. */
static bool final_read(struct session *session, struct session_member *member)
{
	const struct tsn_final *final = &session->engine->targets[member->index].final;
	struct table *table;
	struct remains *remains;
	struct remote remote;
	bool read = false;

	if (final->state == TSN_FINAL_NONE)
		return false;
	table = malloc(sizeof(*table));
	if (!table)
		return false;
	table__copy(table, &member->table);
	table__finish(table, final);
	remains = remains__new(session->engine, member->index, table);
	if (remains && member_ready(session, member, table)) {
		remote = remains__remote(remains);
		read = state_read(session, member, table, &remote, &session->last) &&
		       durations__complete(member->durations);
	}
	remains__free(remains);
	free(table);
	return read && final->state == TSN_FINAL_COMPLETE;
}

void session_coarse__finish(struct session *session, struct session_member *member, bool gone)
{
	const struct table *table = &member->target->table;
	const struct remote *remote = &member->target->remote;
	struct session_clock now;
	int err;

	if (gone) {
		member->executions_unread =
			!final_read(session, member) && member->table.process.contexts;
		return;
	}
	now = session_coarse__clock();
	if (!member_ready(session, member, table))
		return;
	err = durations__read(member->durations, table, remote, units(session, member, &now));
	session__note_unread(member, err);
	now = middle(now, &member->spans_took_ns);
	member->spans_to_ns = now.monotonic_ns;
	err = durations__read_open_last(member->durations, table, remote,
					units(session, member, &now));
	session__note_unread(member, err);
}

double session_coarse__stretch(const struct session *session, const struct session_member *member)
{
	uint64_t from = member->spans_from_ns ? member->spans_from_ns : session->start_ns;
	uint64_t to = member->spans_to_ns ? member->spans_to_ns : session->stop_ns;

	if (to <= from || session->stop_ns <= session->start_ns)
		return 1;
	return (double)(session->stop_ns - session->start_ns) / (double)(to - from);
}

double session_coarse__unit_ns(const struct session *session, uint32_t clock)
{
	const struct session_clock *first = &session->first, *last = &session->last;

	if (clock != TSN_CLOCK_TSC || last->tsc <= first->tsc ||
	    last->monotonic_ns <= first->monotonic_ns)
		return 1;
	return (double)(last->monotonic_ns - first->monotonic_ns) /
	       (double)(last->tsc - first->tsc);
}

static void stale_add(const struct snapshot_cell *cell, uint64_t *hits, uint64_t *stale)
{
	uint64_t both = cell->cell.hits_user + cell->cell.hits_kernel;

	if (!cell->key.coarse || cell->key.role == TSN_CELL_OUTER)
		return;
	*hits += both;
	if (cell->key.role == TSN_CELL_STALE)
		*stale += both;
}

bool session_coarse__violated(const struct session *session)
{
	struct snapshot now = {0};
	const struct snapshot_cell *gone;
	uint64_t hits = 0, stale = 0;
	size_t i;

	if (!snapshot__read_cells(&now, session->engine))
		for (i = 0; i < now.cell_count; i++)
			stale_add(&now.cells[i], &hits, &stale);
	for (i = 0; (gone = cell_sums__next(&session->gone.cells, &i));)
		stale_add(gone, &hits, &stale);
	snapshot__free(&now);
	return spans__stale_violates(stale, hits);
}
