// SPDX-License-Identifier: MIT
/*
 * Which accounts time goes to under coarse labels. The session is in this process, so that the
 * accounts can be looked at before anything is made of them.
 */
#include <math.h>
#include <signal.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect_spans.h"
#include "record.h"
#include "suites.h"

struct observed {
	struct session *session;
	struct label_names *names;
	struct spans_input input;
	struct recorded said; /* its output */
};

static void observe_subject(struct observed *observed, const char *subject, const char *arguments,
			    const struct session_options *options)
{
	char error[ENGINE_ERROR_SIZE];
	struct target *target;
	int output;
	pid_t pid;

	memset(observed, 0, sizeof(*observed));
	pid = record__subject_begin(subject, arguments, &output, &observed->said);
	observed->names = calloc(1, sizeof(*observed->names));
	ck_assert_ptr_nonnull(observed->names);
	ck_assert_int_eq(target__open(pid, &target, error), 0);
	ck_assert_int_eq(session__new(options, &observed->session, error), 0);
	ck_assert_int_eq(session__add(observed->session, target), 0);
	ck_assert_int_eq(session__start(observed->session), 0);
	ck_assert_int_eq(session__run(observed->session), 0);
	ck_assert_int_eq(session__stop(observed->session), 0);
	kill(pid, SIGKILL);
	record__subject_end(pid, output, &observed->said);
	ck_assert_int_eq(collect_spans__fill(observed->session, observed->names, &observed->input),
			 0);
}

static void observe_options(struct observed *observed, const char *arguments,
			    const struct session_options *options)
{
	observe_subject(observed, "coarse", arguments, options);
}

static void observe(struct observed *observed, const char *arguments)
{
	struct session_options options = {
		.frequency_hz = 1999, .duration_ns = 700000000, .signals_fd = -1};

	observe_options(observed, arguments, &options);
}

static void forget(struct observed *observed)
{
	collect_spans__free(&observed->input);
	session__free(observed->session);
	free(observed->names);
}

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* What stands on one account. fine NULL: in any fine label, coarse NULL: in none. */
static struct spans_cell account(const struct observed *observed, const char *coarse,
				 const char *fine, enum tsn_cell_role role)
{
	struct spans_cell sum = {0};
	size_t i;

	for (i = 0; i < observed->input.cell_count; i++) {
		const struct spans_cell *cell = &observed->input.cells[i];

		if (cell->role != role || !same(cell->coarse, coarse) ||
		    (fine && !same(cell->fine, fine)))
			continue;
		sum.hits += cell->hits;
		sum.weight_ns += cell->weight_ns;
		sum.runnable_ns += cell->runnable_ns;
		sum.blocked_ns += cell->blocked_ns;
		sum.io_ns += cell->io_ns;
	}
	return sum;
}

static void check_same(const struct spans_cell *a, const struct spans_cell *b)
{
	ck_assert_uint_eq(a->hits, b->hits);
	ck_assert_uint_eq(a->weight_ns, b->weight_ns);
	ck_assert_uint_eq(a->runnable_ns, b->runnable_ns);
	ck_assert_uint_eq(a->blocked_ns, b->blocked_ns);
	ck_assert_uint_eq(a->io_ns, b->io_ns);
}

static void check_empty(const struct spans_cell *cell)
{
	check_same(cell, &(struct spans_cell){0});
}

/* Nearly all hits there are: how many they are depends on what else this machine does. */
static void check_nearly_all(const struct observed *observed, const struct spans_cell *cell)
{
	uint64_t all = 0;
	size_t i;

	for (i = 0; i < observed->input.cell_count; i++)
		if (observed->input.cells[i].role != TSN_CELL_OUTER)
			all += observed->input.cells[i].hits;
	ck_assert_uint_gt(all, 50);
	ck_assert_double_gt((double)cell->hits, 0.9 * (double)all);
}

static uint64_t unreadable(const struct observed *observed)
{
	return observed->session->engine->control->counters[TSN_COUNT_CONTEXT_UNREADABLE];
}

static const struct spans_label *label(const struct observed *observed, const char *name)
{
	size_t i;

	for (i = 0; i < observed->input.label_count; i++)
		if (!strcmp(observed->input.labels[i].name, name))
			return &observed->input.labels[i];
	ck_abort_msg("no coarse label %s", name);
}

