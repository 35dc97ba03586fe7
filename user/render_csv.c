// SPDX-License-Identifier: MIT
/* The fine rows as RFC 4180 has it: a header, CRLF, quotes where needed. Keys and numbers are those
 * of the JSON report. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
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
	case FIELD_U64:
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
	}
	return 0;
}

static int write_rows(const struct profile *profile, FILE *out)
{
	const struct fields *fields = &fields_fine.fields;
	size_t row, i;
	int error;

	for (i = 0; i < fields->count; i++)
		fprintf(out, "%s%s", i ? "," : "", fields->at[i].name);
	fputs("\r\n", out);
	for (row = 0; row < profile->fine_count; row++) {
		for (i = 0; i < fields->count; i++) {
			if (i)
				fputc(',', out);
			error = write_field(&fields->at[i],
					    fields__at(&profile->fine[row], fields->at[i].offset),
					    out);
			if (error)
				return error;
		}
		fputs("\r\n", out);
	}
	return ferror(out) ? -EIO : 0;
}

static int write_csv(const struct profile *profile, const struct render_options *options, FILE *out)
{
	struct render_numbers numbers;
	int error = render__plain_numbers(&numbers);

	(void)options;
	if (error)
		return error;
	error = write_rows(profile, out);
	render__restore_numbers(&numbers);
	return error;
}

const struct render_format render_csv = {"csv", write_csv};
