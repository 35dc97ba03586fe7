// SPDX-License-Identifier: MIT
/* all: every other mode, each in a process of its own, one after the other, and one table of their
 * gates. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "child.h"
#include "modes.h"
#include "outcome.h"

#define SELF	      "/proc/self/exe"
#define ARGUMENTS_MAX 24
#define OPTION_SIZE   48

/* The words of a command, those of numbers in memory of their own. */
struct command {
	const char *arguments[ARGUMENTS_MAX + 1];
	char options[ARGUMENTS_MAX][OPTION_SIZE];
	size_t count;
};

static void add(struct command *command, const char *argument)
{
	if (command->count < ARGUMENTS_MAX)
		command->arguments[command->count++] = argument;
}

/* What was not asked for is left to the mode. */
static void add_number(struct command *command, const char *name, double value)
{
	if (value <= 0 || command->count >= ARGUMENTS_MAX)
		return;
	snprintf(command->options[command->count], OPTION_SIZE, "--%s=%.17g", name, value);
	add(command, command->options[command->count]);
}

static void command_build(struct command *command, const char *mode,
			  const struct bench_options *options)
{
	add(command, SELF);
	add(command, mode);
	add(command, "--json");
	if (options->brief)
		add(command, "--brief");
	add(command, "--recorder");
	add(command, options->recorder);
	add_number(command, "seed", (double)options->seed);
	add_number(command, "seconds", options->seconds);
	add_number(command, "threads", options->threads);
	add_number(command, "runs", options->runs);
	add_number(command, "frequency", options->frequency_hz);
}

/* The mode's outcome as it prints it; NULL: it printed none. */
static json_t *run_mode(const struct mode *mode, const struct bench_options *options, int *status)
{
	struct command command = {.count = 0};
	struct child child;
	json_t *result;

	command_build(&command, mode->name, options);
	*status = child__start(command.arguments, &child);
	if (*status != 0)
		return NULL;
	result = json_loadf(child.out, 0, NULL);
	*status = child__end(&child, 0);
	return result;
}

static const char *string_of(const json_t *object, const char *key)
{
	const char *string = json_string_value(json_object_get(object, key));

	return string ? string : "";
}

static double value_of(const json_t *figure)
{
	const json_t *value = json_object_get(figure, "value");

	return value ? json_number_value(value) : NAN;
}

static void print_gate(struct outcome *outcome, const char *mode, const json_t *gate)
{
	outcome__text(outcome, "%-10s %-44s %10.4g %8s %8.4g %-4s %s\n", mode,
		      string_of(gate, "name"), value_of(gate), string_of(gate, "relation"),
		      json_number_value(json_object_get(gate, "limit")), string_of(gate, "unit"),
		      json_is_true(json_object_get(gate, "passed")) ? "ok" : "FAIL");
}

static void print_figures(struct outcome *outcome, const char *mode, const json_t *result)
{
	const json_t *figure;
	size_t i;

	json_array_foreach(json_object_get(result, "figures"), i, figure)
	{
		outcome__text(outcome, "%-10s %-44s %10.4g %s\n", mode, string_of(figure, "name"),
			      value_of(figure), string_of(figure, "unit"));
	}
}

struct tally {
	double gates, gates_passed, modes, modes_passed;
};

/* Its rows of the table. A mode without a sound outcome has failed, whatever else it says. */
static void take(const struct mode *mode, json_t *result, int status, struct tally *tally,
		 struct outcome *outcome)
{
	const json_t *gate;
	size_t i;

	tally->modes++;
	json_array_foreach(json_object_get(result, "gates"), i, gate)
	{
		print_gate(outcome, mode->name, gate);
		tally->gates++;
		tally->gates_passed += json_is_true(json_object_get(gate, "passed"));
	}
	if (!result)
		outcome__text(outcome, "%-10s BROKEN: no outcome; it ended with %d\n", mode->name,
			      status);
	else if (json_object_get(result, "broken"))
		outcome__text(outcome, "%-10s BROKEN: %s\n", mode->name,
			      string_of(result, "broken"));
	else if (status == 0 && json_is_true(json_object_get(result, "passed")))
		tally->modes_passed++;
	if (result)
		outcome__row(outcome, "outcomes", result);
}

int mode_all(const struct bench_options *options, struct outcome *outcome)
{
	json_t *results[mode_count]; /* the outcome's from take() on */
	struct tally tally = {0};
	int status;

	outcome__text(outcome, "%-10s %-44s %10s %17s\n", "mode", "gate", "value", "limit");
	for (size_t i = 0; i < mode_count; i++) {
		results[i] = NULL;
		if (modes[i].run == mode_all)
			continue;
		/* It takes minutes: say that it goes on. */
		fprintf(stderr, "ticksnick-bench: %s: %s\n", modes[i].name, modes[i].summary);
		results[i] = run_mode(&modes[i], options, &status);
		take(&modes[i], results[i], status, &tally, outcome);
	}
	outcome__text(outcome, "\n%-10s %-44s %10s\n", "mode", "figure", "value");
	for (size_t i = 0; i < mode_count; i++)
		print_figures(outcome, modes[i].name, results[i]);
	outcome__text(outcome, "\n%.0f of %.0f gates passed\n", tally.gates_passed, tally.gates);
	outcome__gate(outcome, "modes that passed", tally.modes_passed, GATE_AT_LEAST, tally.modes,
		      "");
	return 0;
}
