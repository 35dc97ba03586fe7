// SPDX-License-Identifier: MIT
#include "session.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "census.h"
#include "proc.h"
#include "session_children.h"
#include "session_coarse.h"
#include "session_member.h"
#include "ticksnick.skel.h"
#include "timer.h"

#define MILLISECOND	   1000000u
#define SECOND		   1000000000u
#define LEAD_NS		   (2 * MILLISECOND) /* between hooks going live and the session's start ... */
#define LEAD_PER_THREAD_NS 40000	     /* ... so that the census is done by then */
#define LOCATE_NS	   MILLISECOND /* between looks for a table that is not there yet ... */
#define LOCATE_SLOW_NS	   (20 * MILLISECOND) /* ... and after LOCATE_HURRY_NS */
#define LOCATE_HURRY_NS	   SECOND
#define LOCATE_RENEW_NS	   (10ull * SECOND) /* an exec is in a hurry so often, in each process */
#define LOCATE_SHARE	   4		    /* they may take 1/4 of the time in a hurry ... */
#define LOCATE_SLOW_SHARE  50		    /* ... and 1/50 later */
#define EXITED_ROWS_MAX	   4096
#define LOOK_PERIOD_NS	   (SECOND / 10) /* about */
#define CALLS_PERIOD_NS	   SECOND
#define STALE_PERIOD_NS	   SECOND
#define COST_SHARE	   500	/* reading may take 1/500 of the time */
#define DURATIONS_SHARE	   1000 /* likewise, but every second if that is 1/500 at most */

/* Keeps the rows of threads that exited; their sums are in the target's totals already. */
static int take_exited(void *context, void *data, size_t size)
{
	struct session *session = context;

	if (size < sizeof(struct tsn_thread))
		return 0;
	if (session->options.follow)
		session_children__take_exited(session, data);
	else if (session->exited_rows >= EXITED_ROWS_MAX ||
		 snapshot__add_thread(&session->snapshot, data))
		session->exited_folded++;
	else
		session->exited_rows++;
	return 0;
}

/* Its only use is to wake the loop, which looks at the count of execs. */
static int take_replaced(void *context, void *data, size_t size)
{
	(void)context;
	(void)data;
	(void)size;
	return 0;
}

int session__new(const struct session_options *options, struct session **created,
		 char error[ENGINE_ERROR_SIZE])
{
	struct session *session = calloc(1, sizeof(*session));
	size_t rows = (size_t)SESSION_LEDGERS_MAX * TSN_LABELS_MAX, i;
	int err = -ENOMEM;

	snprintf(error, ENGINE_ERROR_SIZE, "out of memory");
	if (!session)
		return -ENOMEM;
	session->options = *options;
	session->origin = session_coarse__clock();
	reader__hurry_at(options->signals_fd);
	session->histograms_left = SESSION_HISTOGRAMS_MAX;
	session->slice_ns = (uint64_t)(SESSION_SLICE_PERIODS * 1e9 / options->frequency_hz);
	if (session->slice_ns < SESSION_SLICE_NS)
		session->slice_ns = SESSION_SLICE_NS;
	session->windows = windows__new();
	session->window_rows = malloc(rows * sizeof(*session->window_rows));
	if (!session->windows || !session->window_rows)
		goto free_session;
	for (i = 0; i < rows; i++)
		session->window_rows[i] = -1;
	session->window_row_count = 1;
	err = engine__new(options->follow, &session->engine, error);
	if (err)
		goto free_session;
	session->exited = ring_buffer__new(session->engine->exited_fd, take_exited, session, NULL);
	session->replaced =
		ring_buffer__new(session->engine->replaced_fd, take_replaced, session, NULL);
	if (!session->exited || !session->replaced) {
		err = -errno;
		snprintf(error, ENGINE_ERROR_SIZE, "cannot map the ring buffer: %s",
			 strerror(errno));
		goto free_session;
	}
	*created = session;
	return 0;

free_session:
	session__free(session);
	return err;
}

