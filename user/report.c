// SPDX-License-Identifier: MIT
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fields.h"
#include "histogram.h"
#include "utf8.h"

/* Ten times what 4,000 threads and 1,000 labels need. */
#define FILE_SIZE_MAX	(64u << 20)
#define STRING_SIZE_MAX (16u << 10)

/* Where in the report the reader is, for the error's sake. */
struct place {
	const char *name; /* section or array */
	ssize_t row;	  /* -1: not an array's */
	char *error;
};

static int __attribute__((format(printf, 3, 4)))
complain(const struct place *place, const char *key, const char *format, ...)
{
	char index[24] = "", reason[REPORT_ERROR_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	if (place->row >= 0)
		snprintf(index, sizeof(index), "[%zd]", place->row);
	snprintf(place->error, REPORT_ERROR_SIZE, "not a report: %s%s%s%s %.120s", place->name,
		 index, *place->name && key ? "." : "", key ? key : "", reason);
	return -EINVAL;
}

static int read_integer(const struct place *place, const struct field *field, const json_t *value,
			uint64_t max, uint64_t *integer)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    (uint64_t)json_integer_value(value) > max)
		return complain(place, field->name, "is not an integer in 0..%llu",
				(unsigned long long)max);
	*integer = (uint64_t)json_integer_value(value);
	return 0;
}

static int read_real(const struct place *place, const struct field *field, const json_t *value,
		     double *real)
{
	double number;

	if (!value) {
		*real = NAN;
		return 0;
	}
	number = json_number_value(value);
	if (!json_is_number(value) || !(number >= 0) || isinf(number))
		return complain(place, field->name, "is not a number from 0 on");
	if (field->kind == FIELD_SHARE && number > 1)
		return complain(place, field->name, "is not a number in 0..1");
	if (field->kind == FIELD_ROUNDED && !json_is_integer(value))
		return complain(place, field->name, "is not an integer");
	*real = number;
	return 0;
}

static int read_string(const struct place *place, const struct field *field, const json_t *value,
		       char **string)
{
	if (!value && field->kind == FIELD_OPTIONAL_STRING)
		return 0;
	if (!json_is_string(value))
		return complain(place, field->name, "is not a string");
	if (json_string_length(value) > STRING_SIZE_MAX)
		return complain(place, field->name, "is longer than %u bytes", STRING_SIZE_MAX);
	*string = strdup(json_string_value(value));
	return *string ? 0 : -ENOMEM;
}

/* Flags of later versions are not known here, and left out. */
static int read_flags(const struct place *place, const struct field *field, const json_t *value,
		      uint32_t *flags)
{
	const json_t *name;
	size_t i;

	if (!json_is_array(value))
		return complain(place, field->name, "is not an array");
	json_array_foreach(value, i, name)
	{
		if (!json_is_string(name))
			return complain(place, field->name, "holds what is not a string");
		*flags |= profile__flag_by_name(json_string_value(name));
	}
	return 0;
}

/* 0 where it is absent. */
static int read_measured(const struct place *place, const struct field *field, const json_t *value,
			 uint64_t *integer)
{
	return value ? read_integer(place, field, value, INT64_MAX, integer) : 0;
}

static int read_bucket(const json_t *value, struct profile_bucket *bucket)
{
	const json_t *index = json_array_get(value, 0), *count = json_array_get(value, 1);

	if (json_array_size(value) != 2 || !json_is_integer(index) || !json_is_integer(count) ||
	    json_integer_value(index) < 0 || json_integer_value(index) >= HISTOGRAM_BUCKETS ||
	    json_integer_value(count) <= 0)
		return -EINVAL;
	bucket->bucket = (uint32_t)json_integer_value(index);
	bucket->count = (uint64_t)json_integer_value(count);
	return 0;
}

static int read_histogram(const struct place *place, const struct field *field, const json_t *value,
			  struct profile_bucket **at, size_t *count)
{
	const json_t *layout = json_object_get(value, FIELDS_HISTOGRAM_LAYOUT);
	const json_t *counts = json_object_get(value, FIELDS_HISTOGRAM_COUNTS), *bucket;
	size_t i;

	if (!json_is_array(counts))
		return complain(place, field->name, "is not an object with an array of counts");
	if (!json_is_integer(layout) || json_integer_value(layout) != HISTOGRAM_OCTAVE)
		return complain(place, field->name, "has not %u buckets per octave",
				HISTOGRAM_OCTAVE);
	if (json_array_size(counts) == 0)
		return 0;
	*at = calloc(json_array_size(counts), sizeof(**at));
	if (!*at)
		return -ENOMEM;
	*count = json_array_size(counts);
	json_array_foreach(counts, i, bucket)
	{
		if (read_bucket(bucket, *at + i))
			return complain(place, field->name,
					"holds what is not [bucket 0..%u, count from 1 on]",
					HISTOGRAM_BUCKETS - 1);
	}
	if (!histogram__valid(*at, *count))
		return complain(place, field->name, "is not sorted by bucket");
	return 0;
}

