/* SPDX-License-Identifier: MIT */
/*
 * profile - what a session collected, in memory. The report (docs/report.schema.json) is a profile
 * written out: every field here has the name of its key there. Pure data: no kernel, no clock.
 *
 * Units: *_ns are nanoseconds; shares and fractions are 0..1. A ratio that has no value is NaN here
 * and absent in the report. A profile owns all its strings and arrays.
 */
#ifndef TICKSNICK_PROFILE_H
#define TICKSNICK_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_SCHEMA_PREFIX "ticksnick.report/"
#define PROFILE_SCHEMA	      PROFILE_SCHEMA_PREFIX "1"

/* What a row wants said about it; struct profile_fine.flags, in the report by name. */
enum profile_flag {
	PROFILE_FLAG_TIED = 1u << 0,	   /* "tied": its interval overlaps a neighbour's */
	PROFILE_FLAG_TINY = 1u << 1,	   /* "tiny": upper limit per call below 50 ns */
	PROFILE_FLAG_LONG = 1u << 2,	   /* "long": single executions span ticks */
	PROFILE_FLAG_SERIALISED = 1u << 3, /* "serialised": never two of its callers inside */
	PROFILE_FLAG_UNSAMPLED = 1u << 4,  /* "unsampled": called or registered, never seen */
	PROFILE_FLAG_OPEN = 1u << 5,	   /* "open": coarse; executions were open at the end */
	PROFILE_FLAG_STALE = 1u << 6,	   /* "stale": coarse; work went on after its execution */
};

struct profile_target {
	int pid;
	char *comm;
	char *exe;	/* NULL: not known */
	char *build_id; /* lower-case hex; NULL: none */
};

struct profile_host {
	char *kernel;	      /* uname -r */
	char *machine;	      /* uname -m */
	unsigned cpus;	      /* online */
	char *cpu_model;      /* NULL: not known */
	char *virtualization; /* "none", or what hosts this machine; NULL: not known */
};

struct profile_session {
	uint64_t start_unix_ns;
	uint64_t duration_ns;
	double frequency_hz;	  /* effective: as asked for, or as clamped */
	uint64_t ticks_expected;  /* over all CPUs: duration x CPUs / mean period */
	uint64_t ticks_delivered; /* idle CPUs may not tick, so fewer is no loss by itself */
	uint64_t glances;
	uint64_t windows;
	char *ended_by; /* "duration", "target", "signal", "violation" or "merged" */
	bool strict;
	bool follow_children; /* what targets forked was recorded, too */
	/* How fast the CPUs were: ns that a fixed calculation took, summed over the ticks in
	 * targets that did it, and their number. Comparable on one CPU model and
	 * kernel alone. */
	uint64_t pace_runs, pace_ns;
};

/* Every way of losing an observation, each a count of them; all zero when nothing was lost. */
struct profile_losses {
	uint64_t slot_unreadable;  /* ticks and switches whose slot was not in memory */
	uint64_t slot_foreign;	   /* ticks and switches whose slot was not the thread's own */
	uint64_t thread_untracked; /* threads without a record (table full) */
	uint64_t table_full;	   /* charges that found no free cell */
	uint64_t tick_missed;	   /* ticks that should have come while the target ran */
	uint64_t switch_missed;	   /* repaired: their time is kept, their state is estimated */
	uint64_t clock_stepped;	   /* intervals that ended before they began; counted as empty */
	uint64_t glance_partial;   /* glances in which some running thread's slot was unreadable */
	uint64_t threads_folded;   /* exited threads in the totals but not in threads[] */
	uint64_t calls_unread;	   /* processes that ended before their last calls were read */
	uint64_t calls_lost;	   /* calls of threads that found no slot */
	uint64_t labels_lost;	   /* registrations that found no free label id */
	uint64_t context_unreadable; /* ticks and switches whose coarse context was not in memory */
	uint64_t memory_unread;	     /* readings of what a target publishes that failed */
	uint64_t contexts_lost;	     /* executions that found no free context or were too deep */
	/* Where children are followed. */
	uint64_t processes_untracked; /* forks and execs that found no free place */
	uint64_t processes_unread; /* over before it could be seen whether they had labels; left out
				    */
	uint64_t processes_folded; /* processes in the totals but not in target[] */
};

/* What observing cost the target inside the kernel's BPF programs; the timer interrupt itself is
 * not part of it. */
