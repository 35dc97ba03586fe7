// SPDX-License-Identifier: MIT
/* The comparison for programs: docs/diff.schema.json says what is in it. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "fields.h"
#include "render_diff.h"
#include "utf8.h"

#define SCHEMA "ticksnick.diff/1"

static json_t *string_json(const char *text)
{
	char *clean = utf8__clean(text ? text : "");
	json_t *string = clean ? json_string(clean) : NULL;

	free(clean);
	return string;
}

static json_t *integer_json(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

/* Leaves a key out where there is no value or no end. */
static int set_real(json_t *object, const char *key, double value)
{
	return isfinite(value) ? json_object_set_new(object, key, json_real(value)) : 0;
}

/* An end that is open is absent, and named in "open"; one that is not known is absent alone. */
static int set_open(json_t *open, const char *key, double end)
{
	return isinf(end) ? json_array_append_new(open, json_string(key)) : 0;
}

static json_t *done(json_t *object, int failed)
{
	if (!failed)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *test_json(const struct compare_test *test)
{
	const struct estimate_side *side = test->estimate.side;
	const struct estimate_limits *limits = &test->limits;
	const struct interval change = compare__change_limits(test);
	const struct {
		const char *key;
		double value;
	} values[] = {
		{"base_ns", side[ESTIMATE_BASE].value},
		{"base_lo_ns", limits->side[ESTIMATE_BASE].lo},
		{"base_hi_ns", limits->side[ESTIMATE_BASE].hi},
		{"new_ns", side[ESTIMATE_NEW].value},
		{"new_lo_ns", limits->side[ESTIMATE_NEW].lo},
		{"new_hi_ns", limits->side[ESTIMATE_NEW].hi},
		{"change", compare__change(test)},
		{"change_lo", change.lo},
		{"change_hi", change.hi},
		{"difference_ns", test->estimate.comparable
					  ? side[ESTIMATE_NEW].value - side[ESTIMATE_BASE].value
					  : NAN},
		{"difference_lo_ns", limits->difference.lo},
		{"difference_hi_ns", limits->difference.hi},
	};
	json_t *object = json_object(), *open = json_array();
	int failed = 0;

	failed |= json_object_set_new(object, "verdict",
				      json_string(compare__verdict_name(test->verdict)));
	failed |= set_real(object, "alpha", test->alpha);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		failed |= set_real(object, values[i].key, values[i].value);
		failed |= set_open(open, values[i].key, values[i].value);
	}
	failed |= json_object_set_new(object, "open", open);
	return done(object, failed);
}

static json_t *fine_side_json(const struct compare_fine_side *side)
{
	json_t *object = json_object();
	int failed = 0;

	failed |= json_object_set_new(object, "present", json_boolean(side->present));
	failed |= json_object_set_new(object, "calls", integer_json(side->calls));
	failed |= json_object_set_new(object, "hits", integer_json(side->hits));
	failed |= json_object_set_new(object, "running_ns", integer_json(side->running_ns));
	failed |= json_object_set_new(object, "wait_ns", integer_json(side->wait_ns));
	failed |= json_object_set_new(object, "thread_time_ns", integer_json(side->thread_time_ns));
	failed |= set_real(object, "wait_per_call_ns", compare__wait_per_call(side));
	failed |= set_real(object, "share", side->share);
	return done(object, failed);
}

static json_t *fine_json(const struct compare_fine *row)
{
	json_t *object = json_object();
	int failed = 0;

	failed |= json_object_set_new(object, "label", string_json(row->label));
	failed |=
		json_object_set_new(object, "state", json_string(compare__state_name(row->state)));
	failed |= json_object_set_new(object, "verdict",
				      json_string(compare__verdict_name(row->per_call.verdict)));
	failed |= json_object_set_new(object, "base", fine_side_json(&row->side[ESTIMATE_BASE]));
	failed |= json_object_set_new(object, "new", fine_side_json(&row->side[ESTIMATE_NEW]));
	failed |= json_object_set_new(object, "per_call", test_json(&row->per_call));
	return done(object, failed);
}

static json_t *coarse_side_json(const struct compare_coarse_side *side)
{
	json_t *object = json_object();
	int failed = 0;

	failed |= json_object_set_new(object, "present", json_boolean(side->present));
	failed |= json_object_set_new(object, "executions", integer_json(side->executions));
	failed |= json_object_set_new(object, "sum_ns", integer_json(side->sum_ns));
	failed |= json_object_set_new(object, "max_ns", integer_json(side->max_ns));
	return done(object, failed);
}

static json_t *coarse_json(const struct compare_coarse *row)
{
	json_t *object = json_object();
	int failed = 0;

	failed |= json_object_set_new(object, "label", string_json(row->label));
	failed |=
		json_object_set_new(object, "state", json_string(compare__state_name(row->state)));
	failed |= json_object_set_new(
		object, "verdict",
		json_string(compare__verdict_name(compare__coarse_verdict(row))));
	failed |= json_object_set_new(object, "base", coarse_side_json(&row->side[ESTIMATE_BASE]));
	failed |= json_object_set_new(object, "new", coarse_side_json(&row->side[ESTIMATE_NEW]));
	for (int i = 0; i < COMPARE_DURATIONS; i++)
		failed |= json_object_set_new(object, compare_duration_names[i],
					      test_json(&row->duration[i]));
	return done(object, failed);
}

