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
#include "remains.h"
#include "session_coarse.h"
#include "ticksnick.skel.h"
#include "timer.h"

#define MILLISECOND	   1000000u
#define SECOND		   1000000000u
#define LEAD_NS		   (2 * MILLISECOND) /* between hooks going live and the session's start ... */
#define LEAD_PER_THREAD_NS 40000	     /* ... so that the census is done by then */
#define LOCATE_NS	   MILLISECOND /* between looks for a table that is not there yet ... */
#define LOCATE_SLOW_NS	   (20 * MILLISECOND) /* ... and after LOCATE_HURRY_NS */
#define LOCATE_HURRY_NS	   SECOND
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
	if (session->exited_rows >= EXITED_ROWS_MAX ||
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
	size_t rows = (size_t)TSN_TARGETS_MAX * TSN_LABELS_MAX, i;
	int err = -ENOMEM;

	snprintf(error, ENGINE_ERROR_SIZE, "out of memory");
	if (!session)
		return -ENOMEM;
	session->options = *options;
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
	err = engine__new(&session->engine, error);
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
	for (i = 0; i < session->member_count; i++) {
		if (session->members[i]->current)
			target__free(session->members[i]->target);
		durations__free(session->members[i]->durations);
		free(session->members[i]);
	}
	free(session->members);
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
	struct session_member *member, **grown;
	int err;

	if (session->member_count >= TSN_TARGETS_MAX)
		return -E2BIG;
	grown = realloc(session->members, (session->member_count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	session->members = grown;
	member = calloc(1, sizeof(*member));
	if (!member)
		return -ENOMEM;
	member->target = target;
	member->index = (uint32_t)session->member_count;
	err = engine__watch(session->engine, target->pid, member->index);
	if (err) {
		free(member);
		return err;
	}
	member->current = true;
	grown[session->member_count++] = member;
	return 0;
}

int session__add(struct session *session, struct target *target)
{
	int err = member_add(session, target);

	if (err)
		target__free(target);
	return err;
}

/* Tells the programs where the slots are. */
static void member_publish(struct session *session, struct session_member *member)
{
	struct tsn_target *shared = &session->engine->targets[member->index];
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
	__atomic_store_n(&shared->ready, 1, __ATOMIC_SEQ_CST);
	member->published = true;
}

static void member_locate(struct session *session, struct session_member *member)
{
	if (!target__locate(member->target)) {
		/* An image keeps its clock: what it unshares is for its children. */
		session->engine->targets[member->index].clock_offset =
			proc__clock_offset(member->target->pid);
		member_publish(session, member);
		member->table = member->target->table;
	}
}

/* The calls before the session began; a table that comes into being later has none. */
static void member_base(struct session *session, struct session_member *member)
{
	int err;

	if (!member->published)
		return;
	err = table__read_calls(&member->target->table, &member->target->remote, &member->base);
	member->base_known = !err || err == -EAGAIN;
	if (!member->base_known)
		return;
	member->table = member->target->table;
	member->first = member->table.process;
	member->last = member->base;
	member->calls_known = true;
	session_coarse__base(session, member);
}

/* Reads names, violations and, if asked, calls. */
static void member_refresh(struct session *session, struct session_member *member, bool calls)
{
	struct target *target = member->target;
	int err;

	if (!member->published)
		return;
	if (calls) {
		err = table__read_calls(&target->table, &target->remote, &member->last);
		member->calls_known |= !err || err == -EAGAIN;
	} else {
		err = table__refresh(&target->table, &target->remote);
	}
	if (err && err != -EAGAIN)
		return;
	member->table = target->table;
	member_publish(session, member);
}

/* A new image under the same process: what was labelled so far stays with the old one. */
static int member_replace(struct session *session, struct session_member *member)
{
	struct target *target = member->target;
	uint32_t execs = session->engine->targets[member->index].execs;
	int err;

	target__forget(target);
	session->hurry_until_ns = engine__now() + LOCATE_HURRY_NS;
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
	if (now->count <= before)
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
		member_locate(session, session->members[i]);
	session->start_ns =
		engine__now() + LEAD_NS + threads_to_expect(session) * LEAD_PER_THREAD_NS;
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
		member_base(session, session->members[i]);
	return 0;
}

/* ---- what is done again and again ---- */

static int exited_drain(struct session *session)
{
	int taken = ring_buffer__consume(session->exited);

	return taken < 0 ? taken : 0;
}

static int window_row(struct session *session, const struct tsn_cell_key *key)
{
	int32_t *row;

	/* What is on an outer account is on another one already. */
	if (key->target >= TSN_TARGETS_MAX || key->fine >= TSN_LABELS_MAX ||
	    key->role == TSN_CELL_OUTER)
		return -1;
	if (!key->fine)
		return 0;
	row = &session->window_rows[key->target * TSN_LABELS_MAX + key->fine];
	if (*row < 0)
		*row = (int32_t)session->window_row_count++;
	return *row;
}

/* Adds what the cells gained since the slice before. */
static int slice_add(struct session *session)
{
	struct snapshot now = {0};
	size_t i;
	double *sum = NULL, *gain = NULL, *grown;
	int err = snapshot__read_cells(&now, session->engine);

	if (err)
		goto out;
	for (i = 0; i < now.cell_count; i++)
		window_row(session, &now.cells[i].key);
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
		int row = window_row(session, &now.cells[i].key);

		if (row >= 0)
			sum[row] += (double)(now.cells[i].cell.weight_user_ns +
					     now.cells[i].cell.weight_kernel_ns);
	}
	for (i = 0; i < session->window_row_count; i++) {
		gain[i] = sum[i] - grown[i];
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

/* What this thread has taken of a CPU so far, ns: what others make it wait for is no cost. */
static uint64_t taken_ns(void)
{
	struct timespec taken;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &taken);
	return (uint64_t)taken.tv_sec * SECOND + (uint64_t)taken.tv_nsec;
}

/* When to read next, so that reading stays a small part of the time. began_ns: taken_ns() before
 * this one. */
static uint64_t due_after(uint64_t began_ns, uint64_t period_ns)
{
	uint64_t now = engine__now(), fair = (taken_ns() - began_ns) * COST_SHARE;

	return now + (fair > period_ns ? fair : period_ns);
}

static bool violated(struct session *session, uint64_t now)
{
	const char *label;
	bool coarse = false, stale;
	uint64_t began;
	size_t i;

	for (i = 0; i < session->member_count; i++) {
		const struct session_member *member = session->members[i];

		if (session__violations(member, TSN_VIOLATION_LEAK, &label) ||
		    session__violations(member, TSN_VIOLATION_MISMATCH, &label))
			return true;
		coarse |= member->table.process.contexts != 0;
	}
	if (!coarse || now < session->stale_due_ns)
		return false;
	began = taken_ns();
	stale = session_coarse__violated(session);
	session->stale_due_ns = due_after(began, STALE_PERIOD_NS);
	return stale;
}

/* How many executions of each label are open at once, and from which threads. */
static void pools_look(struct session *session, uint64_t now)
{
	const uint64_t began = taken_ns();
	size_t i;

	if (now < session->pools_due_ns)
		return;
	for (i = 0; i < session->member_count; i++)
		if (session->members[i]->current)
			session_coarse__look(session, session->members[i]);
	session->pools_due_ns = due_after(began, 0);
}

/* As often as is cheap, since what comes after the last reading of a process that ends is lost; at
 * least every second, if that is not dear. */
static void durations_look(struct session *session, uint64_t now)
{
	uint64_t took = taken_ns();
	size_t i;

	if (now < session->durations_due_ns)
		return;
	for (i = 0; i < session->member_count; i++)
		if (session->members[i]->current)
			session_coarse__refresh(session, session->members[i]);
	took = taken_ns() - took;
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
		began = taken_ns();
		err = slice_add(session);
		session->cells_due_ns = due_after(began, 0);
	}
	return err;
}

/* What the targets have published since, and which of their threads have exited. */
static int look(struct session *session, uint64_t now)
{
	bool calls = now >= session->calls_due_ns;
	const uint64_t began = taken_ns();
	size_t i;

	for (i = 0; i < session->member_count; i++)
		if (session->members[i]->current && !target__gone(session->members[i]->target))
			member_refresh(session, session->members[i], calls);
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
	size_t i, count = session->member_count;
	int err = 0;

	*waiting = false;
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
		if (!member->published && !member->images_lost)
			member_locate(session, member);
		*waiting |= !member->published && !member->images_lost;
	}
	return err;
}

