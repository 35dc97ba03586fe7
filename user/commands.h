/* SPDX-License-Identifier: MIT */
/*
 * commands - one function per command. argv[0] is the command's full name, such as "ticksnick
 * record"; each returns the exit code (exit.h), or exits with EXIT_USAGE where its arguments are
 * wrong.
 */
#ifndef TICKSNICK_COMMANDS_H
#define TICKSNICK_COMMANDS_H

int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

#endif
