/* SPDX-License-Identifier: MIT */
/* The reader against reports that nobody vouches for, and the output file against disks that fail.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"
#include "render.h"
#include "report.h"
#include "suites.h"

static char *sample_path(void)
{
	const char *directory = getenv("TESTS_DATA");
	char *path;

	ck_assert_int_gt(asprintf(&path, "%s/server.json", directory ? directory : "tests/data"),
			 0);
	return path;
}

static json_t *load_sample(void)
{
	char *path = sample_path();
	json_error_t error;
	json_t *report = json_load_file(path, 0, &error);

	ck_assert_msg(report != NULL, "%s: %s", path, error.text);
	free(path);
	return report;
}

static int parse(const char *text, size_t length, char error[REPORT_ERROR_SIZE])
{
	struct profile *profile = (struct profile *)&error, *untouched = profile;
	int result;

	strcpy(error, "");
	result = report__parse(text, length, &profile, error);
	if (result) {
		ck_assert_ptr_eq(profile, untouched);
		ck_assert_str_ne(error, "");
		ck_assert_uint_lt(strlen(error), REPORT_ERROR_SIZE);
	} else {
		profile__free(profile);
	}
	return result;
}

static int parse_json(json_t *report, char error[REPORT_ERROR_SIZE])
{
	char *text = json_dumps(report, JSON_ENCODE_ANY);
	int result = parse(text, strlen(text), error);

	free(text);
	json_decref(report);
	return result;
}

#define HISTOGRAM(octave, counts) "{\"buckets_per_octave\": " octave ", \"counts\": " counts "}"

/* One value of a good report exchanged; NULL: its key removed. */
static const struct {
	const char *section;
	int row; /* -1: section is an object */
	const char *key, *value;
	int expected;
	const char *error;
} exchanges[] = {
	{"totals", -1, "hits", "-1", -EINVAL,
	 "totals.hits is not an integer in 0..9223372036854775807"},
	{"totals", -1, "hits", "1.0", -EINVAL, "totals.hits"},
	{"totals", -1, "hits", "\"1\"", -EINVAL, "totals.hits"},
	{"totals", -1, "hits", "9223372036854775807", 0, ""},
	{"totals", -1, "hits", "null", -EINVAL, "totals.hits"},
	{"totals", -1, "hits", NULL, -EINVAL, "totals.hits is missing"},
	{"totals", -1, "coverage", NULL, 0, ""},
	{"totals", -1, "coverage", "1", 0, ""},
	{"totals", -1, "coverage", "1.0000001", -EINVAL, "totals.coverage is not a number in 0..1"},
	{"totals", -1, "coverage", "-0.1", -EINVAL, "totals.coverage"},
	{"totals", -1, "coverage", "true", -EINVAL, "totals.coverage"},
	{"session", -1, "strict", "1", -EINVAL, "session.strict is neither true nor false"},
	{"session", -1, "follow_children", NULL, 0, ""},
	{"session", -1, "follow_children", "1", -EINVAL,
	 "session.follow_children is neither true nor false"},
	{"session", -1, "ended_by", "7", -EINVAL, "session.ended_by is not a string"},
	{"session", -1, "ended_by", "\"meteorite\"", 0, ""},
	{"session", -1, "from_the_future", "[[[1]]]", 0, ""},
	{"host", -1, "cpus", "4294967296", -EINVAL, "host.cpus"},
	{"host", -1, "cpus", "4294967295", 0, ""},
	{"host", -1, "cpu_model", NULL, 0, ""},
	{"host", -1, "cpu_model", "[]", -EINVAL, "host.cpu_model"},
	{"losses", -1, "table_full", "{}", -EINVAL, "losses.table_full"},
	{"losses", -1, "table_full", NULL, 0, ""},
	{"threads", 1, "tid", "2147483648", -EINVAL, "threads[1].tid"},
	{"threads", 1, "comm", NULL, -EINVAL, "threads[1].comm is missing"},
	{"fine", 0, "share", "0.99", -EINVAL, "fine[0].share is not within"},
	{"fine", 0, "share_lo", "0.9", -EINVAL, "fine[0].share is not within"},
	{"fine", 0, "share_hi", NULL, 0, ""},
	{"fine", 0, "per_call_ns", "1.5", -EINVAL, "fine[0].per_call_ns is not an integer"},
	{"fine", 0, "in_flight", "1e308", 0, ""},
	{"fine", 3, "flags", "{}", -EINVAL, "fine[3].flags is not an array"},
	{"fine", 3, "flags", "[1]", -EINVAL, "fine[3].flags"},
	{"fine", 3, "flags", "[\"tied\", \"glowing\", \"tied\"]", 0, ""},
	{"fine", 0, "label", "null", -EINVAL, "fine[0].label"},
	{"totals", -1, "outside_ns", NULL, 0, ""},
	{"totals", -1, "outside_ns", "-1", -EINVAL, "totals.outside_ns is not an integer"},
	{"totals", -1, "stale_ns", "1.5", -EINVAL, "totals.stale_ns is not an integer"},
	{"losses", -1, "contexts_lost", NULL, 0, ""},
	{"losses", -1, "processes_unread", NULL, 0, ""},
	{"coarse", 0, "label", NULL, -EINVAL, "coarse[0].label is missing"},
	{"coarse", 0, "label", "\"another\"", -EINVAL,
	 "pairs[0].coarse is not the label of a row of coarse"},
	{"coarse", 3, "label", "\"request\"", 0, ""},
	{"coarse", 0, "executions", NULL, -EINVAL, "coarse[0].executions is missing"},
	{"coarse", 0, "mean_ns", NULL, 0, ""},
	{"coarse", 0, "mean_ns", "1e3", -EINVAL, "coarse[0].mean_ns"},
	{"coarse", 0, "p90_ns", NULL, 0, ""},
	{"coarse", 0, "p90_ns", "1", -EINVAL, "coarse[0].p50_ns to max_ns are not in order"},
	{"coarse", 0, "max_ns", "5000000", -EINVAL, "are not in order"},
	{"coarse", 1, "thread_time_ns", "99999999999999", -EINVAL,
	 "coarse[1].thread_time_ns is greater than the row's above"},
	{"coarse", 0, "inside", "-0.1", -EINVAL, "coarse[0].inside"},
	{"coarse", 0, "inside", NULL, 0, ""},
	{"coarse", 0, "flags", NULL, -EINVAL, "coarse[0].flags is missing"},
	{"coarse", 0, "histogram", NULL, -EINVAL, "coarse[0].histogram is missing"},
	{"coarse", 0, "histogram", "[]", -EINVAL, "coarse[0].histogram is not an object"},
	{"coarse", 0, "histogram", HISTOGRAM("512", "[]"), -EINVAL, "has not 1024 buckets"},
	{"coarse", 0, "histogram", "{\"counts\": []}", -EINVAL, "has not 1024 buckets"},
	{"coarse", 0, "histogram", "{\"buckets_per_octave\": 1024}", -EINVAL, "is not an object"},
	{"coarse", 0, "histogram", HISTOGRAM("1024", "[]"), 0, ""},
	{"coarse", 0, "histogram", HISTOGRAM("1024", "{}"), -EINVAL, "an array of counts"},
	{"coarse", 0, "histogram", HISTOGRAM("1024", "[[0, 1], [56319, 9223372036854775807]]"), 0,
	 ""},
	{"coarse", 0, "histogram", HISTOGRAM("1024", "[[56320, 1]]"), -EINVAL, "[bucket 0..56319"},
	{"coarse", 0, "histogram", HISTOGRAM("1024", "[[-1, 1]]"), -EINVAL, "[bucket"},
	{"coarse", 0, "histogram", HISTOGRAM("1024", "[[4294967296, 1]]"), -EINVAL, "[bucket"},
	{"coarse", 0, "histogram", HISTOGRAM("1024", "[[1, 0]]"), -EINVAL, "count from 1 on]"},
	{"coarse", 0, "histogram", HISTOGRAM("1024", "[[1, 1.0]]"), -EINVAL, "[bucket"},
	{"coarse", 0, "histogram", HISTOGRAM("1024", "[[1]]"), -EINVAL, "[bucket"},
	{"coarse", 0, "histogram", HISTOGRAM("1024", "[[1, 1, 1]]"), -EINVAL, "[bucket"},
	{"coarse", 0, "histogram", HISTOGRAM("1024", "[1, 2]"), -EINVAL, "[bucket"},
	{"coarse", 0, "histogram", HISTOGRAM("1024", "[[2, 1], [1, 1]]"), -EINVAL, "not sorted"},
	{"coarse", 0, "histogram", HISTOGRAM("1024", "[[1, 1], [1, 1]]"), -EINVAL, "not sorted"},
	{"pairs", 0, "coarse", NULL, -EINVAL, "pairs[0].coarse is missing"},
	{"pairs", 0, "coarse", "\"checkpoint\"", -EINVAL, "pairs[1].coarse is not the label"},
	{"pairs", 0, "fine", NULL, 0, ""},
	{"pairs", 0, "fine", "null", -EINVAL, "pairs[0].fine is not a string"},
	{"pairs", 0, "fine", "\"request\"", -EINVAL,
	 "pairs[0].fine is not the label of a row of fine"},
	{"pairs", 0, "thread_time_ns", "1", -EINVAL, "pairs[1].coarse"},
	{"pairs", 0, "part", "0.9", -EINVAL, "pairs[0].part is not within part_lo..part_hi"},
	{"pairs", 0, "part", "0.1", -EINVAL, "pairs[0].part is not within part_lo..part_hi"},
	{"pairs", 0, "part_lo", "1.1", -EINVAL, "pairs[0].part_lo is not a number in 0..1"},
	{"pairs", 0, "part", NULL, 0, ""},
	{"warnings", 0, "label", NULL, 0, ""},
	{"warnings", 0, "text", NULL, -EINVAL, "warnings[0].text"},
};

