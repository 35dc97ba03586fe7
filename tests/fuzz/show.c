// SPDX-License-Identifier: MIT
#include "fuzz.h"
#include "render.h"
#include "render_diff.h"
#include "report.h"
#include "utf8.h"

#define WRITTEN_MAX (16u << 20)

/* What moves a cursor, breaks a line, hides or reorders text. */
static int obeyed(uint32_t point)
{
	return (point < 0x20 && point != '\n') || (point >= 0x7f && point < 0xa0) ||
	       point == 0x200e || point == 0x200f || (point >= 0x2028 && point <= 0x202e) ||
	       (point >= 0x2066 && point <= 0x2069) || point == 0xfeff;
}

/* fit_for_terminal: of JSON and CSV only that they are text. */
static void text_check(const char *text, size_t size, int fit_for_terminal)
{
	size_t at = 0, n;
	uint32_t point;

	fuzz_assert(strlen(text) == size);
	for (; at < size; at += n) {
		n = utf8__decode(text + at, &point);
		fuzz_assert(n);
		fuzz_assert(point >= 0x20 || point == '\n' || (point == '\r' && !fit_for_terminal));
		fuzz_assert(!fit_for_terminal || !obeyed(point));
	}
}

/* The caller frees it. */
static char *written(const struct render_format *format, const struct profile *profile,
		     unsigned columns, size_t *size)
{
	struct render_options options = {.columns = columns};
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	fuzz_assert(out);
	fuzz_assert(format->write(profile, &options, out) == 0);
	fuzz_assert(fclose(out) == 0 && *size < WRITTEN_MAX);
	return text;
}

static void json_again(const char *json, size_t size)
{
	char error[REPORT_ERROR_SIZE] = "", *again;
	struct profile *profile;
	size_t again_size;

	if (report__parse(json, size, &profile, error)) {
		fprintf(stderr, "what was written is refused: %s\n", error);
		abort();
	}
	again = written(&render_json, profile, 0, &again_size);
	fuzz_assert(size == again_size && !memcmp(json, again, size));
	free(again);
	profile__free(profile);
}

/* One against itself, and twice against once: nothing has changed, whatever it says. */
static void compare_with_itself(const struct profile *profile)
{
	static const struct render_diff_format *const formats[] = {
		&render_diff_text,  &render_diff_markdown, &render_diff_json,
		&render_diff_junit, &render_diff_github,
	};
	const struct profile *const twice[] = {profile, profile};

	for (size_t count = 1; count <= 2; count++) {
		const struct compare_input input[] = {{twice, count, NULL}, {twice, 1, NULL}};
		struct comparison *comparison = compare__new(input, 0, COMPARE_ALPHA);

		fuzz_assert(comparison);
		fuzz_assert(!comparison->verdicts[COMPARE_SLOWER]);
		fuzz_assert(!comparison->verdicts[COMPARE_FASTER]);
		for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
			struct render_options options = {.columns = 40};
			char *text = NULL;
			size_t size;
			FILE *out = open_memstream(&text, &size);

			fuzz_assert(out);
			fuzz_assert(formats[i]->write(comparison, &options, out) == 0);
			fuzz_assert(fclose(out) == 0 && size < WRITTEN_MAX);
			text_check(text, size, formats[i] != &render_diff_json);
			free(text);
		}
		compare__free(comparison);
	}
}

void fuzz_show(const struct profile *profile)
{
	static const unsigned columns[] = {0, 40, 80};
	size_t size, i;
	char *text;

	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		text = written(&render_text, profile, columns[i], &size);
		text_check(text, size, 1);
		free(text);
	}
	for (i = 0; i < 3; i++) {
		const struct render_format *const formats[] = {&render_csv, &render_csv_coarse,
							       &render_csv_pairs};

		text = written(formats[i], profile, 0, &size);
		text_check(text, size, 0);
		free(text);
	}
	text = written(&render_json, profile, 0, &size);
	text_check(text, size, 0);
	json_again(text, size);
	free(text);
	compare_with_itself(profile);
}
