// SPDX-License-Identifier: MIT
/*
 * A comparison as JUnit XML: one test case for each quantity. Slower is a failure; what cannot be
 * told, or not be judged, is skipped, with the reason.
 */
#include <errno.h>
#include <stdlib.h>

#include "diff_words.h"
#include "render_diff.h"
#include "utf8.h"

struct junit {
	FILE *out;
	int error;
};

/* Whether XML 1.0 has the character (section 2.2); those below U+0020 are not printable anyway. */
static bool is_in_xml(uint32_t point)
{
	return point >= 0x20 && (point & 0xfffe) != 0xfffe;
}

static void write_escaped(struct junit *to, const char *text)
{
	char *printable = utf8__printable(text, true);
	size_t length;

	if (!printable)
		to->error = -ENOMEM;
	for (const char *at = printable; at && *at; at += length) {
		uint32_t point = 0;

		length = utf8__decode(at, &point);
		if (length == 0 || !is_in_xml(point)) {
			fputs("&#65533;", to->out); /* the replacement character */
			length = length ? length : 1;
		} else if (point < 0x80 &&
			   (*at == '<' || *at == '>' || *at == '&' || *at == '"' || *at == '\'')) {
			fprintf(to->out, "&#%d;", *at);
		} else {
			fwrite(at, 1, length, to->out);
		}
	}
	free(printable);
}

static void write_case(struct junit *to, const char *kind, const char *label, const char *what,
		       const struct compare_test *test, enum compare_state state)
{
	char sentence[DIFF_WORDS_SENTENCE_SIZE];

	fprintf(to->out, "    <testcase classname=\"ticksnick.%s\" name=\"", kind);
	write_escaped(to, label);
	fprintf(to->out, " %s\" time=\"0\"", what);
	diff_words__test(sentence, what, test);
	switch (test->verdict) {
	case COMPARE_SLOWER:
		fputs(">\n      <failure type=\"regression\" message=\"", to->out);
		write_escaped(to, sentence);
		fputs("\"/>\n    </testcase>\n", to->out);
		break;
	case COMPARE_UNKNOWN:
	case COMPARE_NONE:
		fprintf(to->out, ">\n      <skipped message=\"%s",
			diff_words__verdict(test->verdict, state));
		if (test->verdict == COMPARE_UNKNOWN) {
			fputs("; ", to->out);
			write_escaped(to, sentence);
		}
		fputs("\"/>\n    </testcase>\n", to->out);
		break;
	default:
		fputs(">\n      <system-out>", to->out);
		write_escaped(to, sentence);
		fputs("</system-out>\n    </testcase>\n", to->out);
		break;
	}
}

static void write_suite(struct junit *to, const struct comparison *comparison)
{
	const size_t *counts = comparison->verdicts;
	const size_t tests = comparison->fine_count + COMPARE_DURATIONS * comparison->coarse_count;
	char *summary = diff_words__summary(comparison), *basis = diff_words__basis(comparison);

	if (!summary || !basis)
		to->error = -ENOMEM;
	fprintf(to->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite "
		"name=\"ticksnick diff\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
		"skipped=\"%zu\" time=\"0\">\n",
		tests, counts[COMPARE_SLOWER], counts[COMPARE_UNKNOWN] + counts[COMPARE_NONE]);
	for (size_t i = 0; i < comparison->fine_count; i++)
		write_case(to, "fine", comparison->fine[i].label, "per call",
			   &comparison->fine[i].per_call, comparison->fine[i].state);
	for (size_t i = 0; i < comparison->coarse_count; i++)
		for (int k = 0; k < COMPARE_DURATIONS; k++)
			write_case(to, "coarse", comparison->coarse[i].label,
				   compare_duration_names[k], &comparison->coarse[i].duration[k],
				   comparison->coarse[i].state);
	fputs("    <system-out>", to->out);
	write_escaped(to, summary ? summary : "");
	fputs(". ", to->out);
	write_escaped(to, basis ? basis : "");
	fprintf(to->out, " %s</system-out>\n", diff_words_shares);
	if (comparison->warning_count > 0)
		fputs("    <system-err>", to->out);
	for (size_t i = 0; i < comparison->warning_count; i++) {
		fprintf(to->out, "%swarning [%s] ", i ? "\n" : "", comparison->warnings[i].code);
		write_escaped(to, comparison->warnings[i].text);
	}
	if (comparison->warning_count > 0)
		fputs("</system-err>\n", to->out);
	fputs("  </testsuite>\n</testsuites>\n", to->out);
	free(summary);
	free(basis);
}

static int write_junit(const struct comparison *comparison, const struct render_options *options,
		       FILE *out)
{
	struct junit to = {.out = out};
	struct render_numbers numbers;

	(void)options;
	if (render__plain_numbers(&numbers))
		return -ENOMEM;
	write_suite(&to, comparison);
	render__restore_numbers(&numbers);
	return to.error ? to.error : ferror(out) ? -EIO : 0;
}

const struct render_diff_format render_diff_junit = {"junit", write_junit};
