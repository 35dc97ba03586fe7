// SPDX-License-Identifier: MIT
/* ticksnick diff: compares the reports of two builds. */
#include <argp.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "command_files.h"
#include "commands.h"
#include "compare.h"
#include "exit.h"
#include "output.h"
#include "recordings.h"
#include "render_diff.h"

#define NAME	      "ticksnick diff"
#define NO_SIDE	      ESTIMATE_SIDES
#define THRESHOLD_MAX 99.9 /* percent: a label cannot get faster by more than all */

enum { OPTION_BASE = 256, OPTION_NEW, OPTION_THRESHOLD, OPTION_FAIL_ON };

enum fail_on { FAIL_ON_NEVER, FAIL_ON_REGRESSION, FAIL_ON_CANNOT_SAY, FAIL_ONS };

static const char *const fail_on_names[FAIL_ONS] = {"never", "regression", "cannot-say"};

struct side {
	char **paths; /* as many as there are arguments at most; borrowed texts */
	struct profile **reports;
	const char **names; /* of the files, as messages call them; borrowed */
	size_t count;
};

struct arguments {
	struct side side[ESTIMATE_SIDES];
	int taking; /* whose files follow; NO_SIDE: none's */
	bool named; /* --base or --new was given */
	double threshold;
	enum fail_on fail_on;
	const char *output; /* NULL: standard output */
	const struct render_diff_format *format;
};

static const struct argp_option options[] = {
	{"base", OPTION_BASE, "REPORT.json..", 0, "Reports of the base, up to the next option", 0},
	{"new", OPTION_NEW, "REPORT.json..", 0, "Reports of the new build, up to the next option",
	 0},
	{"threshold", OPTION_THRESHOLD, "PERCENT", 0,
	 "A change within it is no change (default: 3)", 0},
	{"fail-on", OPTION_FAIL_ON, "WHAT", 0,
	 "Exit with 1 on: never, regression (default), or cannot-say, which is either", 0},
	{"format", 'f', "FORMAT", 0, "text (default), markdown, json, junit or github", 0},
	{"output", 'o', "FILE", 0,
	 "Write to FILE, which appears complete or not at all (default: standard output)", 0},
	{0},
};

static void parse_threshold(struct argp_state *state, const char *value, double *threshold)
{
	char *end;
	const double percent = strtod(value, &end);

	if (end == value || *end || !(percent >= 0 && percent <= THRESHOLD_MAX))
		argp_error(state, "the threshold '%s' is not a percentage from 0 to %g", value,
			   THRESHOLD_MAX);
	*threshold = percent / 100;
}

static void parse_fail_on(struct argp_state *state, const char *value, enum fail_on *fail_on)
{
	for (int i = 0; i < FAIL_ONS; i++) {
		if (strcmp(fail_on_names[i], value) == 0) {
			*fail_on = i;
			return;
		}
	}
	argp_error(state, "cannot fail on '%s': never, regression or cannot-say", value);
}

static void take_path(struct argp_state *state, struct arguments *arguments, char *path)
{
	struct side *side;

	if (arguments->named && arguments->taking == NO_SIDE)
		argp_error(state, "is %s of --base or of --new?", path);
	if (!arguments->named && arguments->side[ESTIMATE_NEW].count > 0)
		argp_error(state, "several reports of a side go to --base and --new");
	if (!arguments->named)
		arguments->taking =
			arguments->side[ESTIMATE_BASE].count ? ESTIMATE_NEW : ESTIMATE_BASE;
	side = &arguments->side[arguments->taking];
	side->paths[side->count++] = path;
}

