// SPDX-License-Identifier: MIT
/* ticksnick record: records one or several processes, or a command from its first instruction. */
#include <argp.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "collect.h"
#include "commands.h"
#include "exit.h"
#include "launch.h"
#include "output.h"
#include "pids.h"
#include "probe.h"
#include "render.h"
#include "session.h"
#include "session_children.h"
#include "timer.h"
#include "utf8.h"

#define NAME		  "ticksnick record"
#define FREQUENCY_DEFAULT 997
#define FREQUENCY_MIN	  1
#define FREQUENCY_MAX                                                                             \
	10000 /* in a virtual machine a tick can cost 20 us: beyond this it would be all there is \
	       */
#define DURATION_MAX_S (10.0 * 365 * 86400)

struct arguments {
	pid_t pids[TSN_TARGETS_MAX];
	size_t pid_count;
	char **command;	   /* NULL: none; ends with NULL */
	double duration_s; /* 0: no limit */
	double frequency_hz;
	const char *output; /* NULL: none */
	const struct render_format *format;
	bool quiet, strict, follow;
};

/* What one run holds; everything is freed by run_end. */
struct run {
	struct arguments arguments;
	struct output *report;
	struct session *session;
	struct launch launch;
	bool launched;
	bool failed; /* the command, in which way what says */
	char what[LAUNCH_WHAT_SIZE];
	double frequency_asked; /* 0: as asked */
	int signals_fd;		/* -1: none */
};

enum { OPTION_NO_STRICT = 256, OPTION_FOLLOW_CHILDREN };

static const struct argp_option options[] = {
	{"pid", 'p', "PID[,PID...]", 0,
	 "Record these processes; a thread id stands for its process", 0},
	{"duration", 'd', "SECONDS", 0,
	 "Stop after so long (default: when the target ends, or at Ctrl-C)", 0},
	{"frequency", 'F', "HZ", 0, "Mean rate of the timer on each CPU (default: 997)", 0},
	{"output", 'o', "REPORT.json", 0,
	 "Write the report as JSON; the file appears complete or not at all", 0},
	{"format", 'f', "FORMAT", 0,
	 "What is printed: text (default), json, csv, csv-coarse or csv-pairs", 0},
	{"quiet", 'q', NULL, 0, "Print no report and no progress", 0},
	{"follow-children", OPTION_FOLLOW_CHILDREN, NULL, 0,
	 "Record what they fork and exec during the session, too", 0},
	{"no-strict", OPTION_NO_STRICT, NULL, 0,
	 "Only count label violations; do not end the session", 0},
	{0},
};

