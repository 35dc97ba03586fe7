// SPDX-License-Identifier: MIT
#include "command_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exit.h"
#include "report.h"

const char *command_files__name(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

int command_files__read(const char *command, const char *path, struct profile **profile)
{
	char reason[REPORT_ERROR_SIZE];
	const int error = report__read(path, profile, reason);

	if (!error)
		return EXIT_SUCCESS;
	fprintf(stderr, "%s: cannot read %s: %s\n", command, command_files__name(path), reason);
	return error == -ENOMEM ? EXIT_OUTPUT : EXIT_USAGE;
}

int command_files__written(const char *command, const char *path, int error)
{
	if (!error || error == -EPIPE)
		return EXIT_SUCCESS;
	fprintf(stderr, "%s: cannot write %s: %s\n", command, path ? path : "standard output",
		strerror(-error));
	return EXIT_OUTPUT;
}
