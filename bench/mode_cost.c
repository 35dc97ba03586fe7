// SPDX-License-Identifier: MIT
/*
 * cost: what recording costs the target, and what the recorder itself takes. The target does a
 * fixed amount of work alone, recorded, and under `perf record`, in turn: ratios within a round
 * stay right on a machine whose speed drifts.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "child.h"
#include "numbers.h"
#include "outcome.h"
#include "recorder.h"
#include "stopwatch.h"

#define ROUNDS_BRIEF   5
#define ROUNDS_FULL    9
#define SESSION_BRIEF  8 /* seconds, of the recorder's own cost */
#define SESSION_FULL   60
#define STARTS	       5
#define START_SECONDS  0.1
#define FREQUENCY_HZ   999
#define TO_PERF_MAX    1.05
#define MEMORY_MIB_MAX 32
#define START_MS_MAX   300
#define EDGE_SECONDS   1 /* at both ends of a session, where more is done than in between */
#define PERF_FILE      "/dev/null"
#define PERF_LINK      "anon_inode:[perf_event]"
#define PERF_STEPS     500 /* looks at whether it observes, each 10 ms after the last */
#define STEP_SECONDS   0.01
#define SETTLE_SECONDS 0.3
#define ROUNDS_MAX     100

enum watcher { NOBODY, RECORDER, PERF, WATCHERS };

/* A program of bench/programs, and how much it is to do. */
struct work {
	const char *name, *program, *amount, *unit;
	double unit_ns;
	double ns[WATCHERS][ROUNDS_MAX]; /* what it measured, by round */
};

static void pause_seconds(double seconds)
{
	const struct timespec time = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};

	nanosleep(&time, NULL);
}

static int program_start(const struct bench_options *options, const char *program,
			 const char *amount, struct child *child)
{
	char path[PATH_MAX];
	const char *const arguments[] = {path, amount, NULL};

	snprintf(path, sizeof(path), "%s/%s", options->programs, program);
	return child__start(arguments, child);
}

/* Lets it do its work; what it measured, in ns. */
static int program_measure(const struct child *program, double *ns)
{
	if (write(program->in, "\n", 1) != 1)
		return -errno;
	return fscanf(program->out, "%lf", ns) == 1 ? 0 : -EPROTO;
}

static int perf_start(pid_t target, struct child *perf)
{
	char pid_text[16], rate_text[16];
	const char *const arguments[] = {"perf",    "record", "-q",	 "-e", "cpu-clock", "-F",
					 rate_text, "-o",     PERF_FILE, "-p", pid_text,    NULL};
	int err;

	snprintf(pid_text, sizeof(pid_text), "%d", target);
	snprintf(rate_text, sizeof(rate_text), "%d", FREQUENCY_HZ);
	err = child__start(arguments, perf);
	for (int i = 0; i < PERF_STEPS && !err && !child__has_open(perf->pid, PERF_LINK); i++)
		pause_seconds(STEP_SECONDS);
	return err;
}

static int measure_recorded(const struct bench_options *options, struct outcome *outcome,
			    const struct child *program, double *ns)
{
	struct recorder *recorder;
	struct recording recording;
	int err = recorder__start(options, outcome, program->pid, FREQUENCY_HZ, 0, NULL, &recorder);

	if (err)
		return err;
	pause_seconds(SETTLE_SECONDS);
	err = program_measure(program, ns);
	recorder__finish(recorder, &recording);
	if (!err && !recording.profile) {
		outcome__broken(outcome, "record ended with %d and left no report: %s",
				recording.status, recording.error);
		err = -EPROTO;
	}
	recording__free(&recording);
	return err;
}

static int measure_under_perf(struct outcome *outcome, const struct child *program, double *ns)
{
	struct child perf;
	int err = perf_start(program->pid, &perf);

	if (err) {
		outcome__broken(outcome, "cannot start perf: %s; scripts/deps bench installs it",
				strerror(-err));
		return err;
	}
	pause_seconds(SETTLE_SECONDS);
	err = program_measure(program, ns);
	child__end(&perf, SIGINT);
	return err;
}

static int measure(const struct bench_options *options, struct outcome *outcome,
		   const struct work *work, enum watcher watcher, double *ns)
{
	struct child program;
	int err = program_start(options, work->program, work->amount, &program);

	if (err) {
		outcome__broken(outcome, "cannot start %s/%s: %s", options->programs, work->program,
				strerror(-err));
		return err;
	}
	if (watcher == RECORDER)
		err = measure_recorded(options, outcome, &program, ns);
	else if (watcher == PERF)
		err = measure_under_perf(outcome, &program, ns);
	else
		err = program_measure(&program, ns);
	child__end(&program, 0);
	return err;
}

static double ratio(const struct work *work, enum watcher watcher, enum watcher to, unsigned rounds,
		    double *least, double *greatest)
{
	double ratios[ROUNDS_MAX];

	for (unsigned i = 0; i < rounds; i++)
		ratios[i] = work->ns[watcher][i] / work->ns[to][i];
	*least = numbers__quantile(ratios, rounds, 0);
	*greatest = numbers__quantile(ratios, rounds, 1);
	return numbers__median(ratios, rounds);
}

