/* SPDX-License-Identifier: MIT */
/*
 * session - one recording: from the first look at its targets to the last reading of the maps.
 *
 * session__new, session__add for each target, session__start, session__run, session__stop, then
 * collect__profile (collect.h).
 */
#ifndef TICKSNICK_SESSION_H
#define TICKSNICK_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cell_sums.h"
#include "durations.h"
#include "engine.h"
#include "ledger.h"
#include "roll.h"
#include "snapshot.h"
#include "target.h"
#include "windows.h"

/* Mean time between two redraws of the timers' period: so long, or so many periods if that is
   longer, since each redraw starts the period under way anew. */
#define SESSION_SLICE_NS      100000000u
#define SESSION_SLICE_PERIODS 20

#define SESSION_LEDGERS_MAX TSN_TARGETS_MAX /* programs with labels of their own */

struct session_options {
	double frequency_hz;
	uint64_t duration_ns; /* 0: until something else ends it */
	bool strict;	      /* a leak, a mismatch or stale work ends it */
	bool follow;	      /* what a target forks is recorded, too; see session_children.h */
	FILE *progress;	      /* NULL: none */
	int signals_fd;	      /* a signalfd whose signals end the session; -1: none */
};

struct ring_buffer;

enum session_end {
	SESSION_ENDED_BY_DURATION,
	SESSION_ENDED_BY_TARGET,
	SESSION_ENDED_BY_SIGNAL,
	SESSION_ENDED_BY_VIOLATION,
};

/* One moment in both clocks that durations may be in; tsc is 0 where there is none. */
struct session_clock {
	uint64_t monotonic_ns, tsc;
};

/* One image of one target: exec makes a new one. */
struct session_member {
	struct target *target; /* shared by the images of one process; the last one owns it */
	uint32_t index;	       /* into the engine's targets */
	bool current;	       /* the image that runs, or ran last */
	bool published;	       /* its addresses are in the engine */
	bool base_known; /* base was read; else its table came into being in the session and base is
			    zero */
	bool calls_unread; /* it ended before its last calls could be read */
	bool images_lost;  /* it replaced its image more often than there is room for */
	uint32_t execs;
	uint64_t unlocated_ns;	  /* what it had run when its labels were found, by its hits */
	struct table table;	  /* as last read */
	struct tsn_process first; /* descriptor at the start of the session, for the violations;
				     zero without base_known */
	struct table_calls base, last;
	struct durations *durations; /* NULL: no coarse label yet */
	uint32_t clock;		     /* enum tsn_clock of durations */
	uint64_t spans_from_ns; /* when durations were read first, and last; 0: when the session
				   began, and ended */
	uint64_t spans_to_ns, spans_took_ns; /* what both readings took */
	bool durations_failed;		     /* those before the session could not be read */
	bool executions_unread;		     /* it ended before its last executions could be read */
	uint64_t unread;      /* readings of what it publishes that failed while it lived ... */
	int unread_error;     /* ... why the latest one did, a negative errno ... */
	bool unread_doubtful; /* ... and that this may have been an exec or the end */
	int ledger;	      /* of session.ledgers, -1: none yet */
	bool owned; /* its table is its own; false: a copy of its parent's, as far as is known */
	bool looked_at; /* its modules were looked through, and none has labels */
	/* Where children are followed. */
	struct roll_process *process;
	uint64_t serial; /* as in struct tsn_target */
	bool ended;	 /* as a process, or as an image */
	bool labelled;	 /* cells of it are in a label */
	bool left_out;	 /* of the report */
	uint64_t rows;	 /* exited threads of it that have a row */
	uint64_t locate_due_ns, locate_wait_ns, refresh_due_ns, refresh_wait_ns;
};

/* Sums of processes that have ended, where children are followed. */
struct session_gone {
	struct cell_sums cells; /* key.target is an index of session.ledgers */
	/* What found no room there: charges, and of these hits, and waiting but for outer labels.
	 */
	uint64_t full, full_hits, full_wait_ns;
	uint64_t running_ns, stolen_ns, weight_square_sum;
	bool violated;
};

struct session {
	struct session_options options;
	struct engine *engine;
	struct session_member **members;
	size_t member_count;
	struct session_member *places[TSN_FOLLOWED_MAX]; /* by index; NULL: free */
	struct ledger *ledgers[SESSION_LEDGERS_MAX];
	size_t ledger_count;
	struct roll roll;
	struct session_gone gone;
	struct tsn_thread *rows_waiting; /* exited threads of images whose fate is open */
	size_t rows_waiting_count;
	uint64_t children_due_ns;
	uint64_t start_ns, stop_ns; /* CLOCK_MONOTONIC */
	uint64_t start_unix_ns;
	struct session_clock origin;	  /* when it was made */
	struct session_clock first, last; /* at start_ns, or just after, and at stop_ns */
	enum session_end ended_by;
	struct snapshot snapshot; /* complete after session__stop; key.target of a cell is then an
				     index of ledgers */
	struct ring_buffer *exited, *replaced;
	size_t exited_rows;	/* threads of snapshot that exited meanwhile */
	uint64_t exited_folded; /* exited threads without a row */
	uint64_t lost_wait_ns;
	uint64_t ticks_expected;
	struct windows *windows;
	int32_t *window_rows;	 /* by ledger * TSN_LABELS_MAX + fine: row of windows, -1: none */
	size_t window_row_count; /* row 0, no label, included */
	double *weights_seen;	 /* cumulated weight of each row at the latest slice */
	size_t weights_seen_count;
	uint64_t slice_ns;	 /* mean; see SESSION_SLICE_NS */
	uint64_t hurry_until_ns; /* until then a table that is missing is looked for often */
	uint64_t slice_until_ns, look_due_ns, calls_due_ns, cells_due_ns, progress_due_ns;
	uint64_t durations_due_ns, pools_due_ns, stale_due_ns, locate_due_ns;
	size_t histograms_left; /* see durations__new() */
};

/* Loads the programs. On failure: a negative errno and one sentence in error. */
int session__new(const struct session_options *options, struct session **session,
		 char error[ENGINE_ERROR_SIZE]);
void session__free(struct session *session); /* NULL is fine */

/* The session owns the target from here on, whatever is returned. 0; -E2BIG: too many; or another
 * negative errno. */
int session__add(struct session *session, struct target *target);

/* 0 or a negative errno. */
int session__start(struct session *session);

/* Returns when the session is over; ended_by says why. 0 or a negative errno. */
int session__run(struct session *session);

/* Stops the programs and reads everything. 0 or a negative errno. */
int session__stop(struct session *session);

/* What this thread, and the children that read for it, have taken of a CPU so far, ns: what others
 * make them wait for is no cost. */
uint64_t session__taken_ns(void);

/* Count of one kind of violation in the session (of failed registrations: ever), and the label of
 * the latest (NULL: none or not known). */
uint64_t session__violations(const struct session_member *member, unsigned kind,
			     const char **label);

/* Takes note of what reading from a member failed with (0: it did not). */
void session__note_unread(struct session_member *member, int err);

#endif
