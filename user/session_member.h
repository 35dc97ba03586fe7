/* SPDX-License-Identifier: MIT */
/*
 * session_member - what a session does with one process, or with one image of it: finds its labels,
 * tells the programs where they are, reads what it publishes, and enters it into a ledger at the
 * end.
 */
#ifndef TICKSNICK_SESSION_MEMBER_H
#define TICKSNICK_SESSION_MEMBER_H

#include "session.h"

/*
 * Makes a member of the target, in place index of the engine's targets, and appends it to the
 * session's. The target stays the caller's on failure. *made (may be NULL): the member. 0 or
 * -ENOMEM.
 */
int session_member__add(struct session *session, struct target *target, uint32_t index,
			struct session_member **made);

/* What it holds, its target only if owns_target. */
void session_member__free(struct session_member *member, bool owns_target);

/* Looks for its labels, and if they are there tells the programs where. */
void session_member__locate(struct session *session, struct session_member *member);

/* Tells the programs what its clock is ahead of ours, if it lives. */
void session_member__clock(struct session *session, struct session_member *member);

/* The calls before the session began; a table that comes into being later has none. */
void session_member__base(struct session *session, struct session_member *member);

/* Reads names, violations and, if asked, calls. 0, also where they are not to be had yet, or what
 * reading failed with. */
int session_member__refresh(struct session *session, struct session_member *member, bool calls);

/* What ends a process or replaces its image may be why its latest reading failed, and then it was
 * no failure: that is known once it is seen whether it goes on. */
void session_member__settle(struct session_member *member, bool goes_on);

/* The last reading: from the process where it still is, else what its end handed in, else nothing
 * more. gone: the process has ended, or this image of it. */
void session_member__finish(struct session *session, struct session_member *member, bool gone);

/* Whether it has broken the rules that a strict session ends for. */
bool session_member__violates(const struct session_member *member);

/*
 * Enters it into its ledger, after its last reading: calls, durations, violations, what was lost,
 * and time with threads off the CPU, up to end_ns. 0 or -ENOMEM.
 */
int session_member__enter(struct session *session, struct session_member *member, uint64_t end_ns);

/* Gives it a ledger whose names are its own; false: there are too many already. */
bool session_member__assign(struct session *session, struct session_member *member);

#endif
