// SPDX-License-Identifier: MIT
/* ticksnick report: shows a report that was recorded before. */
#include <argp.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "command_files.h"
#include "commands.h"
#include "exit.h"
#include "output.h"
#include "render.h"

#define NAME "ticksnick report"

struct arguments {
	const char *report, *output; /* output NULL: standard output */
	const struct render_format *format;
};

static const struct argp_option options[] = {
	{"format", 'f', "FORMAT", 0, "text (default), json, csv, csv-coarse or csv-pairs", 0},
	{"output", 'o', "FILE", 0,
	 "Write to FILE, which appears complete or not at all (default: standard output)", 0},
	{0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case 'f':
		arguments->format = render__find(value);
		if (!arguments->format)
			argp_error(state,
				   "unknown format '%s': text, json, csv, csv-coarse or csv-pairs",
				   value);
		return 0;
	case 'o':
		arguments->output = value;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->report)
			argp_error(state, "one report at a time");
		arguments->report = value;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which report?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "REPORT.json",
	.doc = "Shows a report written by ticksnick record, or turns it into another format.\v"
	       "REPORT.json may be - for standard input. Exit status: 0 done, 2 wrong arguments or "
	       "bad input, 6 the output "
	       "could not be written.",
};

static int write_report(const struct profile *profile, const struct arguments *arguments)
{
	struct render_options look = {0};
	struct output *output;
	int error;

	output = output__open(arguments->output ? arguments->output : "-", &error);
	if (!output)
		return command_files__written(NAME, arguments->output, error);
	if (!arguments->output)
		look = render__options_for(stdout);
	error = arguments->format->write(profile, &look, output__stream(output));
	error = output__finish(output, error);
	return command_files__written(NAME, arguments->output, error);
}

int cmd_report(int argc, char **argv)
{
	struct arguments arguments = {.format = &render_text};
	struct profile *profile;
	int status;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_IGN);
	status = command_files__read(NAME, arguments.report, &profile);
	if (status)
		return status;
	status = write_report(profile, &arguments);
	profile__free(profile);
	return status;
}
