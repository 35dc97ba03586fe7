/* SPDX-License-Identifier: MIT */
/* Golden output is in tests/data; TESTS_DATA names the directory where that is not tests/data. */
#include <check.h>
#include <errno.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"
#include "ranks.h"
#include "render.h"
#include "report.h"
#include "suites.h"
#include "units.h"
#include "utf8.h"

static const char *const samples[] = {"server", "nasty", "empty"};

static char *data_path(const char *name, const char *suffix)
{
	const char *directory = getenv("TESTS_DATA");
	char *path;

	ck_assert_int_gt(
		asprintf(&path, "%s/%s%s", directory ? directory : "tests/data", name, suffix), 0);
	return path;
}

static char *read_data(const char *name, const char *suffix)
{
	char *path = data_path(name, suffix), *text = calloc(1, 1 << 20);
	FILE *file = fopen(path, "r");

	ck_assert_msg(file != NULL, "cannot open %s", path);
	ck_assert_uint_lt(fread(text, 1, (1 << 20) - 1, file), (1 << 20) - 1);
	fclose(file);
	free(path);
	return text;
}

static struct profile *read_sample(const char *name)
{
	char *path = data_path(name, ".json"), error[REPORT_ERROR_SIZE] = "";
	struct profile *profile = NULL;

	ck_assert_msg(report__read(path, &profile, error) == 0, "%s: %s", path, error);
	free(path);
	return profile;
}

static char *render(const struct render_format *format, const struct profile *profile,
		    unsigned columns, bool colour)
{
	struct render_options options = {.columns = columns, .colour = colour};
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	ck_assert_int_eq(format->write(profile, &options, out), 0);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_uint_eq(strlen(text), length);
	return text;
}

static void assert_golden(const char *sample, const struct render_format *format, unsigned columns,
			  const char *suffix)
{
	struct profile *profile = read_sample(sample);
	char *expected = read_data(sample, suffix), *text = render(format, profile, columns, false);

	ck_assert_msg(strcmp(text, expected) == 0, "%s%s differs; now it is:\n%s", sample, suffix,
		      text);
	free(expected);
	free(text);
	profile__free(profile);
}

static void use_utf8(void)
{
	ck_assert_ptr_nonnull(setlocale(LC_ALL, "C.UTF-8"));
}

START_TEST(text_is_as_it_was)
{
	use_utf8();
	assert_golden(samples[_i], &render_text, 100, ".100.txt");
	assert_golden(samples[_i], &render_text, 0, ".100.txt");
	assert_golden(samples[_i], &render_text, 5000, ".100.txt");
	assert_golden(samples[_i], &render_text, 80, ".80.txt");
	assert_golden(samples[_i], &render_text, 60, ".60.txt");
}
END_TEST

START_TEST(text_is_ascii_where_the_locale_is)
{
	setlocale(LC_ALL, "C");
	assert_golden("nasty", &render_text, 80, ".ascii.txt");
}
END_TEST

START_TEST(json_and_csv_are_as_they_were)
{
	assert_golden(samples[_i], &render_json, 0, ".json");
	assert_golden("nasty", &render_csv, 0, ".csv");
	assert_golden("nasty", &render_csv_coarse, 0, ".coarse.csv");
	assert_golden("nasty", &render_csv_pairs, 0, ".pairs.csv");
}
END_TEST

/* Every line of every sample, at every width and in both kinds of locale. */
START_TEST(no_line_is_wider_than_the_terminal)
{
	unsigned columns = (unsigned)_i, limit = columns < 40 ? 40 : columns;
	char *line, *rest;

	for (size_t k = 0; k < 2 * sizeof(samples) / sizeof(samples[0]); k++) {
		struct profile *profile = read_sample(samples[k / 2]);
		char *text;

		ck_assert_ptr_nonnull(setlocale(LC_ALL, k % 2 ? "C" : "C.UTF-8"));
		text = render(&render_text, profile, columns, false);
		use_utf8();
		for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
			ck_assert_msg(utf8__width(line) <= limit, "%zu columns: %s",
				      utf8__width(line), line);
			ck_assert_msg(line[strlen(line) - 1] != ' ', "ends in a blank: '%s'", line);
		}
		free(text);
		profile__free(profile);
	}
}
END_TEST

