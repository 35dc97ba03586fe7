// SPDX-License-Identifier: MIT
/* What makes two sets of reports hard to compare. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare_parts.h"
#include "units.h"

#define DURATION_MIN_NS	   2000000000ull
#define FREQUENCY_MOVED	   0.01 /* relative */
#define PERIOD_MOVED	   0.05 /* relative: it is drawn at random, and cut by the session's edges */
#define LOSSES_PER_HIT_MAX 0.001
#define COVERAGE_MOVED	   0.02 /* of all */
#define PACE_MOVED	   0.01 /* relative */
#define NAMED_MAX	   3	/* reports that a warning about some names */
#define NAME_BYTES_MAX	   100	/* of a name; the end tells more than the start */
#define NAME_SIZE	   (NAME_BYTES_MAX + 8)

__attribute__((format(printf, 3, 4))) static int warn(struct comparison *comparison,
						      const char *code, const char *format, ...)
{
	struct compare_warning warning = {.code = code}, *grown;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(&warning.text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return -ENOMEM;
	grown = reallocarray(comparison->warnings, comparison->warning_count + 1, sizeof(*grown));
	if (!grown) {
		free(warning.text);
		return -ENOMEM;
	}
	comparison->warnings = grown;
	grown[comparison->warning_count++] = warning;
	return 0;
}

/* The reports of both sides as one list. */
struct all {
	const struct compare_input *input;
	size_t count;
};

static const struct profile *report_at(const struct all *all, size_t i)
{
	const struct compare_input *base = &all->input[ESTIMATE_BASE];

	return i < base->count ? base->reports[i]
			       : all->input[ESTIMATE_NEW].reports[i - base->count];
}

/* The file of a report, its end if it is long; "" for one without a name. */
static const char *file_of(const struct all *all, size_t i, char buffer[NAME_SIZE])
{
	const size_t first = all->input[ESTIMATE_BASE].count;
	const struct compare_input *input = &all->input[i < first ? ESTIMATE_BASE : ESTIMATE_NEW];
	const char *name = input->names ? input->names[i < first ? i : i - first] : "";
	const size_t length = strlen(name);
	const bool cut = length > NAME_BYTES_MAX;

	snprintf(buffer, NAME_SIZE, "%s%s", cut ? ".." : "",
		 cut ? name + length - NAME_BYTES_MAX : name);
	return buffer;
}

/* Likewise, " (FILE)". */
static const char *name_of(const struct all *all, size_t i, char buffer[NAME_SIZE])
{
	char file[NAME_SIZE];

	snprintf(buffer, NAME_SIZE, *file_of(all, i, file) ? " (%.*s)" : "%.*s", NAME_BYTES_MAX + 2,
		 file);
	return buffer;
}

/* Some of all reports, and the first of them. */
struct some {
	size_t count, first[NAMED_MAX];
};

static void count_in(struct some *some, size_t i, bool is)
{
	if (!is)
		return;
	if (some->count < NAMED_MAX)
		some->first[some->count] = i;
	some->count++;
}

/* A warning about some reports: "2 of 10 reports", what is wrong with them, which these are. */
static int warn_some(struct comparison *comparison, const struct all *all, const struct some *some,
		     const char *code, const char *what)
{
	char names[NAMED_MAX * NAME_SIZE + 8] = "", name[NAME_SIZE];

	for (size_t i = 0; i < some->count && i < NAMED_MAX; i++) {
		if (*file_of(all, some->first[i], name) == '\0')
			continue;
		strcat(names, *names ? ", " : " (");
		strcat(names, name);
	}
	if (*names)
		strcat(names, some->count > NAMED_MAX ? ", ..)" : ")");
	return some->count == 0 ? 0
				: warn(comparison, code, "%zu of %zu reports %s%s", some->count,
				       all->count, what, names);
}

static const char *kernel_of(const struct profile *profile)
{
	return profile->host.kernel;
}

static const char *machine_of(const struct profile *profile)
{
	return profile->host.machine;
}

static const char *cpu_model_of(const struct profile *profile)
{
	return profile->host.cpu_model;
}

static const char *virtualization_of(const struct profile *profile)
{
	return profile->host.virtualization;
}

/* Texts that differ from the first report's, once for each kind. */
static int warn_texts(struct comparison *comparison, const struct all *all)
{
	static const struct {
		const char *code, *words;
		const char *(*of)(const struct profile *profile);
	} texts[] = {
		{"cpu_model", "CPU models", cpu_model_of},
		{"machine", "machines", machine_of},
		{"kernel", "kernels", kernel_of},
		{"virtualization", "kinds of virtualization", virtualization_of},
	};
	char one[NAME_SIZE], two[NAME_SIZE];
	int error = 0;

	for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
		const char *first = texts[k].of(report_at(all, 0));

		for (size_t i = 1; i < all->count && !error; i++) {
			const char *other = texts[k].of(report_at(all, i));

			if (strcmp(first ? first : "", other ? other : "") == 0)
				continue;
			error = warn(comparison, texts[k].code,
				     "the reports are from different %s: %s%s and %s%s",
				     texts[k].words, first ? first : "one not known",
				     name_of(all, 0, one), other ? other : "one not known",
				     name_of(all, i, two));
			break;
		}
	}
	return error;
}

