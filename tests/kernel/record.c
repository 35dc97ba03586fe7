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
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine.h"
#include "report.h"

#define WORDS_MAX 32

bool record__in_ci(void)
{
	const char *ci = getenv("CI");

	return ci && !strcmp(ci, "true");
}

bool record__may_leave_out(const char *what)
{
	printf("NOT CHECKED: %s\n", what);
	return !record__in_ci();
}

bool record__tests_are_long(void)
{
	const char *text = getenv("TICKSNICK_TEST_LONG");

	return text && !strcmp(text, "1");
}

/* Where the tests were built, from this program's own place. */
const char *record__build_directory(void)
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

static int wait_with_usage(pid_t pid, struct rusage *usage)
{
	int status;

	while (wait4(pid, &status, 0, usage) < 0)
		ck_assert_int_eq(errno, EINTR);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int wait_for(pid_t pid)
{
	return wait_with_usage(pid, NULL);
}

/* Waits for a recorder and takes over its report. */
static void take(struct recorded *recorded, pid_t recorder, const char *report)
{
	char reason[REPORT_ERROR_SIZE] = "";
	struct rusage usage;
	int err;

	recorded->status = wait_with_usage(recorder, &usage);
	recorded->memory_kib = usage.ru_maxrss;
	err = report__read(report, &recorded->profile, reason);
	unlink(report);
	ck_assert_msg(!err, "no report (the recorder exited with %d): %s", recorded->status,
		      reason);
	record__check_identity(recorded->profile);
}

/* Runs the recorder and takes over its report. */
static void run(struct recorded *recorded, struct words *words, const char *report)
{
	char rest[64] = "", *own = recorded->output;
	int output;
	pid_t pid;

	pid = start(words, &output);
	/* The recorder is quiet, so what is printed is the subject's. */
	if (own[0])
		own = rest;
	read_output(output, own, own == rest ? sizeof(rest) : sizeof(recorded->output), NULL);
	close(output);
	take(recorded, pid, report);
}

static void report_name(char name[64])
{
	static int number;

	snprintf(name, 64, "/tmp/ticksnick-test-%d-%d.json", getpid(), number++);
}

static void recorder_words(struct words *words, const char *options, const char *report)
{
	word_add(words, "%s/ticksnick", record__build_directory());
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
	word_add(&words, "%s/tests/subjects/%s", record__build_directory(), subject);
	words_split(&words, arguments);
	run(recorded, &words, report);
	words_free(&words);
}

void record__process(struct recorded *recorded, const char *options, const char *subject,
		     const char *arguments)
{
	struct words words = {.count = 0};
	struct timespec now;
	char report[64];
	int output;
	pid_t pid;

	memset(recorded, 0, sizeof(*recorded));
	word_add(&words, "%s/tests/subjects/%s", record__build_directory(), subject);
	words_split(&words, arguments);
	pid = start(&words, &output);
	words_free(&words);
	read_output(output, recorded->output, sizeof(recorded->output), "ready");

	report_name(report);
	recorder_words(&words, options, report);
	word_add(&words, "-p");
	word_add(&words, "%d", pid);
	clock_gettime(CLOCK_REALTIME, &now);
	recorded->started_ns = (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
	run(recorded, &words, report);
	words_free(&words);
	kill(pid, SIGKILL);
	wait_for(pid);
	close(output);
}

pid_t record__subject(const char *subject, const char *arguments, int *output)
{
	struct recorded said = {0};

	return record__subject_begin(subject, arguments, output, &said);
}

pid_t record__subject_begin(const char *subject, const char *arguments, int *output,
			    struct recorded *said)
{
	struct words words = {.count = 0};
	pid_t pid;

	word_add(&words, "%s/tests/subjects/%s", record__build_directory(), subject);
	words_split(&words, arguments);
	pid = start(&words, output);
	words_free(&words);
	record__subject_wait(*output, said, "ready");
	return pid;
}

static void read_on(int output, struct recorded *said, const char *wanted)
{
	size_t had = strlen(said->output);

	read_output(output, said->output + had, sizeof(said->output) - had, wanted);
}

void record__subject_wait(int output, struct recorded *said, const char *key)
{
	read_on(output, said, key);
	ck_assert_msg(strstr(said->output, key), "the subject did not say %s, but: %s", key,
		      said->output);
}

/* Whether the recorder waits for what ends a session, which it does in this system call alone. */
static bool waits(pid_t recorder)
{
	char path[64];
	unsigned long fds = 0;
	long call = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/syscall", recorder);
	file = fopen(path, "r");
	if (!file)
		return false;
	/* Its number and its arguments. */
	if (fscanf(file, "%ld %*x %lx", &call, &fds) != 2)
		call = -1;
	fclose(file);
	/* For signals, for events, and for the target; for two things it waits before, too. */
	return call == SYS_ppoll && fds > 2;
}

void record__begin(struct recording *recording, const char *options, const char *pids)
{
	struct words words = {.count = 0};
	int tries;

	report_name(recording->report);
	recorder_words(&words, options, recording->report);
	word_add(&words, "-p");
	word_add(&words, "%s", pids);
	recording->recorder = start(&words, &recording->output);
	words_free(&words);
	for (tries = 0; tries < 5000 && !waits(recording->recorder); tries++)
		usleep(1000);
	ck_assert_msg(tries < 5000, "the recorder does not begin");
}

void record__finish(struct recording *recording, struct recorded *recorded)
{
	memset(recorded, 0, sizeof(*recorded));
	take(recorded, recording->recorder, recording->report);
	close(recording->output);
}

int record__subject_end(pid_t pid, int output, struct recorded *said)
{
	read_on(output, said, NULL);
	close(output);
	return wait_for(pid);
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

/* NULL: there is no such label. */
static const struct profile_fine *fine_find(const struct recorded *recorded, const char *label)
{
	size_t i;

	for (i = 0; i < recorded->profile->fine_count; i++)
		if (!strcmp(recorded->profile->fine[i].label, label))
			return &recorded->profile->fine[i];
	return NULL;
}

const struct profile_fine *record__fine(const struct recorded *recorded, const char *label)
{
	const struct profile_fine *fine = fine_find(recorded, label);

	ck_assert_msg(fine != NULL, "no label %s in the report", label);
	return fine;
}

bool record__hands_in_last_words(void)
{
	char error[ENGINE_ERROR_SIZE];
	struct engine *engine;
	bool hands_in;

	ck_assert_msg(!engine__new(false, &engine, error), "%s", error);
	hands_in = engine->final_calls_work;
	engine__free(engine);
	return hands_in;
}

void record__check_calls(const struct recorded *recorded, const char *label, uint64_t made)
{
	const struct profile_fine *fine = fine_find(recorded, label);
	uint64_t calls = fine ? fine->calls : 0, unread = recorded->profile->losses.calls_unread;

	if ((calls != made || unread) && !record__hands_in_last_words() &&
	    record__may_leave_out("calls: this kernel does not hand in the last ones")) {
		ck_assert_uint_le(calls, made);
		ck_assert(calls == made || unread);
		return;
	}
	ck_assert_msg(calls == made, "%llu calls of %s, %llu were made", (unsigned long long)calls,
		      label, (unsigned long long)made);
	ck_assert_uint_eq(unread, 0);
}

const struct profile_warning *record__warning(const struct recorded *recorded, const char *code)
{
	size_t i;

	for (i = 0; i < recorded->profile->warning_count; i++)
		if (!strcmp(recorded->profile->warnings[i].code, code))
			return &recorded->profile->warnings[i];
	return NULL;
}

const struct profile_thread *record__thread(const struct recorded *recorded, int tid)
{
	size_t i;

	for (i = 0; i < recorded->profile->thread_count; i++)
		if (recorded->profile->threads[i].tid == tid)
			return &recorded->profile->threads[i];
	return NULL;
}

double record__least_running(const struct recorded *recorded, double cpu_ns)
{
	return cpu_ns * 0.998 - (recorded->profile->losses.switch_missed ? 5e6 : 0);
}

void record__check_totals(const struct profile *profile)
{
	const struct profile_totals *totals = &profile->totals;
	double rows = 0, all = (double)totals->thread_time_ns;
	size_t i;

	for (i = 0; i < profile->thread_count; i++)
		rows += (double)profile->threads[i].lifetime_ns;
	ck_assert_msg(rows <= all + all / 1000 + 1e6 &&
			      (profile->losses.threads_folded || rows >= all - all / 1000 - 1e6),
		      "the threads' lifetimes are %.3f ms, all labels' time is %.3f ms", rows / 1e6,
		      all / 1e6);
}

void record__check_identity(const struct profile *profile)
{
	size_t i;

	ck_assert_uint_gt(profile->thread_count, 0);
	for (i = 0; i < profile->thread_count; i++) {
		const struct profile_thread *t = &profile->threads[i];
		double sum = (double)t->running_ns + (double)t->runnable_ns +
			     (double)t->blocked_ns + (double)t->io_ns;
		/* Exact, but for what a clock that stepped has cut off. */
		double tolerance =
			profile->losses.clock_stepped ? (double)t->lifetime_ns / 1000 : 1;

		ck_assert_msg(fabs(sum - (double)t->lifetime_ns) <= tolerance,
			      "thread %d (%s): running + runnable + blocked + io = %.0f ns, "
			      "lifetime %llu ns",
			      t->tid, t->comm, sum, (unsigned long long)t->lifetime_ns);
	}
}
