// SPDX-License-Identifier: MIT
/*
 * A comparison as a comment of a pull request: what it comes to and what changed on top, the rest
 * folded. GitHub refuses comments of over 65,536 characters, so there is an end to the rows, by
 * number and by bytes, and to each name and warning.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff_words.h"
#include "render_diff.h"
#include "units.h"
#include "utf8.h"

#define ROWS_OPEN_MAX	20
#define ROWS_MAX	200
#define ROWS_BYTES_MAX	40000 /* of all; warnings and the rest take 20,000 at most */
#define ESCAPED_MAX	6     /* bytes for each column: "&#124;"; combining characters have none */
#define NAME_COLUMNS	64
#define WARNING_COLUMNS 240

struct markdown {
	FILE *out;
	int error;
	size_t row_bytes; /* that are left for rows */
};

/* One line of a table; coarse labels have one for each quantity. */
struct line {
	const char *label, *what; /* what: NULL for the running time of a call */
	const struct compare_test *test;
	enum compare_state state;
	const struct compare_fine *fine; /* NULL: coarse */
	double calls_change;
};

/*
 * Whatever has a meaning in markdown or HTML is written as a character reference, which has none.
 * In <code> a name mentions nobody and links nowhere.
 */
static void write_escaped(struct markdown *to, const char *text, size_t columns)
{
	char *printable = utf8__printable(text, true), *fitted = NULL;
	size_t left = ESCAPED_MAX * columns, length;

	if (printable)
		fitted = utf8__fit(printable, columns, true);
	if (!fitted)
		to->error = -ENOMEM;
	for (const char *at = fitted; at && *at && left >= ESCAPED_MAX; at += length) {
		const bool plain = (*at & 0x80) || (*at >= '0' && *at <= '9') ||
				   (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
				   *at == ' ';
		uint32_t point;

		length = utf8__decode(at, &point);
		length = length ? length : 1;
		if (plain)
			fwrite(at, 1, length, to->out);
		else
			fprintf(to->out, "&#%d;", *at);
		left -= plain ? length : ESCAPED_MAX;
	}
	free(printable);
	free(fitted);
}

static void write_waiting(struct markdown *to, const struct compare_fine *row)
{
	double wait[ESTIMATE_SIDES];
	char time[UNITS_SIZE], change[DIFF_WORDS_SIZE];

	for (int i = 0; i < ESTIMATE_SIDES; i++)
		wait[i] = compare__wait_per_call(&row->side[i]);
	fprintf(to->out, " | %s", units__time(time, wait[ESTIMATE_NEW]));
	if (wait[ESTIMATE_BASE] > 0 && !isnan(wait[ESTIMATE_NEW]))
		fprintf(to->out, " (%s)",
			diff_words__change(change, diff_words__ratio(wait[ESTIMATE_BASE],
								     wait[ESTIMATE_NEW])));
}

static void write_shares(struct markdown *to, const struct compare_fine *row)
{
	fputs(" | ", to->out);
	for (int i = 0; i < ESTIMATE_SIDES; i++) {
		if (i > 0)
			fputs(" → ", to->out);
		if (isnan(row->side[i].share))
			fputs("-", to->out);
		else
			fprintf(to->out, "%.1f%%", 100 * row->side[i].share);
	}
}

static void write_line(struct markdown *to, const struct line *line)
{
	const bool bold = line->test->verdict == COMPARE_SLOWER;
	char base[DIFF_WORDS_SIZE], new[DIFF_WORDS_SIZE];
	char change[DIFF_WORDS_SIZE], limits[DIFF_WORDS_SIZE];

	fputs("| <code>", to->out);
	write_escaped(to, line->label, NAME_COLUMNS);
	fprintf(to->out, "</code>%s%s | %s | %s | %s | %s | %s%s%s", line->what ? " " : "",
		line->what ? line->what : "", diff_words__value(base, line->test, ESTIMATE_BASE),
		diff_words__value(new, line->test, ESTIMATE_NEW),
		diff_words__change(change, compare__change(line->test)),
		diff_words__limits(limits, compare__change_limits(line->test)), bold ? "**" : "",
		diff_words__verdict(line->test->verdict, line->state), bold ? "**" : "");
	if (line->fine)
		write_waiting(to, line->fine);
	else
		fputs(" | ", to->out);
	fprintf(to->out, " | %s", diff_words__change(change, line->calls_change));
	if (line->fine)
		write_shares(to, line->fine);
	else
		fputs(" | ", to->out);
	fputs(" |\n", to->out);
}

/* Calls or executions of a report, their relative change. */
static double count_change(const struct comparison *comparison, uint64_t base, uint64_t new)
{
	return diff_words__ratio(diff_words__per_recording(comparison, ESTIMATE_BASE, base),
				 diff_words__per_recording(comparison, ESTIMATE_NEW, new));
}

/* All lines with that verdict, in the order of the comparison. */
static size_t collect(const struct comparison *comparison, enum compare_verdict verdict,
		      struct line *lines)
{
	size_t count = 0;

	for (size_t i = 0; i < comparison->fine_count; i++) {
		const struct compare_fine *row = &comparison->fine[i];

		if (row->per_call.verdict == verdict)
			lines[count++] = (struct line){row->label,
						       NULL,
						       &row->per_call,
						       row->state,
						       row,
						       count_change(comparison,
								    row->side[ESTIMATE_BASE].calls,
								    row->side[ESTIMATE_NEW].calls)};
	}
	for (size_t i = 0; i < comparison->coarse_count; i++) {
		const struct compare_coarse *row = &comparison->coarse[i];

		for (int k = 0; k < COMPARE_DURATIONS; k++)
			if (row->duration[k].verdict == verdict)
				lines[count++] = (struct line){
					row->label,
					compare_duration_names[k],
					&row->duration[k],
					row->state,
					NULL,
					count_change(comparison,
						     row->side[ESTIMATE_BASE].executions,
						     row->side[ESTIMATE_NEW].executions)};
	}
	return count;
}

/* The caller frees it; NULL: out of memory. */
static char *row_of(const struct line *line, size_t *length)
{
	char *row = NULL;
	struct markdown to = {.out = open_memstream(&row, length)};

	if (!to.out)
		return NULL;
	write_line(&to, line);
	if (fclose(to.out) == 0 && !to.error)
		return row;
	free(row);
	return NULL;
}

/* As many lines as there is room for; how many that were is returned. */
static size_t write_table(struct markdown *to, const struct line *lines, size_t count)
{
	size_t written = 0;

	if (count == 0)
		return 0;
	fputs("\n| label | base | new | change | interval | verdict | waiting per call | calls | "
	      "share |\n| :-- | --: | --: | --: | --: | :-- | --: | --: | --: |\n",
	      to->out);
	for (; written < count; written++) {
		size_t length;
		char *row = row_of(&lines[written], &length);
		const bool fits = row && length <= to->row_bytes;

		if (!row)
			to->error = -ENOMEM;
		if (fits) {
			fwrite(row, 1, length, to->out);
			to->row_bytes -= length;
		}
		free(row);
		if (!fits)
			break;
	}
	return written;
}

/* What is the same, or not judged, is folded; so is what there is too much of. */
static void write_tables(struct markdown *to, const struct line *lines, size_t count, size_t loud)
{
	const size_t open = loud < ROWS_OPEN_MAX ? loud : ROWS_OPEN_MAX;
	size_t shown = count < ROWS_MAX ? count : ROWS_MAX;

	write_table(to, lines, open);
	if (shown > open) {
		fprintf(to->out, "\n<details><summary>%zu more row%s</summary>\n", count - open,
			count - open == 1 ? "" : "s");
		shown = open + write_table(to, lines + open, shown - open);
		if (count > shown)
			fprintf(to->out, "\nand %zu more, which the other formats have\n",
				count - shown);
		fputs("\n</details>\n", to->out);
	}
}

static void write_sentence(struct markdown *to, const char *before, char *text, const char *after)
{
	if (text)
		fprintf(to->out, "%s%s%s", before, text, after);
	else
		to->error = -ENOMEM;
	free(text);
}

static void write_comment(struct markdown *to, const struct comparison *comparison,
			  struct line *lines)
{
	size_t count = 0, loud = 0;

	for (int verdict = 0; verdict < COMPARE_VERDICTS; verdict++) {
		if (verdict == COMPARE_SAME)
			loud = count;
		count += collect(comparison, verdict, lines + count);
	}
	write_sentence(to, "**ticksnick diff:** ", diff_words__summary(comparison), ".\n");
	for (size_t i = 0; i < comparison->warning_count; i++) {
		fprintf(to->out, "\n> `%s`: ", comparison->warnings[i].code);
		write_escaped(to, comparison->warnings[i].text, WARNING_COLUMNS);
		fputc('\n', to->out);
	}
	write_tables(to, lines, count, loud);
	write_sentence(to, "\n<sub>", diff_words__basis(comparison), " ");
	fprintf(to->out, "%s</sub>\n", diff_words_shares);
}

static int write_markdown(const struct comparison *comparison, const struct render_options *options,
			  FILE *out)
{
	const size_t most = comparison->fine_count + COMPARE_DURATIONS * comparison->coarse_count;
	struct line *lines = calloc(most + 1, sizeof(*lines));
	struct markdown to = {.out = out, .row_bytes = ROWS_BYTES_MAX};
	struct render_numbers numbers;

	(void)options;
	if (!lines || render__plain_numbers(&numbers)) {
		free(lines);
		return -ENOMEM;
	}
	write_comment(&to, comparison, lines);
	render__restore_numbers(&numbers);
	free(lines);
	return to.error ? to.error : ferror(out) ? -EIO : 0;
}

const struct render_diff_format render_diff_markdown = {"markdown", write_markdown};
