// SPDX-License-Identifier: MIT
/* What there is to say of merged reports as a whole; docs/output.md explains it. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "field_rows.h"
#include "merge_parts.h"
#include "model.h"
#include "rows.h"
#include "stats.h"

#define SCATTER_MIN 0.002 /* of a share: less is of no interest, however sure it is */

bool merge_warnings__recomputed(const char *code)
{
	static const char *const codes[] = {
		"no_labels",	  "no_hits",
		"few_hits",	  "coverage_low",
		"tiny",		  "long",
		"serialised",	  "coarse_outside",
		"coarse_small",	  "coarse_serialised",
		"coarse_open",	  "coarse_stale",
		"merged_hosts",	  "merged_versions",
		"merged_rates",	  "merged_builds",
		"merged_labels",  "merged_kinds",
		"merged_windows", "merged_twice",
		"merged_scatter",
	};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (strcmp(codes[i], code) == 0)
			return true;
	return false;
}

/* --- what the recordings are of --- */

static int compare_hosts(const struct profile_source *a, const struct profile_source *b)
{
	int order = strcmp(a->kernel, b->kernel);

	if (!order)
		order = strcmp(a->machine, b->machine);
	if (!order)
		order = (a->cpus > b->cpus) - (a->cpus < b->cpus);
	if (!order)
		order = field_rows__compare_strings(a->cpu_model, b->cpu_model);
	return order ? order : field_rows__compare_strings(a->virtualization, b->virtualization);
}

static int compare_versions(const struct profile_source *a, const struct profile_source *b)
{
	const int order = strcmp(a->version, b->version);

	return order ? order : (a->abi > b->abi) - (a->abi < b->abi);
}

static int compare_ids(const struct profile_source *a, const struct profile_source *b)
{
	return strcmp(a->id, b->id);
}

static int by_host(const void *a, const void *b)
{
	return compare_hosts(*(struct profile_source *const *)a,
			     *(struct profile_source *const *)b);
}

static int by_version(const void *a, const void *b)
{
	return compare_versions(*(struct profile_source *const *)a,
				*(struct profile_source *const *)b);
}

static int by_id(const void *a, const void *b)
{
	return compare_ids(*(struct profile_source *const *)a, *(struct profile_source *const *)b);
}

/* How many different ones there are; sorts. */
static size_t kinds_of(const struct profile_source **sources, size_t count,
		       int (*compare)(const void *, const void *))
{
	size_t kinds = count > 0;

	qsort(sources, count, sizeof(*sources), compare);
	for (size_t i = 1; i < count; i++)
		kinds += compare(&sources[i - 1], &sources[i]) != 0;
	return kinds;
}

static int warn_kinds(struct profile *profile, const struct profile_source **sources)
{
	const size_t count = profile->source_count;
	const size_t hosts = kinds_of(sources, count, by_host);
	const size_t versions = kinds_of(sources, count, by_version);
	const size_t twice = count - kinds_of(sources, count, by_id);
	int err = 0;

	if (hosts > 1)
		err = profile__warn(
			profile, "merged_hosts", NULL,
			"the reports are of %zu kinds of hosts (kernel, architecture, "
			"number or model of CPUs): times are those of all of them mixed",
			hosts);
	if (!err && versions > 1)
		err = profile__warn(profile, "merged_versions", NULL,
				    "the reports were recorded by %zu versions of ticksnick",
				    versions);
	if (!err && twice)
		err = profile__warn(profile, "merged_twice", NULL,
				    "%zu of the %zu recordings %s there more than once: the bounds "
				    "take them for new ones, and are too narrow",
				    twice, count, twice == 1 ? "is" : "are");
	return err;
}

