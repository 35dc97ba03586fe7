/* SPDX-License-Identifier: MIT */
/*
 * collect_warnings - what a session that has stopped has to warn of, besides what follows from the
 * rows.
 */
#ifndef TICKSNICK_COLLECT_WARNINGS_H
#define TICKSNICK_COLLECT_WARNINGS_H

#include "profile.h"
#include "session.h"

/* 0 or -ENOMEM. */
int collect_warnings__fill(const struct session *session, struct profile *profile);

#endif
