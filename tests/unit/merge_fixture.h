/* SPDX-License-Identifier: MIT */
/*
 * merge_fixture - what the tests of merging share: reports as they stand in files, and sessions
 * whose true shares are known.
 */
#ifndef TICKSNICK_TESTS_MERGE_FIXTURE_H
#define TICKSNICK_TESTS_MERGE_FIXTURE_H

#include <stdlib.h>

#include "merge.h"
#include "model_fixture.h"
#include "render.h"
#include "report.h"

static inline char *render(const struct profile *of)
{
	static const struct render_options look = {0};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	ck_assert_int_eq(render_json.write(of, &look, out), 0);
	fclose(out);
	return text;
}

static inline struct profile *parse(const char *text)
{
	char error[REPORT_ERROR_SIZE] = "";
	struct profile *read = NULL;

	ck_assert_msg(report__parse(text, strlen(text), &read, error) == 0, "%s", error);
	return read;
}

/* Merges reports as they stand in files; the caller frees the profile. */
static inline struct profile *merge_all(char *const *texts, size_t count)
{
	struct merge *merge = merge__new();
	struct profile *merged;

	for (size_t i = 0; i < count; i++) {
		char error[MERGE_ERROR_SIZE] = "";
		struct profile *read = parse(texts[i]);

		ck_assert_msg(merge__add(merge, read, "a file", true, error) == 0, "%s", error);
		profile__free(read);
	}
	merged = merge__finish(merge);
	ck_assert_ptr_nonnull(merged);
	merge__free(merge);
	return merged;
}

static inline char *merged_text(char *const *texts, size_t count)
{
	struct profile *merged = merge_all(texts, count);
	char *text = render(merged);

	profile__free(merged);
	return text;
}

static inline void free_texts(char **texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
}

/* --- reports as sessions make them --- */

struct simulated {
	double parts[4];    /* of running time: labels a, b, c and none */
	uint64_t period_ns; /* of the ticks */
	unsigned ticks;	    /* a multiple of 32 */
	uint64_t lost_hits, calls;
	uint64_t start_unix_ns;
};

static const char *const names[4] = {"a", "b", "c", NULL};

/* 32 windows of independent hits. */
static inline struct profile *simulate(const struct simulated *how)
{
	struct windows *windows = windows__new();
	struct model_label labels[4] = {0};
	struct profile *of = profile__new();
	struct model_input input = input_of(labels, 4, how->ticks * how->period_ns);

	for (size_t i = 0; i < 4; i++) {
		labels[i].name = names[i];
		labels[i].window_row = names[i] ? i + 1 : 0;
		labels[i].calls = how->calls;
	}
	for (unsigned tick = 0; tick < how->ticks;) {
		double weights[4] = {0};

		do {
			double at = random_part();
			size_t i = 0;

			while (i < 3 && (at -= how->parts[i]) >= 0)
				i++;
			weights[labels[i].window_row] += (double)how->period_ns;
			labels[i].hits_user++;
			labels[i].weight_ns += how->period_ns;
		} while (++tick % (how->ticks / 32));
		ck_assert_int_eq(windows__add(windows, weights, 4), 0);
	}
	input.windows = windows;
	input.lost_hits = how->lost_hits;
	input.weight_square_sum = how->ticks * (how->period_ns >> 10) * (how->period_ns >> 10);
	of->session.duration_ns = how->ticks * how->period_ns;
	of->session.start_unix_ns = how->start_unix_ns;
	of->session.frequency_hz = 1e9 / (double)how->period_ns;
	ck_assert_int_eq(model__compute(&input, of), 0);
	windows__free(windows);
	return of;
}

static inline char *simulated_text(const struct simulated *how)
{
	struct profile *of = simulate(how);
	char *text = render(of);

	profile__free(of);
	return text;
}

static const struct simulated usual = {
	.parts = {0.5, 0.3, 0.1, 0.1}, .period_ns = MS, .ticks = 3200, .calls = 1000};

static inline double width_in(const struct profile *of, const char *name)
{
	for (size_t i = 0; i < of->fine_count; i++)
		if (strcmp(of->fine[i].label, name) == 0)
			return of->fine[i].share_hi - of->fine[i].share_lo;
	ck_abort_msg("no row %s", name);
	return 0;
}

/* Merged from n sessions of this kind; the caller frees it. */
static inline struct profile *repeats(const struct simulated *how, size_t count)
{
	struct simulated each = *how;
	struct profile *merged;
	char *texts[64];

	for (size_t i = 0; i < count; i++) {
		each.start_unix_ns = i * SECOND;
		texts[i] = simulated_text(&each);
	}
	merged = merge_all(texts, count);
	free_texts(texts, count);
	return merged;
}

#endif