START_TEST(types_and_ranges_are_checked)
{
	json_t *report = load_sample(), *object = json_object_get(report, exchanges[_i].section);
	char error[REPORT_ERROR_SIZE];
	int result;

	if (exchanges[_i].row >= 0)
		object = json_array_get(object, (size_t)exchanges[_i].row);
	if (exchanges[_i].value)
		json_object_set_new(object, exchanges[_i].key,
				    json_loads(exchanges[_i].value, JSON_DECODE_ANY, NULL));
	else
		json_object_del(object, exchanges[_i].key);
	result = parse_json(report, error);
	ck_assert_msg(result == exchanges[_i].expected, "%d: %s", result, error);
	ck_assert_msg(strstr(error, exchanges[_i].error) != NULL, "no '%s' in '%s'",
		      exchanges[_i].error, error);
}
END_TEST

/* Every section in turn: gone, and of every other type. */
START_TEST(sections_of_the_wrong_type_are_refused)
{
	static const char *const wrong[] = {NULL, "null", "7", "\"x\"", "{}", "[]", "[7]", "[[]]"};
	static const char *const objects[] = {"tool",	"host",	    "session",
					      "losses", "overhead", "totals"};
	static const char *const arrays[] = {"target", "threads", "warnings",
					     "pairs",  "fine",	  "coarse"};
	bool is_object = _i < 6;
	char error[REPORT_ERROR_SIZE];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const char *name = is_object ? objects[_i] : arrays[_i - 6];
		bool allowed =
			wrong[i] && (is_object ? strcmp(name, "losses") == 0 && wrong[i][0] == '{'
					       : strcmp(wrong[i], "[]") == 0 && _i < 10);
		json_t *report = load_sample();

		if (wrong[i])
			json_object_set_new(report, name,
					    json_loads(wrong[i], JSON_DECODE_ANY, NULL));
		else
			json_object_del(report, name);
		ck_assert_int_eq(parse_json(report, error), allowed ? 0 : -EINVAL);
		/* without rows of fine or coarse, pairs are of nothing */
		ck_assert(allowed || strstr(error, name) || strstr(error, "missing"));
	}
}
END_TEST