/* Whatever the names are, the terminal gets no control byte but the line ends, and with colour only
 * styles. */
START_TEST(no_name_reaches_the_terminal_as_a_command)
{
	struct profile *profile = read_sample("nasty");
	char *plain, *styled, *c;

	use_utf8();
	plain = render(&render_text, profile, 100, false);
	styled = render(&render_text, profile, 100, true);
	for (c = plain; *c; c++)
		ck_assert(*c == '\n' || (unsigned char)*c >= 0x20);
	ck_assert_ptr_null(strstr(plain, "\u202e"));
	for (c = strchr(styled, '\033'); c; c = strchr(c + 1, '\033'))
		ck_assert(strncmp(c, "\033[0m", 4) == 0 || strncmp(c, "\033[1m", 4) == 0 ||
			  strncmp(c, "\033[2m", 4) == 0 || strncmp(c, "\033[33m", 5) == 0);
	ck_assert_ptr_nonnull(strchr(styled, '\033'));
	free(plain);
	free(styled);
	profile__free(profile);
}
END_TEST

static json_t *json_of(const struct profile *profile)
{
	char *text = render(&render_json, profile, 0, false);
	json_error_t error;
	json_t *report = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	ck_assert_msg(report != NULL, "%s", error.text);
	free(text);
	return report;
}

START_TEST(json_saturates_and_leaves_out_what_has_no_value)
{
	struct profile *profile = profile__new();
	json_t *report, *row, *totals;

	profile->fine = calloc(1, sizeof(*profile->fine));
	profile->fine_count = 1;
	profile->fine[0] = (struct profile_fine){.label = strdup("a"),
						 .calls = UINT64_MAX,
						 .share = NAN,
						 .share_lo = -1e-17,
						 .share_hi = 1 + 1e-15,
						 .cpu_share = INFINITY,
						 .per_call_ns = 2.5,
						 .in_flight = NAN};
	report = json_of(profile);
	row = json_array_get(json_object_get(report, "fine"), 0);
	totals = json_object_get(report, "totals");
	ck_assert_int_eq(json_integer_value(json_object_get(row, "calls")), INT64_MAX);
	ck_assert_ptr_null(json_object_get(row, "share"));
	ck_assert_ptr_null(json_object_get(row, "cpu_share"));
	ck_assert_ptr_null(json_object_get(row, "in_flight"));
	ck_assert_double_eq(json_real_value(json_object_get(row, "share_lo")), 0);
	ck_assert_double_eq(json_real_value(json_object_get(row, "share_hi")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(row, "per_call_ns")), 3);
	ck_assert_ptr_null(json_object_get(totals, "coverage"));
	ck_assert_ptr_null(json_object_get(totals, "bound"));
	ck_assert_str_eq(
		json_string_value(json_object_get(json_object_get(report, "session"), "ended_by")),
		"");
	json_decref(report);
	profile__free(profile);
}
END_TEST

