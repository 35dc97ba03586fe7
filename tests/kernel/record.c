// SPDX-License-Identifier: MIT
#include "record.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report.h"

#define WORDS_MAX 32

/* Where the tests were built, from this program's own place. */
static const char *build_directory(void)
{
	static char path[PATH_MAX];
	ssize_t n;

	if (path[0])
		return path;
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	ck_assert_int_gt(n, 0);
	path[n] = 0;
	dirname(dirname(path));
	return path;
}

struct words {
	char *at[WORDS_MAX];
	int count;
};

static void word_add(struct words *words, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void word_add(struct words *words, const char *format, ...)
{
	va_list arguments;

	ck_assert_int_lt(words->count, WORDS_MAX - 1);
	va_start(arguments, format);
	ck_assert_int_ge(vasprintf(&words->at[words->count++], format, arguments), 0);
	va_end(arguments);
	words->at[words->count] = NULL;
}

static void words_split(struct words *words, const char *text)
{
	char *copy = strdup(text), *rest = copy, *word;

	while ((word = strsep(&rest, " ")))
		if (*word)
			word_add(words, "%s", word);
	free(copy);
}

static void words_free(struct words *words)
{
	while (words->count)
		free(words->at[--words->count]);
}

/* Starts a program; its standard output goes to *output. */
static pid_t start(const struct words *words, int *output)
{
	int pipes[2];
	pid_t pid;

	ck_assert_int_eq(pipe2(pipes, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		dup2(pipes[1], STDOUT_FILENO);
		execv(words->at[0], words->at);
		perror(words->at[0]);
		_exit(127);
	}
	close(pipes[1]);
	*output = pipes[0];
	return pid;
}

/* Reads until the end or, where wanted is given, until it was printed. */
static void read_output(int fd, char *text, size_t size, const char *wanted)
{
	size_t n = 0;
	ssize_t got;

	text[0] = 0;
	while (n < size - 1 && (got = read(fd, text + n, size - 1 - n)) > 0) {
		n += (size_t)got;
		text[n] = 0;
		if (wanted && strstr(text, wanted))
			return;
	}
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		ck_assert_int_eq(errno, EINTR);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Runs the recorder and takes over its report. */
static void run(struct recorded *recorded, struct words *words, const char *report)
{
	char reason[REPORT_ERROR_SIZE] = "";
	char *own = recorded->output;
	int output, err;
	pid_t pid;

	pid = start(words, &output);
	/* The recorder is quiet, so what is printed is the subject's. */
	if (own[0])
		own = (char[64]){0};
	read_output(output, own, own == recorded->output ? sizeof(recorded->output) : 64, NULL);
	close(output);
	recorded->status = wait_for(pid);
	err = report__read(report, &recorded->profile, reason);
	unlink(report);
	ck_assert_msg(!err, "no report (the recorder exited with %d): %s", recorded->status,
		      reason);
	record__check_identity(recorded->profile);
}

static void report_name(char name[64])
{
	static int number;

	snprintf(name, 64, "/tmp/ticksnick-test-%d-%d.json", getpid(), number++);
}

static void recorder_words(struct words *words, const char *options, const char *report)
{
	word_add(words, "%s/ticksnick", build_directory());
	word_add(words, "record");
	word_add(words, "-q");
	word_add(words, "-o");
	word_add(words, "%s", report);
	words_split(words, options);
}

void record__command(struct recorded *recorded, const char *options, const char *subject,
		     const char *arguments)
{
	struct words words = {.count = 0};
	char report[64];

	memset(recorded, 0, sizeof(*recorded));
	report_name(report);
	recorder_words(&words, options, report);
	word_add(&words, "--");
	word_add(&words, "%s/tests/subjects/%s", build_directory(), subject);
	words_split(&words, arguments);
	run(recorded, &words, report);
	words_free(&words);
}

void record__process(struct recorded *recorded, const char *options, const char *subject,
		     const char *arguments)
{
	struct words words = {.count = 0};
	char report[64];
	int output;
	pid_t pid;

	memset(recorded, 0, sizeof(*recorded));
	word_add(&words, "%s/tests/subjects/%s", build_directory(), subject);
	words_split(&words, arguments);
	pid = start(&words, &output);
	words_free(&words);
	read_output(output, recorded->output, sizeof(recorded->output), "ready");

	report_name(report);
	recorder_words(&words, options, report);
	word_add(&words, "-p");
	word_add(&words, "%d", pid);
	run(recorded, &words, report);
	words_free(&words);
	kill(pid, SIGKILL);
	wait_for(pid);
	close(output);
}

pid_t record__subject(const char *subject, const char *arguments, int *output)
{
	struct words words = {.count = 0};
	char text[256];
	pid_t pid;

	word_add(&words, "%s/tests/subjects/%s", build_directory(), subject);
	words_split(&words, arguments);
	pid = start(&words, output);
	words_free(&words);
	read_output(*output, text, sizeof(text), "ready");
	ck_assert_ptr_nonnull(strstr(text, "ready"));
	return pid;
}

void record__end(pid_t pid, int output)
{
	kill(pid, SIGKILL);
	wait_for(pid);
	close(output);
}

void record__free(struct recorded *recorded)
{
	profile__free(recorded->profile);
	recorded->profile = NULL;
}

double record__truth(const struct recorded *recorded, const char *key)
{
	const char *line = recorded->output;
	size_t length = strlen(key);

	while (line) {
		if (!strncmp(line, key, length) && line[length] == ' ')
			return strtod(line + length, NULL);
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	ck_abort_msg("the subject did not print %s, but: %s", key, recorded->output);
}

const struct profile_fine *record__fine(const struct recorded *recorded, const char *label)
{
	size_t i;

	for (i = 0; i < recorded->profile->fine_count; i++)
		if (!strcmp(recorded->profile->fine[i].label, label))
			return &recorded->profile->fine[i];
	ck_abort_msg("no label %s in the report", label);
}

void record__check_identity(const struct profile *profile)
{
	size_t i;

	ck_assert_uint_gt(profile->thread_count, 0);
	for (i = 0; i < profile->thread_count; i++) {
		const struct profile_thread *t = &profile->threads[i];
		double sum = (double)t->running_ns + (double)t->runnable_ns +
			     (double)t->blocked_ns + (double)t->io_ns;

		ck_assert_msg(fabs(sum - (double)t->lifetime_ns) <= (double)t->lifetime_ns / 1000,
			      "thread %d (%s): running + runnable + blocked + io = %.0f ns, "
			      "lifetime %llu ns",
			      t->tid, t->comm, sum, (unsigned long long)t->lifetime_ns);
	}
}