static int warn_sources(struct profile *profile)
{
	double least = INFINITY, most = 0;
	size_t bare = 0;
	int err = 0;

	for (size_t i = 0; i < profile->source_count; i++) {
		const struct profile_source *source = &profile->sources[i];

		least = fmin(least, source->frequency_hz);
		most = fmax(most, source->frequency_hz);
		bare += !source->windowed;
	}
	if (least < most)
		err = profile__warn(
			profile, "merged_rates", NULL,
			"the recordings were sampled at %.4g to %.4g Hz: each hit counts "
			"for the time it stands for",
			least, most);
	if (!err && bare)
		err = profile__warn(
			profile, "merged_windows", NULL,
			"%zu of the %zu reports %s made by an earlier version, without "
			"what bounds and some flags are made from: their hits are taken "
			"to be independent, unless the reports show that they are not",
			bare, profile->source_count, bare == 1 ? "was" : "were");
	return err;
}

static int by_build(const void *left, const void *right)
{
	const struct profile_target *a = left, *b = right;
	const int order = field_rows__compare_strings(a->exe, b->exe);

	return order ? order : field_rows__compare_strings(a->build_id, b->build_id);
}

/* Targets with the same path and different build ids. */
static int warn_builds(struct profile *profile)
{
	const size_t count = profile->target_count;
	struct profile_target *targets = calloc(count + 1, sizeof(*targets));
	size_t builds = 1;
	int err = 0;

	if (!targets)
		return -ENOMEM;
	if (count)
		memcpy(targets, profile->target, count * sizeof(*targets));
	qsort(targets, count, sizeof(*targets), by_build);
	for (size_t i = 1; i <= count && !err; i++) {
		const struct profile_target *last = &targets[i - 1];

		if (i < count && field_rows__compare_strings(last->exe, targets[i].exe) == 0) {
			builds += field_rows__compare_strings(last->build_id,
							      targets[i].build_id) != 0;
			continue;
		}
		if (builds > 1 && last->exe)
			err = profile__warn(profile, "merged_builds", NULL,
					    "%s was recorded in %zu builds: what is merged here is "
					    "not one program",
					    last->exe, builds);
		builds = 1;
	}
	free(targets);
	return err;
}

/* --- labels --- */

static int warn_labels(struct profile *profile)
{
	const struct profile_fine *rarest = NULL;
	size_t some = 0;

	for (size_t i = 0; i < profile->fine_count; i++) {
		const struct profile_fine *row = &profile->fine[i];

		if (row->reports >= profile->source_count)
			continue;
		some++;
		if (!rarest || row->reports < rarest->reports)
			rarest = row;
	}
	if (!some)
		return 0;
	return profile__warn(
		profile, "merged_labels", NULL,
		"%zu of the %zu fine labels %s in some of the reports only, such as %s "
		"(in %" PRIu64 " of %zu)",
		some, profile->fine_count, some == 1 ? "is" : "are", rarest->label, rarest->reports,
		profile->source_count);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names with rows of several kinds: fine, idle, coarse. */
static int warn_names(struct profile *profile)
{
	const char **names =
		calloc(profile->fine_count + profile->coarse_count + 1, sizeof(*names));
	size_t count = 0;
	int err = 0;

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < profile->fine_count; i++)
		names[count++] = profile->fine[i].label;
	for (size_t i = 0; i < profile->coarse_count; i++)
		names[count++] = profile->coarse[i].label;
	qsort(names, count, sizeof(*names), by_name);
	for (size_t i = 1; i < count && !err; i++) {
		if (strcmp(names[i - 1], names[i]) != 0 ||
		    (i > 1 && strcmp(names[i - 2], names[i]) == 0))
			continue;
		err = profile__warn(
			profile, "merged_kinds", names[i],
			"it has rows of several kinds (fine, idle or coarse), each with "
			"the time of the reports in which it is that");
	}
	free(names);
	return err;
}

/* --- do the reports agree? --- */

/* Sums over windows, or reports, of x^2, x r and r^2; whole: the sum of r, all in units of
 * PROFILE_SQUARE_NS. */
struct spread {
	uint64_t part, product, squares;
};

/* Estimates the variance of the sum of x - p r; *count receives as how many of equal length the
 * windows count. NaN: there are too few. */
