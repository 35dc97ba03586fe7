// SPDX-License-Identifier: MIT
/* ticksnick doctor: what this machine and a process allow, and how to mend what they do not. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/utsname.h>

#include "commands.h"
#include "engine.h"
#include "exit.h"
#include "pids.h"
#include "probe.h"
#include "proc.h"
#include "target.h"
#include "utf8.h"

struct doctor_options {
	pid_t pid; /* 0: the machine alone */
};

struct doctor {
	unsigned warned, failed;
};

static void show(struct doctor *doctor, const struct probe_result *result)
{
	static const char *const words[] = {"ok", "warn", "fail"};

	printf("%-4s  %-16s  %s\n", words[result->status], result->name, result->detail);
	if (result->status != PROBE_OK)
		printf("%24s-> %s\n", "", result->remedy);
	doctor->warned += result->status == PROBE_WARN;
	doctor->failed += result->status == PROBE_FAIL;
}

/* The last word: the kernel's verifier on the very programs that record. */
static void check_load(struct doctor *doctor)
{
	struct probe_result result;
	char error[ENGINE_ERROR_SIZE];

	if (!engine__probe(error)) {
		probe__say(&result, "bpf-load", PROBE_OK,
			   "the kernel accepts the recorder's programs");
	} else {
		probe__say(&result, "bpf-load", PROBE_FAIL, "%s", error);
		probe__mend(&result, "mend what failed above; if nothing did, report this line and "
				     "the kernel's release as a bug");
	}
	show(doctor, &result);
}

static void check_machine(struct doctor *doctor)
{
	static probe_check *const checks[] = {
		probe__btf,
		probe__lockdown,
		probe__capabilities,
		probe__user_namespace,
		probe__yama,
		probe__paranoid,
		probe__unprivileged_bpf,
		probe__jit,
		probe__sample_rate,
		probe__cpu_time,
		probe__clocksource,
		probe__virtualization,
		probe__pid_namespace,
	};
	struct probe_result result;
	struct utsname names;

	probe__kernel("", &result);
	show(doctor, &result);
	if (!uname(&names)) {
		probe__architecture(names.machine, &result);
		show(doctor, &result);
	}
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		checks[i]("", &result);
		show(doctor, &result);
	}
	probe__open_files(&result);
	show(doctor, &result);
	probe__locked_memory(&result);
	show(doctor, &result);
	probe__perf_event(&result);
	show(doctor, &result);
	probe__bpf_syscall(&result);
	show(doctor, &result);
	/* Where not even a map can be made, loading would repeat the same complaint. */
	if (result.status == PROBE_OK)
		check_load(doctor);
}

static void check_identity(struct doctor *doctor, const struct target *target)
{
	char *printable = target->comm ? utf8__printable(target->comm, false) : NULL;
	const char *name = printable ? printable : "?";
	char link[64] = "", own[64] = "", path[64];
	struct probe_result result;
	ssize_t length;

	if (target->thread_id)
		probe__say(&result, "process", PROBE_OK, "%d, %s (%d is one of its threads)",
			   target->pid, name, target->thread_id);
	else
		probe__say(&result, "process", PROBE_OK, "%d, %s", target->pid, name);
	show(doctor, &result);
	free(printable);

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", target->pid);
	length = readlink(path, link, sizeof(link) - 1);
	if (length < 0 || readlink("/proc/self/ns/pid", own, sizeof(own) - 1) < 0)
		probe__say(&result, "its-namespace", PROBE_OK, "cannot be seen from here");
	else if (!strcmp(link, own))
		probe__say(&result, "its-namespace", PROBE_OK, "the same as this one's");
	else
		probe__say(&result, "its-namespace", PROBE_OK, "%s, where it is process %" PRIu32,
			   link, target->own_pid);
	show(doctor, &result);
}

static void check_threads(struct doctor *doctor, const struct target *target)
{
	struct probe_result result;
	pid_t *tids = NULL;
	size_t count = 0;

	if (proc__threads(target->pid, &tids, &count))
		return;
	free(tids);
	probe__say(&result, "its-threads", PROBE_OK, "%zu", count);
	show(doctor, &result);
}

