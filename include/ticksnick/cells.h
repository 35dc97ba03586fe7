/* SPDX-License-Identifier: MIT */
/*
 * cells.h - what the BPF programs and the recorder share: map keys and values, and the control
 * block. Not installed.
 *
 * All times are CLOCK_MONOTONIC ns (bpf_ktime_get_ns). Layouts are fixed: both sides compile this
 * file.
 */
#ifndef TICKSNICK_CELLS_H
#define TICKSNICK_CELLS_H

#include "slot.h"

#define TSN_TARGETS_MAX	     64	   /* processes of one session, and images of them */
#define TSN_FOLLOWED_MAX     256   /* where children are followed: images at once */
#define TSN_THREADS_MAX	     16384 /* threads with a record at once */
#define TSN_CELLS_MAX	     16384
#define TSN_CPUS_MAX	     512
#define TSN_WATCHED	     4096 /* power of two */
#define TSN_GLANCE_MAX	     8	  /* running threads up to which every tick takes a glance */
#define TSN_TIMED_EVERY	     64	  /* one run in so many measures itself */
#define TSN_PACE_EVERY	     8 /* one tick in so many takes the CPU's pace (but for timed ones): ... */
#define TSN_PACE_STEPS	     512 /* ... the time of so many multiplications and additions, ... */
#define TSN_PACE_TRIES	     3	 /* ... the least of so many tries */
#define TSN_PIECES_MAX	     65536
#define TSN_FINAL_HEADS_MAX  4096 /* blocks of durations that the end of a process looks at ... */
#define TSN_FINAL_BLOCKS_MAX 256  /* ... and hands in */

/* A multiplication and an addition that wait for the ones before; the compiler must not make one
 * of several. x: 64 bits. */
#define TSN_PACE_STEP(x)                           \
	do {                                       \
		(x) = (x)*0x5851f42d + 0x3ade68b1; \
		__asm__ volatile("" : "+r"(x));    \
	} while (0)

/*
 * Whose account a cell is on. Time goes to one OWN or STALE cell, and once more to an OUTER one for
 * each other coarse label on the chain of its context: the thread-time of a fine label is OWN +
 * STALE over all coarse ones, that of a pair (coarse, fine) is OWN + OUTER.
 */
enum tsn_cell_role {
	TSN_CELL_OWN = 0,   /* coarse is the innermost coarse label, 0: none */
	TSN_CELL_OUTER = 1, /* coarse is one further out; each label once, however often it stands
			       there, and not if it is the innermost one, too */
	TSN_CELL_STALE = 2, /* coarse is the innermost one, of an execution that is over */
};

/* One accumulator: process, labels, account. */
struct tsn_cell_key {
	TSN_U32 target; /* index into targets */
	TSN_U32 fine;
	TSN_U32 coarse;
	TSN_U32 role; /* enum tsn_cell_role */
};
TSN_ASSERT_SIZE(struct tsn_cell_key, 16);

/*
 * The accounts that a thread's time goes to besides (fine, coarse) itself, as its context said when
 * it was read.
 */
struct tsn_chain {
	TSN_U32 role;		      /* enum tsn_cell_role of the cell of (fine, coarse) */
	TSN_U32 places;		      /* of outer that are set */
	TSN_U16 outer[TSN_CHAIN_MAX]; /* by place on the context's chain, each label once and coarse
					 not at all; 0: nothing is charged for this place */
};
TSN_ASSERT_SIZE(struct tsn_chain, 40);

/*
 * Makes the chain of a thread in that coarse label (not 0), whose context is of that generation,
 * from the entry it leads to. role and places are 0 before. 0; -1: the entry is nonsense, and they
 * still are.
 */
static inline int tsn_chain_take(struct tsn_chain *chain, const struct tsn_context *context,
				 TSN_U32 generation, TSN_U32 coarse)
{
	TSN_U32 i, j, label, inside = 0;

	if (context->generation != generation || context->state != TSN_CONTEXT_OPEN) {
		chain->role = TSN_CELL_STALE;
		return 0;
	}
	if (!context->depth || context->depth > TSN_CHAIN_MAX)
		return -1;
	/* A count of distinct labels would make the verifier follow each number it could be. */
	for (i = 0; i < TSN_CHAIN_MAX && i < context->depth; i++) {
		label = context->chain[i];
		if (!label || label >= TSN_LABELS_MAX)
			return -1;
		chain->outer[i] = 0;
		if (label == coarse)
			inside = 1;
		else if (inside) {
			for (j = 0; j < i && chain->outer[j] != label; j++)
				;
			if (j == i)
				chain->outer[i] = (TSN_U16)label;
		}
	}
	chain->places = context->depth > 1 ? context->depth : 0;
	return 0;
}