START_TEST(only_this_schema_is_read)
{
	static const struct {
		const char *schema; /* NULL: none */
		int expected;
	} rows[] = {
		{"ticksnick.report/1", 0},
		{"ticksnick.report/2", -EPROTONOSUPPORT},
		{"ticksnick.report/01", -EPROTONOSUPPORT},
		{"ticksnick.report/", -EPROTONOSUPPORT},
		{"ticksnick.report/\033]0;x\007", -EPROTONOSUPPORT},
		{"ticksnick.report", -EINVAL},
		{"other/1", -EINVAL},
		{"", -EINVAL},
		{NULL, -EINVAL},
	};
	json_t *report = load_sample();
	char error[REPORT_ERROR_SIZE];

	json_object_set_new(report, "schema",
			    rows[_i].schema ? json_string(rows[_i].schema) : json_integer(1));
	ck_assert_int_eq(parse_json(report, error), rows[_i].expected);
	ck_assert_ptr_null(strchr(error, '\033'));
}
END_TEST

START_TEST(what_is_no_report_is_refused)
{
	static const char *const texts[] = {
		"",
		" ",
		"null",
		"7",
		"\"ticksnick.report/1\"",
		"[]",
		"{}",
		"{\"schema\":\"ticksnick.report/1\"}",
		"{\"schema\":\"ticksnick.report/1\",\"schema\":\"ticksnick.report/1\"}",
		"{\"schema\":\"ticksnick.report/1\"} x",
		"{\"schema\":\"ticksnick.report/1\\u0000\"}",
		"{\"a\":99999999999999999999999}",
		"{\"a\":1e999}",
		"{\"a\":NaN}",
		"{\"a\":\"\xff\"}",
		"\xef\xbb\xbf{}",
		"\033[31m",
		"{\"\033]0;owned\007",
	};
	char error[REPORT_ERROR_SIZE];

	ck_assert_int_eq(parse(texts[_i], strlen(texts[_i]), error), -EINVAL);
	ck_assert_ptr_null(strchr(error, '\033'));
}
END_TEST