static double period_of(const struct profile *profile)
{
	const struct profile_session *session = &profile->session;

	return session->ticks_expected > 0 && profile->host.cpus > 0
		       ? (double)session->duration_ns * profile->host.cpus /
				 (double)session->ticks_expected
		       : NAN;
}

/* False where one of them is not known. */
static bool has_moved(double one, double other, double relative)
{
	return fabs(one - other) > relative * fmax(one, other);
}

static int warn_numbers(struct comparison *comparison, const struct all *all)
{
	const struct profile *first = report_at(all, 0);
	bool cpus = false, frequency = false, period = false;
	char one[UNITS_SIZE], two[UNITS_SIZE], here[NAME_SIZE], there[NAME_SIZE];
	int error = 0;

	name_of(all, 0, here);
	for (size_t i = 1; i < all->count && !error; i++) {
		const struct profile *other = report_at(all, i);

		name_of(all, i, there);
		if (!cpus && first->host.cpus != other->host.cpus) {
			cpus = true;
			error = warn(comparison, "cpu_count",
				     "the reports are from %u%s and %u%s CPUs", first->host.cpus,
				     here, other->host.cpus, there);
		}
		if (!error && !frequency &&
		    has_moved(first->session.frequency_hz, other->session.frequency_hz,
			      FREQUENCY_MOVED)) {
			frequency = true;
			error = warn(comparison, "frequency",
				     "the reports are sampled at %.4g Hz%s and %.4g Hz%s",
				     first->session.frequency_hz, here, other->session.frequency_hz,
				     there);
		}
		if (!error && !period && !frequency &&
		    has_moved(period_of(first), period_of(other), PERIOD_MOVED)) {
			period = true;
			error = warn(comparison, "period",
				     "the mean periods of the timer are %s%s and %s%s",
				     units__time(one, period_of(first)), here,
				     units__time(two, period_of(other)), there);
		}
	}
	return error;
}

/* Whether any recording in it was short. */
static bool is_brief(const struct profile *profile)
{
	bool brief = profile->source_count == 0 && profile->session.duration_ns < DURATION_MIN_NS;

	for (size_t i = 0; i < profile->source_count; i++)
		brief |= profile->sources[i].duration_ns < DURATION_MIN_NS;
	return brief;
}