/* ---- the loop ---- */

/* Waits until moment, a signal, an exec, or the end of a target. True: a signal came. */
static bool wait_until(const struct session *session, uint64_t moment_ns)
{
	struct pollfd watched[TSN_TARGETS_MAX + 2];
	uint64_t now = engine__now();
	struct timespec left = {0};
	nfds_t n = 0;
	size_t i;

	if (moment_ns > now) {
		left.tv_sec = (time_t)((moment_ns - now) / SECOND);
		left.tv_nsec = (long)((moment_ns - now) % SECOND);
	}
	watched[n++] = (struct pollfd){.fd = session->options.signals_fd, .events = POLLIN};
	watched[n++] =
		(struct pollfd){.fd = ring_buffer__epoll_fd(session->replaced), .events = POLLIN};
	for (i = 0; i < session->member_count; i++) {
		const struct session_member *member = session->members[i];

		if (member->current && !target__gone(member->target))
			watched[n++] =
				(struct pollfd){.fd = member->target->pidfd, .events = POLLIN};
	}
	ppoll(watched, n, &left, NULL);
	if (watched[1].revents & POLLIN)
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
			next = earlier(
				next,
				now + (now < session->hurry_until_ns ? LOCATE_NS : LOCATE_SLOW_NS));
		if (wait_until(session, next)) {
			session->ended_by = SESSION_ENDED_BY_SIGNAL;
			return 0;
		}
	}
}

