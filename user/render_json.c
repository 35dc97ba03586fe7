// SPDX-License-Identifier: MIT
/* The report: docs/report.schema.json says what is in it. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "histogram.h"
#include "render.h"
#include "utf8.h"

#define INDENT 2u /* blanks a level */

static json_t *string_json(const char *text)
{
	char *clean = utf8__clean(text ? text : "");
	json_t *string = clean ? json_string(clean) : NULL;

	free(clean);
	return string;
}

static json_t *integer_json(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static json_t *flags_json(uint32_t flags)
{
	json_t *names = json_array();
	uint32_t flag;

	for (flag = 1; flag && names; flag <<= 1) {
		if (!(flags & flag) || !profile__flag_name(flag))
			continue;
		if (json_array_append_new(names, json_string(profile__flag_name(flag)))) {
			json_decref(names);
			return NULL;
		}
	}
	return names;
}

/* Where a key is absent, json_null() stands for it. */
static json_t *real_json(double value, enum field_kind kind)
{
	if (!isfinite(value))
		return json_null();
	if (kind == FIELD_ROUNDED)
		return json_integer(fields__rounded(value));
	if (kind == FIELD_SHARE)
		return json_real(fields__share(value));
	return json_real(value > 0 ? value : 0);
}

static json_t *bucket_json(const struct profile_bucket *bucket)
{
	json_t *pair = json_array();

	if (pair && (json_array_append_new(pair, json_integer(bucket->bucket)) ||
		     json_array_append_new(pair, integer_json(bucket->count)))) {
		json_decref(pair);
		return NULL;
	}
	return pair;
}

static json_t *histogram_json(const struct profile_bucket *at, size_t count)
{
	json_t *histogram = json_object(), *counts = json_array();
	int failed = 0;

	for (size_t i = 0; i < count && counts; i++)
		failed |= json_array_append_new(counts, bucket_json(&at[i]));
	failed |= json_object_set_new(histogram, FIELDS_HISTOGRAM_LAYOUT,
				      json_integer(HISTOGRAM_OCTAVE));
	failed |= json_object_set_new(histogram, FIELDS_HISTOGRAM_COUNTS, counts);
	if (failed) {
		json_decref(histogram);
		return NULL;
	}
	return histogram;
}

static json_t *field_json(const struct field *field, const void *at)
{
	switch (field->kind) {
	case FIELD_U64:
	case FIELD_LATER:
		return integer_json(*(const uint64_t *)at);
	case FIELD_MEASURED:
	case FIELD_SUM:
		return *(const uint64_t *)at ? integer_json(*(const uint64_t *)at) : json_null();
	case FIELD_INT:
		return json_integer(*(const int *)at < 0 ? 0 : *(const int *)at);
	case FIELD_UNSIGNED:
		return json_integer(*(const unsigned *)at);
	case FIELD_BOOL:
	case FIELD_LATER_BOOL:
		return json_boolean(*(const bool *)at);
	case FIELD_SHARE:
	case FIELD_REAL:
	case FIELD_ROUNDED:
		return real_json(*(const double *)at, field->kind);
	case FIELD_STRING:
		return string_json(*(char *const *)at);
	case FIELD_OPTIONAL_STRING:
		return *(char *const *)at ? string_json(*(char *const *)at) : json_null();
	case FIELD_FLAGS:
		return flags_json(*(const uint32_t *)at);
	case FIELD_HISTOGRAM:
		return histogram_json(*(struct profile_bucket *const *)at,
				      *fields__histogram_count(at));
	}
	return NULL;
}

static json_t *object_json(const struct fields *fields, const void *structure)
{
	json_t *object = json_object(), *value;
	size_t i;

	for (i = 0; i < fields->count && object; i++) {
		value = field_json(&fields->at[i], fields__at(structure, fields->at[i].offset));
		if (json_is_null(value))
			continue;
		if (json_object_set_new(object, fields->at[i].name, value)) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

/*
 * Members and rows are written one after the other, each from a tree of its own: the tree of a
 * whole report with tens of thousands of threads would take ten times the memory of the profile.
 */
struct writer {
	FILE *out;
	unsigned depth; /* of the value being written */
	bool first;	/* of the members or rows around it */
	int error;
};

static void indent(FILE *out, unsigned depth)
{
	fprintf(out, "%*s", (int)(INDENT * depth), "");
}

/* Lines of a value that stands further in begin further in: no string holds a line's end. */
static int write_piece(const char *text, size_t length, void *data)
{
	struct writer *writer = data;
	const char *end;

	for (; (end = memchr(text, '\n', length)); text = end + 1) {
		fwrite(text, 1, (size_t)(end + 1 - text), writer->out);
		indent(writer->out, writer->depth);
		length -= (size_t)(end + 1 - text);
	}
	fwrite(text, 1, length, writer->out);
	return 0;
}

/* Frees the value; NULL: out of memory. */
static void write_value(struct writer *writer, json_t *value)
{
	if (!value || json_dump_callback(value, write_piece, writer,
					 JSON_ENCODE_ANY | JSON_INDENT(INDENT) |
						 JSON_REAL_PRECISION(FIELDS_DIGITS)))
		writer->error = -ENOMEM;
	json_decref(value);
}

/* What is before a value: a comma, and its place. */
static void begin_value(struct writer *writer)
{
	fputs(writer->first ? "\n" : ",\n", writer->out);
	indent(writer->out, writer->depth);
	writer->first = false;
}

static void begin_member(struct writer *writer, const char *name)
{
	begin_value(writer);
	fprintf(writer->out, "\"%s\": ", name);
}

static void write_section(struct writer *writer, const struct fields_section *section,
			  const struct profile *profile)
{
	begin_member(writer, section->name);
	write_value(writer, object_json(&section->fields, fields__at(profile, section->offset)));
}

static void write_array(struct writer *writer, const struct fields_array *array,
			const struct profile *profile)
{
	const char *rows = *(char *const *)fields__at(profile, array->offset);
	const size_t count = *(size_t *)fields__at(profile, array->count_offset);
	struct writer inside = {.out = writer->out, .depth = writer->depth + 1, .first = true};

	if (count == 0 && array->later)
		return;
	begin_member(writer, array->name);
	fputc('[', writer->out);
	for (size_t i = 0; i < count && !inside.error; i++) {
		begin_value(&inside);
		write_value(&inside, object_json(&array->fields, rows + i * array->row_size));
	}
	if (count) {
		fputc('\n', writer->out);
		indent(writer->out, writer->depth);
	}
	fputc(']', writer->out);
	if (inside.error)
		writer->error = inside.error;
}

static json_t *losses_json(const struct profile_losses *losses)
{
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < profile_loss_field_count && object; i++) {
		const struct profile_loss_field *field = &profile_loss_fields[i];
		const uint64_t *count = fields__at(losses, field->offset);

		if (json_object_set_new(object, field->name, integer_json(*count))) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

static int write_json(const struct profile *profile, const struct render_options *options,
		      FILE *out)
{
	static const struct fields_array *const arrays[] = {
		&fields_threads, &fields_fine,	   &fields_coarse,
		&fields_pairs,	 &fields_warnings, &fields_sources,
	};
	struct writer writer = {.out = out, .depth = 1, .first = true};

	(void)options;
	fputc('{', out);
	begin_member(&writer, "schema");
	write_value(&writer, json_string(PROFILE_SCHEMA));
	write_section(&writer, &fields_tool, profile);
	write_section(&writer, &fields_host, profile);
	write_array(&writer, &fields_target, profile);
	write_section(&writer, &fields_session, profile);
	begin_member(&writer, "losses");
	write_value(&writer, losses_json(&profile->losses));
	write_section(&writer, &fields_overhead, profile);
	write_section(&writer, &fields_totals, profile);
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]) && !writer.error; i++)
		write_array(&writer, arrays[i], profile);
	fputs("\n}\n", out);
	return writer.error ? writer.error : ferror(out) ? -EIO : 0;
}

const struct render_format render_json = {"json", write_json};