static int warn_merged(struct comparison *comparison, const struct all *all)
{
	struct some merged = {0};
	size_t recordings = 0;
	char what[160];

	for (size_t i = 0; i < all->count; i++) {
		const size_t sources = report_at(all, i)->source_count;

		count_in(&merged, i, sources > 1);
		recordings += sources > 1 ? sources : 0;
	}
	snprintf(what, sizeof(what),
		 "are merged, of %zu recordings: each counts as one run, so how much these differ "
		 "is not seen; compare the reports they were merged from",
		 recordings);
	return warn_some(comparison, all, &merged, "merged_report", what);
}

static int warn_sessions(struct comparison *comparison, const struct all *all)
{
	struct some brief = {0}, lossy = {0}, callless = {0};
	int error;

	for (size_t i = 0; i < all->count; i++) {
		const struct profile *profile = report_at(all, i);
		const struct profile_losses *losses = &profile->losses;

		count_in(&brief, i, is_brief(profile));
		count_in(&lossy, i,
			 (double)profile__losses(losses) >
				 LOSSES_PER_HIT_MAX * (double)profile->totals.hits);
		count_in(&callless, i,
			 losses->calls_lost > 0 || losses->calls_unread > 0 ||
				 losses->memory_unread > 0);
	}
	error = warn_some(comparison, all, &brief, "duration_short",
			  "are of sessions of less than 2 s, on which start and end weigh");
	if (!error)
		error = warn_some(comparison, all, &lossy, "losses",
				  "lost observations, more than one for 1,000 hits");
	if (!error)
		error = warn_some(comparison, all, &callless, "calls_missing",
				  "miss calls, so times per call are too high there");
	return error;
}

static double coverage_of(const struct compare_input *input, bool running)
{
	double sum = 0;

	for (size_t i = 0; i < input->count; i++)
		sum += running ? input->reports[i]->totals.coverage_running
			       : input->reports[i]->totals.coverage;
	return sum / (double)input->count; /* NaN where one is not known */
}

static int warn_coverage(struct comparison *comparison, const struct compare_input *input)
{
	char one[UNITS_SIZE], two[UNITS_SIZE];

	for (int running = 0; running < 2; running++) {
		const double base = coverage_of(&input[ESTIMATE_BASE], running);
		const double new = coverage_of(&input[ESTIMATE_NEW], running);

		if (!(fabs(new - base) > COVERAGE_MOVED))
			continue;
		return warn(comparison, "coverage_moved",
			    "coverage of %s went from %s to %s: work moved into labels or out of "
			    "them",
			    running ? "running time" : "thread-time", units__part(one, base),
			    units__part(two, new));
	}
	return 0;
}

/* Where it is taken out, too: it might be the new build that did it. */
static int warn_pace(struct comparison *comparison)
{
	const double *pace = comparison->pace_ns;

	if (!has_moved(pace[ESTIMATE_BASE], pace[ESTIMATE_NEW], PACE_MOVED))
		return 0;
	return warn(comparison, "pace",
		    "the CPUs took %.1f%% %s for the same calculation in the reports of the new "
		    "build: %s",
		    100 * fabs(pace[ESTIMATE_NEW] / pace[ESTIMATE_BASE] - 1),
		    pace[ESTIMATE_NEW] > pace[ESTIMATE_BASE] ? "longer" : "less time",
		    comparison->adjusted == ESTIMATE_PACE ? "no more than chance may do, so it is "
							    "taken out of times per call and means"
							  : "as much of a change may be theirs");
}

int compare__warn(struct comparison *comparison, const struct compare_input input[ESTIMATE_SIDES])
{
	const struct all all = {input, input[ESTIMATE_BASE].count + input[ESTIMATE_NEW].count};
	int error = warn_texts(comparison, &all);

	if (!error)
		error = warn_numbers(comparison, &all);
	if (!error)
		error = warn_merged(comparison, &all);
	if (!error)
		error = warn_sessions(comparison, &all);
	if (!error)
		error = warn_coverage(comparison, input);
	return error ? error : warn_pace(comparison);
}
