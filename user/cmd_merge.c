// SPDX-License-Identifier: MIT
/* ticksnick merge: makes one report of several. */
#include <argp.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "command_files.h"
#include "commands.h"
#include "exit.h"
#include "merge.h"
#include "output.h"
#include "render.h"

#define NAME "ticksnick merge"

/* What reading a report takes is kept for the next one, rather than fetched anew a thousand times.
 */
#define MEMORY_KEPT (32 << 20)

enum { OPTION_ALLOW_SAME = 256 };

struct arguments {
	char **reports;
	size_t count;
	const char *output; /* NULL: standard output */
	bool allow_same;
};

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0,
	 "Write to FILE, which appears complete or not at all (default: standard output)", 0},
	{"allow-same", OPTION_ALLOW_SAME, NULL, 0,
	 "Merge a recording that is there already once more; the bounds will be too narrow", 0},
	{0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case 'o':
		arguments->output = value;
		return 0;
	case OPTION_ALLOW_SAME:
		arguments->allow_same = true;
		return 0;
	case ARGP_KEY_ARGS:
		arguments->reports = state->argv + state->next;
		arguments->count = (size_t)(state->argc - state->next);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which reports?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "REPORT.json..",
	.doc = "Makes one report of several: repeats of a measurement, or instances of a program. "
	       "The "
	       "result does not depend on their order, and may be merged further.\v"
	       "A report may be - for standard input. Exit status: 0 done, 2 wrong arguments or "
	       "bad "
	       "input, 6 the output could not be written.",
};

/* One at a time, so that memory is that of one report and the sum. */
static int add_report(struct merge *merge, const char *path, bool allow_same)
{
	const char *name = command_files__name(path);
	char conflict[MERGE_ERROR_SIZE];
	struct profile *profile;
	int error, status = command_files__read(NAME, path, &profile);

	if (status)
		return status;
	error = merge__add(merge, profile, name, allow_same, conflict);
	profile__free(profile);
	if (!error)
		return EXIT_SUCCESS;
	fprintf(stderr, NAME ": cannot merge %s: %s\n", name, conflict);
	return error == -ENOMEM ? EXIT_OUTPUT : EXIT_USAGE;
}

/* The exit code; what is none of EXIT_SUCCESS was said. */
static int merge_reports(const struct arguments *arguments, struct profile **merged)
{
	struct merge *merge = merge__new();
	int status = EXIT_SUCCESS;

	*merged = NULL;
	for (size_t i = 0; merge && i < arguments->count && !status; i++)
		status = add_report(merge, arguments->reports[i], arguments->allow_same);
	if (merge && !status)
		*merged = merge__finish(merge);
	merge__free(merge);
	if (status || *merged)
		return status;
	fprintf(stderr, NAME ": cannot merge the reports: %s\n", strerror(ENOMEM));
	return EXIT_OUTPUT;
}

int cmd_merge(int argc, char **argv)
{
	static const struct render_options look = {0};
	struct arguments arguments = {0};
	struct profile *merged;
	struct output *output;
	int error, status;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	signal(SIGPIPE, SIG_IGN);
	mallopt(M_TRIM_THRESHOLD, MEMORY_KEPT);
	mallopt(M_MMAP_THRESHOLD, MEMORY_KEPT);
	mallopt(M_TOP_PAD, MEMORY_KEPT / 8);
	output = output__open(arguments.output ? arguments.output : "-", &error);
	if (!output)
		return command_files__written(NAME, arguments.output, error);
	status = merge_reports(&arguments, &merged);
	if (status) {
		output__abort(output);
		return status;
	}
	error = render_json.write(merged, &look, output__stream(output));
	profile__free(merged);
	error = output__finish(output, error);
	return command_files__written(NAME, arguments.output, error);
}
