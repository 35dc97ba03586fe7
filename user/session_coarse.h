/* SPDX-License-Identifier: MIT */
/*
 * session_coarse - what a session does for coarse labels: when it reads durations and the pool of
 * contexts, in which clock, and when stale work ends it.
 */
#ifndef TICKSNICK_SESSION_COARSE_H
#define TICKSNICK_SESSION_COARSE_H

#include "session.h"

/* Histograms of one session: 20 KB each, three to a label with executions. */
#define SESSION_HISTOGRAMS_MAX 3072

/* The clocks now; both in one. */
struct session_clock session_coarse__clock(void);

/* Tells the programs what the time stamp counter shows; when the session begins, and then again and
 * again, for the kernel corrects the rate of its own clock. */
void session_coarse__tell_clock(struct session *session);

/* The moment the session begins: what a member that has a table already has executed before, and
 * what it has open. */
void session_coarse__base(struct session *session, struct session_member *member);

/* Reads what was executed so far; after the member's table was refreshed. */
void session_coarse__refresh(struct session *session, struct session_member *member);

/* Looks at what is open now. */
void session_coarse__look(struct session *session, struct session_member *member);

/* The last reading, after session->last was set. gone: the process has ended. */
void session_coarse__finish(struct session *session, struct session_member *member, bool gone);

/* ns of a unit of that clock (enum tsn_clock); after the session. */
double session_coarse__unit_ns(const struct session *session, uint32_t clock);

/* What spans between the two readings are to be multiplied by to be the session's; after the
 * session. */
double session_coarse__stretch(const struct session *session, const struct session_member *member);

/* Whether there is so much stale work that a strict session ends. False if it cannot be read. */
bool session_coarse__violated(const struct session *session);

#endif