static double variance_of(const struct spread *spread, long double p, long double whole,
			  double *count)
{
	const long double residuals =
		stats__residual_squares(spread->part, spread->product, spread->squares, p);

	*count = spread->squares ? (double)(whole * whole / spread->squares) : 0;
	return *count > 1.5 ? (double)residuals * *count / (*count - 1) : NAN;
}

static bool holds(const struct spread *spread)
{
	return spread->part < INT64_MAX && spread->product < INT64_MAX &&
	       spread->squares < INT64_MAX;
}

struct agreement {
	long double whole; /* running time in labels that are not idle */
	double trials;	   /* independent hits that it is worth */
	size_t rows;	   /* with hits */
};

/* The standard deviation of the reports' shares of running time, where it is more than chance
 * explains; else 0. */
static double scatter_of(const struct profile *profile, const struct profile_fine *row,
			 const struct agreement *all)
{
	const struct profile_totals *totals = &profile->totals;
	const struct spread between = {row->report_squares, row->report_products,
				       totals->report_squares};
	const struct spread within = {row->window_squares, row->window_products,
				      totals->window_squares};
	const long double p = (long double)row->running_ns / PROFILE_SQUARE_NS / all->whole;
	double reports, windows, found, expected;

	if (!holds(&between) || !holds(&within))
		return 0;
	found = variance_of(&between, p, all->whole, &reports);
	expected = variance_of(&within, p, all->whole, &windows);
	if (isnan(found) || isnan(expected) || windows < reports + 1)
		return 0;
	expected = fmax(expected, (double)(all->whole * all->whole * p * (1 - p)) / all->trials);
	if (found <= expected * stats__f_quantile(reports - 1, windows - 1,
						  1 - MODEL_ALPHA / (double)all->rows))
		return 0;
	return sqrt(found / (double)between.squares);
}

/* The efficiency of hits is that of the bounds: what all hits weigh, squared, by their squares. */
static struct agreement agreement_of(const struct profile *profile)
{
	const struct profile_totals *totals = &profile->totals;
	const double weight = (double)totals->running_ns / PROFILE_WEIGHT_NS;
	struct agreement all = {0};
	double hits = 0;

	for (size_t i = 0; i < profile->fine_count; i++) {
		const struct profile_fine *row = &profile->fine[i];

		if (row->idle)
			continue;
		all.rows += row->hits > 0;
		hits += (double)row->hits;
		all.whole += (long double)row->running_ns / PROFILE_SQUARE_NS;
	}
	if (totals->weight_squares && totals->hits)
		all.trials = fmin(1, weight * weight / (double)totals->weight_squares /
					     (double)totals->hits) *
			     hits;
	return all;
}

static int warn_scatter(struct profile *profile)
{
	const struct agreement all = agreement_of(profile);
	int err = 0;

	if (profile->source_count < 2 || !(all.trials > 0) || !(all.whole > 0))
		return 0;
	for (size_t i = 0; i < profile->fine_count && !err; i++) {
		const struct profile_fine *row = &profile->fine[i];
		double scatter;

		if (row->idle || row->hits == 0)
			continue;
		scatter = scatter_of(profile, row, &all);
		if (scatter < SCATTER_MIN)
			continue;
		err = profile__warn(profile, "merged_scatter", row->label,
				    "its share of running time differs from report to report by "
				    "%.1f points (one standard deviation), more than sampling "
				    "explains: the bound is of these reports, not of the next one",
				    100 * scatter);
	}
	return err;
}

int merge_warnings__fill(struct profile *profile)
{
	const struct profile_source **sources = calloc(profile->source_count + 1, sizeof(*sources));
	int err;

	if (!sources)
		return -ENOMEM;
	for (size_t i = 0; i < profile->source_count; i++)
		sources[i] = &profile->sources[i];
	err = warn_kinds(profile, sources);
	free(sources);
	if (!err)
		err = warn_sources(profile);
	if (!err)
		err = warn_builds(profile);
	if (!err)
		err = warn_labels(profile);
	if (!err)
		err = warn_names(profile);
	return err ? err : warn_scatter(profile);
}