/* 0 stands for durations that there are none of, and NaN for ratios of nothing. */
START_TEST(json_of_a_coarse_label_leaves_out_what_has_no_value)
{
	struct profile *profile = profile__new(), *again = NULL;
	char *first, *second, error[REPORT_ERROR_SIZE];
	json_t *report, *coarse, *pair;

	profile->coarse = calloc(1, sizeof(*profile->coarse));
	profile->coarse_count = 1;
	profile->coarse[0] = (struct profile_coarse){.label = strdup("a"),
						     .executions = UINT64_MAX,
						     .max_ns = UINT64_MAX,
						     .inside = NAN,
						     .working = INFINITY,
						     .busy_per_exec_ns = NAN,
						     .flags = PROFILE_FLAG_OPEN};
	profile->coarse[0].histogram = calloc(2, sizeof(struct profile_bucket));
	profile->coarse[0].histogram[0] = (struct profile_bucket){7, 1};
	profile->coarse[0].histogram[1] = (struct profile_bucket){56319, UINT64_MAX};
	profile->coarse[0].histogram_count = 2;
	profile->pairs = calloc(1, sizeof(*profile->pairs));
	profile->pair_count = 1;
	profile->pairs[0] = (struct profile_pair){
		.coarse = strdup("a"), .part = NAN, .part_lo = NAN, .part_hi = NAN};
	report = json_of(profile);
	coarse = json_array_get(json_object_get(report, "coarse"), 0);
	pair = json_array_get(json_object_get(report, "pairs"), 0);
	ck_assert_int_eq(json_integer_value(json_object_get(coarse, "executions")), INT64_MAX);
	ck_assert_int_eq(json_integer_value(json_object_get(coarse, "max_ns")), INT64_MAX);
	ck_assert_ptr_null(json_object_get(coarse, "mean_ns"));
	ck_assert_ptr_null(json_object_get(coarse, "p50_ns"));
	ck_assert_ptr_null(json_object_get(coarse, "inside"));
	ck_assert_ptr_null(json_object_get(coarse, "working"));
	ck_assert_ptr_null(json_object_get(coarse, "busy_per_exec_ns"));
	ck_assert_ptr_null(json_object_get(pair, "fine"));
	ck_assert_ptr_null(json_object_get(pair, "part"));
	json_decref(report);
	first = render(&render_json, profile, 0, false);
	ck_assert_int_eq(report__parse(first, strlen(first), &again, error), 0);
	ck_assert_uint_eq(again->coarse[0].histogram_count, 2);
	ck_assert_uint_eq(again->coarse[0].histogram[1].bucket, 56319);
	ck_assert_uint_eq(again->coarse[0].histogram[1].count, INT64_MAX);
	ck_assert_uint_eq(again->coarse[0].flags, PROFILE_FLAG_OPEN);
	ck_assert_ptr_null(again->pairs[0].fine);
	ck_assert(isnan(again->pairs[0].part_hi) && isnan(again->coarse[0].inside));
	second = render(&render_json, again, 0, false);
	ck_assert_str_eq(first, second);
	free(first);
	free(second);
	profile__free(profile);
	profile__free(again);
}
END_TEST

START_TEST(a_name_that_is_not_utf8_is_escaped_once)
{
	struct profile *profile = profile__new(), *again = NULL;
	char *first, *second, error[REPORT_ERROR_SIZE];

	profile->tool_version = strdup("caf\xe9 \xed\xa0\x80 \xf0\x9f\x98");
	first = render(&render_json, profile, 0, false);
	ck_assert_ptr_nonnull(
		strstr(first, "\"caf\\\\xe9 \\\\xed\\\\xa0\\\\x80 \\\\xf0\\\\x9f\\\\x98\""));
	ck_assert_int_eq(report__parse(first, strlen(first), &again, error), 0);
	second = render(&render_json, again, 0, false);
	ck_assert_str_eq(first, second);
	free(first);
	free(second);
	profile__free(profile);
	profile__free(again);
}
END_TEST

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#else
#define __lsan_disable()
#define __lsan_enable()
#endif

/* With LOCPATH at directory; libc loses what it makes of that variable, which is not the product's
 * leak. */
static bool set_locale_of(const char *directory, const char *name)
{
	bool found;

	__lsan_disable();
	setenv("LOCPATH", directory, 1);
	found = setlocale(LC_ALL, name) != NULL;
	unsetenv("LOCPATH");
	__lsan_enable();
	return found;
}

/* A locale with a decimal comma: an installed one, else one made for the test. */
static bool use_comma_locale(void)
{
	static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8"};
	char directory[] = "/tmp/ticksnick-locale.XXXXXX", *command;
	bool found = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !found; i++)
		found = setlocale(LC_ALL, names[i]) != NULL;
	if (found)
		return true;
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_gt(asprintf(&command,
				  "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1",
				  directory),
			 0);
	if (system(command) >= 0)
		found = set_locale_of(directory, names[0]);
	free(command);
	ck_assert_int_gt(asprintf(&command, "rm -rf %s", directory), 0);
	ck_assert_int_eq(system(command), 0);
	free(command);
	return found;
}

