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

static int read_field(const struct place *place, const struct field *field, const json_t *value,
		      void *at)
{
	uint64_t integer = 0;
	int error = 0;

	if (!value && field->kind != FIELD_SHARE && field->kind != FIELD_REAL &&
	    field->kind != FIELD_ROUNDED && field->kind != FIELD_OPTIONAL_STRING)
		return complain(place, field->name, "is missing");
	switch (field->kind) {
	case FIELD_U64:
		return read_integer(place, field, value, INT64_MAX, at);
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
		&fields_target,
		&fields_threads,
		&fields_fine,
		&fields_warnings,
	};
	int failure = check_schema(report, error);
	size_t i;

	for (i = 0; i < sizeof(sections) / sizeof(sections[0]) && !failure; i++)
		failure = read_section(report, sections[i], profile, error);
	if (!failure)
		failure = read_losses(report, &profile->losses, error);
	for (i = 0; i < sizeof(arrays) / sizeof(arrays[0]) && !failure; i++)
		failure = read_array(report, arrays[i], profile, error);
	return failure ? failure : check_intervals(profile, error);
}

/* The parser quotes the input, which may hold what a terminal would obey. */
static void describe_json_error(const json_error_t *json_error, char *error)
{
	char *text = utf8__printable(json_error->text, false);

	snprintf(error, REPORT_ERROR_SIZE, "not JSON: line %d: %.180s", json_error->line,
		 text ? text : "");
	free(text);
}

int report__parse(const char *text, size_t length, struct profile **profile,
		  char error[REPORT_ERROR_SIZE])
{
	struct profile *read = NULL;
	json_error_t json_error;
	json_t *report;
	int failure = -ENOMEM;

	report = json_loadb(text, length, JSON_REJECT_DUPLICATES, &json_error);
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
		failure = report__parse(text, length, profile, error);
	free(text);
	if (!from_stdin)
		close(fd);
	return failure;
}