START_TEST(deep_nesting_is_refused)
{
	size_t length = 4 << 20;
	char *text = malloc(length), error[REPORT_ERROR_SIZE];

	memset(text, '[', length);
	ck_assert_int_eq(parse(text, length, error), -EINVAL);
	free(text);
}
END_TEST

START_TEST(long_strings_are_refused)
{
	size_t length = 1 << 20;
	json_t *report = load_sample();
	char *text = malloc(length + 1), error[REPORT_ERROR_SIZE];

	memset(text, 'x', length);
	text[length] = '\0';
	json_object_set_new(json_object_get(report, "host"), "kernel", json_string(text));
	free(text);
	ck_assert_int_eq(parse_json(report, error), -EINVAL);
}
END_TEST

/* Any damage: refused or read, and what is read can be shown. */
START_TEST(damaged_reports_do_no_harm)
{
	static const char bytes[] = "{}[]\",:0-9e.\\x";
	struct render_options options = {0};
	json_t *report = load_sample();
	char *text = json_dumps(report, 0), *damaged, error[REPORT_ERROR_SIZE];
	size_t length = strlen(text), i;
	struct profile *profile;
	FILE *out = fopen("/dev/null", "w");

	damaged = malloc(length);
	srandom((unsigned)_i);
	for (i = 0; i < 300; i++) {
		memcpy(damaged, text, length);
		for (long k = random() % 4; k >= 0; k--)
			damaged[(size_t)random() % length] =
				bytes[(size_t)random() % (sizeof(bytes) - 1)];
		profile = NULL;
		if (report__parse(damaged, i % 3 ? length : (size_t)random() % length, &profile,
				  error))
			continue;
		ck_assert_int_eq(render_text.write(profile, &options, out), 0);
		ck_assert_int_eq(render_csv.write(profile, &options, out), 0);
		profile__free(profile);
	}
	fclose(out);
	free(damaged);
	free(text);
	json_decref(report);
}
END_TEST

