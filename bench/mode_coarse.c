// SPDX-License-Identifier: MIT
/*
 * coarse: requests that are timed at both ends, beside the program's own stopwatches: how many
 * there were, their percentiles, what ran inside of them, and what the label costs.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ticksnick/ticksnick.h>

#include "bench.h"
#include "burn.h"
#include "calibration.h"
#include "numbers.h"
#include "outcome.h"
#include "random.h"
#include "recorder.h"
#include "stopwatch.h"

#define REQUESTS_BRIEF	   40000 /* of one thread */
#define REQUESTS_FULL	   300000
#define FREQUENCY_HZ	   997
#define ROUNDS		   4 /* of a request, at most ... */
#define ROUNDS_LONG	   50
#define LONG_ONE_IN	   50 /* ... but for one request in so many */
#define PERCENTILE_OFF_MAX 0.01
#define MAX_OFF_MAX_NS	   1000 /* the stopwatch's readings stand inside of the label's */
/* Calls of each operation in a round. At the edge of a coarse label the processor has run ahead:
 * some 25 ns before its clock reading are not seen in the operation that ends there. */
#define REPEATS	    8
#define COST_ROUNDS 41
#define COST_CALLS  20000
#define COST_CLOCKS 1.2 /* times two clock readings */
#define COST_NS	    10

TSN_COARSE(label_request, "coarse.request");
TSN_COARSE(label_plan, "coarse.plan");
TSN_COARSE(label_empty, "coarse.empty");
TSN_FINE(label_parse, "coarse.parse");
TSN_FINE(label_lookup, "coarse.lookup");
TSN_FINE(label_encode, "coarse.encode");
TSN_IDLE(label_parked, "coarse.parked");

/* The pieces of a round, and the operations of the catalogue that are as long. */
enum piece { REQUEST_SELF, PLAN_SELF, PARSE, LOOKUP, ENCODE, PIECES };
static const int piece_like[PIECES] = {
	[REQUEST_SELF] = 9, [PLAN_SELF] = 10, [PARSE] = 7, [LOOKUP] = 6, [ENCODE] = 8};

struct server {
	pthread_t thread;
	const struct workload *workload;
	uint64_t random, state;
	uint64_t rounds;      /* done */
	double *durations_ns; /* of its requests */
	double self_ns[PIECES];
};

struct workload {
	uint32_t iterations[PIECES];
	unsigned requests; /* of one thread */
	pthread_barrier_t *barrier;
};

static void one_round(struct server *server)
{
	const uint32_t *iterations = server->workload->iterations;
	uint64_t state = server->state;

	state = burn(state, REPEATS * iterations[REQUEST_SELF]);
	for (int i = 0; i < REPEATS; i++) {
		TSN_SCOPE(label_parse);
		state = burn(state, iterations[PARSE]);
	}
	{
		TSN_SCOPE(label_plan);
		state = burn(state, REPEATS * iterations[PLAN_SELF]);
		for (int i = 0; i < REPEATS; i++) {
			TSN_SCOPE(label_lookup);
			state = burn(state, iterations[LOOKUP]);
		}
	}
	for (int i = 0; i < REPEATS; i++) {
		TSN_SCOPE(label_encode);
		state = burn(state, iterations[ENCODE]);
	}
	server->state = state;
}

static double one_request(struct server *server)
{
	uint64_t rounds = 1 + random__below(&server->random, ROUNDS), begin_ns;
	TSN_SCOPE(label_request);

	begin_ns = stopwatch__read(CLOCK_MONOTONIC);
	if (!random__below(&server->random, LONG_ONE_IN))
		rounds = 1 + random__below(&server->random, ROUNDS_LONG);
	for (uint64_t i = 0; i < rounds; i++)
		one_round(server);
	server->rounds += rounds;
	return (double)(stopwatch__read(CLOCK_MONOTONIC) - begin_ns);
}