START_TEST(numbers_do_not_follow_the_locale)
{
	if (!use_comma_locale()) {
		ck_assert_msg(!getenv("CI"), "no locale with a decimal comma can be had");
		fprintf(stderr,
			"SKIP numbers_do_not_follow_the_locale: no locale with a decimal comma\n");
		return;
	}
	assert_golden("server", &render_text, 100, ".100.txt");
	assert_golden("server", &render_json, 0, ".json");
	assert_golden("nasty", &render_csv, 0, ".csv");
	ck_assert_str_eq(localeconv()->decimal_point, ",");
}
END_TEST

START_TEST(a_stream_that_fails_is_reported)
{
	static const struct render_format *const formats[] = {
		&render_text, &render_json, &render_csv, &render_csv_coarse, &render_csv_pairs};
	struct render_options options = {0};
	struct profile *profile = read_sample("server");
	FILE *out = fopen("/dev/full", "w");

	ck_assert_ptr_nonnull(out);
	setvbuf(out, NULL, _IONBF, 0);
	ck_assert_int_eq(formats[_i]->write(profile, &options, out), -EIO);
	fclose(out);
	profile__free(profile);
}
END_TEST

START_TEST(formats_are_found_by_name)
{
	ck_assert_ptr_eq(render__find("text"), &render_text);
	ck_assert_ptr_eq(render__find("json"), &render_json);
	ck_assert_ptr_eq(render__find("csv"), &render_csv);
	ck_assert_ptr_eq(render__find("csv-coarse"), &render_csv_coarse);
	ck_assert_ptr_eq(render__find("csv-pairs"), &render_csv_pairs);
	ck_assert_ptr_null(render__find(""));
	ck_assert_ptr_null(render__find("TEXT"));
}
END_TEST

START_TEST(a_stream_that_is_no_terminal_has_no_colour)
{
	static const struct {
		const char *columns;
		unsigned expected;
	} rows[] = {
		{NULL, 100},
		{"72", 72},
		{"0", 100},
		{"-5", 100},
		{"80x", 100},
		{"", 100},
		{"99999999999999999999", 100},
	};
	struct render_options options;
	FILE *out = tmpfile();

	unsetenv("COLUMNS");
	if (rows[_i].columns)
		setenv("COLUMNS", rows[_i].columns, 1);
	options = render__options_for(out);
	ck_assert(!options.colour);
	ck_assert_uint_eq(options.columns, rows[_i].expected);
	fclose(out);
}
END_TEST

static const struct {
	double ns;
	const char *text;
} times[] = {
	{0, "0"},
	{0.4, "0.40 ns"},
	{9.994, "9.99 ns"},
	{9.996, "10.0 ns"},
	{99.94, "99.9 ns"},
	{99.96, "100 ns"},
	{999.4, "999 ns"},
	{999.6, "1.00 us"},
	{1050, "1.05 us"},
	{12.3e6, "12.3 ms"},
	{999.6e6, "1.00 s"},
	{9999.4e9, "9999 s"},
	{1e13, "2.78 h"},
	{3.6e18, "1000000 h"},
	{NAN, "-"},
	{1.8446744073709552e19, "5124096 h"},
};

START_TEST(times_have_three_digits)
{
	char buffer[UNITS_SIZE];

	ck_assert_str_eq(units__time(buffer, times[_i].ns), times[_i].text);
}
END_TEST

static const struct {
	double ns;
	const char *text;
} limits[] = {
	{NAN, "-"},	     {0, "0"},
	{18.8, "18.8 ns"},   {18.81, "18.9 ns"},
	{9.991, "10.0 ns"},  {99.91, "100 ns"},
	{999, "999 ns"},     {999.2, "1.00 us"},
	{1001, "1.01 us"},   {999.4e6, "1.00 s"},
	{12345e6, "12.4 s"}, {9999.3e9, "2.78 h"},
	{10000e9, "2.78 h"},
};

