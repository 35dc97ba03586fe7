/* SPDX-License-Identifier: MIT */
/*
 * exit - what the commands' exit codes mean. Scripts rely on the numbers: they never change, new
 * ones are appended.
 */
#ifndef TICKSNICK_EXIT_H
#define TICKSNICK_EXIT_H

enum {
	EXIT_REGRESSION = 1,  /* a comparison found a regression */
	EXIT_USAGE = 2,	      /* wrong arguments or bad input */
	EXIT_VIOLATION = 3,   /* a label violation ended a strict session; its report is written */
	EXIT_NOT_ALLOWED = 4, /* this machine or its permissions do not allow it */
	EXIT_NO_TARGET = 5,   /* no such process, or no ticksnick slot in it */
	EXIT_OUTPUT = 6, /* the output could not be written, or memory was not enough to make it */
};

#endif