/* 0 or the exit code that the absence of a slot means. */
static int check_slot(struct doctor *doctor, struct target *target)
{
	int error = target__locate(target), status = EXIT_NO_TARGET;
	uint32_t count;
	struct probe_result result;

	switch (error) {
	case 0:
		error = table__refresh(&target->table, &target->remote);
		count = error ? 0 : target->table.label_count - 1;
		probe__say(&result, "its-slot", PROBE_OK, "%" PRIu32 " label%s registered", count,
			   count == 1 ? "" : "s");
		status = 0;
		break;
	case -EAGAIN:
		probe__say(&result, "its-slot", PROBE_OK,
			   "it can have labels and has registered none yet");
		status = 0;
		break;
	case -ENOENT:
		probe__say(&result, "its-slot", PROBE_FAIL, "it has no ticksnick slot");
		probe__mend(&result,
			    "include <ticksnick/ticksnick.h> in the program, label code with "
			    "TSN_FINE and TSN_SCOPE, build it and start it again");
		break;
	case -EPROTONOSUPPORT:
		probe__say(&result, "its-slot", PROBE_FAIL,
			   "its slot is of another version than this program's, or damaged");
		probe__mend(&result, "build it with the header that came with this ticksnick");
		break;
	default:
		probe__say(&result, "its-slot", PROBE_FAIL, "its slot cannot be read: %s",
			   error == -ETIMEDOUT ? "reading its memory does not end"
					       : strerror(-error));
		probe__mend(&result, "see whether it still runs, and try again");
		break;
	}
	show(doctor, &result);
	return status;
}

/* 0 or an exit code. */
static int check_target(struct doctor *doctor, pid_t pid)
{
	char sentence[TARGET_ERROR_SIZE];
	struct probe_result result;
	struct target *target;
	int error, status;

	error = target__open(pid, &target, sentence);
	if (error) {
		probe__say(&result, "process", PROBE_FAIL, "%s", sentence);
		probe__mend(&result,
			    error == -ESRCH ? "look its id up with pgrep or ps" : PROBE_GRANT);
		show(doctor, &result);
		return error == -ESRCH ? EXIT_NO_TARGET : EXIT_NOT_ALLOWED;
	}
	check_identity(doctor, target);
	check_threads(doctor, target);
	error = probe__memory(target->pid, &result);
	show(doctor, &result);
	if (error)
		status = error == -ESRCH || error == -ETIMEDOUT ? EXIT_NO_TARGET : EXIT_NOT_ALLOWED;
	else
		status = check_slot(doctor, target);
	target__free(target);
	return status;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct doctor_options *options = state->input;
	size_t count;

	switch (key) {
	case 'p':
		if (pids__parse(argument, &options->pid, 1, &count)) {
			fprintf(stderr, "%s: '%s' is not a process id: give one number from 1 on\n",
				state->name, argument);
			exit(EXIT_USAGE);
		}
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is one argument too many", argument);
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option option_table[] = {
	{"pid", 'p', "PID", 0, "Look at this process, too", 0},
	{0},
};

static const struct argp parser = {
	.options = option_table,
	.parser = parse_option,
	.doc = "Says what this machine and a process allow, and how to mend what they do not.\v"
	       "Exit status: 0 recording can work; 2 usage; 4 the machine or permissions do not "
	       "allow it; 5 no such process, or no ticksnick slot in it.",
};

int cmd_doctor(int argc, char **argv)
{
	struct doctor_options options = {.pid = 0};
	struct doctor doctor = {.failed = 0};
	int status = 0;

	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&parser, argc, argv, 0, NULL, &options))
		return EXIT_USAGE;
	check_machine(&doctor);
	if (doctor.failed > 0)
		status = EXIT_NOT_ALLOWED;
	if (options.pid) {
		int target_status = check_target(&doctor, options.pid);

		/* Where both fail, what is wrong with the machine comes first to mend. */
		if (!status)
			status = target_status;
	}
	if (status)
		printf("recording cannot work: %u of the above failed\n", doctor.failed);
	else
		printf("recording can work%s\n", doctor.warned ? ", within the limits above" : "");
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "%s: cannot write: %s\n", argv[0], strerror(errno));
		return EXIT_OUTPUT;
	}
	return status;
}