START_TEST(times_that_are_limits_are_rounded_up)
{
	char buffer[UNITS_SIZE];

	ck_assert_str_eq(units__time_limit(buffer, limits[_i].ns), limits[_i].text);
}
END_TEST

START_TEST(parts_are_cut_so_that_only_all_is_100_percent)
{
	char buffer[UNITS_SIZE];

	ck_assert_str_eq(units__part(buffer, 0), "0.0%");
	ck_assert_str_eq(units__part(buffer, 0.57), "57.0%");
	ck_assert_str_eq(units__part(buffer, 0.99999), "99.9%");
	ck_assert_str_eq(units__part(buffer, 1), "100.0%");
	ck_assert_str_eq(units__part(buffer, NAN), "n/a");
}
END_TEST

START_TEST(counts_are_short_or_grouped)
{
	static const struct {
		uint64_t count;
		const char *brief, *grouped;
	} rows[] = {
		{0, "0", "0"},
		{999, "999", "999"},
		{1000, "1000", "1,000"},
		{99999, "99999", "99,999"},
		{100000, "100k", "100,000"},
		{999499, "999k", "999,499"},
		{999500, "1.00M", "999,500"},
		{48211903, "48.2M", "48,211,903"},
		{UINT64_MAX, "18.4E", "18,446,744,073,709,551,615"},
	};
	char buffer[UNITS_SIZE];

	ck_assert_str_eq(units__short(buffer, rows[_i].count), rows[_i].brief);
	ck_assert_str_eq(units__grouped(buffer, rows[_i].count), rows[_i].grouped);
}
END_TEST

START_TEST(percentages_keep_none_and_all_for_none_and_all)
{
	static const struct {
		uint64_t part, whole;
		const char *text;
	} rows[] = {
		{0, 0, "-"},	    {0, 5, "0"},
		{1, 1000000, "<1"}, {1, 160, "1"},
		{4, 1000, "<1"},    {996, 1000, "99"},
		{5, 5, "100"},	    {1, 2, "50"},
		{6, 5, "120"},	    {UINT64_MAX, 1, "1.8e+21"},
	};
	char buffer[UNITS_SIZE];
	const char *text = units__percent(buffer, rows[_i].part, rows[_i].whole);

	ck_assert_str_eq(text, rows[_i].text);
}
END_TEST

START_TEST(names_are_cut_in_the_middle_and_whole_characters)
{
	static const struct {
		const char *name;
		size_t columns;
		const char *fitted;
	} rows[] = {
		{"short", 5, "short"},
		{"shorter", 5, "sh\u2026er"},
		{"level[10]", 6, "lev\u20260]"},
		{"\u89e3\u6790\u89e3", 6, "\u89e3\u6790\u89e3"},
		{"\u89e3\u6790\u89e3", 5, "\u89e3\u2026\u89e3"},
		{"\u89e3\u6790\u89e3", 4, "\u89e3\u2026"},
		{"e\u0301e\u0301e\u0301e\u0301", 3, "e\u0301\u2026e\u0301"},
		{"abc", 1, "a"},
		{"abc", 0, ""},
		{"", 0, ""},
	};
	char *fitted;

	use_utf8();
	fitted = utf8__fit(rows[_i].name, rows[_i].columns, true);
	ck_assert_str_eq(fitted, rows[_i].fitted);
	ck_assert_uint_le(utf8__width(fitted), rows[_i].columns);
	free(fitted);
}
END_TEST

