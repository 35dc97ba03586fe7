// SPDX-License-Identifier: MIT
/* ticksnick-bench: holds the recorder against programs whose true answer is known. */
#include <argp.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "modes.h"
#include "outcome.h"
#include "workload.h"

struct arguments {
	struct bench_options options;
	const char *mode;
	bool json;
};

enum { OPTION_BRIEF = 256, OPTION_RECORDER, OPTION_ESCAPE };

static const struct argp_option argp_options[] = {
	{"seconds", 's', "SECONDS", 0, "Length of one session", 0},
	{"threads", 't', "N", 0, "Worker threads (default: one per CPU)", 0},
	{"runs", 'n', "N", 0, "Sessions of each kind", 0},
	{"frequency", 'F', "HZ", 0, "Rate of the recorder's timer", 0},
	{"seed", 'S', "N", 0, "What orders and lengths are drawn from (default: 1)", 0},
	{"json", 'j', NULL, 0, "Print one JSON object", 0},
	{"brief", OPTION_BRIEF, NULL, 0, "As short as still says something", 0},
	{"escape", OPTION_ESCAPE, NULL, 0, "fanout: only with work that outlives its request", 0},
	{"recorder", OPTION_RECORDER, "PATH", 0,
	 "The ticksnick to test (default: beside this program)", 0},
	{0},
};

unsigned bench__cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

unsigned bench__threads(const struct bench_options *options)
{
	const unsigned cpus = bench__cpus();

	if (options->threads)
		return options->threads;
	return cpus < WORKLOAD_THREADS_MAX ? cpus : WORKLOAD_THREADS_MAX;
}

double bench__seconds(const struct bench_options *options, double brief, double full)
{
	return options->seconds > 0 ? options->seconds : options->brief ? brief : full;
}

double bench__frequency(const struct bench_options *options, double otherwise_hz)
{
	return options->frequency_hz > 0 ? options->frequency_hz : otherwise_hz;
}

unsigned bench__runs(const struct bench_options *options, unsigned brief, unsigned full)
{
	return options->runs ? options->runs : options->brief ? brief : full;
}

static double positive(struct argp_state *state, const char *text, double max)
{
	char *end;
	const double value = strtod(text, &end);

	if (end == text || *end || !(value > 0 && value <= max))
		argp_error(state, "'%s' is not a number above 0 and up to %g", text, max);
	return value;
}

static unsigned whole(struct argp_state *state, const char *text, unsigned max)
{
	const double value = positive(state, text, max);

	if (value != floor(value))
		argp_error(state, "'%s' is not a whole number", text);
	return (unsigned)value;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case 's':
		arguments->options.seconds = positive(state, value, 86400);
		return 0;
	case 't':
		arguments->options.threads = whole(state, value, WORKLOAD_THREADS_MAX);
		return 0;
	case 'n':
		arguments->options.runs = whole(state, value, 100000);
		return 0;
	case 'F':
		arguments->options.frequency_hz = positive(state, value, 1e6);
		return 0;
	case 'S':
		arguments->options.seed = whole(state, value, UINT_MAX);
		return 0;
	case 'j':
		arguments->json = true;
		return 0;
	case OPTION_BRIEF:
		arguments->options.brief = true;
		return 0;
	case OPTION_ESCAPE:
		arguments->options.escape = true;
		return 0;
	case OPTION_RECORDER:
		arguments->options.recorder = value;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->mode)
			argp_error(state, "one mode at a time, not also '%s'", value);
		arguments->mode = value;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The modes, one a line. The result is freed by argp. */
static char *help_filter(int key, const char *text, void *input)
{
	char *help = NULL;
	size_t size;
	FILE *file;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	file = open_memstream(&help, &size);
	if (!file)
		return (char *)text;
	fputs("Modes:\n", file);
	for (size_t i = 0; i < mode_count; i++)
		fprintf(file, "  %-11s %s\n", modes[i].name, modes[i].summary);
	fputs("\nExit status: 0 every gate of the mode was passed, 1 one was not or the mode is "
	      "broken, "
	      "2 usage.",
	      file);
	fclose(file);
	return help;
}

/* What lies beside this program: the recorder, and the bench programs. */
static void find_beside(struct bench_options *options, char recorder[PATH_MAX],
			char programs[PATH_MAX])
{
	char self[PATH_MAX];
	const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *directory;

	self[length > 0 ? length : 0] = '\0';
	directory = dirname(self);
	snprintf(recorder, PATH_MAX, "%.*s/ticksnick", PATH_MAX - 16, directory);
	snprintf(programs, PATH_MAX, "%.*s/bench", PATH_MAX - 16, directory);
	if (!options->recorder)
		options->recorder = recorder;
	options->programs = programs;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = argp_options,
		.parser = parse_option,
		.args_doc = "[MODE]",
		.doc = "Holds the recorder against programs whose true answer is known. Needs "
		       "root.\v",
		.help_filter = help_filter,
	};
	struct arguments arguments = {.options.seed = 1};
	char recorder[PATH_MAX], programs[PATH_MAX];
	struct outcome *outcome;
	const struct mode *mode;
	bool passed;
	int err;

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	if (!arguments.mode)
		arguments.mode = modes[0].name;
	mode = modes__find(arguments.mode);
	if (!mode) {
		fprintf(stderr, "ticksnick-bench: there is no mode '%s'; see --help\n",
			arguments.mode);
		return 2;
	}
	find_beside(&arguments.options, recorder, programs);
	outcome = outcome__new(arguments.mode);
	err = mode->run(&arguments.options, outcome);
	if (err)
		outcome__broken(outcome, "%s", strerror(-err));
	(arguments.json ? outcome__print_json : outcome__print_text)(outcome, stdout);
	passed = outcome__passed(outcome);
	outcome__free(outcome);
	return passed ? 0 : 1;
}
