/* SPDX-License-Identifier: MIT */
/*
 * rlimits - this process's own resource limits, raised as far as recording needs. What it starts
 * gets back those it was called with.
 */
#ifndef TICKSNICK_RLIMITS_H
#define TICKSNICK_RLIMITS_H

/* Open files up to the hard limit; locked memory without one, where that is allowed. */
void rlimits__raise(void);

/* How many files may be open if that is fewer than loading the programs may take; else 0. */
unsigned long rlimits__few_files(void);

/* Undoes rlimits__raise(), if it was called; for a child before it executes something else. */
void rlimits__restore(void);

#endif