START_TEST(malformed_bytes_and_commands_are_escaped)
{
	static const struct {
		const char *raw, *clean, *line, *printable;
	} rows[] = {
		{"", "", "", ""},
		{"plain \\x", "plain \\x", "plain \\x", "plain \\x"},
		{"\033[0m\n", "\033[0m\n", "\\x1b[0m\\x0a", "\\x1b[0m\\x0a"},
		{"\xc2\x80", "\xc2\x80", "\\xc2\\x80", "\\xc2\\x80"},
		{"\x7f", "\x7f", "\\x7f", "\\x7f"},
		{"\xff\xc3", "\\xff\\xc3", "\\xff\\xc3", "\\xff\\xc3"},
		{"\xc0\x80", "\\xc0\\x80", "\\xc0\\x80", "\\xc0\\x80"},
		{"\xe0\x80\x80", "\\xe0\\x80\\x80", "\\xe0\\x80\\x80", "\\xe0\\x80\\x80"},
		{"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "\\xf4\\x90\\x80\\x80",
		 "\\xf4\\x90\\x80\\x80"},
		{"\u00fc\u20ac\U0001f600", "\u00fc\u20ac\U0001f600", "\u00fc\u20ac\U0001f600",
		 "\u00fc\u20ac\U0001f600"},
		{"\u202e", "\u202e", "\u202e", "\\xe2\\x80\\xae"},
		{"\u200b", "\u200b", "\u200b", "\\xe2\\x80\\x8b"},
	};
	char *clean, *line, *printable;

	use_utf8();
	clean = utf8__clean(rows[_i].raw);
	line = utf8__line(rows[_i].raw);
	printable = utf8__printable(rows[_i].raw, true);
	ck_assert_str_eq(clean, rows[_i].clean);
	ck_assert_str_eq(line, rows[_i].line);
	ck_assert_str_eq(printable, rows[_i].printable);
	free(clean);
	free(line);
	free(printable);
}
END_TEST

START_TEST(ranks_say_what_the_intervals_allow)
{
	/* 1 overlaps 2, 2 overlaps 3, but 1 does not overlap 3; 4 touches nothing; 5 has no
	 * interval */
	const struct profile_fine rows[] = {
		{.share = .5, .share_lo = .4, .share_hi = .6},
		{.share = .35, .share_lo = .25, .share_hi = .45},
		{.share = .2, .share_lo = .15, .share_hi = .3},
		{.share = .05, .share_lo = .04, .share_hi = .06},
		{.share = NAN, .share_lo = NAN, .share_hi = NAN},
	};
	const struct profile_fine *pointers[] = {&rows[0], &rows[1], &rows[2], &rows[3], &rows[4]};
	static const struct rank expected[] = {{1, 2}, {1, 3}, {2, 3}, {4, 4}};
	struct rank ranks[5];

	ck_assert_int_eq(ranks__compute(pointers, 0, ranks), 0);
	ck_assert_int_eq(ranks__compute(pointers, 4, ranks), 0);
	for (size_t i = 0; i < 4; i++) {
		ck_assert_uint_eq(ranks[i].best, expected[i].best);
		ck_assert_uint_eq(ranks[i].worst, expected[i].worst);
	}
	ck_assert_int_eq(ranks__compute(pointers, 5, ranks), 0);
	ck_assert_uint_eq(ranks[4].best, 1);
	ck_assert_uint_eq(ranks[4].worst, 5);
	ck_assert_uint_eq(ranks[3].worst, 5);
}
END_TEST

START_TEST(rows_part_when_the_session_is_long_enough)
{
	const struct profile_fine a = {.share = .5, .share_lo = .4, .share_hi = .6};
	const struct profile_fine b = {.share = .4, .share_lo = .3, .share_hi = .5};
	const struct profile_fine none = {.share = NAN, .share_lo = NAN, .share_hi = NAN};

	ck_assert_double_eq_tol(ranks__times_longer(&a, &b), 4, 1e-9);
	ck_assert(isnan(ranks__times_longer(&a, &a)));
	ck_assert(isnan(ranks__times_longer(&b, &a)));
	ck_assert(isnan(ranks__times_longer(&a, &none)));
}
END_TEST