void session__free(struct session *session)
{
	size_t i;

	if (!session)
		return;
	reader__hurry_at(-1);
	for (i = 0; i < session->member_count; i++)
		session_member__free(session->members[i], session->members[i]->current);
	free(session->members);
	for (i = 0; i < session->ledger_count; i++)
		ledger__free(session->ledgers[i]);
	roll__free(&session->roll);
	cell_sums__free(&session->gone.cells);
	free(session->rows_waiting);
	ring_buffer__free(session->exited);
	ring_buffer__free(session->replaced);
	engine__free(session->engine);
	windows__free(session->windows);
	snapshot__free(&session->snapshot);
	free(session->window_rows);
	free(session->weights_seen);
	free(session);
}

/* ---- members ---- */

static int member_add(struct session *session, struct target *target)
{
	uint32_t index = (uint32_t)session->member_count;
	int err;

	if (index >= TSN_TARGETS_MAX)
		return -E2BIG;
	err = engine__watch(session->engine, target->pid, index);
	return err ? err : session_member__add(session, target, index, NULL);
}

int session__add(struct session *session, struct target *target)
{
	int err = member_add(session, target);

	if (err)
		target__free(target);
	return err;
}

/* Not for each of many images that come one after the other. */
static void hurry_renew(struct session *session, struct target *target)
{
	uint64_t now = engine__now();

	if (now < target->hurry_due_ns)
		return;
	target->hurry_due_ns = now + LOCATE_RENEW_NS;
	session->hurry_until_ns = now + LOCATE_HURRY_NS;
	session->locate_due_ns = now;
}

/* A new image under the same process: what was labelled so far stays with the old one. */
static int member_replace(struct session *session, struct session_member *member)
{
	struct target *target = member->target;
	uint32_t execs = session->engine->targets[member->index].execs;
	int err;

	session_member__settle(member, false);
	target__forget(target);
	hurry_renew(session, target);
	member->execs = execs;
	if (!member->published)
		return 0;
	member->calls_unread = true;
	session_coarse__finish(session, member, true);
	err = member_add(session, target);
	if (err == -E2BIG) {
		/* No room for another image: what follows is in no label. */
		member->images_lost = true;
		member->published = false;
		return 0;
	}
	if (err)
		return err;
	member->current = false;
	return 0;
}

uint64_t session__violations(const struct session_member *member, unsigned kind, const char **label)
{
	const struct tsn_violation *now = &member->table.process.violations[kind];
	/* What was registered in vain stays so, whenever that was. */
	bool lasting = kind == TSN_VIOLATION_LABELS_FULL || kind == TSN_VIOLATION_NAME;
	uint64_t before = lasting ? 0 : member->first.violations[kind].count;

	*label = NULL;
	if (!member->owned || now->count <= before)
		return 0;
	if (now->label && now->label < member->table.label_count)
		*label = member->table.labels[now->label].name;
	return now->count - before;
}

/* ---- start ---- */

static uint64_t threads_to_expect(const struct session *session)
{
	uint64_t sum = 0;
	size_t i, count;
	pid_t *tids;

	for (i = 0; i < session->member_count; i++) {
		if (proc__threads(session->members[i]->target->pid, &tids, &count))
			continue;
		free(tids);
		sum += count;
	}
	return sum;
}

static void sleep_until(uint64_t moment_ns)
{
	struct timespec moment = {(time_t)(moment_ns / SECOND), (long)(moment_ns % SECOND)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL) == EINTR)
		;
}

