// SPDX-License-Identifier: MIT
#include "session_children.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "proc.h"
#include "session_member.h"

#define MILLISECOND	    1000000u
#define LOOK_MIN_NS	    MILLISECOND
#define LOOK_SHARE	    3 /* between two looks, so many times as long as one takes */
#define LOCATE_WAIT_MAX_NS  (1000 * MILLISECOND)
#define REFRESH_WAIT_MAX_NS (100 * MILLISECOND)
#define ROWS_MAX	    4096
#define MMAP_THRESHOLD	    65536 /* bytes; less than a member, a table, or what durations take */

/* ---- members ---- */

static struct tsn_target *shared_of(const struct session *session,
				    const struct session_member *member)
{
	return &session->engine->targets[member->index];
}

static uint32_t state_of(const struct session *session, uint32_t index)
{
	return __atomic_load_n(&session->engine->targets[index].state, __ATOMIC_ACQUIRE);
}

static int process_enter(struct session *session, struct session_member *member)
{
	member->process = roll__enter(&session->roll, member->target->pid);
	return member->process ? 0 : -ENOMEM;
}

int session_children__start(struct session *session)
{
	uint32_t index;
	size_t i;

	/* Members are large, and mostly never touched: no memory for that of others to be zeroed.
	 */
	mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
	session->rows_waiting = calloc(ROWS_MAX, sizeof(*session->rows_waiting));
	if (!session->rows_waiting)
		return -ENOMEM;
	for (i = 0; i < session->member_count; i++) {
		struct session_member *member = session->members[i];
		struct tsn_target *shared = shared_of(session, member);

		member->serial = shared->serial = ++session->engine->control->serials;
		shared->own_pid = member->target->own_pid;
		shared->seen_pid = (uint32_t)member->target->pid;
		shared->state = TSN_TARGET_LIVE;
		if (process_enter(session, member))
			return -ENOMEM;
		member->process->thread_id = member->target->thread_id;
	}
	for (index = 0; index < session->engine->target_max; index++)
		if (!session->places[index])
			engine__release(session->engine, index);
	return 0;
}

/* The member that forked the new one, or that it replaced; NULL: not known any more. */
static struct session_member *origin_of(const struct session *session,
					const struct tsn_target *shared)
{
	struct session_member *from =
		shared->from < TSN_FOLLOWED_MAX ? session->places[shared->from] : NULL;

	return from && from->serial == shared->from_serial ? from : NULL;
}

/* Whoever it is, one whose origin is not known is some member's relative. */
static const struct target *any_of(const struct session *session)
{
	return session->member_count ? session->members[0]->target : NULL;
}

/*
 * Whose end is watched; -1: it has ended, or cannot be watched, which is counted. Its id may be
 * that of another process by now.
 */
static int watch(const struct session *session, uint32_t index)
{
	const struct tsn_target *shared = &session->engine->targets[index];
	int pidfd = (int)syscall(SYS_pidfd_open, (pid_t)shared->seen_pid, 0);

	if (pidfd < 0 && errno != ESRCH && errno != EINVAL)
		__atomic_fetch_add(&session->engine->control->counters[TSN_COUNT_PROCESS_UNTRACKED],
				   1, __ATOMIC_RELAXED);
	if (pidfd < 0 || engine__holds(session->engine, index))
		return pidfd;
	close(pidfd);
	return -1;
}

/* Makes a member of what a hook has put into a place. */
static int adopt(struct session *session, uint32_t index)
{
	struct tsn_target *shared = &session->engine->targets[index];
	struct session_member *from = origin_of(session, shared), *member;
	bool copied = shared->forked && shared->ready && from;
	char comm[sizeof(shared->comm) + 1] = "";
	struct target_news news = {
		.pid = (pid_t)shared->seen_pid,
		.own_pid = shared->own_pid,
		.comm = comm,
		.original = shared->forked && from ? from->target : NULL,
		.relative = from ? from->target : any_of(session),
	};
	struct target *target;
	int err;

	/* It forked before its labels were looked for, and the fork hook has found them. */
	if (copied && !from->published)
		session_member__locate(session, from);
	copied = copied && from->published;
	memcpy(comm, shared->comm, sizeof(shared->comm));
	news.located = copied;
	news.pidfd = watch(session, index);
	target = target__follow(&news);
	if (!target)
		return -ENOMEM;
	err = session_member__add(session, target, index, &member);
	if (err) {
		target__free(target);
		return err;
	}
	member->serial = shared->serial;
	member->owned = false;
	if (copied) {
		table__copy(&member->table, &target->table);
		member->published = true;
		session_member__clock(session, member);
		member->refresh_wait_ns = REFRESH_WAIT_MAX_NS + 1; /* it has them all */
	}
	if (!shared->forked && from) {
		member->process = from->process;
		return 0;
	}
	return process_enter(session, member);
}

