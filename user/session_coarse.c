// SPDX-License-Identifier: MIT
#include "session_coarse.h"

#include <errno.h>

#include "spans.h"

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

static uint64_t units(uint32_t clock, const struct session_clock *moment)
{
	return clock == TSN_CLOCK_TSC ? moment->tsc : moment->monotonic_ns;
}

/* Whether the member publishes durations in a clock that can be read here; makes room for them. */
static bool member_ready(struct session *session, struct session_member *member)
{
	const struct tsn_process *process = &member->target->table.process;
	struct session_clock start = session->first;

	if (!member->published || !process->durations || member->durations_failed)
		return false;
	if (process->clock == TSN_CLOCK_TSC && !session->first.tsc)
		return false;
	if (member->durations)
		return process->clock == member->clock;
	start.monotonic_ns = session->start_ns;
	member->clock = process->clock;
	member->durations = durations__new(units(member->clock, &start), &session->histograms_left);
	return member->durations;
}

void session_coarse__base(struct session *session, struct session_member *member)
{
	struct session_clock now = session_coarse__clock();

	if (!member_ready(session, member))
		return;
	/* Else what it had executed before would be taken for the session's. */
	member->durations_failed =
		durations__read_base(member->durations, &member->target->table,
				     &member->target->remote, units(member->clock, &now));
}

void session_coarse__refresh(struct session *session, struct session_member *member)
{
	struct session_clock now;
	uint64_t edge;

	if (!member_ready(session, member))
		return;
	/* What ends while it is read is not later than this. */
	now = session_coarse__clock();
	edge = units(member->clock, &now);
	if (durations__read(member->durations, &member->target->table, &member->target->remote,
			    edge))
		return;
	/* The last word if the process ends by itself. */
	durations__read_open_last(member->durations, &member->target->table,
				  &member->target->remote, edge);
}

void session_coarse__look(struct session *session, struct session_member *member)
{
	if (member_ready(session, member))
		durations__look(member->durations, &member->target->table, &member->target->remote);
}

void session_coarse__finish(struct session *session, struct session_member *member, bool gone)
{
	if (gone) {
		member->executions_unread = member->table.process.contexts != 0;
		return;
	}
	session_coarse__refresh(session, member);
	if (member_ready(session, member))
		durations__read_open_last(member->durations, &member->target->table,
					  &member->target->remote,
					  units(member->clock, &session->last));
}

double session_coarse__unit_ns(const struct session *session, const struct session_member *member)
{
	const struct session_clock *first = &session->first, *last = &session->last;

	if (member->clock != TSN_CLOCK_TSC || last->tsc <= first->tsc ||
	    last->monotonic_ns <= first->monotonic_ns)
		return 1;
	return (double)(last->monotonic_ns - first->monotonic_ns) /
	       (double)(last->tsc - first->tsc);
}

bool session_coarse__violated(const struct session *session)
{
	struct snapshot now = {0};
	uint64_t hits = 0, stale = 0;
	size_t i;

	if (!snapshot__read_cells(&now, session->engine)) {
		for (i = 0; i < now.cell_count; i++) {
			const struct tsn_cell_key *key = &now.cells[i].key;
			const struct tsn_cell *cell = &now.cells[i].cell;

			if (!key->coarse || key->role == TSN_CELL_OUTER)
				continue;
			hits += cell->hits_user + cell->hits_kernel;
			if (key->role == TSN_CELL_STALE)
				stale += cell->hits_user + cell->hits_kernel;
		}
	}
	snapshot__free(&now);
	return spans__stale_violates(stale, hits);
}