int session__start(struct session *session)
{
	struct timespec wall;
	size_t i;
	int err;

	for (i = 0; i < session->member_count; i++)
		session_member__locate(session, session->members[i]);
	err = session->options.follow ? session_children__start(session) : 0;
	if (err)
		return err;
	session->start_ns =
		engine__now() + LEAD_NS + threads_to_expect(session) * LEAD_PER_THREAD_NS;
	session_coarse__tell_clock(session);
	err = engine__start(session->engine, session->start_ns, session->options.frequency_hz);
	for (i = 0; i < session->member_count && !err; i++) {
		err = census__take(session->engine, session->members[i]->target,
				   session->members[i]->index);
		if (err == -ENOENT || err == -ESRCH) /* it has just ended; the loop will see */
			err = 0;
	}
	if (err)
		return err;
	session->hurry_until_ns = session->start_ns + LOCATE_HURRY_NS;
	sleep_until(session->start_ns);
	clock_gettime(CLOCK_REALTIME, &wall);
	session->start_unix_ns = (uint64_t)wall.tv_sec * SECOND + (uint64_t)wall.tv_nsec -
				 (engine__now() - session->start_ns);
	session->first = session_coarse__clock();
	session->stale_due_ns = session->start_ns + STALE_PERIOD_NS;
	for (i = 0; i < session->member_count; i++)
		session_member__base(session, session->members[i]);
	return 0;
}

/* ---- what is done again and again ---- */

static int exited_drain(struct session *session)
{
	int taken = ring_buffer__consume(session->exited);

	return taken < 0 ? taken : 0;
}

/* The row of a cell of that ledger; -1: none. */
static int window_row(struct session *session, int ledger, const struct tsn_cell_key *key)
{
	int32_t *row;

	/* What is on an outer account is on another one already. */
	if (ledger < 0 || key->fine >= TSN_LABELS_MAX || key->role == TSN_CELL_OUTER)
		return -1;
	if (!key->fine)
		return 0;
	row = &session->window_rows[ledger * TSN_LABELS_MAX + key->fine];
	if (*row < 0)
		*row = (int32_t)session->window_row_count++;
	return *row;
}

static int cell_row(struct session *session, const struct tsn_cell_key *key)
{
	const struct session_member *member =
		key->target < TSN_FOLLOWED_MAX ? session->places[key->target] : NULL;

	return member ? window_row(session, member->ledger, key) : -1;
}

/* Those that have labels; others follow when they have. */
static void ledgers_assign(struct session *session)
{
	size_t i;

	for (i = 0; i < session->member_count; i++)
		if (session->members[i]->published || !session->options.follow)
			session_member__assign(session, session->members[i]);
}

/* Adds what the cells gained since the slice before. */
static int slice_add(struct session *session)
{
	struct snapshot now = {0};
	const struct snapshot_cell *gone;
	size_t i;
	double *sum = NULL, *gain = NULL, *grown;
	int err = snapshot__read_cells(&now, session->engine), row;

	if (err)
		goto out;
	ledgers_assign(session);
	for (i = 0; i < now.cell_count; i++)
		cell_row(session, &now.cells[i].key);
	for (i = 0; (gone = cell_sums__next(&session->gone.cells, &i));)
		window_row(session, (int)gone->key.target, &gone->key);
	grown = realloc(session->weights_seen, session->window_row_count * sizeof(*grown));
	sum = calloc(session->window_row_count, sizeof(*sum));
	gain = calloc(session->window_row_count, sizeof(*gain));
	err = -ENOMEM;
	if (grown)
		session->weights_seen = grown;
	if (!grown || !sum || !gain)
		goto out;
	for (; session->weights_seen_count < session->window_row_count;
	     session->weights_seen_count++)
		grown[session->weights_seen_count] = 0;
	for (i = 0; i < now.cell_count; i++) {
		row = cell_row(session, &now.cells[i].key);
		if (row >= 0)
			sum[row] += (double)snapshot__weight_ns(&now.cells[i].cell);
	}
	for (i = 0; (gone = cell_sums__next(&session->gone.cells, &i));) {
		row = window_row(session, (int)gone->key.target, &gone->key);
		if (row >= 0)
			sum[row] += (double)snapshot__weight_ns(&gone->cell);
	}
	for (i = 0; i < session->window_row_count; i++) {
		/* Less where an image that was taken for its parent's copy proved to be none. */
		gain[i] = sum[i] > grown[i] ? sum[i] - grown[i] : 0;
		grown[i] = sum[i];
	}
	err = windows__add(session->windows, gain, session->window_row_count);
out:
	free(sum);
	free(gain);
	snapshot__free(&now);
	return err;
}