START_TEST(time_is_on_its_own_account_and_on_the_outer_ones)
{
	struct session_options options = {
		.frequency_hz = 1999, .duration_ns = 2000000000, .signals_fd = -1};
	struct spans_cell own, outer, read_row, outside;
	struct observed observed;
	double all;

	observe_options(&observed, "pairs", &options);
	own = account(&observed, "query", "sortRows", TSN_CELL_OWN);
	outer = account(&observed, "request", "sortRows", TSN_CELL_OUTER);
	check_same(&own, &outer);
	read_row = account(&observed, "request", "readRow", TSN_CELL_OWN);
	outside = account(&observed, NULL, "readRow", TSN_CELL_OWN);
	all = (double)(own.hits + read_row.hits + outside.hits);
	printf("pairs: query+sortRows %.3f of hits (3/7 = 0.429), request+readRow %.3f, readRow "
	       "alone %.3f (2/7 = 0.286)\n",
	       (double)own.hits / all, (double)read_row.hits / all, (double)outside.hits / all);
	ck_assert_double_eq_tol((double)own.hits / all, 3.0 / 7, 0.05);
	ck_assert_double_eq_tol((double)read_row.hits / all, 2.0 / 7, 0.05);
	ck_assert_double_eq_tol((double)outside.hits / all, 2.0 / 7, 0.05);
	own = account(&observed, "query", "readRow", TSN_CELL_OWN);
	ck_assert_uint_eq(own.hits, 0);
	own = account(&observed, "query", NULL, TSN_CELL_STALE);
	check_empty(&own);
	ck_assert_uint_eq(unreadable(&observed), 0);
	forget(&observed);
}
END_TEST

START_TEST(executions_are_counted_and_timed)
{
	const struct spans_label *request, *query;
	const struct session_member *member;
	struct observed observed;
	uint64_t calls, total = 0;
	double span;
	uint32_t i;

	observe(&observed, _i ? "pairs tsc" : "pairs");
	request = label(&observed, "request");
	query = label(&observed, "query");
	member = observed.session->members[0];
	/* sortRows is entered once in each; the two are read some ms apart. */
	for (i = 1; strcmp(member->table.labels[i].name, "sortRows"); i++)
		;
	calls = member->last.calls[i] - member->base.calls[i];
	span = (double)(request->sum_units + request->open_last_units - request->open_first_units) *
	       request->unit_ns * request->stretch;
	printf("executions: %llu requests, %llu queries, %llu calls; in requests %.3f of the time "
	       "(5/7 = 0.714), the longest query %.3f ms\n",
	       (unsigned long long)request->executions, (unsigned long long)query->executions,
	       (unsigned long long)calls, span / 7e8,
	       (double)query->longest_units * query->unit_ns / 1e6);
	ck_assert_double_eq_tol((double)query->executions, (double)calls, 12);
	ck_assert_double_eq_tol((double)request->executions, (double)calls, 12);
	ck_assert_double_eq_tol(span / 7e8, 5.0 / 7, 0.05);
	ck_assert_ptr_nonnull(query->buckets);
	for (i = 0; i < TSN_DURATION_BUCKETS; i++)
		total += query->buckets[i];
	ck_assert_uint_eq(total, query->executions);
	ck_assert_double_ge((double)query->sum_units * query->unit_ns,
			    (double)query->executions * 299900);
	if (query->longest_units)
		ck_assert_uint_ge(query->longest_units, query->sum_units / query->executions);
	ck_assert_uint_gt(request->readings, 1);
	ck_assert_uint_eq(request->readings_shared, 0);
	ck_assert_uint_eq(request->callers, 1);
	if (!_i || query->unit_ns != 1 ||
	    !record__may_leave_out("executions: the TSC of this machine is no clock"))
		ck_assert((query->unit_ns == 1) == !_i);
	forget(&observed);
}
END_TEST

/* Executions of a label before the session began. */
static uint64_t executed_before(const struct observed *observed, const char *name)
{
	const struct session_member *member = observed->session->members[0];
	uint32_t i;

	for (i = 1; strcmp(member->table.labels[i].name, name); i++)
		;
	return member->durations->base[i].count;
}

