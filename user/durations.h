/* SPDX-License-Identifier: MIT */
/*
 * durations - how long the executions of one image's coarse labels took: reads the blocks of
 * durations and the pool of contexts that a process publishes, when the session begins, now and
 * then, and when it ends, and tells the differences. Reads through struct remote and believes
 * nothing it has not checked.
 *
 * Times are in units of the process's clock (enum tsn_clock).
 */
#ifndef TICKSNICK_DURATIONS_H
#define TICKSNICK_DURATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table.h"

#define DURATIONS_CALLERS_MAX 8 /* threads told apart per label */

/* What the blocks of one label add up to. */
struct durations_sum {
	uint64_t count, sum;
	uint64_t *buckets; /* uint64_t[TSN_DURATION_BUCKETS]; NULL: none yet, or no room */
};

struct durations_open {
	uint64_t count, units;
};

/* What looks at the pool found of one label. */
struct durations_looks {
	uint64_t readings, shared; /* with one execution open, with several */
	uint32_t callers[DURATIONS_CALLERS_MAX];
	uint32_t caller_count;
};

struct durations_longest {
	uint64_t longest; /* of those known to have ended in the session */
	uint64_t hidden;  /* one before it, behind which others may hide that are not longer */
};

/* Of one image. 200 KB, of which what labels do not use is not touched, and 20 KB for each reading
 * of a label with executions. */
struct durations {
	uint64_t start;	 /* when the session began */
	uint64_t epoch;	 /* of the latest reading */
	bool read;	 /* there was one */
	bool gap;	 /* readings were so far apart that maxima may have been lost */
	bool torn;	 /* threads kept exiting during the latest reading */
	size_t *room;	 /* histograms that may still be made */
	uint32_t labels; /* none from this one on has anything below */
	/* struct durations_sum[TSN_LABELS_MAX] each; base and last are what was read */
	struct durations_sum *base, *last, *next;
	struct durations_sum sums[3][TSN_LABELS_MAX];
	struct durations_longest longest[TSN_LABELS_MAX];
	struct durations_open open_first[TSN_LABELS_MAX], open_last[TSN_LABELS_MAX];
	struct durations_looks looks[TSN_LABELS_MAX];
};

/*
 * start: when the session began, in units of the clock; room counts the histograms that may be made
 * (shared, and the caller's for as long as this lives). Without a durations__read_base() all is
 * zero when the session begins. NULL: out of memory.
 */
struct durations *durations__new(uint64_t start, size_t *room);
void durations__free(struct durations *durations); /* NULL is fine */

/*
 * What has been executed before the session and so far, and what is open at its edges (of those
 * that were opened by then; without a reading, nothing). now: the moment of the reading; what
 * claims to be later is nonsense. The descriptor in table must be fresh. 0 or a negative errno, and
 * then all is as before. A process that has no durations is -ENOENT.
 */
int durations__read_base(struct durations *durations, const struct table *table,
			 const struct remote *remote, uint64_t now);
int durations__read(struct durations *durations, const struct table *table,
		    const struct remote *remote, uint64_t now);
int durations__read_open_first(struct durations *durations, const struct table *table,
			       const struct remote *remote, uint64_t edge);
int durations__read_open_last(struct durations *durations, const struct table *table,
			      const struct remote *remote, uint64_t edge);

/* Whether the latest reading has each execution in a bucket, where there was room for buckets. */
bool durations__complete(const struct durations *durations);

/* A look at what is open now. 0 or a negative errno. */
int durations__look(struct durations *durations, const struct table *table,
		    const struct remote *remote);

/*
 * What ended in the session: last - base, each at least 0. buckets: uint64_t[TSN_DURATION_BUCKETS]
 * to be filled. *count is their sum, unless there was no room for buckets, and then false is
 * returned and they are zero. *longest is 0 if it is not known for certain.
 */
bool durations__difference(const struct durations *durations, uint32_t label, uint64_t *count,
			   uint64_t *sum, uint64_t *longest, uint64_t *buckets);

#endif