struct tsn_cell {
	TSN_U64 hits_user;
	TSN_U64 hits_kernel;
	TSN_U64 weight_user_ns; /* periods of those hits, summed */
	TSN_U64 weight_kernel_ns;
	TSN_U64 runnable_ns;
	TSN_U64 blocked_ns;
	TSN_U64 io_ns;
	TSN_U64 elapsed_on_ns; /* sum of period / R over ticks that found no thread inside and off
				  the CPU */
	TSN_U64 long_hits;     /* ticks that found the execution of the thread's previous tick still
				  going on */
	TSN_U64 glances;
	TSN_U64 glances_shared; /* glances that found another thread inside */
};
TSN_ASSERT_SIZE(struct tsn_cell, 88);

/*
 * S(l): threads that are off the CPU inside a label, and the exact time with S > 0. off_ns takes
 * -now at each step 0 -> 1 and +now at each step 1 -> 0, so a reader adds "now" while outside > 0;
 * no lock is needed.
 */
struct tsn_presence {
	TSN_S64 outside;
	TSN_U64 off_ns; /* modulo 2^64 */
};
TSN_ASSERT_SIZE(struct tsn_presence, 16);

/* What a thread is doing, as far as events told; struct tsn_thread.state. */
enum tsn_thread_state {
	TSN_THREAD_RUNNING = 1,
	TSN_THREAD_WAITING = 2, /* off the CPU; wait says why */
	TSN_THREAD_UNSEEN = 3,	/* the census found it running or runnable, no event yet */
};

enum tsn_wait {
	TSN_WAIT_RUNNABLE = 1,
	TSN_WAIT_BLOCKED = 2, /* interruptible */
	TSN_WAIT_IO = 3,      /* uninterruptible */
};

/* One thread of a target, keyed by its tid in the initial pid namespace. */
struct tsn_thread {
	TSN_U32 target;
	TSN_U32 tgid;
	TSN_U32 tid;
	TSN_U32 ns_tid;	  /* tid in its own pid namespace */
	TSN_U32 seen_tid; /* in the recorder's, which is what the report shows */
	TSN_U32 state;	  /* enum tsn_thread_state */
	TSN_U32 wait;	  /* enum tsn_wait */
	TSN_U32 pad;
	TSN_U64 born;  /* first moment in the session */
	TSN_U64 since; /* the interval under way began */
	TSN_U64 woken; /* wakeup inside that interval; 0: none */
	TSN_U64 slot;  /* address of its slot when last read; 0: not known */
	TSN_U32 fine;  /* labels when last read */
	TSN_U32 coarse;
	TSN_U32 present; /* fine label under which it is counted in S; 0: none */
	TSN_U32 exec_known;
	TSN_U64 exec_ns;  /* se.sum_exec_runtime at the latest switch-out */
	TSN_U64 switches; /* nvcsw + nivcsw then */
	TSN_U64 running_ns;
	TSN_U64 stolen_ns; /* part of running_ns */
	TSN_U64 runnable_ns;
	TSN_U64 blocked_ns;
	TSN_U64 io_ns;
	TSN_U64 hits;
	TSN_U64 tick_count; /* calls of tick_fine at the previous tick */
	TSN_U64 tick_seen;  /* first tick that found it running in an interval taken for waiting; 0:
			       none */
	TSN_U32 tick_fine;  /* label of the previous tick of this thread; 0: none */
	TSN_U32 unknown;    /* 1: the labels could not be read at the latest switch-out */
	char comm[16];
	struct tsn_chain chain; /* of coarse, when last read */
	TSN_U64 context;	/* that it was read from */
	/* The latest wait, until it is known whether that execution outlasted it; see
	 * wait_revise(). */
	TSN_U64 waited_since;
	TSN_U64 waited_until; /* 0: none */
	TSN_U64 waited_woken; /* wakeup inside of it; 0: none */
};
TSN_ASSERT_SIZE(struct tsn_thread, 256);

enum tsn_final_state {
	TSN_FINAL_NONE = 0,
	TSN_FINAL_COMPLETE = 1,
	TSN_FINAL_PARTIAL = 2, /* there was no room for all */
};

/* What the descriptor of a process said of coarse labels when it ended; the descriptor itself, the
 * names of its latest labels, its blocks and pool are in pieces. */