static json_t *warning_json(const struct compare_warning *warning)
{
	json_t *object = json_object();
	int failed = 0;

	failed |= json_object_set_new(object, "code", json_string(warning->code));
	failed |= json_object_set_new(object, "text", string_json(warning->text));
	return done(object, failed);
}

static json_t *verdicts_json(const size_t counts[COMPARE_VERDICTS])
{
	json_t *object = json_object();
	int failed = 0;

	for (int i = 0; i < COMPARE_VERDICTS; i++)
		failed |= json_object_set_new(object, compare__verdict_name(i),
					      json_integer((json_int_t)counts[i]));
	return done(object, failed);
}

static json_t *side_json(const struct comparison *comparison, int side)
{
	json_t *object = json_object();
	int failed = 0;

	failed |= json_object_set_new(object, "reports",
				      json_integer((json_int_t)comparison->reports[side]));
	failed |= json_object_set_new(object, "recordings",
				      json_integer((json_int_t)comparison->recordings[side]));
	failed |= json_object_set_new(object, "duration_ns",
				      integer_json(comparison->duration_ns[side]));
	failed |= set_real(object, "pace_ns", comparison->pace_ns[side]);
	return done(object, failed);
}

static json_t *decision_json(const struct comparison *comparison)
{
	static const char *const adjusted[] = {
		[ESTIMATE_NOTHING] = "none", [ESTIMATE_PACE] = "pace", [ESTIMATE_TIME] = "time"};
	json_t *object = json_object();
	char key[24];
	int failed = 0;

	failed |= json_object_set_new(object, "regression",
				      json_boolean(comparison->verdicts[COMPARE_SLOWER] > 0));
	failed |= set_real(object, "threshold", comparison->threshold);
	failed |= set_real(object, "alpha", comparison->alpha);
	failed |= json_object_set_new(object, "correction", json_string("holm"));
	failed |= json_object_set_new(object, "comparisons",
				      json_integer((json_int_t)comparison->tests));
	failed |= json_object_set_new(object, "runs_known", json_boolean(!comparison->single));
	failed |= json_object_set_new(object, "adjusted",
				      json_string(adjusted[comparison->adjusted]));
	if (comparison->single) {
		failed |= set_real(object, "widening", COMPARE_SINGLE_WIDENING);
		failed |= set_real(object, "noise", COMPARE_SINGLE_NOISE);
		for (int i = 0; i < COMPARE_DURATIONS; i++) {
			snprintf(key, sizeof(key), "noise_%s", compare_duration_names[i]);
			failed |= set_real(object, key, compare_duration_noise[i]);
		}
	}
	failed |= json_object_set_new(object, "labels", verdicts_json(comparison->labels));
	failed |= json_object_set_new(object, "quantities", verdicts_json(comparison->verdicts));
	return done(object, failed);
}

static json_t *comparison_json(const struct comparison *comparison)
{
	json_t *object = json_object(), *fine = json_array(), *coarse = json_array();
	json_t *warnings = json_array();
	int failed = 0;

	for (size_t i = 0; i < comparison->fine_count; i++)
		failed |= json_array_append_new(fine, fine_json(&comparison->fine[i]));
	for (size_t i = 0; i < comparison->coarse_count; i++)
		failed |= json_array_append_new(coarse, coarse_json(&comparison->coarse[i]));
	for (size_t i = 0; i < comparison->warning_count; i++)
		failed |= json_array_append_new(warnings, warning_json(&comparison->warnings[i]));
	failed |= json_object_set_new(object, "schema", json_string(SCHEMA));
	failed |= json_object_set_new(object, "tool",
				      json_pack("{s:s}", "version", TICKSNICK_VERSION));
	failed |= json_object_set_new(object, "base", side_json(comparison, ESTIMATE_BASE));
	failed |= json_object_set_new(object, "new", side_json(comparison, ESTIMATE_NEW));
	failed |= json_object_set_new(object, "decision", decision_json(comparison));
	failed |= json_object_set_new(object, "fine", fine);
	failed |= json_object_set_new(object, "coarse", coarse);
	failed |= json_object_set_new(object, "warnings", warnings);
	return done(object, failed);
}

static int write_json(const struct comparison *comparison, const struct render_options *options,
		      FILE *out)
{
	json_t *object = comparison_json(comparison);
	int error = 0;

	(void)options;
	if (!object)
		return -ENOMEM;
	if (json_dumpf(object, out, JSON_INDENT(2) | JSON_REAL_PRECISION(FIELDS_DIGITS)) ||
	    fputc('\n', out) == EOF || ferror(out))
		error = -EIO;
	json_decref(object);
	return error;
}

const struct render_diff_format render_diff_json = {"json", write_json};
