/* SPDX-License-Identifier: MIT */
/*
 * compare_fixture - what the tests of comparisons share: reports made from labels by the model, as
 * real ones are, and random ones from a fixed seed.
 */
#ifndef TICKSNICK_TESTS_COMPARE_FIXTURE_H
#define TICKSNICK_TESTS_COMPARE_FIXTURE_H

#include <stdlib.h>

#include "compare.h"
#include "histogram.h"
#include "model_fixture.h"

#define SIMULATED_LABELS 40
#define PERIOD_NS	 1000000ull

static inline char *copy_of(const char *text)
{
	char *copy = strdup(text);

	ck_assert_ptr_nonnull(copy);
	return copy;
}

/* A session of 10 s on two CPUs. */
static inline struct profile *new_report(void)
{
	struct profile *report = profile__new();

	ck_assert_ptr_nonnull(report);
	report->host.kernel = copy_of("6.1.0");
	report->host.machine = copy_of("x86_64");
	report->host.cpu_model = copy_of("a CPU");
	report->host.virtualization = copy_of("none");
	report->host.cpus = 2;
	report->session.duration_ns = 10 * SECOND;
	report->session.frequency_hz = 1000;
	report->session.ticks_expected = 20000;
	report->session.pace_runs = 1000;
	report->session.pace_ns = 800 * report->session.pace_runs;
	return report;
}

/* Hits weigh a period each, and all running time is hit. */
static inline struct profile *report_of(const struct model_label *labels, size_t count)
{
	struct profile *report = new_report();
	struct model_input input = {.labels = labels, .label_count = count, .alpha = 0.05};

	for (size_t i = 0; i < count; i++)
		input.running_ns += labels[i].weight_ns;
	ck_assert_int_eq(model__compute(&input, report), 0);
	return report;
}

static inline struct model_label label_of(const char *name, uint64_t hits, uint64_t calls)
{
	return (struct model_label){
		.name = name, .hits_user = hits, .weight_ns = hits * PERIOD_NS, .calls = calls};
}

/* Of two labels, "other" and "x"; calls of -1: "x" is not there. */
static inline struct profile *report_with(int64_t calls, int64_t hits)
{
	const struct model_label labels[] = {
		label_of("other", 20000, 1000000),
		label_of("x", (uint64_t)hits, calls > 0 ? (uint64_t)calls : 0),
	};

	return report_of(labels, calls < 0 ? 1 : 2);
}

static inline struct comparison *comparison_of(struct profile *const *base, size_t base_count,
					       struct profile *const *new, size_t new_count,
					       double threshold)
{
	const struct compare_input input[] = {
		{(const struct profile *const *)base, base_count, NULL},
		{(const struct profile *const *)new, new_count, NULL},
	};
	struct comparison *comparison = compare__new(input, threshold, COMPARE_ALPHA);

	ck_assert_ptr_nonnull(comparison);
	return comparison;
}

static inline struct comparison *compare_two(struct profile *base, struct profile *new)
{
	return comparison_of(&base, 1, &new, 1, COMPARE_THRESHOLD);
}

static inline double random_normal(void)
{
	double u = random_part();

	while (u == 0)
		u = random_part();
	return sqrt(-2 * log(u)) * cos(2 * M_PI * random_part());
}

/* Knuth's method for few, the normal distribution for many. */
static inline uint64_t random_poisson(double mean)
{
	double product = 1, limit = exp(-mean);
	uint64_t count = 0;

	if (mean > 60) {
		const double value = round(mean + sqrt(mean) * random_normal());

		return value > 0 ? (uint64_t)value : 0;
	}
	while ((product *= random_part()) > limit)
		count++;
	return count;
}

/* How a simulated program behaves. */
struct simulation {
	double hits;		 /* of all labels, about */
	double slowdown;	 /* of each label that slow says, relative */
	bool (*slow)(int label); /* NULL: none */
	double run_noise;	 /* relative, of each label in each run by itself */
	double common_noise;	 /* the same of all labels of a run */
	double pace_noise;	 /* relative, of the CPUs' pace in each run, and so of all labels */
};

/* Label k has a part of the time like 1 / (k + 1). */
static inline struct profile *simulate(const struct simulation *of)
{
	static char names[SIMULATED_LABELS][16];
	struct model_label labels[SIMULATED_LABELS];
	const double pace = exp(of->pace_noise * random_normal());
	const double common = exp(of->common_noise * random_normal()) * pace;
	struct profile *report;
	double harmonic = 0;

	for (int k = 0; k < SIMULATED_LABELS; k++)
		harmonic += 1. / (k + 1);
	for (int k = 0; k < SIMULATED_LABELS; k++) {
		double mean = of->hits / harmonic / (k + 1) * common;
		const double calls = mean * 1000 / common;

		if (of->slow && of->slow(k))
			mean *= 1 + of->slowdown;
		mean *= exp(of->run_noise * random_normal());
		snprintf(names[k], sizeof(names[k]), "label[%d]", k);
		labels[k] = label_of(names[k], random_poisson(mean), (uint64_t)calls);
	}
	report = report_of(labels, SIMULATED_LABELS);
	report->session.pace_ns = (uint64_t)((double)report->session.pace_ns * pace);
	return report;
}

static inline const struct compare_fine *fine_row(const struct comparison *comparison,
						  const char *label)
{
	for (size_t i = 0; i < comparison->fine_count; i++)
		if (!strcmp(comparison->fine[i].label, label))
			return &comparison->fine[i];
	ck_abort_msg("no row %s", label);
	return NULL;
}

#endif
