// SPDX-License-Identifier: MIT
/*
 * A comparison as annotations of a GitHub workflow: an error for each quantity that is slower, a
 * warning for what makes the reports hard to compare, and the summary as a notice.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "diff_words.h"
#include "render_diff.h"
#include "utf8.h"

struct github {
	FILE *out;
	int error;
};

/* As the runner unescapes it: in a message per cent and line ends, in a property also : and , */
static void write_escaped(struct github *to, const char *text, bool property)
{
	char *printable = utf8__printable(text, true);

	if (!printable)
		to->error = -ENOMEM;
	for (const char *at = printable; at && *at; at++) {
		if (strchr(property ? "%\r\n:," : "%\r\n", *at))
			fprintf(to->out, "%%%02X", (unsigned char)*at);
		else
			fputc(*at, to->out);
	}
	free(printable);
}

static void write_error(struct github *to, const char *label, const char *what,
			const struct compare_test *test)
{
	char sentence[DIFF_WORDS_SENTENCE_SIZE];

	if (test->verdict != COMPARE_SLOWER)
		return;
	fputs("::error title=", to->out);
	write_escaped(to, label, true);
	fputs(" is slower::", to->out);
	write_escaped(to, label, false);
	fputs(": ", to->out);
	write_escaped(to, diff_words__test(sentence, what, test), false);
	fputc('\n', to->out);
}

static void write_annotations(struct github *to, const struct comparison *comparison)
{
	char *summary = diff_words__summary(comparison), *basis = diff_words__basis(comparison);

	for (size_t i = 0; i < comparison->fine_count; i++)
		write_error(to, comparison->fine[i].label, "per call",
			    &comparison->fine[i].per_call);
	for (size_t i = 0; i < comparison->coarse_count; i++)
		for (int k = 0; k < COMPARE_DURATIONS; k++)
			write_error(to, comparison->coarse[i].label, compare_duration_names[k],
				    &comparison->coarse[i].duration[k]);
	for (size_t i = 0; i < comparison->warning_count; i++) {
		fprintf(to->out,
			"::warning title=ticksnick diff%%3A %s::", comparison->warnings[i].code);
		write_escaped(to, comparison->warnings[i].text, false);
		fputc('\n', to->out);
	}
	if (summary && basis) {
		fputs("::notice title=ticksnick diff::", to->out);
		write_escaped(to, summary, false);
		fputs(". ", to->out);
		write_escaped(to, basis, false);
		fprintf(to->out, " %s\n", diff_words_shares);
	} else {
		to->error = -ENOMEM;
	}
	free(summary);
	free(basis);
}

static int write_github(const struct comparison *comparison, const struct render_options *options,
			FILE *out)
{
	struct github to = {.out = out};
	struct render_numbers numbers;

	(void)options;
	if (render__plain_numbers(&numbers))
		return -ENOMEM;
	write_annotations(&to, comparison);
	render__restore_numbers(&numbers);
	return to.error ? to.error : ferror(out) ? -EIO : 0;
}

const struct render_diff_format render_diff_github = {"github", write_github};
