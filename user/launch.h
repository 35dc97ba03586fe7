/* SPDX-License-Identifier: MIT */
/*
 * launch - starts a command that is to be recorded from its first instruction.
 */
#ifndef TICKSNICK_LAUNCH_H
#define TICKSNICK_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct launch {
	pid_t pid;
	int go_fd;     /* a byte written here lets it run */
	int failed_fd; /* its errno comes here if it cannot */
};

/*
 * Forks a child that waits, as the user who called sudo if there is one, with the caller's original
 * signal mask. argv ends with NULL. 0 or a negative errno.
 */
int launch__prepare(struct launch *launch, char *const argv[]);

/* Lets it run. 0, or the negative errno with which it could not be started; then it has been
 * reaped. */
int launch__go(struct launch *launch);

#define LAUNCH_WHAT_SIZE 64

/* Whether it has ended by itself, other than with exit status 0, and how ("exited with status 1").
 * Reaps one that has ended; for the first call after it. */
bool launch__failed(struct launch *launch, char what[LAUNCH_WHAT_SIZE]);

/* Ends it: asks with SIGTERM, insists with SIGKILL after a second, reaps it. No effect if it has
 * ended or was reaped. */
void launch__end(struct launch *launch);

#endif