static void judge_work(struct work *work, unsigned rounds, struct outcome *outcome)
{
	static const struct {
		const char *name;
		enum watcher watcher, to;
	} pairs[] = {{"recorded / alone", RECORDER, NOBODY},
		     {"perf / alone", PERF, NOBODY},
		     {"recorded / perf", RECORDER, PERF}};
	double longer[ROUNDS_MAX], least, greatest, median;
	char name[64];

	outcome__text(outcome, "%s, in turn, ratios within a round:\n", work->name);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		median = ratio(work, pairs[i].watcher, pairs[i].to, rounds, &least, &greatest);
		outcome__text(outcome, "  %-18s %.4f (%.4f to %.4f)\n", pairs[i].name, median,
			      least, greatest);
		snprintf(name, sizeof(name), "%s: %s", work->name, pairs[i].name);
		if (pairs[i].to == PERF)
			outcome__gate(outcome, name, median, GATE_AT_MOST, TO_PERF_MAX, "");
		else
			outcome__figure(outcome, name, median, "");
	}
	for (unsigned i = 0; i < rounds; i++)
		longer[i] = work->ns[RECORDER][i] - work->ns[NOBODY][i];
	snprintf(name, sizeof(name), "%s: alone", work->name);
	outcome__figure(outcome, name, numbers__median(work->ns[NOBODY], rounds) / work->unit_ns,
			work->unit);
	snprintf(name, sizeof(name), "%s: longer by, recorded", work->name);
	outcome__figure(outcome, name, numbers__median(longer, rounds) / work->unit_ns, work->unit);
}

static int cost_of_target(struct work *work, const struct bench_options *options,
			  struct outcome *outcome)
{
	unsigned rounds = bench__runs(options, ROUNDS_BRIEF, ROUNDS_FULL);
	int err = 0;

	if (rounds > ROUNDS_MAX)
		rounds = ROUNDS_MAX;
	for (unsigned i = 0; i < rounds && !err; i++)
		for (int watcher = 0; watcher < WATCHERS && !err; watcher++)
			err = measure(options, outcome, work, watcher, &work->ns[watcher][i]);
	if (!err)
		judge_work(work, rounds, outcome);
	return err;
}

/* CPU and memory of the recorder in a session. */
static int cost_of_recorder(const struct bench_options *options, struct outcome *outcome,
			    pid_t target)
{
	const double seconds = bench__seconds(options, SESSION_BRIEF, SESSION_FULL);
	const double middle = fmax(seconds - 2 * EDGE_SECONDS, seconds / 2);
	struct recorder *recorder;
	struct recording recording;
	double cpu_ns;
	int err = recorder__start(options, outcome, target, FREQUENCY_HZ, seconds, NULL, &recorder);

	if (err)
		return err;
	pause_seconds((seconds - middle) / 2);
	cpu_ns = recorder__cpu_ns(recorder);
	pause_seconds(middle);
	cpu_ns = recorder__cpu_ns(recorder) - cpu_ns;
	recorder__finish(recorder, &recording);
	outcome__text(outcome,
		      "the recorder, in a session of %.0f s: %.2f s user + %.2f s system\n",
		      seconds, recording.user_seconds, recording.system_seconds);
	outcome__figure(outcome, "recorder: of a core, loading included (aim 0.3)",
			100 * (recording.user_seconds + recording.system_seconds) / seconds, "%");
	outcome__figure(outcome, "recorder: of a core, once it is under way",
			100 * cpu_ns / (middle * 1e9), "%");
	outcome__gate(outcome, "recorder: memory, resident", recording.resident_mib, GATE_AT_MOST,
		      MEMORY_MIB_MAX, "MiB");
	err = recording.profile ? 0 : -EPROTO;
	recording__free(&recording);
	return err;
}

/* From the command to the begin of the session. */
static int cost_of_start(const struct bench_options *options, struct outcome *outcome, pid_t target)
{
	double ms[STARTS];

	for (int i = 0; i < STARTS; i++) {
		const uint64_t begin_ns = stopwatch__now();
		struct recording recording;
		int err = recorder__record(options, outcome, target, FREQUENCY_HZ, START_SECONDS,
					   NULL, &recording);

		if (err)
			return err;
		ms[i] = ((double)recording.profile->session.start_unix_ns - (double)begin_ns) / 1e6;
		recording__free(&recording);
	}
	outcome__gate(outcome, "from the command to the first look", numbers__median(ms, STARTS),
		      GATE_AT_MOST, START_MS_MAX, "ms");
	return 0;
}

int mode_cost(const struct bench_options *options, struct outcome *outcome)
{
	struct work fixed = {"fixed work", "fixed", options->brief ? "4" : "20", "ms", 1e6, {{0}}};
	struct work switches = {"one switch", "switches", options->brief ? "30" : "100",
				"us",	      1e3,	  {{0}}};
	struct child demo;
	int err = cost_of_target(&fixed, options, outcome);

	if (!err)
		err = cost_of_target(&switches, options, outcome);
	if (!err)
		err = program_start(options, "demo", NULL, &demo);
	if (err)
		return err;
	pause_seconds(SETTLE_SECONDS);
	err = cost_of_recorder(options, outcome, demo.pid);
	if (!err)
		err = cost_of_start(options, outcome, demo.pid);
	child__end(&demo, SIGTERM);
	return err;
}