START_TEST(reading_reports_what_failed)
{
	struct profile *profile = NULL;
	char error[REPORT_ERROR_SIZE], *path = sample_path();

	ck_assert_int_eq(report__read("/nonexistent/report.json", &profile, error), -ENOENT);
	ck_assert_str_eq(error, "No such file or directory");
	ck_assert_int_eq(report__read("/", &profile, error), -EISDIR);
	ck_assert_int_eq(report__read("/dev/zero", &profile, error), -EFBIG);
	ck_assert_int_eq(report__read("/dev/null", &profile, error), -EINVAL);
	ck_assert_ptr_null(profile);
	ck_assert_int_eq(report__read(path, &profile, error), 0);
	ck_assert_str_eq(profile->target[0].comm, "server");
	ck_assert_double_eq(profile->session.frequency_hz, 997);
	profile__free(profile);
	free(path);
}
END_TEST

/* A fresh directory to write in; the test's process is its own, so it may move there. */
static char directory[] = "/tmp/ticksnick-output.XXXXXX";

static void enter_directory(void)
{
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
}

static void leave_directory(void)
{
	ck_assert_int_eq(system("rm -rf ./* ./.ticksnick*"), 0);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(directory), 0);
	strcpy(directory, "/tmp/ticksnick-output.XXXXXX");
}

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
}

static void assert_text(const char *path, const char *expected)
{
	char text[64] = "";
	FILE *file = fopen(path, "r");

	ck_assert_msg(file != NULL, "no %s", path);
	ck_assert_uint_le(fread(text, 1, sizeof(text) - 1, file), sizeof(text) - 1);
	fclose(file);
	ck_assert_str_eq(text, expected);
}

static void assert_no_temporary(void)
{
	ck_assert_int_eq(system("test -z \"$(ls -A | grep tmp)\""), 0);
}

static int write_to(const char *path, const char *text)
{
	int error = 1;
	struct output *output = output__open(path, &error);

	if (!output)
		return error;
	ck_assert_int_eq(error, 0);
	fputs(text, output__stream(output));
	return output__commit(output);
}

START_TEST(a_file_appears_only_when_it_is_complete)
{
	struct output *output;
	struct stat status;
	int error;

	umask(027);
	put("report", "old");
	output = output__open("report", &error);
	ck_assert_ptr_nonnull(output);
	fputs("new", output__stream(output));
	fflush(output__stream(output));
	assert_text("report", "old");
	ck_assert_int_eq(output__commit(output), 0);
	assert_text("report", "new");
	ck_assert_int_eq(stat("report", &status), 0);
	ck_assert_uint_eq(status.st_mode & 07777, 0640);
	assert_no_temporary();
}
END_TEST

START_TEST(what_is_aborted_leaves_no_trace)
{
	struct output *output;
	int error;

	put("report", "old");
	output = output__open("report", &error);
	fputs("new", output__stream(output));
	output__abort(output);
	output__abort(NULL);
	assert_text("report", "old");
	output = output__open("other", &error);
	output__abort(output);
	ck_assert_int_ne(access("other", F_OK), 0);
	assert_no_temporary();
}
END_TEST

START_TEST(a_failed_write_keeps_what_was_there)
{
	struct rlimit unlimited, limit;
	struct output *output;
	int error;

	put("report", "old");
	output = output__open("report", &error);
	fputs("new", output__stream(output));
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
	limit = unlimited;
	limit.rlim_cur = 1;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	error = output__commit(output);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
	ck_assert_int_eq(error, -EFBIG);
	assert_text("report", "old");
	assert_no_temporary();
}
END_TEST