/* What is printed for an interval is never narrower than it is. */
START_TEST(printed_bounds_hold_the_true_ones)
{
	static const struct {
		double share, lo, hi;
		const char *expected;
		const char *line; /* what all rows, this one, are within */
	} rows[] = {
		{.43149, .4256, .4374, "43.15 \u00b10.59", "\u00b10.59"},
		{.4349, .40, .47, "43.5  \u00b13.5", "\u00b13.5"},
		{.4344, .40, .47, "43.4  \u00b13.6", "\u00b13.6"},
		{.1004, .0704, .1304, "10.0  \u00b13.1", "\u00b13.1"},
		{.001, 0, .0061, "0.10 0.00..0.61", "\u00b10.51"},
		{.02, .013, .048, "2.0 1.3..4.8", "\u00b12.8"},
		{0.2, 0.2, 0.2, "20.00 \u00b10.00", "\u00b10.00"},
		{1, .97, 1, "100.0 97.0..100.0", "\u00b13.0"},
		{.0024, 0, .005, "0.24 0.00..0.50", "\u00b10.26"},
	};
	struct profile *profile = profile__new();
	char *text, line[128];

	use_utf8();
	profile->fine = calloc(1, sizeof(*profile->fine));
	profile->fine_count = 1;
	profile->fine[0] = (struct profile_fine){.label = strdup("a"),
						 .hits = 1,
						 .share = rows[_i].share,
						 .share_lo = rows[_i].lo,
						 .share_hi = rows[_i].hi,
						 .cpu_share = NAN,
						 .per_call_ns = NAN,
						 .in_flight = NAN};
	profile->totals.labelled_ns = 1;
	profile->totals.bound = fmax(rows[_i].share - rows[_i].lo, rows[_i].hi - rows[_i].share);
	text = render(&render_text, profile, 60, false);
	ck_assert_msg(strstr(text, rows[_i].expected) != NULL, "no '%s' in:\n%s", rows[_i].expected,
		      text);
	snprintf(line, sizeof(line), "every share is within %s percentage points", rows[_i].line);
	ck_assert_msg(strstr(text, line) != NULL, "no '%s' in:\n%s", line, text);
	free(text);
	profile__free(profile);
}
END_TEST

Suite *render_suite(void)
{
	Suite *suite = suite_create("render");
	TCase *cases = tcase_create("render");

	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, text_is_as_it_was, 0, 3);
	tcase_add_test(cases, text_is_ascii_where_the_locale_is);
	tcase_add_loop_test(cases, json_and_csv_are_as_they_were, 0, 3);
	tcase_add_loop_test(cases, no_line_is_wider_than_the_terminal, 38, 101);
	tcase_add_test(cases, no_name_reaches_the_terminal_as_a_command);
	tcase_add_test(cases, json_saturates_and_leaves_out_what_has_no_value);
	tcase_add_test(cases, json_of_a_coarse_label_leaves_out_what_has_no_value);
	tcase_add_test(cases, a_name_that_is_not_utf8_is_escaped_once);
	tcase_add_test(cases, numbers_do_not_follow_the_locale);
	tcase_add_loop_test(cases, a_stream_that_fails_is_reported, 0, 5);
	tcase_add_test(cases, formats_are_found_by_name);
	tcase_add_loop_test(cases, a_stream_that_is_no_terminal_has_no_colour, 0, 7);
	tcase_add_loop_test(cases, times_have_three_digits, 0, 16);
	tcase_add_loop_test(cases, times_that_are_limits_are_rounded_up, 0, 13);
	tcase_add_test(cases, parts_are_cut_so_that_only_all_is_100_percent);
	tcase_add_loop_test(cases, counts_are_short_or_grouped, 0, 9);
	tcase_add_loop_test(cases, percentages_keep_none_and_all_for_none_and_all, 0, 10);
	tcase_add_loop_test(cases, names_are_cut_in_the_middle_and_whole_characters, 0, 10);
	tcase_add_loop_test(cases, malformed_bytes_and_commands_are_escaped, 0, 12);
	tcase_add_test(cases, ranks_say_what_the_intervals_allow);
	tcase_add_test(cases, rows_part_when_the_session_is_long_enough);
	tcase_add_loop_test(cases, printed_bounds_hold_the_true_ones, 0, 9);
	suite_add_tcase(suite, cases);
	return suite;
}