/* Whether a report without it can be read. */
static bool may_be_absent(enum field_kind kind)
{
	return kind == FIELD_SHARE || kind == FIELD_REAL || kind == FIELD_ROUNDED ||
	       kind == FIELD_OPTIONAL_STRING || kind == FIELD_LATER || kind == FIELD_MEASURED ||
	       kind == FIELD_SUM || kind == FIELD_LATER_BOOL;
}

static int read_field(const struct place *place, const struct field *field, const json_t *value,
		      void *at)
{
	uint64_t integer = 0;
	int error = 0;

	if (!value && !may_be_absent(field->kind))
		return complain(place, field->name, "is missing");
	switch (field->kind) {
	case FIELD_U64:
		return read_integer(place, field, value, INT64_MAX, at);
	case FIELD_LATER:
	case FIELD_MEASURED:
	case FIELD_SUM:
		return read_measured(place, field, value, at);
	case FIELD_INT:
		error = read_integer(place, field, value, INT_MAX, &integer);
		if (!error)
			*(int *)at = (int)integer;
		return error;
	case FIELD_UNSIGNED:
		error = read_integer(place, field, value, UINT_MAX, &integer);
		if (!error)
			*(unsigned *)at = (unsigned)integer;
		return error;
	case FIELD_LATER_BOOL:
		if (!value) {
			*(bool *)at = false;
			return 0;
		}
		/* fall through */
	case FIELD_BOOL:
		if (!json_is_boolean(value))
			return complain(place, field->name, "is neither true nor false");
		*(bool *)at = json_is_true(value);
		return 0;
	case FIELD_SHARE:
	case FIELD_REAL:
	case FIELD_ROUNDED:
		return read_real(place, field, value, at);
	case FIELD_STRING:
	case FIELD_OPTIONAL_STRING:
		return read_string(place, field, value, at);
	case FIELD_FLAGS:
		return read_flags(place, field, value, at);
	case FIELD_HISTOGRAM:
		return read_histogram(place, field, value, at, fields__histogram_count(at));
	}
	return -EINVAL;
}

static int read_object(const struct place *place, const struct fields *fields, const json_t *object,
		       void *structure)
{
	size_t i;
	int error;

	if (!json_is_object(object))
		return complain(place, NULL, object ? "is not an object" : "is missing");
	for (i = 0; i < fields->count; i++) {
		const struct field *field = &fields->at[i];

		error = read_field(place, field, json_object_get(object, field->name),
				   fields__at(structure, field->offset));
		if (error)
			return error;
	}
	return 0;
}

static int read_section(const json_t *report, const struct fields_section *section,
			struct profile *profile, char *error)
{
	const struct place place = {section->name, -1, error};

	return read_object(&place, &section->fields, json_object_get(report, section->name),
			   fields__at(profile, section->offset));
}

/* Rows are counted before they are read: what a failure leaves half-built is zero, and freed with
 * the profile. */
static int read_array(const json_t *report, const struct fields_array *array,
		      struct profile *profile, char *error)
{
	struct place place = {array->name, -1, error};
	const json_t *list = json_object_get(report, array->name), *row;
	char **rows = fields__at(profile, array->offset);
	size_t *count = fields__at(profile, array->count_offset), i;
	int failure;

	if (!list && array->later)
		return 0;
	if (!json_is_array(list))
		return complain(&place, NULL, list ? "is not an array" : "is missing");
	if (json_array_size(list) == 0)
		return 0;
	*rows = calloc(json_array_size(list), array->row_size);
	if (!*rows)
		return -ENOMEM;
	*count = json_array_size(list);
	json_array_foreach(list, i, row)
	{
		place.row = (ssize_t)i;
		failure = read_object(&place, &array->fields, row, *rows + i * array->row_size);
		if (failure)
			return failure;
	}
	return 0;
}

/* A counter that this report's writer did not have yet is zero. */
static int read_losses(const json_t *report, struct profile_losses *losses, char *error)
{
	const struct place place = {"losses", -1, error};
	const json_t *object = json_object_get(report, "losses"), *value;
	size_t i;
	int failure;

	if (!json_is_object(object))
		return complain(&place, NULL, object ? "is not an object" : "is missing");
	for (i = 0; i < profile_loss_field_count; i++) {
		const struct field field = {profile_loss_fields[i].name, FIELD_U64, 0};

		value = json_object_get(object, field.name);
		if (!value)
			continue;
		failure = read_field(&place, &field, value,
				     fields__at(losses, profile_loss_fields[i].offset));
		if (failure)
			return failure;
	}
	return 0;
}