struct tsn_final {
	TSN_U32 state; /* enum tsn_final_state */
	TSN_U32 reserved;
	TSN_U64 contexts; /* as in struct tsn_process, from here ... */
	TSN_U32 contexts_max;
	TSN_U32 context_stride;
	TSN_U64 durations; /* ... and from here on */
	TSN_U32 durations_max;
	TSN_U32 durations_stride;
	TSN_U32 durations_used;
	TSN_U32 contexts_used;
	TSN_U32 clock;
	TSN_U32 pad;
};
TSN_ASSERT_SIZE(struct tsn_final, 56);

/* What a place of targets holds, where children are followed; struct tsn_target.state. */
enum tsn_target_state {
	TSN_TARGET_FREE = 0,
	TSN_TARGET_LIVE = 1,	 /* an image that runs, or was the last one of its process */
	TSN_TARGET_REPLACED = 2, /* one that was replaced: the next one has a place of its own */
};

/* Where to find the slots of one target. Written by the recorder, voided by the exec hook. */
struct tsn_target {
	TSN_U32 tgid;
	TSN_U32 ready; /* 1: the addresses below are valid for the image that runs */
	TSN_S64 tls_offset;
	TSN_U64 slots;
	TSN_U64 slots_end;
	TSN_U64 retired;      /* of struct tsn_process */
	TSN_U32 labels_count; /* whose names the recorder has read */
	TSN_U32 execs;	      /* times this process has replaced its image */
	/* Totals of threads that exited. */
	TSN_U64 exited_threads;
	TSN_U64 exited_lifetime_ns;
	TSN_U64 exited_running_ns;
	TSN_U64 exited_stolen_ns;
	TSN_U64 exited_runnable_ns;
	TSN_U64 exited_blocked_ns;
	TSN_U64 exited_io_ns;
	TSN_U64 exited_hits;
	TSN_U64 weight_square_sum; /* sum over hits of (weight >> 10) squared */
	TSN_U64 forks;		   /* processes that it forked */
	TSN_U32 clock;		   /* enum tsn_clock */
	TSN_U32 calls_final; /* 1: final_calls holds the retired ones too and is complete; 2: some
				could not be read */
	TSN_U64 process;     /* address of struct tsn_process */
	TSN_U64 contexts;    /* of it; 0: not known yet */
	TSN_U64 contexts_end;
	TSN_S64 clock_offset; /* its CLOCK_MONOTONIC - ours (time namespaces), ns */
	struct tsn_final final;
	/* 1: the end of the process has handed in its descriptor, and the names of its latest
	 * labels; 2: there was no room for all. */
	TSN_U32 described;
	/*
	 * Where children are followed, a place is for one image of one process. The fork and exec
	 * hooks take a free one; the recorder, when it has read what it holds, zeroes it and gives
	 * it back.
	 */
	TSN_U32 state;	     /* enum tsn_target_state; written last */
	TSN_U64 serial;	     /* which use of any place this is; 0: children are not followed */
	TSN_U64 from_serial; /* of the image that forked this process or was replaced; 0: none */
	TSN_U32 from;	     /* its index */
	TSN_U32 own_pid;     /* of the process, in its own pid namespace ... */
	TSN_U32 seen_pid;    /* ... and in the recorder's */
	TSN_U32 forked;	     /* 1: by fork, 0: by exec */
	TSN_U32 inherited;   /* 1: the addresses are the parent's. They hold for the child, too, but
				its slots, calls and violations are its own only when it has
				registered anew: before, no slot there is its threads'. */
	char comm[16];	     /* at the fork, the exec and the end */
	TSN_U32 pad;
};
TSN_ASSERT_SIZE(struct tsn_target, 288);

/* 64 bytes of the memory of a process that has ended; what is in no piece was zero, or not in
 * memory. */
struct tsn_piece {
	TSN_U64 address;
	TSN_U32 target; /* index */
	TSN_U32 serial; /* of it, the low half */
	TSN_U64 words[8];
};
TSN_ASSERT_SIZE(struct tsn_piece, 80);

/*
 * One CPU: its timer, what runs there (so that a glance from another CPU finds it), and the cost of
 * the programs on it. The recorder writes the first two fields, the programs the rest, each on its
 * own CPU.
 */