static int by_serial(const void *a, const void *b)
{
	const struct tsn_target *x = *(const struct tsn_target *const *)a;
	const struct tsn_target *y = *(const struct tsn_target *const *)b;

	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* In the order they came, so that a parent is there before its children. */
static int adopt_all(struct session *session, size_t *adopted)
{
	struct tsn_target *fresh[TSN_FOLLOWED_MAX];
	uint32_t index;
	size_t n = 0, i;
	int err = 0;

	for (index = 0; index < session->engine->target_max; index++)
		if (!session->places[index] && state_of(session, index) != TSN_TARGET_FREE)
			fresh[n++] = &session->engine->targets[index];
	qsort(fresh, n, sizeof(fresh[0]), by_serial);
	for (i = 0; i < n && !err; i++)
		err = adopt(session, (uint32_t)(fresh[i] - session->engine->targets));
	*adopted = n;
	return err;
}

/* ---- what becomes of a member that is over ---- */

static bool called(const struct session_member *member)
{
	uint32_t id;

	for (id = 1; id < TSN_LABELS_MAX; id++)
		if (member->last.calls[id] > member->base.calls[id])
			return true;
	return false;
}

static bool replaced(const struct session *session, const struct session_member *member)
{
	return state_of(session, member->index) == TSN_TARGET_REPLACED;
}

/* After its last reading. Decides whether it is in the report, and gives it a ledger if so. */
static int judge(struct session *session, struct session_member *member, bool gone)
{
	const struct tsn_target *shared = shared_of(session, member);
	struct roll_facts facts = {
		.copied = shared->forked && member->published,
		.owned = member->owned && (member->published || member->images_lost),
		.looked_at = member->looked_at || !gone,
		.told = shared->calls_final != 0,
		.replaced = replaced(session, member),
		.used = member->labelled || called(member),
	};
	enum roll_fate fate = roll__judge(&facts);

	if (fate == ROLL_KEPT && !session_member__assign(session, member))
		fate = ROLL_UNREAD;
	member->left_out = fate != ROLL_KEPT;
	return roll__image(member->process, fate, member->serial, member->target->comm,
			   member->target->exe, member->target->build_id);
}

/* What it is called now, or was at its end. */
static void comm_read(struct session *session, struct session_member *member, bool gone)
{
	char comm[sizeof(((struct tsn_target *)0)->comm) + 1] = "", *copy;

	memcpy(comm, shared_of(session, member)->comm, sizeof(comm) - 1);
	copy = gone ? strdup(comm) : proc__comm(member->target->pid, 0);
	if (!copy || !*copy) {
		free(copy);
		return;
	}
	free(member->target->comm);
	member->target->comm = copy;
}

/* ---- exited threads ---- */

void session_children__take_exited(struct session *session, const struct tsn_thread *thread)
{
	if (session->exited_rows + session->rows_waiting_count < ROWS_MAX)
		session->rows_waiting[session->rows_waiting_count++] = *thread;
}

/* Its process is called there as here: when the row is shown, there may be no member any more. */
static void seen_name(struct tsn_thread *thread, const struct session_member *member)
{
	thread->tgid = (uint32_t)member->target->pid;
}

static int row_add(struct session *session, const struct tsn_thread *thread,
		   const struct session_member *member)
{
	struct tsn_thread row = *thread;

	seen_name(&row, member);
	session->exited_rows++;
	return snapshot__add_thread(&session->snapshot, &row);
}

/* Those of members that are over become rows, or are dropped with them. */
static int rows_decide(struct session *session)
{
	size_t i, left = 0;
	int err = 0;

	for (i = 0; i < session->rows_waiting_count && !err; i++) {
		const struct tsn_thread *row = &session->rows_waiting[i];
		struct session_member *member =
			row->target < TSN_FOLLOWED_MAX ? session->places[row->target] : NULL;

		/* Without a member it is of a process that is to be adopted yet. */
		if (!member || !member->ended) {
			session->rows_waiting[left++] = *row;
			continue;
		}
		if (member->left_out)
			continue;
		err = row_add(session, row, member);
		member->rows++;
	}
	session->rows_waiting_count = left;
	return err;
}

/* ---- members that are over, while the session goes on ---- */

static bool over(const struct session_member *member)
{
	return member && member->ended;
}

static void cell_drop(struct session_gone *gone, const struct snapshot_cell *cell)
{
	uint64_t hits = cell->cell.hits_user + cell->cell.hits_kernel;

	/* Waiting is one charge at least; a cell does not say how many. */
	gone->full += hits ? hits : 1;
	if (cell->key.role == TSN_CELL_OUTER)
		return;
	gone->full_hits += hits;
	gone->full_wait_ns += cell->cell.runnable_ns + cell->cell.blocked_ns + cell->cell.io_ns;
}

/* Takes their cells out of the kernel's table. */
static int cells_take(struct session *session, const struct snapshot *cells)
{
	size_t i;
	int err = 0;

	for (i = 0; i < cells->cell_count && !err; i++) {
		struct tsn_cell_key key = cells->cells[i].key;
		struct session_member *member =
			key.target < TSN_FOLLOWED_MAX ? session->places[key.target] : NULL;

		if (!over(member))
			continue;
		bpf_map_delete_elem(session->engine->cells_fd, &key);
		if (member->left_out)
			continue;
		key.target = (uint32_t)member->ledger;
		err = cell_sums__add(&session->gone.cells, &key, &cells->cells[i].cell);
		if (err == -ENOSPC) {
			cell_drop(&session->gone, &cells->cells[i]);
			err = 0;
		}
	}
	return err;
}

static void labelled_mark(struct session *session, const struct snapshot *cells)
{
	size_t i;

	for (i = 0; i < cells->cell_count; i++) {
		const struct tsn_cell_key *key = &cells->cells[i].key;

		if (key->target < TSN_FOLLOWED_MAX && session->places[key->target] &&
		    (key->fine || key->coarse))
			session->places[key->target]->labelled = true;
	}
}

/* The sums of the threads that exited: all of them, or all but those that are left out. */
static void totals_take(struct session *session, struct session_member *member)
{
	const struct tsn_target *shared = shared_of(session, member);

	if (member->left_out)
		return;
	session->gone.running_ns += shared->exited_running_ns;
	session->gone.stolen_ns += shared->exited_stolen_ns;
	session->gone.weight_square_sum += shared->weight_square_sum;
	if (shared->exited_threads > member->rows)
		session->exited_folded += shared->exited_threads - member->rows;
	session->gone.violated |= session_member__violates(member);
}

/* Room for pieces of those that end later, behind the oldest that is still to be read. */
static void pieces_release(struct session *session)
{
	struct tsn_control *control = session->engine->control;
	uint64_t taken = __atomic_load_n(&control->pieces, __ATOMIC_ACQUIRE);
	uint64_t done = control->pieces_done, end = taken;

	/* Beyond these there was no room. */
	if (taken - done > TSN_PIECES_MAX)
		end = done + TSN_PIECES_MAX;
	while (done < end) {
		const struct tsn_piece *piece = &session->engine->pieces[done % TSN_PIECES_MAX];

		/* Its place still is its process's, which may not even be a member yet. */
		if (piece->target < TSN_FOLLOWED_MAX &&
		    (uint32_t)session->engine->targets[piece->target].serial == piece->serial)
			break;
		done++;
	}
	__atomic_store_n(&control->pieces_done, done == end ? taken : done, __ATOMIC_RELEASE);
}

static void member_remove(struct session *session, size_t at)
{
	struct session_member *member = session->members[at];

	if (!replaced(session, member))
		roll__leave(&session->roll, member->process, member->target->comm);
	session->places[member->index] = NULL;
	engine__release(session->engine, member->index);
	session_member__free(member, true);
	session->members[at] = session->members[--session->member_count];
}

/* Adds up those that are over and gives their places away. */
static int reap(struct session *session)
{
	struct snapshot cells = {0};
	uint64_t now = engine__now();
	int err, taken;
	size_t i;

	taken = ring_buffer__consume(session->exited);
	err = taken < 0 ? taken : snapshot__read_cells(&cells, session->engine);
	if (!err)
		labelled_mark(session, &cells);
	for (i = 0; i < session->member_count && !err; i++) {
		struct session_member *member = session->members[i];

		if (!member->ended)
			continue;
		comm_read(session, member, true);
		session_member__finish(session, member, true);
		err = judge(session, member, true);
		if (!err && !member->left_out)
			err = session_member__enter(session, member, now);
	}
	if (!err)
		err = rows_decide(session);
	if (!err)
		err = cells_take(session, &cells);
	for (i = session->member_count; i-- && !err;) {
		if (!session->members[i]->ended)
			continue;
		totals_take(session, session->members[i]);
		member_remove(session, i);
	}
	snapshot__free(&cells);
	if (!err)
		pieces_release(session);
	return err;
}

/* ---- looks ---- */

/* Labels that a program registers as it starts come one by one. */
static void young_refresh(struct session *session, struct session_member *member, uint64_t now)
{
	if (!member->published || now < member->refresh_due_ns ||
	    member->refresh_wait_ns > REFRESH_WAIT_MAX_NS)
		return;
	member->refresh_wait_ns =
		member->refresh_wait_ns ? 2 * member->refresh_wait_ns : LOOK_MIN_NS;
	member->refresh_due_ns = now + member->refresh_wait_ns;
	session_member__refresh(session, member, false);
}

/* Its slots may come at any time, but in a program without labels never. */
static void locate(struct session *session, struct session_member *member, uint64_t now)
{
	if (member->published || member->images_lost || now < member->locate_due_ns)
		return;
	session_member__locate(session, member);
	member->locate_wait_ns = member->locate_wait_ns * 5 / 4 + MILLISECOND / 4;
	if (member->locate_wait_ns > LOCATE_WAIT_MAX_NS)
		member->locate_wait_ns = LOCATE_WAIT_MAX_NS;
	member->locate_due_ns = now + member->locate_wait_ns;
}

/* There was no place for its next image: what follows is in no label. */
static void execs_look(struct session *session, struct session_member *member)
{
	if (shared_of(session, member)->execs == member->execs)
		return;
	member->execs = shared_of(session, member)->execs;
	if (!member->published)
		return;
	session_member__finish(session, member, true);
	member->calls_unread = true;
	member->images_lost = true;
	member->published = false;
}

int session_children__look(struct session *session, bool *all_gone)
{
	const uint64_t began = session__taken_ns();
	uint64_t now = engine__now();
	size_t ended = 0, adopted, i;
	int err;

	*all_gone = false;
	if (now < session->children_due_ns)
		return 0;
	ring_buffer__consume(session->replaced);
	__atomic_store_n(&session->engine->control->news, 0, __ATOMIC_SEQ_CST);
	/* Before the look for new ones: so whatever these have forked is among those, and none goes
	 * before its children are there. */
	for (i = 0; i < session->member_count; i++) {
		struct session_member *member = session->members[i];

		member->ended = replaced(session, member) || target__gone(member->target);
		ended += member->ended;
	}
	err = adopt_all(session, &adopted);
	for (i = 0; i < session->member_count && !err; i++) {
		struct session_member *member = session->members[i];

		if (member->ended)
			continue;
		execs_look(session, member);
		locate(session, member, now);
		young_refresh(session, member, now);
	}
	if (!err && ended)
		err = reap(session);
	*all_gone = !session->member_count;
	session->children_due_ns = engine__now() + LOOK_SHARE * (session__taken_ns() - began);
	if (session->children_due_ns < now + LOOK_MIN_NS)
		session->children_due_ns = now + LOOK_MIN_NS;
	return err;
}

uint64_t session_children__due(const struct session *session)
{
	uint64_t due = UINT64_MAX;
	size_t i;

	for (i = 0; i < session->member_count; i++) {
		const struct session_member *member = session->members[i];

		if (!member->published && !member->images_lost && member->locate_due_ns < due)
			due = member->locate_due_ns;
		if (member->published && member->refresh_wait_ns <= REFRESH_WAIT_MAX_NS &&
		    member->refresh_due_ns < due)
			due = member->refresh_due_ns;
	}
	return due > session->children_due_ns ? due : session->children_due_ns;
}

/* ---- the end ---- */

int session_children__stop(struct session *session)
{
	struct snapshot cells = {0};
	size_t adopted, i;
	int err = adopt_all(session, &adopted);

	if (!err)
		err = snapshot__read_cells(&cells, session->engine);
	labelled_mark(session, &cells);
	snapshot__free(&cells);
	for (i = 0; i < session->member_count && !err; i++) {
		struct session_member *member = session->members[i];
		bool gone = replaced(session, member) || target__gone(member->target);

		if (!gone && !member->published)
			session_member__locate(session, member);
		comm_read(session, member, gone);
		session_member__finish(session, member, gone);
		err = judge(session, member, gone);
		member->ended = true;
	}
	return err ? err : rows_decide(session);
}

void session_children__settle(struct session *session)
{
	struct snapshot *snapshot = &session->snapshot;
	size_t i, left = session->exited_rows;

	for (i = left; i < snapshot->thread_count; i++) {
		struct tsn_thread *thread = &snapshot->threads[i];
		const struct session_member *member =
			thread->target < TSN_FOLLOWED_MAX ? session->places[thread->target] : NULL;

		/* One whose exit fired no event is still there when its place has another process.
		 */
		if (!member || shared_of(session, member)->tgid != thread->tgid) {
			session->engine->control->counters[TSN_COUNT_THREAD_UNTRACKED]++;
			continue;
		}
		if (member->left_out)
			continue;
		seen_name(thread, member);
		snapshot->threads[left++] = *thread;
	}
	snapshot->thread_count = left;
	for (i = 0; i < session->member_count; i++) {
		struct session_member *member = session->members[i];

		totals_take(session, member);
		if (!replaced(session, member))
			roll__leave(&session->roll, member->process, member->target->comm);
	}
}

uint64_t session_children__kept(const struct session *session)
{
	return session->roll.kept_ever;
}