START_TEST(a_name_that_was_taken_meanwhile_is_kept)
{
	struct output *output;
	int error;

	output = output__open("report", &error);
	fputs("new", output__stream(output));
	ck_assert_int_eq(mkdir("report", 0755), 0);
	ck_assert_int_eq(output__commit(output), -EISDIR);
	assert_no_temporary();
}
END_TEST

START_TEST(until_it_is_complete_a_file_has_no_name)
{
	struct output *output;
	int error;

	ck_assert_int_eq(mkdir("mine", 0755), 0);
	output = output__open("mine/report", &error);
	fputs("new", output__stream(output));
	ck_assert_int_eq(rmdir("mine"), 0);
	ck_assert_int_eq(output__commit(output), -ENOENT);
}
END_TEST

START_TEST(paths_that_cannot_be_written_fail_at_once)
{
	static const struct {
		const char *path;
		int error;
	} rows[] = {
		{"", -ENOENT},
		{".", -EISDIR},
		{"..", -EISDIR},
		{"subdirectory/", -EISDIR},
		{"subdirectory", -EISDIR},
		{"none/report", -ENOENT},
		{"file/report", -ENOTDIR},
		{"/proc/report", -ENOENT},
		{"/dev/fd/777", -EBADF},
	};

	put("file", "x");
	ck_assert_int_eq(mkdir("subdirectory", 0755), 0);
	ck_assert_int_eq(write_to(rows[_i].path, "x"), rows[_i].error);
}
END_TEST

START_TEST(a_full_device_is_reported)
{
	ck_assert_int_eq(write_to("/dev/full", "x"), -ENOSPC);
	ck_assert_int_eq(write_to("/dev/null", "x"), 0);
	ck_assert_int_eq(symlink("/dev/full", "link"), 0);
	ck_assert_int_eq(write_to("link", "x"), -ENOSPC);
}
END_TEST

START_TEST(a_link_is_replaced_and_its_target_kept)
{
	struct stat status;

	put("precious", "old");
	ck_assert_int_eq(symlink("precious", "link"), 0);
	ck_assert_int_eq(symlink("nowhere", "dangling"), 0);
	ck_assert_int_eq(write_to("link", "new"), 0);
	ck_assert_int_eq(write_to("dangling", "new"), 0);
	assert_text("precious", "old");
	assert_text("link", "new");
	ck_assert_int_eq(lstat("link", &status), 0);
	ck_assert(S_ISREG(status.st_mode));
	ck_assert_int_ne(access("nowhere", F_OK), 0);
}
END_TEST

START_TEST(the_directory_is_the_one_that_was_opened)
{
	struct output *output;
	int error;

	ck_assert_int_eq(mkdir("mine", 0755) + mkdir("other", 0755), 0);
	output = output__open("mine/report", &error);
	fputs("new", output__stream(output));
	ck_assert_int_eq(rename("mine", "moved"), 0);
	ck_assert_int_eq(symlink("other", "mine"), 0);
	ck_assert_int_eq(output__commit(output), 0);
	assert_text("moved/report", "new");
	ck_assert_int_ne(access("other/report", F_OK), 0);
}
END_TEST

START_TEST(own_descriptors_are_written_where_they_stand)
{
	int fd = open("log", O_WRONLY | O_CREAT, 0644), only_read;
	char path[32];

	ck_assert_int_eq(write(fd, "begin ", 6), 6);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	ck_assert_int_eq(write_to(path, "end"), 0);
	assert_text("log", "begin end");
	close(fd);
	only_read = open("log", O_RDONLY);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", only_read);
	ck_assert_int_eq(write_to(path, "x"), -EBADF);
	close(only_read);
}
END_TEST