static void take_side(struct argp_state *state, struct arguments *arguments, int side, char *path)
{
	if (!arguments->named && arguments->side[ESTIMATE_BASE].count > 0)
		argp_error(state, "is %s of --base or of --new?",
			   arguments->side[ESTIMATE_BASE].paths[0]);
	arguments->named = true;
	arguments->taking = side;
	take_path(state, arguments, path);
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	if (key == ARGP_KEY_ARG) {
		take_path(state, arguments, value);
		return 0;
	}
	if (key > 0 && key < ARGP_KEY_END) /* argp's own keys are 0, and from there on */
		arguments->taking = NO_SIDE;
	switch (key) {
	case OPTION_BASE:
		take_side(state, arguments, ESTIMATE_BASE, value);
		return 0;
	case OPTION_NEW:
		take_side(state, arguments, ESTIMATE_NEW, value);
		return 0;
	case OPTION_THRESHOLD:
		parse_threshold(state, value, &arguments->threshold);
		return 0;
	case OPTION_FAIL_ON:
		parse_fail_on(state, value, &arguments->fail_on);
		return 0;
	case 'f':
		arguments->format = render_diff__find(value);
		if (!arguments->format)
			argp_error(state,
				   "unknown format '%s': text, markdown, json, junit or github",
				   value);
		return 0;
	case 'o':
		arguments->output = value;
		return 0;
	case ARGP_KEY_END:
		for (int i = 0; i < ESTIMATE_SIDES; i++)
			if (arguments->side[i].count == 0)
				argp_error(state, i == ESTIMATE_BASE
							  ? "which report is the base?"
							  : "compared with which report?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "BASE.json NEW.json\n--base REPORT.json.. --new REPORT.json..",
	.doc = "Compares reports of two builds: which label takes longer for each call, and how "
	       "sure "
	       "that is.\v"
	       "Several reports of each build tell how much runs differ by themselves, and make "
	       "the "
	       "answer right. Exit status: 0 nothing to fail on, 1 a regression, 2 wrong arguments "
	       "or bad input, 6 the output could not be written.",
};

static int say_no_memory(void)
{
	fprintf(stderr, NAME ": cannot compare: %s\n", strerror(ENOMEM));
	return EXIT_OUTPUT;
}

static int write_comparison(const struct comparison *comparison, const struct arguments *arguments)
{
	struct render_options look = {0};
	struct output *output;
	int error;

	output = output__open(arguments->output ? arguments->output : "-", &error);
	if (!output)
		return command_files__written(NAME, arguments->output, error);
	if (!arguments->output)
		look = render__options_for(stdout);
	error = arguments->format->write(comparison, &look, output__stream(output));
	error = output__finish(output, error);
	return command_files__written(NAME, arguments->output, error);
}

static int status_of(const struct comparison *comparison, enum fail_on fail_on)
{
	const bool regressed = comparison->verdicts[COMPARE_SLOWER] > 0;
	const bool unknown = comparison->verdicts[COMPARE_UNKNOWN] > 0;

	if (fail_on == FAIL_ON_NEVER)
		return EXIT_SUCCESS;
	return regressed || (unknown && fail_on == FAIL_ON_CANNOT_SAY) ? EXIT_REGRESSION
								       : EXIT_SUCCESS;
}

/* A recording that is there twice would count as two runs that do not differ. */
static int read_side(struct side *side)
{
	struct recordings *recordings = recordings__new();
	int status = recordings ? EXIT_SUCCESS : say_no_memory();

	for (size_t i = 0; i < side->count && !status; i++) {
		const char *name = command_files__name(side->paths[i]), *same;

		side->names[i] = name;
		status = command_files__read(NAME, side->paths[i], &side->reports[i]);
		if (status)
			break;
		same = recordings__seen_in(recordings, side->reports[i]);
		if (same) {
			fprintf(stderr,
				NAME ": cannot compare %s: it holds the same recording as %s\n",
				name, same);
			status = EXIT_USAGE;
		} else if (recordings__add(recordings, side->reports[i], name)) {
			status = say_no_memory();
		}
	}
	recordings__free(recordings);
	return status;
}

static int run(struct arguments *arguments)
{
	struct compare_input input[ESTIMATE_SIDES];
	struct comparison *comparison;
	int status;

	for (int i = 0; i < ESTIMATE_SIDES; i++) {
		struct side *side = &arguments->side[i];

		status = read_side(side);
		if (status)
			return status;
		input[i] = (struct compare_input){(const struct profile *const *)side->reports,
						  side->count, side->names};
	}
	comparison = compare__new(input, arguments->threshold, COMPARE_ALPHA);
	if (!comparison)
		return say_no_memory();
	status = write_comparison(comparison, arguments);
	if (status == EXIT_SUCCESS)
		status = status_of(comparison, arguments->fail_on);
	compare__free(comparison);
	return status;
}

int cmd_diff(int argc, char **argv)
{
	struct arguments arguments = {
		.taking = NO_SIDE,
		.threshold = COMPARE_THRESHOLD,
		.fail_on = FAIL_ON_REGRESSION,
		.format = &render_diff_text,
	};
	int status, complete = 1;

	for (int i = 0; i < ESTIMATE_SIDES; i++) {
		arguments.side[i].paths = calloc((size_t)argc, sizeof(char *));
		arguments.side[i].reports = calloc((size_t)argc, sizeof(struct profile *));
		arguments.side[i].names = calloc((size_t)argc, sizeof(char *));
		complete &= arguments.side[i].paths && arguments.side[i].reports &&
			    arguments.side[i].names;
	}
	argp_err_exit_status = EXIT_USAGE;
	if (complete)
		argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_IGN);
	status = complete ? run(&arguments) : say_no_memory();
	for (int i = 0; i < ESTIMATE_SIDES; i++) {
		for (size_t k = 0; k < arguments.side[i].count; k++)
			profile__free(arguments.side[i].reports[k]);
		free(arguments.side[i].paths);
		free(arguments.side[i].reports);
		free(arguments.side[i].names);
	}
	return status;
}
