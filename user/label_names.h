/* SPDX-License-Identifier: MIT */
/*
 * label_names - what a label id of a process is called in a report.
 */
#ifndef TICKSNICK_LABEL_NAMES_H
#define TICKSNICK_LABEL_NAMES_H

#include "table.h"

/* Names of ids whose entry was never read, made as they are asked for. Zero before first use. */
struct label_names {
	char unread[TSN_LABELS_MAX][TABLE_NAME_SIZE];
};

/* id < TSN_LABELS_MAX. Lives as long as both. NULL: id is 0, no label. */
const char *label_names__get(struct label_names *names, const struct table *table, uint32_t id);

#endif
