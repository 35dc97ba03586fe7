/* SPDX-License-Identifier: MIT */
/*
 * allowance - how long the memory of a family of processes (one that the user gave, and what it has
 * started) may be waited for: ALLOWANCE_NS. Waiting uses it up, and 1/ALLOWANCE_REFILL of all time
 * comes back. Once a wait has been given up there is none until it is whole again. Arithmetic
 * alone: now_ns is a clock of the caller's that never goes back.
 */
#ifndef TICKSNICK_ALLOWANCE_H
#define TICKSNICK_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

#define ALLOWANCE_NS	   1000000000u
#define ALLOWANCE_REFILL   10
#define ALLOWANCE_HURRY_NS 100000000u

struct allowance;

struct allowance *allowance__new(uint64_t now_ns); /* NULL: out of memory */
/* The same one for somebody else, who frees it, too. */
struct allowance *allowance__share(struct allowance *allowance);
void allowance__free(struct allowance *allowance); /* NULL is fine */

/* How long may be waited now, ns; 0: not at all. */
uint64_t allowance__left(struct allowance *allowance, uint64_t now_ns);

/* So much was waited until now. */
void allowance__use(struct allowance *allowance, uint64_t now_ns, uint64_t waited_ns);

/* A wait was given up. */
void allowance__exhaust(struct allowance *allowance, uint64_t now_ns);

/* What is left shrinks to ALLOWANCE_HURRY_NS, and nothing comes back any more. */
void allowance__hurry(struct allowance *allowance, uint64_t now_ns);

/* There never is any again. */
void allowance__end(struct allowance *allowance);

#endif