/* ---- stop ---- */

/* What a process that has ended registered and said of itself after it was last looked at. */
static void member_last_words(const struct session *session, struct session_member *member)
{
	struct table *last = malloc(sizeof(*last));
	struct remains *remains = NULL;
	struct remote remote;

	if (last) {
		*last = member->table;
		remains = remains__new(session->engine, member->index, last);
	}
	if (remains && remains__descriptor(remains, &last->process)) {
		remote = remains__remote(remains);
		table__refresh(&member->table, &remote);
	}
	remains__free(remains);
	free(last);
}

/* The last calls: from the process where it still is, else as its end handed them in, else as last
 * read. */
static void member_finish(struct session *session, struct session_member *member)
{
	const struct tsn_target *shared = &session->engine->targets[member->index];
	const uint64_t *final = &session->engine->final_calls[member->index * TSN_LABELS_MAX];
	unsigned i;

	if (!member->current || !member->published)
		return;
	if (!target__gone(member->target)) {
		member_refresh(session, member, true);
		session_coarse__finish(session, member, false);
		return;
	}
	member_last_words(session, member);
	session_coarse__finish(session, member, true);
	if (!shared->calls_final || !session->engine->final_calls_work) {
		member->calls_unread = true;
		return;
	}
	member->calls_unread = shared->calls_final != 1;
	member->calls_known = true;
	for (i = 0; i < TSN_LABELS_MAX; i++)
		/* What is in no final sum may have been read before. */
		if (!member->calls_unread || final[i] > member->last.calls[i])
			member->last.calls[i] = final[i];
}

int session__stop(struct session *session)
{
	struct session_clock last = session_coarse__clock();
	uint64_t stop = last.monotonic_ns;
	size_t i;
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
	for (i = 0; i < session->member_count; i++)
		member_finish(session, session->members[i]);
	err = exited_drain(session);
	if (!err)
		err = slice_add(session);
	if (!err)
		err = snapshot__read_cells(&session->snapshot, session->engine);
	if (!err)
		err = snapshot__read_threads(&session->snapshot, session->engine);
	if (!err)
		err = snapshot__close(&session->snapshot, session->exited_rows, session->start_ns,
				      stop, &session->lost_wait_ns);
	return err;
}