/* A positive number with a decimal point, whatever the locale; NaN: it is none. */
static double number(const char *text)
{
	char *end;
	double value = strtod(text, &end); /* before setlocale, so in the C locale */

	return end != text && !*end && isfinite(value) && value > 0 ? value : NAN;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	int err;

	switch (key) {
	case 'p':
		err = pids__parse(value, arguments->pids, TSN_TARGETS_MAX, &arguments->pid_count);
		if (err == -E2BIG)
			argp_error(state, "at most %d processes at once", TSN_TARGETS_MAX);
		else if (err)
			argp_error(state,
				   "'%s' is not a process id, nor several separated by commas",
				   value);
		return 0;
	case 'd':
		arguments->duration_s = number(value);
		if (!(arguments->duration_s <= DURATION_MAX_S))
			argp_error(state, "'%s' is not a number of seconds", value);
		return 0;
	case 'F':
		arguments->frequency_hz = number(value);
		if (!(arguments->frequency_hz >= FREQUENCY_MIN))
			argp_error(state, "'%s' is not a rate of at least 1 Hz", value);
		return 0;
	case 'o':
		arguments->output = value;
		return 0;
	case 'f':
		arguments->format = render__find(value);
		if (!arguments->format)
			argp_error(state,
				   "unknown format '%s': text, json, csv, csv-coarse or csv-pairs",
				   value);
		return 0;
	case 'q':
		arguments->quiet = true;
		return 0;
	case OPTION_NO_STRICT:
		arguments->strict = false;
		return 0;
	case OPTION_FOLLOW_CHILDREN:
		arguments->follow = true;
		return 0;
	case ARGP_KEY_ARGS:
		arguments->command = state->argv + state->next;
		return 0;
	case ARGP_KEY_END:
		if (arguments->command && arguments->pid_count)
			argp_error(state, "either -p or a command, not both");
		if (!arguments->command && !arguments->pid_count)
			argp_error(state, "what? give -p PID, or -- COMMAND");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "-p PID[,PID...]\n-- COMMAND [ARGUMENT...]",
	.doc = "Records which labels the threads of a process spend their time in, and prints the "
	       "report.\v"
	       "A command is run as the user who called sudo and is recorded from its first "
	       "instruction. "
	       "The session ends at -d, when the target ends, or at the first Ctrl-C, always with "
	       "a report. "
	       "Exit status: 0 done, 2 wrong arguments, 3 a label violation ended it (the report "
	       "is "
	       "written), 4 this machine or its permissions do not allow it, 5 no such process or "
	       "no "
	       "ticksnick slot in it, 6 the output could not be written.",
};

static int fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int fail(int status, const char *format, ...)
{
	va_list arguments;

	fputs(NAME ": ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return status;
}

static int fail_output(const char *path, int err)
{
	return fail(EXIT_OUTPUT, "cannot write %s: %s", path, strerror(-err));
}

/* ---- before the session ---- */

/* What ends the session must not end the recorder. -1: cannot be had, and then they end it the hard
 * way. */
static int signals_take(void)
{
	struct sigaction hangup;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	/* Under nohup it is ignored, and shall stay so. */
	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Those that ended the session; further ones may hasten what comes after it. */
static void signals_forget(int fd)
{
	struct signalfd_siginfo signal;

	while (read(fd, &signal, sizeof(signal)) == sizeof(signal))
		;
}

#define LABEL_IT                                                                                 \
	"include <ticksnick/ticksnick.h> in it, without TICKSNICK_DISABLE, and label its code, " \
	"see ticksnick(1)"

/* Why a process, which calls itself comm, has no usable table, in one sentence. */
static int fail_locate_of(const struct target *target, const char *comm, int err)
{
	char reason[512];

	switch (err) {
	case -EPROTONOSUPPORT:
		return fail(EXIT_NO_TARGET,
			    "process %d (%s) has a ticksnick slot of another ABI than %d: rebuild "
			    "it with this "
			    "version's header",
			    target->pid, comm, TSN_ABI_VERSION);
	case -ESTALE:
		return fail(EXIT_NO_TARGET,
			    "process %d (%s) only has the slots of the process it was forked from: "
			    "it must be forked "
			    "by fork(), or call exec",
			    target->pid, comm);
	case -EPERM:
	case -EACCES:
		if (!probe__can_read(target->pid, reason, sizeof(reason)))
			snprintf(reason, sizeof(reason), "run as root, or grant CAP_SYS_PTRACE");
		return fail(EXIT_NOT_ALLOWED, "not allowed to read process %d (%s): %s",
			    target->pid, comm, reason);
	case -ESRCH:
		return fail(EXIT_NO_TARGET, "process %d has ended", target->pid);
	case -ETIMEDOUT:
		return fail(EXIT_NO_TARGET,
			    "reading the memory of process %d (%s) does not end: it lies where "
			    "another program must provide it (userfaultfd, FUSE), and that does "
			    "not answer",
			    target->pid, comm);
	default:
		return fail(EXIT_NO_TARGET, "process %d (%s) has no ticksnick slot: " LABEL_IT,
			    target->pid, comm);
	}
}

static int fail_locate(const struct target *target, int err)
{
	char *comm = target->comm ? utf8__printable(target->comm, false) : NULL;
	int status = fail_locate_of(target, comm ? comm : "?", err);

	free(comm);
	return status;
}

/* Opens the processes given by -p. 0 or an exit code. */
static int targets_open(struct run *run)
{
	char error[TARGET_ERROR_SIZE];
	struct target *target;
	size_t i, k;
	int err;

	for (i = 0; i < run->arguments.pid_count; i++) {
		err = target__open(run->arguments.pids[i], &target, error);
		if (err)
			return fail(err == -ESRCH ? EXIT_NO_TARGET : EXIT_NOT_ALLOWED, "%s", error);
		if (target->thread_id && !run->arguments.quiet)
			fprintf(stderr,
				NAME ": %d is a thread of process %d; recording the process\n",
				target->thread_id, target->pid);
		for (k = 0; k < run->session->member_count; k++)
			if (run->session->members[k]->target->pid == target->pid)
				break;
		if (k <
		    run->session->member_count) { /* a thread of a process that is there already */
			target__free(target);
			continue;
		}
		err = target__locate(target);
		/* Its children may have labels where it has none. */
		if (err == -ENOENT && run->arguments.follow)
			err = 0;
		if (err && err != -EAGAIN) {
			int status = fail_locate(target, err);

			target__free(target);
			return status;
		}
		err = session__add(run->session, target);
		if (err)
			return fail(EXIT_NOT_ALLOWED, "cannot watch process %d: %s",
				    run->arguments.pids[i], strerror(-err));
	}
	return 0;
}

/* Prepares the command; it runs once the session has begun. 0 or an exit code. */
static int command_prepare(struct run *run)
{
	char error[TARGET_ERROR_SIZE];
	struct target *target;
	int err = launch__prepare(&run->launch, run->arguments.command);

	if (err)
		return fail(EXIT_NOT_ALLOWED, "cannot start a process: %s", strerror(-err));
	run->launched = true;
	err = target__open(run->launch.pid, &target, error);
	if (err)
		return fail(EXIT_NOT_ALLOWED, "%s", error);
	err = session__add(run->session, target);
	if (err)
		return fail(EXIT_NOT_ALLOWED, "cannot watch the command: %s", strerror(-err));
	return 0;
}

/* The greatest rate that the kernel lets a timer have, and that leaves the machine time for
 * anything else. */
static void frequency_clamp(struct run *run)
{
	double max = timer__rate_max();

	if (max <= 0 || max > FREQUENCY_MAX)
		max = FREQUENCY_MAX;
	if (run->arguments.frequency_hz <= max)
		return;
	run->frequency_asked = run->arguments.frequency_hz;
	run->arguments.frequency_hz = max;
	fprintf(stderr, NAME ": %.0f Hz is too fast, using %.0f Hz%s\n", run->frequency_asked, max,
		max < FREQUENCY_MAX ? " (kernel.perf_event_max_sample_rate)" : "");
}

/* ---- the session ---- */

static int session_open(struct run *run)
{
	struct session_options wanted = {
		.frequency_hz = run->arguments.frequency_hz,
		.duration_ns = (uint64_t)(run->arguments.duration_s * 1e9),
		.strict = run->arguments.strict,
		.follow = run->arguments.follow,
		.progress = !run->arguments.quiet && isatty(STDERR_FILENO) ? stderr : NULL,
		.signals_fd = run->signals_fd,
	};
	char error[ENGINE_ERROR_SIZE], reason[512];
	int err;

	if (probe__can_record(reason, sizeof(reason)))
		return fail(EXIT_NOT_ALLOWED, "%s", reason);
	err = session__new(&wanted, &run->session, error);
	return err ? fail(EXIT_NOT_ALLOWED, "%s", error) : 0;
}

static int session_run(struct run *run)
{
	int err = session__start(run->session);

	if (err)
		return fail(EXIT_NOT_ALLOWED, "cannot start the session: %s", strerror(-err));
	if (run->launched) {
		err = launch__go(&run->launch);
		if (err)
			return fail(EXIT_USAGE, "cannot run %s: %s", run->arguments.command[0],
				    strerror(-err));
	}
	err = session__run(run->session);
	if (run->launched)
		run->failed = launch__failed(&run->launch, run->what);
	if (!err)
		err = session__stop(run->session);
	return err ? fail(EXIT_NOT_ALLOWED, "the session broke off: %s", strerror(-err)) : 0;
}

/* Where children are followed: no process had labels. 0 or an exit code. */
static int followed_check(const struct run *run)
{
	uint64_t unread = run->session->roll.unread;
	bool cut = run->session->ended_by == SESSION_ENDED_BY_DURATION;
	char name[64];

	if (session_children__kept(run->session))
		return 0;
	snprintf(name, sizeof(name), "process %d", run->arguments.pids[0]);
	return fail(EXIT_NO_TARGET,
		    "neither %s%s nor what it has started has a ticksnick slot%s: " LABEL_IT,
		    run->launched ? run->arguments.command[0] : name,
		    run->arguments.pid_count > 1 ? " (and the others)" : "",
		    unread ? ", as far as could be seen before it ended"
		    : cut  ? ", as far as they came in the session's time"
			   : "");
}

/* A command without a slot is known for it only now. */
static int slots_check(const struct run *run)
{
	size_t i;

	/* Interrupted at once, it may not have come to it. */
	if (run->session->ended_by == SESSION_ENDED_BY_SIGNAL)
		return 0;
	if (run->arguments.follow)
		return followed_check(run);
	for (i = 0; i < run->session->member_count; i++)
		if (run->session->members[i]->published)
			return 0;
	if (run->failed)
		return fail(EXIT_NO_TARGET, "%s %s, and had no ticksnick slot",
			    run->arguments.command[0], run->what);
	return run->launched ? fail(EXIT_NO_TARGET,
				    "%s has no ticksnick slot%s (what it starts is recorded with "
				    "--follow-children): " LABEL_IT,
				    run->arguments.command[0],
				    run->session->ended_by == SESSION_ENDED_BY_DURATION
					    ? ", as far as it came in the session's time"
					    : "")
			     : 0;
}

/* ---- after it ---- */

static int report_save(struct run *run, const struct profile *profile)
{
	int err;

	if (!run->report)
		return 0;
	output__stop_at(run->report, run->signals_fd);
	err = render_json.write(profile, NULL, output__stream(run->report));
	err = output__finish(run->report, err);
	run->report = NULL;
	return err ? fail_output(run->arguments.output, err) : 0;
}

static int report_print(const struct run *run, const struct profile *profile)
{
	struct render_options look;
	struct output *output;
	int err;

	if (run->arguments.quiet)
		return 0;
	look = render__options_for(stdout);
	output = output__open("-", &err);
	if (!output)
		return fail_output("standard output", err);
	output__stop_at(output, run->signals_fd);
	err = run->arguments.format->write(profile, &look, output__stream(output));
	err = output__finish(output, err);
	if (!err || err == -EPIPE) /* whoever read has had enough */
		return 0;
	return fail_output("standard output", err);
}

/* What is said of the run besides what the session saw. 0 or -ENOMEM. */
static int run_warn(const struct run *run, struct profile *profile)
{
	int err = 0;

	if (run->frequency_asked > 0)
		err = profile__warn(profile, "frequency_clamped", NULL,
				    "%.0f Hz was asked for, %.0f Hz is the most that is allowed",
				    run->frequency_asked, run->arguments.frequency_hz);
	if (!err && run->failed)
		err = profile__warn(profile, "command_failed", NULL, "%s %s",
				    run->arguments.command[0], run->what);
	return err;
}

/* Saves first, so that nothing printed can stand in its way. 0 or an exit code. */
static int profile_deliver(struct run *run)
{
	struct profile *profile = collect__profile(run->session);
	int status, printed;

	if (profile && run_warn(run, profile)) {
		profile__free(profile);
		profile = NULL;
	}
	if (!profile)
		return fail(EXIT_NOT_ALLOWED, "out of memory");
	signals_forget(run->signals_fd);
	status = report_save(run, profile);
	printed = report_print(run, profile);
	profile__free(profile);
	if (!status)
		status = printed;
	if (!status && run->session->ended_by == SESSION_ENDED_BY_VIOLATION)
		status = EXIT_VIOLATION;
	return status;
}

static int run_all(struct run *run)
{
	int status, err;

	if (run->arguments.output) {
		run->report = output__open(run->arguments.output, &err);
		if (!run->report)
			return fail_output(run->arguments.output, err);
	}
	/* Not before: opening a fifo waits for its reader, and may be interrupted. */
	run->signals_fd = signals_take();
	frequency_clamp(run);
	status = session_open(run);
	if (!status)
		status = run->arguments.command ? command_prepare(run) : targets_open(run);
	if (!status)
		status = session_run(run);
	if (!status)
		status = slots_check(run);
	if (!status)
		status = profile_deliver(run);
	return status;
}

int cmd_record(int argc, char **argv)
{
	struct run run = {
		.arguments =
			{
				.frequency_hz = FREQUENCY_DEFAULT,
				.format = &render_text,
				.strict = true,
			},
		.signals_fd = -1,
	};
	int status;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &run.arguments);
	setlocale(LC_CTYPE, "");
	status = run_all(&run);
	output__abort(run.report);
	if (run.launched)
		launch__end(&run.launch);
	session__free(run.session);
	return status;
}
