// SPDX-License-Identifier: MIT
/*
 * Reports that anyone may have written. An input that begins with '{' is one as it is. Any other is
 * a list of changes to a valid report: which leaf (2 bytes), how (1 byte), and what that takes.
 */
#include <jansson.h>
#include <locale.h>

#include "fuzz.h"
#include "merge.h"
#include "render.h"
#include "report.h"

static json_t *valid; /* a report with something of everything */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *path = getenv("FUZZ_REPORT");

	(void)argc;
	(void)argv;
	setlocale(LC_CTYPE, "C.UTF-8");
	valid = json_load_file(path ? path : "tests/data/nasty.json", 0, NULL);
	fuzz_assert(valid);
	return 0;
}

static json_t *string_of(struct fuzz_input *input)
{
	char text[64];
	size_t size = fuzz_number(input, 1) % sizeof(text);

	size = size < input->left ? size : input->left;
	fuzz_take(input, text, size);
	return json_stringn(text, size);
}

/* NULL: what cannot be in a report. */
static json_t *value_of(struct fuzz_input *input)
{
	static const json_int_t integers[] = {
		0,	   1,  2,	 49, 50, 100, 1 << 20, INT32_MAX, UINT32_MAX, INT64_MAX - 1,
		INT64_MAX, -1, INT64_MIN};
	static const double reals[] = {0, 1, 0.5, 1e-300, 1e300, -1, 1.0000001, 0.999999999999};

	switch (fuzz_number(input, 1) % 9) {
	case 0:
		return json_null();
	case 1:
		return json_integer(
			integers[fuzz_number(input, 1) % (sizeof(integers) / sizeof(integers[0]))]);
	case 2:
		return json_real(reals[fuzz_number(input, 1) % (sizeof(reals) / sizeof(reals[0]))]);
	case 3:
		return json_integer((json_int_t)fuzz_number(input, 8));
	case 4:
		return json_boolean(fuzz_number(input, 1) & 1);
	case 5:
		return json_array();
	case 6:
		return json_object();
	default:
		return string_of(input);
	}
}

/* Replaces the leaf of that number, counted on; its container changes while it is walked, at once
 * before the walk ends. */
static int leaf_set(json_t *json, size_t *number, json_t *value)
{
	const char *key;
	json_t *child;
	size_t i;

	if (json_is_object(json)) {
		json_object_foreach(json, key, child)
		{
			if (json_is_object(child) || json_is_array(child)) {
				if (leaf_set(child, number, value))
					return 1;
			}
			if ((*number)-- == 0)
				return json_object_set_new(json, key, value) ? -1 : 1;
		}
	}
	json_array_foreach(json, i, child)
	{
		if (json_is_object(child) || json_is_array(child)) {
			if (leaf_set(child, number, value))
				return 1;
		}
		if ((*number)-- == 0)
			return json_array_set_new(json, i, value) ? -1 : 1;
	}
	return 0;
}

/* The caller frees it. */
static char *changed(struct fuzz_input input)
{
	json_t *report = json_deep_copy(valid), *value;
	char *text;

	while (input.left) {
		size_t number = fuzz_number(&input, 2);

		value = value_of(&input);
		if (value && leaf_set(report, &number, value) != 1)
			json_decref(value);
	}
	text = json_dumps(report, JSON_ENCODE_ANY);
	json_decref(report);
	fuzz_assert(text);
	return text;
}

static char *written(const struct profile *profile)
{
	const struct render_options look = {0};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	fuzz_assert(out && render_json.write(profile, &look, out) == 0 && fclose(out) == 0);
	return text;
}

/* As it is after merging it alone, and the same again. NULL: refused. The caller frees it. */
static char *merged(struct profile *profile)
{
	struct merge *merge = merge__new();
	char error[MERGE_ERROR_SIZE] = "", *text = NULL;
	struct profile *result;

	if (merge__add(merge, profile, "a", false, error) == 0) {
		result = merge__finish(merge);
		fuzz_assert(result);
		text = written(result);
		profile__free(result);
	} else {
		fuzz_assert(*error);
	}
	merge__free(merge);
	return text;
}

/* What merging makes can be read, and merging that makes it again. */
static void merge_again(struct profile *profile)
{
	char error[REPORT_ERROR_SIZE] = "", *once = merged(profile), *twice;
	struct profile *again;

	if (!once)
		return;
	fuzz_assert(report__parse(once, strlen(once), &again, error) == 0);
	twice = merged(again);
	fuzz_assert(twice && strcmp(once, twice) == 0);
	profile__free(again);
	free(once);
	free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char error[REPORT_ERROR_SIZE] = "";
	struct profile *profile = NULL;
	char *text = NULL;
	size_t i;
	int err;

	if (size && data[0] == '{') {
		err = report__parse((const char *)data, size, &profile, error);
	} else {
		text = changed((struct fuzz_input){data, size});
		err = report__parse(text, strlen(text), &profile, error);
	}
	if (err) {
		fuzz_assert(!profile && *error && memchr(error, 0, sizeof(error)));
		for (i = 0; error[i]; i++)
			fuzz_assert(error[i] >= ' ' && error[i] < 0x7f);
	} else {
		fuzz_show(profile);
		merge_again(profile);
		profile__free(profile);
	}
	free(text);
	return 0;
}