struct tsn_cpu {
	TSN_U64 period_ns;
	TSN_U64 changed_ns; /* when period_ns was last redrawn */
	TSN_U64 tick_ns;    /* latest tick */
	TSN_U64 ticks;
	TSN_U64 task; /* kernel address of what runs; only ever read through bpf_probe_read_kernel
		       */
	TSN_U64 slot; /* when last read; 0: not known */
	TSN_U32 tgid; /* 0: nothing of a target runs here */
	TSN_U32 tid;
	TSN_U32 ns_tid;
	TSN_U32 pace_runs; /* times that the pace was taken, at ticks on a thread of a target */
	TSN_U64 tick_runs; /* ticks on a thread of a target; one in TSN_TIMED_EVERY measures itself
			    */
	TSN_U64 tick_timed;
	TSN_U64 tick_timed_ns;
	TSN_U64 switch_runs; /* switches with a thread of a target on either side; likewise */
	TSN_U64 switch_timed;
	TSN_U64 switch_timed_ns;
	TSN_U64 runqueue; /* kernel address, read likewise; 0: not known */
	TSN_U64 pace_ns;  /* summed */
};
TSN_ASSERT_SIZE(struct tsn_cpu, 128);

/* Counters of lost and repaired observations and of glances; index of control.counters. */
enum tsn_counter {
	TSN_COUNT_SLOT_UNREADABLE_TICK,
	TSN_COUNT_SLOT_UNREADABLE_SWITCH,
	TSN_COUNT_SLOT_FOREIGN_TICK,
	TSN_COUNT_SLOT_FOREIGN_SWITCH,
	TSN_COUNT_THREAD_UNTRACKED,
	TSN_COUNT_TABLE_FULL_TICK,
	TSN_COUNT_TABLE_FULL_SWITCH,
	TSN_COUNT_LOST_WAIT_NS, /* waiting that is in no cell or in no known label, ns */
	TSN_COUNT_TICK_MISSED,
	TSN_COUNT_SWITCH_MISSED,
	TSN_COUNT_CLOCK_STEPPED,
	TSN_COUNT_GLANCES,
	TSN_COUNT_GLANCE_PARTIAL,
	TSN_COUNT_EXIT_UNSENT,	      /* exited threads whose row found no room in the ring */
	TSN_COUNT_CONTEXT_UNREADABLE, /* ticks, switches and threads of the census */
	TSN_COUNT_TABLE_FULL_OUTER,   /* of the cells of outer coarse labels alone */
	TSN_COUNT_PROCESS_UNTRACKED,  /* forks and execs of targets that found no free place */
	TSN_COUNTERS = 32,
};

/* The moment at which both clocks stood so, and what a unit of the time stamp counter takes. */
struct tsn_tsc {
	TSN_U64 tsc;
	TSN_U64 ns;
	TSN_U64 unit; /* 2^-32 ns; 0: not known (yet) */
};
TSN_ASSERT_SIZE(struct tsn_tsc, 24);

/* What that counter shows as ns, if it does so after that moment; before it, the moment. */
static inline TSN_U64 tsn_tsc_ns(const struct tsn_tsc *at, TSN_U64 tsc)
{
	TSN_U64 apart = tsc > at->tsc ? tsc - at->tsc : 0;

	return at->ns + (apart >> 32) * at->unit + ((apart & 0xffffffff) * at->unit >> 32);
}

/* One block in the programs' .bss; the recorder writes the first part through the memory map. */
struct tsn_control {
	TSN_U64 start_ns; /* the session begins; every interval is clipped to it */
	TSN_U64 stop_ns;  /* not 0: the session is over and nothing is touched any more */
	/*
	 * By tgid modulo TSN_WATCHED: tgid << 32 | index of the target, so that a switch of any
	 * other process is told apart by one comparison. 0: no target here; TSN_WATCHED_CROWDED:
	 * several, see target_index.
	 */
	TSN_U64 watched[TSN_WATCHED];
	TSN_U64 counters[TSN_COUNTERS];
	struct tsn_tsc tsc; /* written once, but for its unit, which is corrected again and again */
	TSN_U32 level;	    /* of the recorder's pid namespace; 0: the machine's first */
	TSN_U32 pad;
	/* Pieces are a ring: taken (and asked for where there was no room), and read by the
	 * recorder. */
	TSN_U64 pieces;
	TSN_U64 pieces_done;
	TSN_U64 serials; /* given away */
	TSN_U64 news; /* forks and execs since the recorder last looked; the first one wakes it */
};

/* One thread that the recorder can see; see user/ids.h. */
struct tsn_id {
	TSN_U32 tid;   /* in the machine's first pid namespace */
	TSN_U32 tgid;  /* likewise */
	TSN_U32 seen;  /* tid in the recorder's namespace */
	TSN_U32 level; /* of the recorder's namespace */
};
TSN_ASSERT_SIZE(struct tsn_id, 16);

#define TSN_WATCHED_CROWDED (~0ULL)

static inline TSN_U64 tsn_watched_entry(TSN_U32 tgid, TSN_U32 index)
{
	return (TSN_U64)tgid << 32 | index;
}

#endif
