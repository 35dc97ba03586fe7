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

struct profile *command_files__read(const char *command, const char *path)
{
	char reason[REPORT_ERROR_SIZE];
	struct profile *profile;

	if (!report__read(path, &profile, reason))
		return profile;
	fprintf(stderr, "%s: cannot read %s: %s\n", command, command_files__name(path), reason);
	return NULL;
}

int command_files__written(const char *command, const char *path, int error)
{
	if (!error || error == -EPIPE)
		return EXIT_SUCCESS;
	fprintf(stderr, "%s: cannot write %s: %s\n", command, path ? path : "standard output",
		strerror(-error));
	return EXIT_OUTPUT;
}
