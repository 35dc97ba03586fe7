/* SPDX-License-Identifier: MIT */
/*
 * ledger - what is added up of processes that have the same labels under the same ids: the copies
 * of one program that fork makes, and each process by itself where children are not followed. Pure.
 */
#ifndef TICKSNICK_LEDGER_H
#define TICKSNICK_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "durations.h"
#include "table.h"

/* Of one coarse label; as struct spans_label. */
struct ledger_span {
	uint64_t executions, sum_units;
	uint64_t *buckets; /* uint64_t[TSN_DURATION_BUCKETS]; NULL: none */
	uint64_t longest_units, open_first, open_first_units, open_last, open_last_units;
	unsigned callers;
	uint64_t readings, readings_shared;
	double stretched_units; /* what each process adds to the span, times its stretch */
};

/* Something that happened in processes: how often, in how many of them, and the latest one. */
struct ledger_note {
	uint64_t count, processes;
	pid_t pid;
	uint32_t label; /* of the latest; 0: none or not known */
};

struct ledger {
	struct table names; /* labels, label_count */
	uint32_t clock;	    /* of all that have coarse labels; TSN_CLOCK_NONE: none yet */
	uint64_t images;    /* entered */
	uint64_t calls[TSN_LABELS_MAX], off_ns[TSN_LABELS_MAX];
	uint32_t callers[TSN_LABELS_MAX]; /* the most in one process */
	struct ledger_span *spans;	  /* [TSN_LABELS_MAX]; NULL: no durations */
	struct ledger_note violations[TSN_VIOLATION_KINDS];
	struct ledger_note distrusted, coarse_distrusted; /* what was nonsense */
	struct ledger_note unread;			  /* readings that failed */
	int unread_error;		 /* why the latest one did, a negative errno */
	struct ledger_note unlocated_ns; /* run before labels were found */
	struct ledger_note calls_unread, executions_unread, replaced, images_lost;
	uint64_t calls_lost;
	uint64_t spans_took_ns; /* the longest that reading durations at the edges took ... */
	pid_t spans_took_pid;	/* ... of which process */
	size_t *room;		/* histograms that may still be made */
};

/* room counts histograms, and is the caller's for as long as this lives. NULL: out of memory. */
struct ledger *ledger__new(size_t *room);
void ledger__free(struct ledger *ledger); /* NULL is fine */

/* Whether a process with that table and clock can be added up with the others: what both have named
 * is the same. */
bool ledger__fits(const struct ledger *ledger, const struct table *table, uint32_t clock);

/* Takes over the names that it has not yet; of a process that fits. */
void ledger__name(struct ledger *ledger, const struct table *table, uint32_t clock);

/* Calls in the session: last - base of each label. */
void ledger__add_calls(struct ledger *ledger, const struct table_calls *base,
		       const struct table_calls *last);

/* What durations say of all labels; stretch: as in struct spans_label. 0 or -ENOMEM. */
int ledger__add_durations(struct ledger *ledger, const struct durations *durations, double stretch);

/* The stretch of the sum of several processes' spans. */
double ledger__stretch(const struct ledger_span *span);

/* count more of something in process pid; 0 changes nothing. */
void ledger_note__add(struct ledger_note *note, uint64_t count, pid_t pid, uint32_t label);

#endif