/* An interval holds its share; a comparison that is false for NaN passes what is absent. */
static int check_intervals(const struct profile *profile, char *error)
{
	struct place place = {"fine", -1, error};
	size_t i;

	for (i = 0; i < profile->fine_count; i++) {
		const struct profile_fine *row = &profile->fine[i];

		place.row = (ssize_t)i;
		if (row->share_lo > row->share || row->share > row->share_hi ||
		    row->share_lo > row->share_hi)
			return complain(&place, "share", "is not within share_lo..share_hi");
	}
	return 0;
}

/* Percentiles that are there do not decrease, and the rows are in order. */
static int check_coarse(const struct profile *profile, char *error)
{
	struct place place = {"coarse", -1, error};
	uint64_t above = UINT64_MAX;

	for (size_t i = 0; i < profile->coarse_count; i++) {
		const struct profile_coarse *row = &profile->coarse[i];
		const uint64_t durations[] = {row->p50_ns, row->p90_ns, row->p99_ns, row->max_ns};
		uint64_t least = 0;

		place.row = (ssize_t)i;
		if (row->thread_time_ns > above)
			return complain(&place, "thread_time_ns",
					"is greater than the row's above");
		above = row->thread_time_ns;
		for (size_t k = 0; k < sizeof(durations) / sizeof(durations[0]); k++) {
			if (durations[k] && durations[k] < least)
				return complain(&place, "p50_ns", "to max_ns are not in order");
			least = durations[k] ? durations[k] : least;
		}
	}
	return 0;
}