START_TEST(no_execution_of_a_process_that_ends_is_lost)
{
	struct session_options options = {
		.frequency_hz = 1999, .duration_ns = 5000000000, .signals_fd = -1};
	const struct spans_label *request, *query;
	struct observed observed;

	observe_options(&observed, "finite", &options);
	ck_assert_int_eq(observed.session->ended_by, SESSION_ENDED_BY_TARGET);
	if (!observed.session->engine->final_calls_work &&
	    record__may_leave_out("finite: this kernel hands in no last executions")) {
		ck_assert(observed.session->members[0]->executions_unread ||
			  !observed.session->members[0]->table.process.contexts);
		forget(&observed);
		return;
	}
	request = label(&observed, "request");
	query = label(&observed, "query");
	printf("finite: 200 executions made, %llu reported, the longest %.3f ms; the open one %.1f "
	       "ms\n",
	       (unsigned long long)query->executions, (double)query->longest_units / 1e6,
	       (double)request->open_last_units / 1e6);
	ck_assert(!observed.session->members[0]->executions_unread);
	ck_assert_uint_eq(query->executions + executed_before(&observed, "query"), 200);
	ck_assert_uint_ge(query->sum_units, query->executions * 1000000);
	/* Behind one that ended before the session it may hide. */
	if (!executed_before(&observed, "query"))
		ck_assert_uint_ge(query->longest_units, 1000000);
	ck_assert_uint_eq(request->executions, 0);
	ck_assert_uint_eq(request->open_last, 1);
	ck_assert_uint_ge(request->open_last_units, 200000000);
	forget(&observed);
}
END_TEST

START_TEST(waiting_is_on_the_same_accounts_exactly)
{
	struct spans_cell own, outer;
	struct observed observed;
	uint64_t lasted;

	observe(&observed, "sleep");
	lasted = observed.session->stop_ns - observed.session->start_ns;
	own = account(&observed, "query", "asleep", TSN_CELL_OWN);
	outer = account(&observed, "request", "asleep", TSN_CELL_OUTER);
	printf("sleep: blocked %llu ns of %llu\n", (unsigned long long)own.blocked_ns,
	       (unsigned long long)lasted);
	ck_assert_uint_eq(own.blocked_ns, lasted);
	check_same(&own, &outer);
	own = account(&observed, "query", "readRow", TSN_CELL_OWN);
	outer = account(&observed, "request", "readRow", TSN_CELL_OUTER);
	ck_assert_uint_gt(own.blocked_ns, 10000000);
	check_nearly_all(&observed, &own);
	check_same(&own, &outer);
	own = account(&observed, "request", NULL, TSN_CELL_OWN);
	check_empty(&own);
	ck_assert_uint_eq(label(&observed, "request")->open_first, 2);
	ck_assert_uint_eq(label(&observed, "query")->open_last, 2);
	ck_assert_uint_eq(label(&observed, "query")->callers, 2);
	ck_assert_uint_gt(label(&observed, "query")->readings_shared, 0);
	/* Opened before the session, and still open after it. */
	ck_assert_double_eq_tol((double)(label(&observed, "query")->open_last_units -
					 label(&observed, "query")->open_first_units) *
					label(&observed, "query")->stretch,
				2.0 * (double)lasted, 10);
	ck_assert_uint_eq(unreadable(&observed), 0);
	forget(&observed);
}
END_TEST

static const char *const stale_modes[] = {"stale", "reused", "lie 9"};

START_TEST(work_under_an_execution_that_is_over_is_stale_and_on_no_other_account)
{
	struct spans_cell stale, other;
	struct observed observed;

	observe(&observed, stale_modes[_i]);
	stale = account(&observed, "query", "readRow", TSN_CELL_STALE);
	printf("%s: %llu stale hits\n", stale_modes[_i], (unsigned long long)stale.hits);
	check_nearly_all(&observed, &stale);
	ck_assert_uint_gt(stale.blocked_ns, 10000000);
	other = account(&observed, "query", NULL, TSN_CELL_OWN);
	check_empty(&other);
	other = account(&observed, "request", NULL, TSN_CELL_OUTER);
	check_empty(&other);
	ck_assert_uint_eq(unreadable(&observed), 0);
	forget(&observed);
}
END_TEST

#define TURNS_MAX     64
#define SHIFT_SECONDS 100000
#define SHIFT_NS      500

