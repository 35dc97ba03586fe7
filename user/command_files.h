/* SPDX-License-Identifier: MIT */
/*
 * command_files - reads the reports that a command was given, and says what cannot be written, one
 * sentence on standard error each. command: its full name, such as "ticksnick report".
 */
#ifndef TICKSNICK_COMMAND_FILES_H
#define TICKSNICK_COMMAND_FILES_H

#include "profile.h"

/* What a message calls an input: its path, or standard input for "-". */
const char *command_files__name(const char *path);

/* Reads a report, which the caller frees (profile__free). Returns the exit code: EXIT_SUCCESS, or
 * it has said why not, EXIT_USAGE or, without memory, EXIT_OUTPUT. */
int command_files__read(const char *command, const char *path, struct profile **profile);

/* path NULL: standard output; error: a negative errno. Returns the exit code; EXIT_SUCCESS, and
 * says nothing, where whoever read has had enough (-EPIPE), or there was no error (0). */
int command_files__written(const char *command, const char *path, int error);

#endif