static int compare_strings(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Names of the fine labels, sorted; the caller frees them. NULL: out of memory. */
static const char **fine_names(const struct profile *profile)
{
	const char **names = calloc(profile->fine_count + 1, sizeof(*names));

	if (!names)
		return NULL;
	for (size_t i = 0; i < profile->fine_count; i++)
		names[i] = profile->fine[i].label;
	qsort(names, profile->fine_count, sizeof(*names), compare_strings);
	return names;
}

static int check_pair(const struct place *place, const struct profile_pair *row,
		      const char *const *names, size_t name_count)
{
	if (row->fine && !bsearch(&row->fine, names, name_count, sizeof(*names), compare_strings))
		return complain(place, "fine", "is not the label of a row of fine");
	if (row->part_lo > row->part || row->part > row->part_hi || row->part_lo > row->part_hi)
		return complain(place, "part", "is not within part_lo..part_hi");
	return 0;
}

/* In the order of coarse, and by thread-time for each of its rows. */
static int check_pairs(const struct profile *profile, char *error)
{
	struct place place = {"pairs", -1, error};
	const char **names = fine_names(profile);
	size_t coarse = 0;
	int failure = names ? 0 : -ENOMEM;

	for (size_t i = 0; i < profile->pair_count && !failure; i++) {
		const struct profile_pair *row = &profile->pairs[i];

		place.row = (ssize_t)i;
		coarse += i > 0 && row->thread_time_ns > row[-1].thread_time_ns;
		while (coarse < profile->coarse_count &&
		       strcmp(profile->coarse[coarse].label, row->coarse) != 0)
			coarse++;
		failure = coarse == profile->coarse_count
				  ? complain(&place, "coarse",
					     "is not the label of a row of coarse, or not in its "
					     "order")
				  : check_pair(&place, row, names, profile->fine_count);
	}
	free(names);
	return failure;
}

static int check_schema(const json_t *report, char *error)
{
	const struct place place = {"", -1, error};
	const json_t *schema = json_object_get(report, "schema");
	const char *name = json_string_value(schema);
	char *shown;

	if (!json_is_object(report))
		return complain(&place, NULL, "the top is not an object");
	if (!name || strncmp(name, PROFILE_SCHEMA_PREFIX, strlen(PROFILE_SCHEMA_PREFIX)) != 0)
		return complain(&place, "schema", "is not \"" PROFILE_SCHEMA_PREFIX "...\"");
	if (strcmp(name, PROFILE_SCHEMA) == 0)
		return 0;
	shown = utf8__printable(name, false);
	if (!shown)
		return -ENOMEM;
	snprintf(error, REPORT_ERROR_SIZE, "schema \"%.64s\" is not known here, only \"%s\"", shown,
		 PROFILE_SCHEMA);
	free(shown);
	return -EPROTONOSUPPORT;
}

static int read_report(const json_t *report, struct profile *profile, char *error)
{
	static const struct fields_section *const sections[] = {
		&fields_tool, &fields_host, &fields_session, &fields_overhead, &fields_totals,
	};
	static const struct fields_array *const arrays[] = {
		&fields_target, &fields_threads,  &fields_fine,	   &fields_coarse,
		&fields_pairs,	&fields_warnings, &fields_sources,
	};
	int failure = check_schema(report, error);
	size_t i;

	for (i = 0; i < sizeof(sections) / sizeof(sections[0]) && !failure; i++)
		failure = read_section(report, sections[i], profile, error);
	if (!failure)
		failure = read_losses(report, &profile->losses, error);
	for (i = 0; i < sizeof(arrays) / sizeof(arrays[0]) && !failure; i++)
		failure = read_array(report, arrays[i], profile, error);
	if (!failure)
		failure = check_intervals(profile, error);
	if (!failure)
		failure = check_coarse(profile, error);
	return failure ? failure : check_pairs(profile, error);
}

/* The parser quotes the input, which may hold what a terminal would obey. */
static void describe_json_error(const json_error_t *json_error, char *error)
{
	char *text = utf8__printable(json_error->text, false);

	snprintf(error, REPORT_ERROR_SIZE, "not JSON: line %d: %.180s", json_error->line,
		 text ? text : "");
	free(text);
}

/* The parser says nothing where it cannot allocate a value. */
static bool is_out_of_memory(const json_error_t *json_error)
{
	return json_error_code(json_error) == json_error_out_of_memory || !json_error->text[0];
}

int report__parse(const char *text, size_t length, struct profile **profile,
		  char error[REPORT_ERROR_SIZE])
{
	struct profile *read = NULL;
	json_error_t json_error;
	json_t *report;
	int failure = -ENOMEM;

	report = json_loadb(text, length, JSON_REJECT_DUPLICATES, &json_error);
	if (!report && is_out_of_memory(&json_error)) {
		snprintf(error, REPORT_ERROR_SIZE, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	if (!report) {
		describe_json_error(&json_error, error);
		return -EINVAL;
	}
	read = profile__new();
	if (read)
		failure = read_report(report, read, error);
	if (failure == -ENOMEM)
		snprintf(error, REPORT_ERROR_SIZE, "%s", strerror(ENOMEM));
	json_decref(report);
	if (failure) {
		profile__free(read);
		return failure;
	}
	*profile = read;
	return 0;
}

/* Reads to the end, in *text which the caller frees, whatever is returned. */
static int read_all(int fd, char **text, size_t *length)
{
	size_t size = 0;
	ssize_t got;
	char *grown;

	for (*text = NULL, *length = 0;; *length += (size_t)got) {
		if (*length == size) {
			size = size ? size * 2 : 64u << 10;
			grown = realloc(*text, size);
			if (!grown)
				return -ENOMEM;
			*text = grown;
		}
		do
			got = read(fd, *text + *length, size - *length);
		while (got < 0 && errno == EINTR);
		if (got < 0)
			return -errno;
		if (got == 0)
			return 0;
		if (*length + (size_t)got > FILE_SIZE_MAX)
			return -EFBIG;
	}
}

/* Takes the blanks that lines begin with out: half of a report, which the parser would look at one
 * by one. No string goes on over the end of a line. Returns the new length. */
static size_t drop_indents(char *text, size_t length)
{
	const char *from = text, *end = text + length, *line;
	char *to = text;

	while (from < end) {
		while (from < end && *from == ' ')
			from++;
		line = from;
		from = memchr(line, '\n', (size_t)(end - line));
		from = from ? from + 1 : end;
		memmove(to, line, (size_t)(from - line));
		to += from - line;
	}
	return (size_t)(to - text);
}

int report__read(const char *path, struct profile **profile, char error[REPORT_ERROR_SIZE])
{
	bool from_stdin = strcmp(path, "-") == 0;
	int fd = from_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), failure;
	size_t length;
	char *text;

	if (fd < 0) {
		failure = -errno;
		snprintf(error, REPORT_ERROR_SIZE, "%s", strerror(-failure));
		return failure;
	}
	failure = read_all(fd, &text, &length);
	if (failure == -EFBIG)
		snprintf(error, REPORT_ERROR_SIZE, "not a report: larger than %u MiB",
			 FILE_SIZE_MAX >> 20);
	else if (failure)
		snprintf(error, REPORT_ERROR_SIZE, "%s", strerror(-failure));
	else
		failure = report__parse(text, drop_indents(text, length), profile, error);
	free(text);
	if (!from_stdin)
		close(fd);
	return failure;
}
