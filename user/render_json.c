// SPDX-License-Identifier: MIT
/* The report: docs/report.schema.json says what is in it. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "fields.h"
#include "histogram.h"
#include "render.h"
#include "utf8.h"

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

static json_t *section_json(const struct fields_section *section, const struct profile *profile)
{
	return object_json(&section->fields, fields__at(profile, section->offset));
}

static json_t *array_json(const struct fields_array *array, const struct profile *profile)
{
	const char *rows = *(char *const *)fields__at(profile, array->offset);
	size_t count = *(size_t *)fields__at(profile, array->count_offset), i;
	json_t *list = json_array();

	for (i = 0; i < count && list; i++) {
		if (json_array_append_new(
			    list, object_json(&array->fields, rows + i * array->row_size))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
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

static json_t *report_json(const struct profile *profile)
{
	json_t *report = json_object();
	int failed = 0;

	if (!report)
		return NULL;
	failed |= json_object_set_new(report, "schema", json_string(PROFILE_SCHEMA));
	failed |= json_object_set_new(report, "tool", section_json(&fields_tool, profile));
	failed |= json_object_set_new(report, "host", section_json(&fields_host, profile));
	failed |= json_object_set_new(report, "target", array_json(&fields_target, profile));
	failed |= json_object_set_new(report, "session", section_json(&fields_session, profile));
	failed |= json_object_set_new(report, "losses", losses_json(&profile->losses));
	failed |= json_object_set_new(report, "overhead", section_json(&fields_overhead, profile));
	failed |= json_object_set_new(report, "totals", section_json(&fields_totals, profile));
	failed |= json_object_set_new(report, "threads", array_json(&fields_threads, profile));
	failed |= json_object_set_new(report, "fine", array_json(&fields_fine, profile));
	failed |= json_object_set_new(report, "coarse", array_json(&fields_coarse, profile));
	failed |= json_object_set_new(report, "pairs", array_json(&fields_pairs, profile));
	failed |= json_object_set_new(report, "warnings", array_json(&fields_warnings, profile));
	if (profile->source_count)
		failed |= json_object_set_new(report, "sources",
					      array_json(&fields_sources, profile));
	if (failed) {
		json_decref(report);
		return NULL;
	}
	return report;
}

static int write_json(const struct profile *profile, const struct render_options *options,
		      FILE *out)
{
	json_t *report = report_json(profile);
	int error = 0;

	(void)options;
	if (!report)
		return -ENOMEM;
	if (json_dumpf(report, out, JSON_INDENT(2) | JSON_REAL_PRECISION(FIELDS_DIGITS)) ||
	    fputc('\n', out) == EOF || ferror(out))
		error = -EIO;
	json_decref(report);
	return error;
}

const struct render_format render_json = {"json", write_json};
