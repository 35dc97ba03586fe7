// SPDX-License-Identifier: MIT
#include "outcome.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct outcome {
	json_t *root; /* mode, passed, broken, gates, figures, and the modes' own arrays */
	char *text;
	size_t text_size;
	FILE *text_file; /* memory */
};

static void *need(void *memory)
{
	if (!memory) {
		fputs("ticksnick-bench: out of memory\n", stderr);
		exit(1);
	}
	return memory;
}

static void set(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, need(value)) != 0)
		need(NULL);
}

/* What is not a number is absent in JSON. */
static void set_real(json_t *object, const char *key, double value)
{
	if (isfinite(value))
		set(object, key, json_real(value));
}

struct outcome *outcome__new(const char *mode)
{
	struct outcome *outcome = need(calloc(1, sizeof(*outcome)));

	outcome->root = need(json_object());
	set(outcome->root, "mode", json_string(mode));
	set(outcome->root, "passed", json_false());
	set(outcome->root, "gates", json_array());
	set(outcome->root, "figures", json_array());
	outcome->text_file = need(open_memstream(&outcome->text, &outcome->text_size));
	return outcome;
}

void outcome__free(struct outcome *outcome)
{
	if (!outcome)
		return;
	fclose(outcome->text_file);
	free(outcome->text);
	json_decref(outcome->root);
	free(outcome);
}

static json_t *figure_new(const char *name, double value, const char *unit)
{
	json_t *figure = need(json_object());

	set(figure, "name", json_string(name));
	set_real(figure, "value", value);
	set(figure, "unit", json_string(unit));
	return figure;
}

static void judge(struct outcome *outcome)
{
	set(outcome->root, "passed", json_boolean(outcome__passed(outcome)));
}

void outcome__row(struct outcome *outcome, const char *key, json_t *row)
{
	json_t *array = json_object_get(outcome->root, key);

	if (!array) {
		set(outcome->root, key, json_array());
		array = json_object_get(outcome->root, key);
	}
	if (json_array_append_new(array, need(row)) != 0)
		need(NULL);
}

bool outcome__gate(struct outcome *outcome, const char *name, double value, enum gate gate,
		   double limit, const char *unit)
{
	const bool passed = gate == GATE_AT_MOST ? value <= limit : value >= limit;
	json_t *row = figure_new(name, value, unit);

	set(row, "limit", json_real(limit));
	set(row, "relation", json_string(gate == GATE_AT_MOST ? "at most" : "at least"));
	set(row, "passed", json_boolean(passed));
	outcome__row(outcome, "gates", row);
	judge(outcome);
	return passed;
}

void outcome__figure(struct outcome *outcome, const char *name, double value, const char *unit)
{
	outcome__row(outcome, "figures", figure_new(name, value, unit));
}

void outcome__text(struct outcome *outcome, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(outcome->text_file, format, arguments);
	va_end(arguments);
}

void outcome__broken(struct outcome *outcome, const char *format, ...)
{
	char reason[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	if (!json_object_get(outcome->root,
			     "broken")) /* the first reason is the cause of the rest */
		set(outcome->root, "broken", json_string(reason));
	judge(outcome);
}

bool outcome__passed(const struct outcome *outcome)
{
	const json_t *gates = json_object_get(outcome->root, "gates");
	const json_t *gate;
	size_t i;

	if (json_object_get(outcome->root, "broken") || json_array_size(gates) == 0)
		return false;
	json_array_foreach(gates, i,
			   gate) if (!json_is_true(json_object_get(gate, "passed"))) return false;
	return true;
}

static void print_value(FILE *file, const json_t *figure)
{
	const json_t *value = json_object_get(figure, "value");
	const char *unit = json_string_value(json_object_get(figure, "unit"));

	if (value)
		fprintf(file, "%10.4g %s", json_number_value(value), unit);
	else
		fprintf(file, "%10s", "n/a");
}

void outcome__print_text(const struct outcome *outcome, FILE *file)
{
	const json_t *broken = json_object_get(outcome->root, "broken"), *row;
	size_t i;

	fprintf(file, "== %s\n", json_string_value(json_object_get(outcome->root, "mode")));
	fflush(outcome->text_file);
	fputs(outcome->text, file);
	json_array_foreach(json_object_get(outcome->root, "figures"), i, row)
	{
		fprintf(file, "     %-44s ", json_string_value(json_object_get(row, "name")));
		print_value(file, row);
		fputc('\n', file);
	}
	json_array_foreach(json_object_get(outcome->root, "gates"), i, row)
	{
		fprintf(file, "%s %-44s ",
			json_is_true(json_object_get(row, "passed")) ? "ok  " : "FAIL",
			json_string_value(json_object_get(row, "name")));
		print_value(file, row);
		fprintf(file, "  (%s %.4g)\n", json_string_value(json_object_get(row, "relation")),
			json_number_value(json_object_get(row, "limit")));
	}
	if (broken)
		fprintf(file, "BROKEN: %s\n", json_string_value(broken));
}

void outcome__print_json(const struct outcome *outcome, FILE *file)
{
	json_dumpf(outcome->root, file, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
	fputc('\n', file);
}
