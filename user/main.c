// SPDX-License-Identifier: MIT
/* ticksnick: one executable with commands; ticksnick-record and friends are links to it. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ticksnick/slot.h>

#include "commands.h"
#include "exit.h"

#define LINK_PREFIX "ticksnick-"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{"record", cmd_record, "record a process and print the report"},
	{"report", cmd_report, "show a report that was recorded before"},
	{"merge", cmd_merge, "make one report of several"},
	{"diff", cmd_diff, "compare the reports of two builds"},
	{"doctor", cmd_doctor, "say what this machine and a process allow"},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static const struct command *command_find(const char *name)
{
	size_t i;

	for (i = 0; i < COMMAND_COUNT; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static void usage(FILE *out)
{
	size_t i;

	fputs("Usage: ticksnick COMMAND [OPTION...]\n"
	      "Profiles operations too short to profile, by labels that the program writes.\n\n",
	      out);
	for (i = 0; i < COMMAND_COUNT; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fputs("\n\"ticksnick COMMAND --help\" says more; so do the man pages ticksnick(1) and "
	      "ticksnick-COMMAND(1).\n",
	      out);
}

static int command_run(const struct command *command, int argc, char **argv)
{
	static char name[64];

	snprintf(name, sizeof(name), "ticksnick %s", command->name);
	argv[0] = name;
	return command->run(argc, argv);
}

/* argp prints it for --version, in every command. */
const char *argp_program_version = "ticksnick " TICKSNICK_VERSION;

int main(int argc, char **argv)
{
	const char *self = argc && strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1
			   : argc			 ? argv[0]
							 : "";
	const struct command *command;

	if (!strncmp(self, LINK_PREFIX, strlen(LINK_PREFIX))) {
		command = command_find(self + strlen(LINK_PREFIX));
		if (command)
			return command_run(command, argc, argv);
	}
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-?") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return EXIT_SUCCESS;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("%s, slot ABI %d\n", argp_program_version, TSN_ABI_VERSION);
		return EXIT_SUCCESS;
	}
	command = command_find(argv[1]);
	if (!command) {
		fprintf(stderr,
			"ticksnick: there is no command \"%s\"; \"ticksnick --help\" lists them\n",
			argv[1]);
		return EXIT_USAGE;
	}
	return command_run(command, argc - 1, argv + 1);
}
