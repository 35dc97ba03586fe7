/* SPDX-License-Identifier: MIT */
/*
 * session_children - what a session does to follow children: learns of processes that targets fork
 * and of images they exec, gives each a member, and when one is over adds it to the sums and gives
 * its place to the next.
 *
 * The kernel side has made targets of them at the fork or exec itself, see bpf/follow.h; here only
 * their labels are found, and their last words taken. However many there are, at most
 * TSN_FOLLOWED_MAX are members at once, and looking after them takes a quarter of one CPU at most.
 */
#ifndef TICKSNICK_SESSION_CHILDREN_H
#define TICKSNICK_SESSION_CHILDREN_H

#include "session.h"

/* After the targets that the user gave were added, before the programs go live. 0 or -ENOMEM. */
int session_children__start(struct session *session);

/* An exited thread, whose image may yet be left out. */
void session_children__take_exited(struct session *session, const struct tsn_thread *thread);

/*
 * Looks for new processes and for those that are over, unless it is too early for that
 * (session->children_due_ns). *all_gone: there are none left. 0 or a negative errno.
 */
int session_children__look(struct session *session, bool *all_gone);

/* When the next look is due, if nothing happens. */
uint64_t session_children__due(const struct session *session);

/* Once the programs have stopped: the members that are left, all given their last reading, and
 * which of them are left out. 0 or a negative errno. */
int session_children__stop(struct session *session);

/* After the snapshot is complete: leaves out the time of what is left out. */
void session_children__settle(struct session *session);

/* Processes in the report. */
uint64_t session_children__kept(const struct session *session);

#endif
