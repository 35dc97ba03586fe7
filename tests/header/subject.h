/* SPDX-License-Identifier: MIT */
/*
 * subject.h - a labelled program whose truth is known: for about 0.3 s two threads spin, 70% of the
 * time in label "big" and 30% in "small", and "counted" is called exactly 23 times, some of them by
 * threads that exit early, in the coarse label "batch" inside of "work". In parts, so that each can
 * be a translation unit or a shared object of its own.
 */
#ifndef TICKSNICK_TESTS_SUBJECT_H
#define TICKSNICK_TESTS_SUBJECT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SUBJECT_CALLS 23
#define SUBJECT_MS    300

/* subject_parts.c; each returns the id of the label that it used. */
uint32_t subject_big(uint64_t mean_us);
uint32_t subject_small(uint64_t mean_us);
uint32_t subject_counted(unsigned calls);

/* Runs for ms and makes calls calls of "counted". 0, or 1 and a line on stderr. */
int subject_run(unsigned calls, unsigned ms);

/* Modules that keep the calling thread's slot, the leader aside. */
unsigned subject_references(void);

/* Prints "LABEL CALLS" lines and "tables N followers N references N" of the process. 0 if counted
 * is SUBJECT_CALLS. */
int subject_print(void);

#ifdef __cplusplus
}
#endif

#endif