/* Begins and ends inside the session, and measures its pieces after it, while all others do. */
static void *server_main(void *argument)
{
	struct server *server = argument;
	const struct workload *workload = server->workload;

	{
		TSN_SCOPE(label_parked);
		pthread_barrier_wait(workload->barrier);
	}
	for (unsigned i = 0; i < workload->requests; i++)
		server->durations_ns[i] = one_request(server);
	{
		TSN_SCOPE(label_parked);
		pthread_barrier_wait(workload->barrier);
		pthread_barrier_wait(workload->barrier);
	}
	calibration__measure(workload->iterations, PIECES, CALIBRATION_TRIALS_MAX, server->self_ns,
			     &server->state);
	return NULL;
}

/* ---- cost ---- */

static double empty_executions(void)
{
	const uint64_t begin_ns = stopwatch__cpu();

	for (int i = 0; i < COST_CALLS; i++) {
		TSN_SCOPE(label_empty);
		TSN_KEEP(i);
	}
	return (double)(stopwatch__cpu() - begin_ns) / COST_CALLS;
}

static double clock_pairs(void)
{
	const uint64_t begin_ns = stopwatch__cpu();

	for (int i = 0; i < COST_CALLS; i++) {
		uint64_t read = stopwatch__read(CLOCK_MONOTONIC);

		TSN_KEEP(read);
		read = stopwatch__read(CLOCK_MONOTONIC);
		TSN_KEEP(read);
	}
	return (double)(stopwatch__cpu() - begin_ns) / COST_CALLS;
}

/* ns of one execution with nothing inside. */
static double judge_cost(struct outcome *outcome)
{
	double executions[COST_ROUNDS], pairs[COST_ROUNDS], over[COST_ROUNDS], median, pair;

	for (int i = 0; i < COST_ROUNDS; i++) {
		executions[i] = empty_executions();
		pairs[i] = clock_pairs();
		over[i] = executions[i] - COST_CLOCKS * pairs[i];
	}
	median = numbers__median(executions, COST_ROUNDS);
	pair = numbers__median(pairs, COST_ROUNDS);
	outcome__figure(outcome, "an execution, enter + exit", median, "ns");
	outcome__figure(outcome, "two clock_gettime calls", pair, "ns");
	outcome__gate(outcome, "an execution beyond 1.2 x two clock readings",
		      numbers__median(over, COST_ROUNDS), GATE_AT_MOST, COST_NS, "ns");
	return median;
}

/* ---- percentiles ---- */

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* By nearest rank. */
static double percentile(const double *sorted, size_t count, double p)
{
	const size_t rank = (size_t)ceil(p * (double)count);

	return sorted[rank ? rank - 1 : 0];
}

static void judge_percentiles(const struct profile_coarse *row, double *exact, size_t count,
			      struct outcome *outcome)
{
	const struct {
		const char *name;
		double p;
		uint64_t read;
	} percentiles[] = {
		{"p50", 0.50, row->p50_ns}, {"p90", 0.90, row->p90_ns}, {"p99", 0.99, row->p99_ns}};
	double sum = 0;
	char name[64];

	qsort(exact, count, sizeof(*exact), ascending);
	for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++) {
		const double due = percentile(exact, count, percentiles[i].p);

		outcome__text(outcome, "%s %.0f ns by the stopwatches, %.0f ns in the report\n",
			      percentiles[i].name, due, (double)percentiles[i].read);
		snprintf(name, sizeof(name), "%s off, of itself", percentiles[i].name);
		outcome__gate(outcome, name, fabs((double)percentiles[i].read / due - 1),
			      GATE_AT_MOST, PERCENTILE_OFF_MAX, "");
	}
	for (size_t i = 0; i < count; i++)
		sum += exact[i];
	outcome__text(outcome, "max %.0f ns by the stopwatches, %.0f ns in the report\n",
		      exact[count - 1], (double)row->max_ns);
	outcome__gate(outcome, "max off by", fabs((double)row->max_ns - exact[count - 1]),
		      GATE_AT_MOST, MAX_OFF_MAX_NS, "ns");
	outcome__gate(outcome, "mean off, of itself",
		      fabs((double)row->mean_ns / (sum / (double)count) - 1), GATE_AT_MOST,
		      PERCENTILE_OFF_MAX, "");
	outcome__gate(outcome, "executions off by", fabs((double)row->executions - (double)count),
		      GATE_AT_MOST, 0, "");
}

