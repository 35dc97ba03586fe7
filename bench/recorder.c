// SPDX-License-Identifier: MIT
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "outcome.h"
#include "report.h"

#define EXTRA_MAX     16
#define START_STEPS   1000 /* looks at whether it observes, each 10 ms after the last */
#define START_STEP_NS 10000000
#define SETTLE_NS     50000000 /* from its first attached program to the session's begin */
#define LINK_NAME     "anon_inode:bpf_link" /* of an attached program */

extern char **environ;

struct recorder {
	pid_t child;
	bool timed; /* ends by itself */
	char directory[64], report[96], log[96];
};

static void sleep_ns(long ns)
{
	const struct timespec time = {.tv_nsec = ns};

	nanosleep(&time, NULL);
}

static bool has_ended(pid_t child)
{
	siginfo_t info = {0};

	return waitid(P_PID, child, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
	       info.si_pid == child;
}

static int spawn(const char *const *arguments, const char *log, pid_t *child)
{
	posix_spawn_file_actions_t files;
	int err;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC,
					 0600);
	/* Not fork: this process has labels and threads, and the child should begin without them.
	 */
	err = posix_spawn(child, arguments[0], &files, NULL, (char *const *)arguments, environ);
	posix_spawn_file_actions_destroy(&files);
	return -err;
}

static void remove_files(const struct recorder *recorder)
{
	unlink(recorder->report);
	unlink(recorder->log);
	rmdir(recorder->directory);
}

int recorder__start(const struct bench_options *options, struct outcome *outcome, pid_t pid,
		    double frequency_hz, double seconds, const char *const *extra,
		    struct recorder **started)
{
	const char *arguments[11 + EXTRA_MAX + 1] = {options->recorder, "record", "-q"};
	char pid_text[16], frequency_text[32], seconds_text[32];
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	size_t count = 3;
	int err;

	if (!recorder)
		return -ENOMEM;
	strcpy(recorder->directory, "/tmp/ticksnick-bench.XXXXXX");
	if (!mkdtemp(recorder->directory)) {
		err = -errno;
		free(recorder);
		return err;
	}
	snprintf(recorder->report, sizeof(recorder->report), "%s/report.json", recorder->directory);
	snprintf(recorder->log, sizeof(recorder->log), "%s/log", recorder->directory);
	snprintf(pid_text, sizeof(pid_text), "%d", pid);
	snprintf(frequency_text, sizeof(frequency_text), "%.17g", frequency_hz);
	snprintf(seconds_text, sizeof(seconds_text), "%.17g", seconds);
	recorder->timed = seconds > 0;
	for (const char *const
		     pair[] = {"-p", pid_text, "-F", frequency_text, "-o", recorder->report},
		     *const *next = pair;
	     next < pair + 6; next++)
		arguments[count++] = *next;
	if (recorder->timed) {
		arguments[count++] = "-d";
		arguments[count++] = seconds_text;
	}
	for (size_t i = 0; extra && extra[i] && i < EXTRA_MAX; i++)
		arguments[count++] = extra[i];

	err = spawn(arguments, recorder->log, &recorder->child);
	if (err) {
		outcome__broken(outcome, "cannot start %s: %s", options->recorder, strerror(-err));
		remove_files(recorder);
		free(recorder);
		return err;
	}
	for (int i = 0; i < START_STEPS && !has_ended(recorder->child) &&
			!child__has_open(recorder->child, LINK_NAME);
	     i++)
		sleep_ns(START_STEP_NS);
	sleep_ns(SETTLE_NS);
	*started = recorder;
	return 0;
}

double recorder__cpu_ns(const struct recorder *recorder)
{
	return child__cpu_ns(recorder->child);
}

static void read_log(const struct recorder *recorder, struct recording *recording)
{
	FILE *file = fopen(recorder->log, "re");
	size_t length = 0;

	if (file) {
		length = fread(recording->error, 1, sizeof(recording->error) - 1, file);
		fclose(file);
	}
	recording->error[length] = '\0';
	if (length > 0 && recording->error[length - 1] == '\n')
		recording->error[length - 1] = '\0';
}

static double seconds_of(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

void recorder__finish(struct recorder *recorder, struct recording *recording)
{
	char error[REPORT_ERROR_SIZE];
	struct rusage usage = {0};
	int status = 0;

	*recording = (struct recording){0};
	if (!recorder->timed)
		kill(recorder->child, SIGINT);
	while (wait4(recorder->child, &status, 0, &usage) < 0 && errno == EINTR)
		;
	recording->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	recording->user_seconds = seconds_of(usage.ru_utime);
	recording->system_seconds = seconds_of(usage.ru_stime);
	recording->resident_mib = (double)usage.ru_maxrss / 1024;
	read_log(recorder, recording);
	if (report__read(recorder->report, &recording->profile, error) != 0 && !*recording->error)
		snprintf(recording->error, sizeof(recording->error), "%s", error);
	remove_files(recorder);
	free(recorder);
}

int recorder__complete(struct recorder *recorder, struct outcome *outcome,
		       struct recording *recording)
{
	recorder__finish(recorder, recording);
	if (recording->profile)
		return 0;
	outcome__broken(outcome, "record ended with %d and left no report: %s", recording->status,
			recording->error);
	return -EPROTO;
}

int recorder__record(const struct bench_options *options, struct outcome *outcome, pid_t pid,
		     double frequency_hz, double seconds, const char *const *extra,
		     struct recording *recording)
{
	struct recorder *recorder;
	int err = recorder__start(options, outcome, pid, frequency_hz, seconds, extra, &recorder);

	return err ? err : recorder__complete(recorder, outcome, recording);
}

void recording__free(struct recording *recording)
{
	profile__free(recording->profile);
	recording->profile = NULL;
}

const struct profile_fine *recording__fine(const struct recording *recording, const char *label)
{
	const struct profile *profile = recording->profile;

	for (size_t i = 0; profile && i < profile->fine_count; i++)
		if (strcmp(profile->fine[i].label, label) == 0)
			return &profile->fine[i];
	return NULL;
}

const struct profile_coarse *recording__coarse(const struct recording *recording, const char *label)
{
	const struct profile *profile = recording->profile;

	for (size_t i = 0; profile && i < profile->coarse_count; i++)
		if (strcmp(profile->coarse[i].label, label) == 0)
			return &profile->coarse[i];
	return NULL;
}
