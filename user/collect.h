/* SPDX-License-Identifier: MIT */
/*
 * collect - makes the profile of a session that has stopped.
 */
#ifndef TICKSNICK_COLLECT_H
#define TICKSNICK_COLLECT_H

#include "profile.h"
#include "session.h"

/* NULL: out of memory. The caller frees it. */
struct profile *collect__profile(const struct session *session);

/* Name of the reason a session ended, as reports have it. */
const char *collect__end_name(enum session_end end);

#endif