/* ---- pairs ---- */

/* Running time of one fine label in one coarse one, in any units. */
struct due {
	const char *coarse, *fine; /* NULL: in none */
	double time;
};

#define DUES 6

static void find_dues(const struct server *servers, unsigned threads, double cost_ns,
		      struct due dues[DUES])
{
	double times[PIECES] = {0}, rounds = 0;

	for (unsigned i = 0; i < threads; i++) {
		rounds += (double)servers[i].rounds;
		for (int piece = 0; piece < PIECES; piece++)
			times[piece] +=
				REPEATS * (double)servers[i].rounds * servers[i].self_ns[piece];
	}
	/* Of the clock readings of a plan's label one lies on either side of it. */
	times[REQUEST_SELF] += rounds * cost_ns / 2;
	times[PLAN_SELF] += rounds * cost_ns / 2;
	dues[0] = (struct due){"coarse.request", NULL, times[REQUEST_SELF] + times[PLAN_SELF]};
	dues[1] = (struct due){"coarse.request", "coarse.parse", times[PARSE]};
	dues[2] = (struct due){"coarse.request", "coarse.lookup", times[LOOKUP]};
	dues[3] = (struct due){"coarse.request", "coarse.encode", times[ENCODE]};
	dues[4] = (struct due){"coarse.plan", NULL, times[PLAN_SELF]};
	dues[5] = (struct due){"coarse.plan", "coarse.lookup", times[LOOKUP]};
}

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static const struct profile_pair *pair_of(const struct profile *profile, const struct due *due)
{
	for (size_t i = 0; i < profile->pair_count; i++)
		if (same(profile->pairs[i].coarse, due->coarse) &&
		    same(profile->pairs[i].fine, due->fine))
			return &profile->pairs[i];
	return NULL;
}

static void judge_pairs(const struct recording *recording, const struct due dues[DUES],
			struct outcome *outcome)
{
	unsigned inside = 0;

	for (int i = 0; i < DUES; i++) {
		const struct profile_coarse *row = recording__coarse(recording, dues[i].coarse);
		const struct profile_pair *pair = pair_of(recording->profile, &dues[i]);
		double whole = 0, part;

		if (!row || !pair) {
			outcome__text(outcome, "%s: %s is not in the report\n", dues[i].coarse,
				      dues[i].fine ? dues[i].fine : "(itself)");
			continue;
		}
		for (int k = 0; k < DUES; k++)
			whole += same(dues[k].coarse, dues[i].coarse) ? dues[k].time : 0;
		/* The truth is of running time; the waiting is as the report has it. */
		part = (dues[i].time / whole * (double)row->running_ns +
			(double)(pair->thread_time_ns - pair->running_ns)) /
		       (double)row->thread_time_ns;
		inside += pair->part_lo <= part && part <= pair->part_hi;
		outcome__text(outcome,
			      "%-16s %-16s %6.2f%%, in the report %6.2f%% (%.2f to %.2f)\n",
			      dues[i].coarse, dues[i].fine ? dues[i].fine : "(itself)", 100 * part,
			      100 * pair->part, 100 * pair->part_lo, 100 * pair->part_hi);
	}
	outcome__gate(outcome, "pairs inside their bound", inside, GATE_AT_LEAST, DUES, "");
}

/* ns by which the pairs of the coarse labels miss their rows, all states summed. */
static double pairs_off(const struct profile *profile)
{
	double off = 0;

	for (size_t i = 0; i < profile->coarse_count; i++) {
		const struct profile_coarse *row = &profile->coarse[i];
		uint64_t sum = 0, running = 0;

		for (size_t k = 0; k < profile->pair_count; k++) {
			if (!same(profile->pairs[k].coarse, row->label))
				continue;
			sum += profile->pairs[k].thread_time_ns;
			running += profile->pairs[k].running_ns;
		}
		off += fabs((double)sum - (double)row->thread_time_ns) +
		       fabs((double)running - (double)row->running_ns);
	}
	return off;
}