static void progress_show(struct session *session, uint64_t now)
{
	uint64_t hits = 0;
	unsigned i;

	if (!session->options.progress || now < session->progress_due_ns)
		return;
	session->progress_due_ns = now + SECOND / 2;
	for (i = 0; i < TSN_CPUS_MAX; i++)
		hits += session->engine->cpus[i].tick_runs;
	fprintf(session->options.progress,
		"\rrecording %.1f s, %" PRIu64 " ticks on the target; Ctrl-C ends it\033[K",
		(double)(now - session->start_ns) / 1e9, hits);
	fflush(session->options.progress);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t session__taken_ns(void)
{
	return engine__taken() + reader__taken_ns();
}

/* When to read next, so that reading stays a small part of the time. began_ns: session__taken_ns()
 * before this one. */
static uint64_t due_after(uint64_t began_ns, uint64_t period_ns)
{
	uint64_t now = engine__now(), fair = (session__taken_ns() - began_ns) * COST_SHARE;

	return now + (fair > period_ns ? fair : period_ns);
}

static bool violated(struct session *session, uint64_t now)
{
	bool coarse = false, stale;
	uint64_t began;
	size_t i;

	if (session->gone.violated)
		return true;
	for (i = 0; i < session->member_count; i++) {
		const struct session_member *member = session->members[i];

		if (session_member__violates(member))
			return true;
		coarse |= member->table.process.contexts != 0;
	}
	if (!coarse || now < session->stale_due_ns)
		return false;
	began = session__taken_ns();
	stale = session_coarse__violated(session);
	session->stale_due_ns = due_after(began, STALE_PERIOD_NS);
	return stale;
}

/* How many executions of each label are open at once, and from which threads. */
static void pools_look(struct session *session, uint64_t now)
{
	const uint64_t began = session__taken_ns();
	size_t i;

	if (now < session->pools_due_ns)
		return;
	for (i = 0; i < session->member_count; i++)
		if (session->members[i]->current && session->members[i]->owned)
			session_coarse__look(session, session->members[i]);
	session->pools_due_ns = due_after(began, 0);
}

/* As often as is cheap, since what comes after the last reading of a process that ends is lost; at
 * least every second, if that is not dear. */
static void durations_look(struct session *session, uint64_t now)
{
	uint64_t took = session__taken_ns();
	size_t i;

	if (now < session->durations_due_ns)
		return;
	for (i = 0; i < session->member_count; i++)
		if (session->members[i]->current && session->members[i]->owned)
			session_coarse__refresh(session, session->members[i]);
	took = session__taken_ns() - took;
	session->durations_due_ns = now + earlier(took * DURATIONS_SHARE, SECOND);
	if (took * COST_SHARE > SECOND)
		session->durations_due_ns = now + took * COST_SHARE;
}

/* A new period for the timers, and the window that ends here. */
static int slice(struct session *session, uint64_t now)
{
	uint64_t began;
	int err = 0;

	timer__redraw(session->engine->timer, now);
	/* The next one comes after 75% to 125% of the mean. */
	session->slice_until_ns =
		now + session->slice_ns * 3 / 4 +
		(uint64_t)((double)random() / RAND_MAX * (double)session->slice_ns / 2);
	pools_look(session, now);
	/* The maps are read where a window ends; they hold sums, so nothing is missing in between.
	 */
	if (windows__left(session->windows) > 1) {
		err = windows__add(session->windows, NULL, 0);
	} else if (now >= session->cells_due_ns) {
		began = session__taken_ns();
		err = slice_add(session);
		session->cells_due_ns = due_after(began, 0);
	}
	return err;
}

/* What the targets have published since, and which of their threads have exited. */
static int look(struct session *session, uint64_t now)
{
	bool calls = now >= session->calls_due_ns;
	const uint64_t began = session__taken_ns();
	size_t i;

	for (i = 0; i < session->member_count; i++)
		if (session->members[i]->current && !target__gone(session->members[i]->target))
			session_member__refresh(session, session->members[i], calls);
	if (calls)
		session->calls_due_ns = due_after(began, CALLS_PERIOD_NS);
	durations_look(session, engine__now());
	session->look_due_ns = now + LOOK_PERIOD_NS * 3 / 2;
	return exited_drain(session);
}

/* Looks after images that were replaced and tables that were not there yet. *waiting: some still
 * are not. */
static int members_look(struct session *session, bool *waiting, bool *all_gone)
{
	uint64_t began = engine__now(), now;
	bool due = began >= session->locate_due_ns, hurry = began < session->hurry_until_ns;
	size_t i, count = session->member_count;
	int err = 0;

	*waiting = false;
	if (session->options.follow)
		return session_children__look(session, all_gone);
	*all_gone = true;
	for (i = 0; i < count && !err; i++) {
		struct session_member *member = session->members[i];

		if (!member->current)
			continue;
		if (session->engine->targets[member->index].execs != member->execs) {
			err = member_replace(session, member);
			if (!member->current)
				member = session->members[session->member_count - 1];
		}
		/* What has its pid once it has ended is another process. */
		if (target__gone(member->target))
			continue;
		*all_gone = false;
		if (!member->published && !member->images_lost && due)
			session_member__locate(session, member);
		*waiting |= !member->published && !member->images_lost;
	}
	if (due && *waiting) {
		now = engine__now();
		session->locate_due_ns =
			now + later(hurry ? LOCATE_NS : LOCATE_SLOW_NS,
				    (now - began) * (hurry ? LOCATE_SHARE : LOCATE_SLOW_SHARE));
	}
	return err;
}

/* ---- the loop ---- */

/* Waits until moment, a signal, an exec, or the end of a target; where children are followed, for
 * the last two no sooner than their next look may be. True: a signal came. */
static bool wait_until(const struct session *session, uint64_t moment_ns)
{
	struct pollfd watched[TSN_FOLLOWED_MAX + 2];
	uint64_t now = engine__now();
	struct timespec left = {0};
	bool quiet = session->options.follow && now < session->children_due_ns;
	nfds_t n = 0;
	size_t i;

	if (quiet)
		moment_ns = earlier(moment_ns, session->children_due_ns);
	if (moment_ns > now) {
		left.tv_sec = (time_t)((moment_ns - now) / SECOND);
		left.tv_nsec = (long)((moment_ns - now) % SECOND);
	}
	watched[n++] = (struct pollfd){.fd = session->options.signals_fd, .events = POLLIN};
	if (!quiet)
		watched[n++] = (struct pollfd){.fd = ring_buffer__epoll_fd(session->replaced),
					       .events = POLLIN};
	for (i = 0; i < session->member_count && !quiet; i++) {
		const struct session_member *member = session->members[i];

		/* The end of one that is followed is taken in the next look. */
		if (member->current && (session->options.follow || !target__gone(member->target)))
			watched[n++] =
				(struct pollfd){.fd = member->target->pidfd, .events = POLLIN};
	}
	ppoll(watched, n, &left, NULL);
	if (!quiet && watched[1].revents & POLLIN)
		ring_buffer__consume(session->replaced);
	return watched[0].revents & POLLIN;
}

int session__run(struct session *session)
{
	uint64_t end = session->options.duration_ns
			       ? session->start_ns + session->options.duration_ns
			       : UINT64_MAX;
	uint64_t now = session->start_ns, next;
	bool waiting, all_gone;
	int err;

	srandom((unsigned)session->start_unix_ns);
	for (;;) {
		err = members_look(session, &waiting, &all_gone);
		now = engine__now();
		session_coarse__tell_clock(session);
		if (!err && now >= session->slice_until_ns) {
			err = slice(session, now);
			/* One awakening for both, where they are near. */
			if (now + LOOK_PERIOD_NS / 2 >= session->look_due_ns)
				session->look_due_ns = now;
		}
		if (!err && now >= session->look_due_ns)
			err = look(session, now);
		if (err)
			return err;
		progress_show(session, now);
		if (session->options.strict && violated(session, now)) {
			session->ended_by = SESSION_ENDED_BY_VIOLATION;
			return 0;
		}
		if (all_gone) {
			session->ended_by = SESSION_ENDED_BY_TARGET;
			return 0;
		}
		if (now >= end) {
			session->ended_by = SESSION_ENDED_BY_DURATION;
			return 0;
		}
		next = earlier(end, earlier(session->slice_until_ns, session->look_due_ns));
		if (waiting)
			next = earlier(next, session->locate_due_ns);
		if (session->options.follow)
			next = earlier(next, session_children__due(session));
		if (wait_until(session, next)) {
			session->ended_by = SESSION_ENDED_BY_SIGNAL;
			return 0;
		}
	}
}

/* ---- stop ---- */

/* Cells are of ledgers from now on, and those of members that have ended are among them. */
static int ledgers_settle(struct session *session)
{
	struct snapshot *snapshot = &session->snapshot;
	const struct snapshot_cell *gone;
	size_t i, left = 0;
	int err = 0;

	for (i = 0; i < snapshot->cell_count; i++) {
		struct snapshot_cell *cell = &snapshot->cells[i];
		const struct session_member *member = cell->key.target < TSN_FOLLOWED_MAX
							      ? session->places[cell->key.target]
							      : NULL;

		if (!member || member->left_out || member->ledger < 0)
			continue;
		cell->key.target = (uint32_t)member->ledger;
		snapshot->cells[left++] = *cell;
	}
	snapshot->cell_count = left;
	for (i = 0; (gone = cell_sums__next(&session->gone.cells, &i)) && !err;)
		err = snapshot__add_cell(snapshot, &gone->key, &gone->cell);
	for (i = 0; i < session->member_count && !err; i++)
		if (!session->members[i]->left_out && session->members[i]->ledger >= 0)
			err = session_member__enter(session, session->members[i], session->stop_ns);
	return err;
}

/* The last reading of each member. 0 or a negative errno. */
static int members_finish(struct session *session)
{
	size_t i;

	if (session->options.follow)
		return session_children__stop(session);
	for (i = 0; i < session->member_count; i++)
		if (session->members[i]->current) {
			bool gone = target__gone(session->members[i]->target);

			if (!gone)
				target__identify(session->members[i]->target);
			session_member__finish(session, session->members[i], gone);
		}
	return 0;
}

int session__stop(struct session *session)
{
	struct session_clock last = session_coarse__clock();
	uint64_t stop = last.monotonic_ns;
	int err;

	/* At once: what happens until then is in the maps, though not in the duration. */
	engine__stop(session->engine, stop);
	session->ticks_expected = timer__expected(session->engine->timer, stop);
	session->stop_ns = stop;
	session->last = last;
	if (session->options.progress) {
		fputs("\r\033[K", session->options.progress);
		fflush(session->options.progress);
	}
	err = exited_drain(session);
	if (!err)
		err = members_finish(session);
	if (!err)
		err = slice_add(session);
	if (!err)
		err = snapshot__read_cells(&session->snapshot, session->engine);
	if (!err)
		err = snapshot__read_threads(&session->snapshot, session->engine);
	if (!err)
		err = snapshot__close(&session->snapshot, session->exited_rows, session->start_ns,
				      stop, &session->lost_wait_ns);
	if (!err && session->options.follow)
		session_children__settle(session);
	return err ? err : ledgers_settle(session);
}