struct profile_overhead {
	uint64_t ticks;	   /* runs of the tick program */
	uint64_t tick_ns;  /* mean of one */
	uint64_t switches; /* runs of the scheduler programs */
	uint64_t switch_ns;
	uint64_t kernel_ns; /* total */
	double fraction;    /* kernel_ns / totals.running_ns */
	/* Of merged reports: what the means are of. */
	uint64_t tick_total_ns, switch_total_ns;
};

/* Units of squares, before squaring. */
#define PROFILE_SQUARE_NS 100000u
#define PROFILE_WEIGHT_NS 1024u

struct profile_totals {
	uint64_t thread_time_ns; /* running + runnable + blocked + io of all threads */
	uint64_t running_ns;	 /* exact; stolen_ns is a part of it */
	uint64_t stolen_ns;	 /* of it, what the hypervisor or interrupts took */
	uint64_t runnable_ns;
	uint64_t blocked_ns;
	uint64_t io_ns;
	uint64_t labelled_ns;	 /* in labels that are not idle: the denominator of every share */
	uint64_t unlabelled_ns;	 /* in no label */
	uint64_t idle_ns;	 /* in idle labels */
	uint64_t hits;		 /* in any label or none */
	double coverage;	 /* labelled / (labelled + unlabelled) thread-time */
	double coverage_running; /* the same of running time */
	double bound;		 /* greatest distance of a share from an end of its interval */
	/* Of labelled_ns + unlabelled_ns; zero where no coarse label is registered. */
	uint64_t outside_ns; /* in no coarse label, and not stale */
	uint64_t stale_ns;   /* under coarse executions that were over */
	/*
	 * What the bounds are made from, in sums, so that those of merged reports can be. Squares
	 * are in units of PROFILE_SQUARE_NS and PROFILE_WEIGHT_NS squared. With r and t the running
	 * time of a window in labels that are not idle, and in all:
	 */
	uint64_t weight_squares;     /* of what each hit stands for; 0: not known */
	uint64_t window_squares;     /* sum of r^2 */
	uint64_t window_products;    /* of r t */
	uint64_t window_all_squares; /* of t^2 */
	uint64_t lost_hits;	     /* ticks that could not be charged to a label */
	uint64_t lost_wait_ns;	     /* nor could this waiting */
	uint64_t coarse_hits;	     /* with a coarse label, its execution going on or over */
	uint64_t report_squares;     /* of merged reports: r^2, each report for a window */
};

struct profile_thread {
	int pid, tid;
	char *comm;
	uint64_t lifetime_ns, running_ns, runnable_ns, blocked_ns, io_ns, hits;
};

struct profile_fine {
	char *label;
	bool idle;
	uint64_t hits, hits_user, hits_kernel;
	uint64_t running_ns, runnable_ns, blocked_ns, io_ns, thread_time_ns;
	double share, share_lo, share_hi; /* NaN where idle or where nothing is labelled */
	double cpu_share; /* running_ns / running time of all labels that are not idle */
	uint64_t calls;
	double per_call_ns;  /* NaN without calls; rounded to an integer in the report */
	uint64_t elapsed_ns; /* time with at least one thread inside */
	double in_flight;    /* thread_time_ns / elapsed_ns */
	uint32_t flags;	     /* enum profile_flag */
	/* As in profile_totals, with x the label's running time in a window. */
	uint64_t window_squares, window_products; /* sums of x^2, and of x r */
	uint64_t long_hits;			  /* that found an execution found before */
	uint64_t glances, glances_shared;	  /* at it; that found another thread inside */
	uint64_t callers;			  /* threads, the most of a process; 0: unknown */
	uint64_t reports;			  /* of merged reports: how many have it */
	uint64_t report_squares, report_products; /* each report for a window */
};

/*
 * How many executions took how long, ns, log-linear: one bucket for each value below 1024, then
 * 1024 an octave, so that merging adds counts and loses nothing. Sorted by bucket, counts > 0.
 */
#define PROFILE_HISTOGRAM_BITS 10
struct profile_bucket {
	uint32_t bucket;
	uint64_t count;
};