/* ---- the mode ---- */

static void judge(const struct recording *recording, const struct server *servers, unsigned threads,
		  unsigned requests, double cost_ns, struct outcome *outcome)
{
	const struct profile_coarse *request = recording__coarse(recording, "coarse.request");
	const struct profile_coarse *plan = recording__coarse(recording, "coarse.plan");
	const size_t count = (size_t)threads * requests;
	double *exact = calloc(count, sizeof(*exact)), rounds = 0;
	struct due dues[DUES];

	if (!request || !plan || !exact) {
		outcome__broken(outcome, "the report lacks a coarse label");
		free(exact);
		return;
	}
	for (unsigned i = 0; i < threads; i++) {
		memcpy(exact + (size_t)i * requests, servers[i].durations_ns,
		       requests * sizeof(*exact));
		rounds += (double)servers[i].rounds;
	}
	outcome__figure(outcome, "executions of the request", (double)request->executions, "");
	judge_percentiles(request, exact, count, outcome);
	outcome__gate(outcome, "executions of the plan off by",
		      fabs((double)plan->executions - rounds), GATE_AT_MOST, 0, "");
	find_dues(servers, threads, cost_ns, dues);
	judge_pairs(recording, dues, outcome);
	outcome__gate(outcome, "sum of the pairs off thread-time", pairs_off(recording->profile),
		      GATE_AT_MOST, 0, "ns");
	free(exact);
}

static int record(const struct bench_options *options, struct outcome *outcome,
		  struct workload *workload, struct recording *recording)
{
	struct recorder *recorder;
	const int err =
		recorder__start(options, outcome, getpid(), bench__frequency(options, FREQUENCY_HZ),
				0, NULL, &recorder);

	pthread_barrier_wait(workload->barrier); /* they begin */
	pthread_barrier_wait(workload->barrier); /* all are done */
	return err ? err : recorder__complete(recorder, outcome, recording);
}

int mode_coarse(const struct bench_options *options, struct outcome *outcome)
{
	const unsigned threads = bench__threads(options);
	const unsigned requests = bench__runs(options, REQUESTS_BRIEF, REQUESTS_FULL);
	pthread_barrier_t barrier;
	struct workload workload = {.requests = requests, .barrier = &barrier};
	struct server *servers = calloc(threads, sizeof(*servers));
	struct recording recording = {0};
	struct calibration calibration;
	double cost_ns;
	int err;

	if (!servers)
		return -ENOMEM;
	calibration__run(&calibration);
	calibration__judge(&calibration, outcome);
	cost_ns = judge_cost(outcome);
	for (int piece = 0; piece < PIECES; piece++)
		workload.iterations[piece] = calibration.iterations[piece_like[piece]];
	pthread_barrier_init(&barrier, NULL, threads + 1);
	for (unsigned i = 0; i < threads; i++) {
		servers[i].workload = &workload;
		servers[i].random = random__seed(options->seed * threads + i);
		servers[i].state = servers[i].random;
		servers[i].durations_ns = calloc(requests, sizeof(double));
		if (!servers[i].durations_ns ||
		    pthread_create(&servers[i].thread, NULL, server_main, &servers[i]))
			exit(1);
	}
	err = record(options, outcome, &workload, &recording);
	pthread_barrier_wait(&barrier); /* they measure */
	for (unsigned i = 0; i < threads; i++)
		pthread_join(servers[i].thread, NULL);
	if (!err)
		judge(&recording, servers, threads, requests, cost_ns, outcome);
	recording__free(&recording);
	for (unsigned i = 0; i < threads; i++)
		free(servers[i].durations_ns);
	free(servers);
	pthread_barrier_destroy(&barrier);
	return err;
}