/* Processes that are started from now on have a CLOCK_MONOTONIC of their own. */
static void clock_shift(void)
{
	FILE *offsets;

	ck_assert_int_eq(unshare(CLONE_NEWTIME), 0);
	offsets = fopen("/proc/self/timens_offsets", "w");
	ck_assert_ptr_nonnull(offsets);
	ck_assert_int_gt(fprintf(offsets, "monotonic %d %d\n", SHIFT_SECONDS, SHIFT_NS), 0);
	ck_assert_int_eq(fclose(offsets), 0);
}

/* What of one sleep lay inside the session, ns. */
static double inside(const struct session *session, double from, double to)
{
	from = fmax(from, (double)session->start_ns);
	to = fmin(to, (double)session->stop_ns);
	return fmax(to - from, 0);
}

/* The moments that the subject gave by that name, by its own clock; far away where there are no
 * more. */
static void moments_said(const struct observed *observed, const char *name, double offset_ns,
			 double moments[TURNS_MAX])
{
	const char *line = observed->said.output;
	unsigned long long moment;
	size_t count = 0, i;
	char key[8];

	for (i = 0; i < TURNS_MAX; i++)
		moments[i] = HUGE_VAL;
	for (; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "%7s %llu", key, &moment) != 2)
			break;
		if (count < TURNS_MAX && !strcmp(key, name))
			moments[count++] = (double)moment - offset_ns;
	}
}

/* What it slept before and after its requests were over, inside the session. The sleep that
 * outlasts the session stays what it was when it began. */
static void sleeps_said(const struct observed *observed, double offset_ns, double slept_ns[2])
{
	double began[TURNS_MAX], over[TURNS_MAX], woke[TURNS_MAX];
	size_t i;

	moments_said(observed, "began", offset_ns, began);
	moments_said(observed, "over", offset_ns, over);
	moments_said(observed, "woke", offset_ns, woke);
	slept_ns[0] = slept_ns[1] = 0;
	for (i = 0; i < TURNS_MAX; i++) {
		if (woke[i] > (double)observed->session->stop_ns)
			over[i] = woke[i];
		slept_ns[0] += inside(observed->session, began[i], fmin(over[i], woke[i]));
		slept_ns[1] += inside(observed->session, over[i], woke[i]);
	}
}

/* Once more in a time namespace, and once more where the entry is used again meanwhile. */
START_TEST(a_wait_is_stale_from_the_moment_its_execution_is_over)
{
	struct session_options options = {
		.frequency_hz = 997, .duration_ns = 2000000000, .signals_fd = -1};
	struct spans_cell own, stale;
	struct observed observed;
	double slept_ns[2];

	if (_i == 1)
		clock_shift();
	observe_subject(&observed, "outlived", _i == 2 ? "again" : "", &options);
	own = account(&observed, "request", "late", TSN_CELL_OWN);
	stale = account(&observed, "request", "late", TSN_CELL_STALE);
	sleeps_said(&observed, _i == 1 ? SHIFT_SECONDS * 1e9 + SHIFT_NS : 0, slept_ns);
	printf("outlived: %.3f s in the request, %.3f by its own clock; %.3f s after it, %.3f\n",
	       (double)own.blocked_ns / 1e9, slept_ns[0] / 1e9, (double)stale.blocked_ns / 1e9,
	       slept_ns[1] / 1e9);
	ck_assert_double_ge(slept_ns[0], 0.4e9);
	ck_assert_double_ge(slept_ns[1], 1e9);
	ck_assert_double_eq_tol((double)own.blocked_ns / slept_ns[0], 1, 0.01);
	ck_assert_double_eq_tol((double)stale.blocked_ns / slept_ns[1], 1, 0.01);
	forget(&observed);
}
END_TEST

START_TEST(stale_work_ends_a_strict_session)
{
	struct session_options options = {
		.frequency_hz = 1999, .duration_ns = 5000000000, .signals_fd = -1, .strict = true};
	struct observed observed;
	double lasted;

	observe_options(&observed, _i ? "sleep" : "stale", &options);
	lasted = (double)(observed.session->stop_ns - observed.session->start_ns) / 1e9;
	if (_i) {
		ck_assert_int_eq(observed.session->ended_by, SESSION_ENDED_BY_DURATION);
	} else {
		ck_assert_int_eq(observed.session->ended_by, SESSION_ENDED_BY_VIOLATION);
		ck_assert_double_le(lasted, 2);
	}
	forget(&observed);
}
END_TEST

