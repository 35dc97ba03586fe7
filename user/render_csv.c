// SPDX-License-Identifier: MIT
/* Rows as RFC 4180 has it: a header, CRLF, quotes where needed. One format for each kind of row, as
 * a file of this form has one header. Keys and numbers are those of the JSON report. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "render.h"
#include "utf8.h"

/*
 * A label is the target's word, and a spreadsheet runs a cell that begins like a formula: such a
 * cell gets an apostrophe in front, and control characters are escaped. The JSON report has the
 * name as it is.
 */
static int write_text(const char *text, FILE *out)
{
	char *clean = utf8__line(text ? text : "");
	const char *c;

	if (!clean)
		return -ENOMEM;
	if (*clean && strchr("=+-@", *clean))
		fprintf(out, "\"'");
	else if (strpbrk(clean, "\","))
		fputc('"', out);
	else {
		fputs(clean, out);
		goto free_clean;
	}
	for (c = clean; *c; c++) {
		if (*c == '"')
			fputc('"', out);
		fputc(*c, out);
	}
	fputc('"', out);

free_clean:
	free(clean);
	return 0;
}

static void write_flags(uint32_t flags, FILE *out)
{
	const char *separator = "";
	uint32_t flag;

	for (flag = 1; flag; flag <<= 1) {
		if (!(flags & flag) || !profile__flag_name(flag))
			continue;
		fprintf(out, "%s%s", separator, profile__flag_name(flag));
		separator = " ";
	}
}

static void write_real(double value, enum field_kind kind, FILE *out)
{
	if (!isfinite(value))
		return;
	if (kind == FIELD_ROUNDED)
		fprintf(out, "%" PRId64, fields__rounded(value));
	else
		fprintf(out, "%.*g", FIELDS_DIGITS,
			kind == FIELD_SHARE ? fields__share(value) : value);
}

static int write_field(const struct field *field, const void *at, FILE *out)
{
	switch (field->kind) {
	case FIELD_MEASURED:
	case FIELD_SUM:
		if (*(const uint64_t *)at == 0)
			break;
		/* fall through */
	case FIELD_U64:
	case FIELD_LATER:
		fprintf(out, "%" PRIu64,
			*(const uint64_t *)at > INT64_MAX ? INT64_MAX : *(const uint64_t *)at);
		break;
	case FIELD_INT:
		fprintf(out, "%d", *(const int *)at);
		break;
	case FIELD_UNSIGNED:
		fprintf(out, "%u", *(const unsigned *)at);
		break;
	case FIELD_BOOL:
	case FIELD_LATER_BOOL:
		fputs(*(const bool *)at ? "true" : "false", out);
		break;
	case FIELD_SHARE:
	case FIELD_REAL:
	case FIELD_ROUNDED:
		write_real(*(const double *)at, field->kind, out);
		break;
	case FIELD_STRING:
	case FIELD_OPTIONAL_STRING:
		return write_text(*(char *const *)at, out);
	case FIELD_FLAGS:
		write_flags(*(const uint32_t *)at, out);
		break;
	case FIELD_HISTOGRAM:
		break;
	}
	return 0;
}

/* The kinds that fit a cell. */
static bool is_cell(const struct field *field)
{
	return field->kind != FIELD_HISTOGRAM && field->kind != FIELD_SUM;
}

static int write_row(const struct fields *fields, const void *row, FILE *out)
{
	const char *separator = "";
	size_t i;
	int error = 0;

	for (i = 0; i < fields->count && !error; i++) {
		if (!is_cell(&fields->at[i]))
			continue;
		fputs(separator, out);
		separator = ",";
		if (row)
			error = write_field(&fields->at[i], fields__at(row, fields->at[i].offset),
					    out);
		else
			fputs(fields->at[i].name, out);
	}
	fputs("\r\n", out);
	return error;
}

/* The header, and a row for each of the array's. */
static int write_array(const struct fields_array *array, const struct profile *profile, FILE *out)
{
	const char *rows = *(char *const *)fields__at(profile, array->offset);
	const size_t count = *(size_t *)fields__at(profile, array->count_offset);
	struct render_numbers numbers;
	int error = render__plain_numbers(&numbers);
	size_t i;

	if (error)
		return error;
	write_row(&array->fields, NULL, out);
	for (i = 0; i < count && !error; i++)
		error = write_row(&array->fields, rows + i * array->row_size, out);
	render__restore_numbers(&numbers);
	return error ? error : ferror(out) ? -EIO : 0;
}

static int write_fine(const struct profile *profile, const struct render_options *options,
		      FILE *out)
{
	(void)options;
	return write_array(&fields_fine, profile, out);
}

static int write_coarse(const struct profile *profile, const struct render_options *options,
			FILE *out)
{
	(void)options;
	return write_array(&fields_coarse, profile, out);
}

static int write_pairs(const struct profile *profile, const struct render_options *options,
		       FILE *out)
{
	(void)options;
	return write_array(&fields_pairs, profile, out);
}

const struct render_format render_csv = {"csv", write_fine};
const struct render_format render_csv_coarse = {"csv-coarse", write_coarse};
const struct render_format render_csv_pairs = {"csv-pairs", write_pairs};