START_TEST(the_caller_of_sudo_owns_the_file)
{
	struct stat status;

	if (geteuid() != 0) {
		fprintf(stderr, "test_report: NOT RUN, changing an owner needs root\n");
		return;
	}
	setenv("SUDO_UID", "4321", 1);
	setenv("SUDO_GID", "8765", 1);
	ck_assert_int_eq(write_to("report", "x"), 0);
	ck_assert_int_eq(stat("report", &status), 0);
	ck_assert_uint_eq(status.st_uid, 4321);
	ck_assert_uint_eq(status.st_gid, 8765);
	setenv("SUDO_UID", "-1", 1);
	ck_assert_int_eq(write_to("report", "x"), 0);
	ck_assert_int_eq(stat("report", &status), 0);
	ck_assert_uint_eq(status.st_uid, 0);
}
END_TEST

/* Without privilege: a file one may not write, a directory one may not write, somebody else's file
 * in a sticky directory. */
START_TEST(permissions_are_seen_before_the_session)
{
	put("readonly", "old");
	put("sticky-file", "old");
	ck_assert_int_eq(mkdir("closed", 0555) + mkdir("sticky", 01777), 0);
	put("sticky/report", "old");
	ck_assert_int_eq(chmod("readonly", 0444) + chmod("sticky", 01777) +
				 chmod("sticky/report", 0666) + chmod(".", 0777),
			 0);
	if (geteuid() == 0) {
		ck_assert_int_eq(setegid(65534) + seteuid(65534), 0);
		ck_assert_int_eq(write_to("sticky/report", "x"), -EPERM);
	}
	ck_assert_int_eq(write_to("readonly", "x"), -EACCES);
	ck_assert_int_eq(write_to("closed/report", "x"), -EACCES);
	if (getuid() == 0)
		ck_assert_int_eq(seteuid(0) + setegid(0), 0);
	assert_text("readonly", "old");
	assert_text("sticky/report", "old");
}
END_TEST

Suite *report_suite(void)
{
	Suite *suite = suite_create("report");
	TCase *reader = tcase_create("reader"), *output = tcase_create("output");

	tcase_set_timeout(reader, 60);
	tcase_add_loop_test(reader, types_and_ranges_are_checked, 0,
			    sizeof(exchanges) / sizeof(exchanges[0]));
	tcase_add_loop_test(reader, sections_of_the_wrong_type_are_refused, 0, 12);
	tcase_add_loop_test(reader, only_this_schema_is_read, 0, 9);
	tcase_add_loop_test(reader, what_is_no_report_is_refused, 0, 18);
	tcase_add_test(reader, deep_nesting_is_refused);
	tcase_add_test(reader, long_strings_are_refused);
	tcase_add_loop_test(reader, damaged_reports_do_no_harm, 0, 8);
	tcase_add_test(reader, reading_reports_what_failed);
	suite_add_tcase(suite, reader);

	tcase_add_checked_fixture(output, enter_directory, leave_directory);
	tcase_add_test(output, a_file_appears_only_when_it_is_complete);
	tcase_add_test(output, what_is_aborted_leaves_no_trace);
	tcase_add_test(output, a_failed_write_keeps_what_was_there);
	tcase_add_test(output, a_name_that_was_taken_meanwhile_is_kept);
	tcase_add_test(output, until_it_is_complete_a_file_has_no_name);
	tcase_add_loop_test(output, paths_that_cannot_be_written_fail_at_once, 0, 9);
	tcase_add_test(output, a_full_device_is_reported);
	tcase_add_test(output, a_link_is_replaced_and_its_target_kept);
	tcase_add_test(output, the_directory_is_the_one_that_was_opened);
	tcase_add_test(output, own_descriptors_are_written_where_they_stand);
	tcase_add_test(output, the_caller_of_sudo_owns_the_file);
	tcase_add_test(output, permissions_are_seen_before_the_session);
	suite_add_tcase(suite, output);
	return suite;
}