START_TEST(a_chain_of_sixteen_is_charged_to_sixteen_labels)
{
	struct spans_cell own, outer;
	struct observed observed;
	char name[16];
	int i;

	observe(&observed, "chain");
	own = account(&observed, "chain0", NULL, TSN_CELL_OWN);
	check_nearly_all(&observed, &own);
	for (i = 1; i < TSN_CHAIN_MAX; i++) {
		snprintf(name, sizeof(name), "chain%d", i);
		outer = account(&observed, name, NULL, TSN_CELL_OUTER);
		check_same(&own, &outer);
		outer = account(&observed, name, NULL, TSN_CELL_OWN);
		check_empty(&outer);
	}
	printf("chain: %llu hits on each of 16 accounts, a tick %llu ns\n",
	       (unsigned long long)own.hits,
	       (unsigned long long)(observed.session->engine->cpus[0].tick_timed_ns /
				    (observed.session->engine->cpus[0].tick_timed + 1)));
	ck_assert_uint_eq(unreadable(&observed), 0);
	forget(&observed);
}
END_TEST

START_TEST(a_chain_begins_at_the_label_that_the_slot_holds)
{
	struct spans_cell own, other;
	struct observed observed;

	observe(&observed, "caught");
	own = account(&observed, "chain1", NULL, TSN_CELL_OWN);
	check_nearly_all(&observed, &own);
	other = account(&observed, "chain2", NULL, TSN_CELL_OUTER);
	check_same(&own, &other);
	other = account(&observed, "chain0", NULL, TSN_CELL_OWN);
	check_empty(&other);
	other = account(&observed, "chain0", NULL, TSN_CELL_OUTER);
	check_empty(&other);
	forget(&observed);
}
END_TEST

START_TEST(a_pool_that_lies_is_counted_and_credits_nobody)
{
	struct spans_cell own, other;
	struct observed observed;
	char arguments[16];

	snprintf(arguments, sizeof(arguments), "lie %d", _i);
	observe(&observed, arguments);
	own = account(&observed, "query", "readRow", TSN_CELL_OWN);
	printf("%s: %llu hits, %llu unreadable\n", arguments, (unsigned long long)own.hits,
	       (unsigned long long)unreadable(&observed));
	check_nearly_all(&observed, &own);
	ck_assert_uint_gt(own.blocked_ns, 10000000);
	ck_assert_uint_gt(unreadable(&observed), own.hits);
	other = account(&observed, "request", NULL, TSN_CELL_OUTER);
	check_empty(&other);
	other = account(&observed, "query", NULL, TSN_CELL_STALE);
	check_empty(&other);
	forget(&observed);
}
END_TEST

Suite *coarse_suite(void)
{
	Suite *suite = suite_create("coarse");
	TCase *cases = tcase_create("accounts");

	tcase_set_timeout(cases, 30);
	tcase_add_test(cases, time_is_on_its_own_account_and_on_the_outer_ones);
#ifdef __x86_64__
	tcase_add_loop_test(cases, executions_are_counted_and_timed, 0, 2);
#else
	tcase_add_loop_test(cases, executions_are_counted_and_timed, 0, 1);
#endif
	tcase_add_test(cases, no_execution_of_a_process_that_ends_is_lost);
	tcase_add_test(cases, waiting_is_on_the_same_accounts_exactly);
	tcase_add_loop_test(
		cases, work_under_an_execution_that_is_over_is_stale_and_on_no_other_account, 0, 3);
	tcase_add_loop_test(cases, a_wait_is_stale_from_the_moment_its_execution_is_over, 0, 3);
	tcase_add_loop_test(cases, stale_work_ends_a_strict_session, 0, 2);
	tcase_add_test(cases, a_chain_of_sixteen_is_charged_to_sixteen_labels);
	tcase_add_test(cases, a_chain_begins_at_the_label_that_the_slot_holds);
	tcase_add_loop_test(cases, a_pool_that_lies_is_counted_and_credits_nobody, 0, 9);
	suite_add_tcase(suite, cases);
	return suite;
}