struct profile_coarse {
	char *label;
	uint64_t executions; /* that ended in the session */
	uint64_t sum_ns;     /* of their whole durations */
	uint64_t mean_ns;    /* absent without executions, as the percentiles are */
	uint64_t p50_ns, p90_ns, p99_ns;
	uint64_t max_ns;
	uint64_t open_start, open_end; /* executions open at either edge */
	uint64_t span_ns;	       /* time from begin to end of executions, their part in the
					  session */
	/* Under the label, at any depth of the chain, in any thread. */
	uint64_t hits;
	uint64_t thread_time_ns, running_ns, runnable_ns, blocked_ns, io_ns;
	uint64_t stale_hits, stale_ns; /* after its execution was over; not in the above */
	double inside;		       /* thread_time_ns / span_ns */
	double working;		       /* running_ns / span_ns */
	double busy_per_exec_ns; /* working * mean_ns; without one that ended, running_ns / open_end
				  */
	uint32_t flags;		 /* enum profile_flag */
	struct profile_bucket *histogram;
	size_t histogram_count;
	uint64_t open_end_ns; /* how long those open at the end had been */
	uint64_t callers;     /* threads that began one, the most of a process; 0: unknown */
	uint64_t readings, readings_shared; /* looks that found one open; that found several */
	uint64_t reports;		    /* of merged reports: how many have it */
};

/* The time of a fine label inside of a coarse one. */
struct profile_pair {
	char *coarse;
	char *fine; /* NULL: in no fine label, the coarse label's self time */
	uint64_t hits;
	uint64_t thread_time_ns, running_ns, runnable_ns, blocked_ns, io_ns;
	double part, part_lo, part_hi; /* of the coarse label's thread-time; NaN where that is 0 */
};

struct profile_warning {
	char *code;  /* stable, for machines; docs/output.md has an entry for each */
	char *label; /* the label it is about; NULL: none */
	char *text;  /* one sentence */
};

/* Of a merged report, one of the recordings it is made from. */
struct profile_source {
	uint64_t start_unix_ns, duration_ns;
	char *id; /* 16 hex digits: a hash of what its report held */
	double frequency_hz;
	char *ended_by;
	bool strict, follow_children;
	bool windowed; /* false: of an earlier version, without sums of windows */
	char *version;
	unsigned abi;
	char *kernel, *machine;
	unsigned cpus;
	char *cpu_model, *virtualization; /* NULL: not known */
};

struct profile {
	char *tool_version;
	unsigned tool_abi;
	struct profile_host host;
	struct profile_target *target;
	size_t target_count;
	struct profile_session session;
	struct profile_losses losses;
	struct profile_overhead overhead;
	struct profile_totals totals;
	struct profile_thread *threads; /* by thread-time, greatest first */
	size_t thread_count;
	struct profile_fine *fine; /* by share; idle labels after them; never-hit ones last */
	size_t fine_count;
	struct profile_coarse
		*coarse; /* by thread-time, greatest first; every coarse label there is */
	size_t coarse_count;
	struct profile_pair *pairs; /* in the order of coarse, then by thread-time */
	size_t pair_count;
	struct profile_warning *warnings;
	size_t warning_count;
	struct profile_source *sources; /* none: as recorded */
	size_t source_count;
};

/* An empty profile: counts zero, ratios NaN. NULL: out of memory. */
struct profile *profile__new(void);

/* NULL is fine. */
void profile__free(struct profile *profile);

/* What these arrays own, and the arrays; NULL is fine. */
void profile__free_coarse(struct profile_coarse *coarse, size_t count);
void profile__free_pairs(struct profile_pair *pairs, size_t count);

/* What it owns, not itself. */
void profile__free_source(struct profile_source *source);

/*
 * Appends a warning; label may be NULL; the text is printf-style. 0 or -ENOMEM.
 */
int profile__warn(struct profile *profile, const char *code, const char *label, const char *format,
		  ...) __attribute__((format(printf, 4, 5)));

/* Sum of all losses that mean a missing observation: switch_missed, which is repaired, and
 * threads_folded, whose time is in the totals, are not. Saturates. */
uint64_t profile__losses(const struct profile_losses *losses);

/* Name of one flag bit ("tied" ...), NULL if it has none; and back: 0 if no flag has that name. */
const char *profile__flag_name(uint32_t flag);
uint32_t profile__flag_by_name(const char *name);

/* One row per loss counter, so that writers, readers and the table name them alike. */
struct profile_loss_field {
	const char *name;    /* key in the report */
	size_t offset;	     /* of the uint64_t in struct profile_losses */
	const char *meaning; /* a few words for the text report */
	bool missing; /* false: nothing is missing, it was repaired or is told in less detail */
};
extern const struct profile_loss_field profile_loss_fields[];
extern const size_t profile_loss_field_count;

#endif
