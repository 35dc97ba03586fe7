/* SPDX-License-Identifier: MIT */
/*
 * slot.h - the slot ABI, version 1: what an application publishes about the labels its threads are
 * in.
 *
 * Three sides read this file: the application (through ticksnick.h), the BPF programs and the
 * recorder. It holds fixed-width types only, every size is asserted, and numbers are append-only: a
 * field keeps its offset and meaning for as long as TSN_ABI_VERSION stays the same.
 *
 * Memory of one process:
 *
 *	struct tsn_process      one per module (executable or shared object), found through an ELF
 *	                        note; exactly one of them, the leader's, is TSN_STATE_READY, the
 *	                        others say where it is (leader)
 *	struct tsn_slot[]       one per registered thread, TSN_SLOT_STRIDE bytes apart, in one
 *	                        lazily committed mapping
 *	struct tsn_label[]      names by id; id 0 is "no label"
 *	uint64_t retired[]      calls of threads that are gone, by label id
 *	struct tsn_context[]    executions of coarse labels, open or still mounted somewhere
 *	struct tsn_durations[]  how long executions took, by thread and coarse label
 */
#ifndef TICKSNICK_SLOT_H
#define TICKSNICK_SLOT_H

#ifndef __bpf__
#include <stdint.h>
#define TSN_U16 uint16_t
#define TSN_U32 uint32_t
#define TSN_U64 uint64_t
#define TSN_S64 int64_t
#else
#define TSN_U16 __u16
#define TSN_U32 __u32
#define TSN_U64 __u64
#define TSN_S64 __s64
#endif

#ifdef __cplusplus
#define TSN_ASSERT_SIZE(type, bytes) static_assert(sizeof(type) == (bytes), "ABI: size of " #type)
#else
#define TSN_ASSERT_SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "ABI: size of " #type)
#endif

#define TSN_ABI_VERSION 1
#define TSN_MAGIC	0x314b434e534b4354ULL /* "TCKSNCK1", little endian */
#define TSN_NOTE_OWNER	"ticksnick" /* ELF note; its descriptor is one signed 64-bit offset, ... */
#define TSN_NOTE_TYPE \
	1 /* ... from the descriptor's own address to the module's struct tsn_process */

#define TSN_SLOTS_MAX	 4096 /* threads alive at once */
#define TSN_LABELS_MAX	 1024 /* label ids, 0 included */
#define TSN_NAME_SIZE	 64   /* bytes of a name, its NUL included */
#define TSN_STACK_MAX	 64   /* enter/exit pairs open in one thread */
#define TSN_MODULES_MAX	 16   /* modules of one process that cache a thread's slot */
#define TSN_CONTEXTS_MAX 8192 /* executions open at once, and a spare of each thread */
#define TSN_CHAIN_MAX	 16   /* coarse labels inside each other */

#define TSN_DURATIONS_MAX	 16384 /* blocks of durations, one per thread and coarse label */
#define TSN_DURATION_BUCKET_BITS 6     /* 64 buckets an octave: a middle is at most 0.8% off */
#define TSN_DURATION_BUCKETS	 2560  /* up to 2^45 units; the last one takes what is longer */
#define TSN_DURATION_MAXIMA	 4     /* epochs whose maximum is kept */
#define TSN_DURATION_EPOCH_SHIFT 31    /* an epoch is 2^31 units of the clock */

/* What a label is; struct tsn_label.kind. */
enum tsn_kind {
	TSN_KIND_NONE = 0,
	TSN_KIND_FINE = 1,
	TSN_KIND_IDLE = 2, /* a fine label that means "nothing to do" */
	TSN_KIND_COARSE = 3,
};

/* struct tsn_process.state */
enum tsn_state {
	TSN_STATE_VOID = 0,	/* nothing has been registered yet */
	TSN_STATE_READY = 1,	/* this descriptor holds the process's table */
	TSN_STATE_FOLLOWER = 2, /* another module's does: see leader */
};

/* Index of struct tsn_process.violations. */
enum tsn_violation_kind {
	TSN_VIOLATION_LEAK = 0, /* a label was still open at tsn_expect_balanced() */
	TSN_VIOLATION_MISMATCH =
		1,		 /* tsn_exit() closed a label that was not the innermost open one */
	TSN_VIOLATION_DEPTH = 2, /* more than TSN_STACK_MAX pairs open: the label was not set */
	TSN_VIOLATION_SLOTS_FULL = 3,  /* a thread found no free slot */
	TSN_VIOLATION_LABELS_FULL = 4, /* a registration found no free id */
	TSN_VIOLATION_INDEX = 5,       /* tsn_at() was given an index outside its family */
	TSN_VIOLATION_TLS =
		6, /* the slot pointer is not at tls_offset in some thread (dynamic TLS) */
	TSN_VIOLATION_NAME =
		7, /* a registration was refused: bad name, or one that has another kind or arity */
	TSN_VIOLATION_CONTEXTS_FULL = 8, /* an execution found no free context: it was not timed,
					    and its label not set */
	TSN_VIOLATION_CHAIN =
		9, /* more than TSN_CHAIN_MAX coarse labels inside each other: likewise */
	TSN_VIOLATION_ABANDONED = 10, /* an execution's scope was never left (longjmp, the thread's
					 end): it is in no duration */
	TSN_VIOLATION_KINDS = 16,
};

/* struct tsn_slot.flags */
#define TSN_SLOT_CLAIMED 1u /* between claim and release */

/*
 * The 64 bytes that the kernel side reads. Written by the owner thread only, with relaxed stores;
 * the reader interrupts the owner or finds it off the CPU, so program order is all the order there
 * is and all that is needed.
 */
struct tsn_slot {
	/* The two labels the thread is in now, one aligned word that is read at once. 0: none. */
	TSN_U32 fine;
	TSN_U32 coarse;
	TSN_U64 context;    /* coarse context: generation << 32 | index; 0: none. See struct
			       tsn_context */
	TSN_U32 tid;	    /* owner's thread id in its own pid namespace; 0: free */
	TSN_U32 generation; /* grows by one with each claim */
	TSN_U32 depth;	    /* enter/exit pairs open */
	TSN_U32 flags;
	TSN_U64 reserved[4];
};
TSN_ASSERT_SIZE(struct tsn_slot, 64);

/* struct tsn_context.state */
enum tsn_context_state {
	TSN_CONTEXT_FREE = 0,
	TSN_CONTEXT_OPEN = 1,
	TSN_CONTEXT_CLOSED =
		2, /* the execution is over, but a slot or an open one inside it holds it */
};

/*
 * One execution of a coarse label, carried across threads. Index 0 is never used, so that no handle
 * is 0.
 *
 * A slot's context says in which execution its thread is. What stands in the entry is that
 * execution's only while the entry's generation is the handle's: it moves before anything else when
 * the entry is used again. The execution is over (work under it is stale) where the generation has
 * moved or state is not TSN_CONTEXT_OPEN.
 *
 * The thread writes slot.context before slot.coarse on the way into an execution and after it on
 * the way out. So where slot.coarse is not chain[0] the thread was caught between the two stores;
 * what it is in then begins at the first place of chain[] that holds slot.coarse, if there is one.
 */
struct tsn_context {
	TSN_U32 generation; /* 1 .. 2^31 - 1 once used */
	TSN_U32 state;	    /* enum tsn_context_state */
	TSN_U32 holders;    /* mounts of it, each of which a slot names or has named; the
			       application's own */
	TSN_U32 depth;	    /* labels on chain, 1 .. TSN_CHAIN_MAX */
	TSN_U64 opened;	    /* process.clock; once it is over: when it was closed */
	TSN_U32 tid;	    /* of the thread that opened it */
	TSN_U32 parent; /* index of the execution it was begun inside, 0: none; where it is free,
			   of the next free one; the application's own */
	TSN_U16 chain[TSN_CHAIN_MAX]; /* coarse labels, its own first, the outermost last */
};
TSN_ASSERT_SIZE(struct tsn_context, 64);

/* struct tsn_process.clock: the unit of opened and of durations. */
enum tsn_clock {
	TSN_CLOCK_NONE = 0,	 /* no coarse label yet */
	TSN_CLOCK_MONOTONIC = 1, /* ns of CLOCK_MONOTONIC */
	TSN_CLOCK_TSC = 2,	 /* the time stamp counter, where the kernel keeps time by it */
};

struct tsn_duration_maximum {
	TSN_U64 longest;
	TSN_U64 at; /* when that execution ended; 0: none yet */
};

/*
 * How long the executions of one coarse label took that ended in one thread, since the block was
 * taken; owner 0: of all threads that are gone or had no block of their own, changed with atomic
 * additions. Blocks of threads that exited are folded into that one, between
 * process.folds_begun and folds_done, and are free until taken again.
 *
 * Written in the order bucket, maximum, sum, count. maxima[(end >> TSN_DURATION_EPOCH_SHIFT) %
 * TSN_DURATION_MAXIMA] is of the epoch that its own at lies in.
 */
struct tsn_durations {
	TSN_U32 label; /* coarse; 0: free */
	TSN_U32 owner; /* index of the thread's slot + 1; 0: shared by threads */
	TSN_U64 count;
	TSN_U64 sum; /* of durations */
	struct tsn_duration_maximum maxima[TSN_DURATION_MAXIMA];
	/* The application's own: which octaves of buckets have been written, and the next free
	 * block. */
	TSN_U64 octaves;
	TSN_U64 next;
	TSN_U64 reserved[3];
	TSN_U64 buckets[TSN_DURATION_BUCKETS];
};
#define TSN_DURATIONS_STRIDE	     20608
#define TSN_DURATIONS_BUCKETS_OFFSET 128
TSN_ASSERT_SIZE(struct tsn_durations, TSN_DURATIONS_STRIDE);

/*
 * The bucket of a duration: one for each value below 64, then 64 for each octave; see
 * tsn_duration_low() for its lower end. (Log-linear, as HdrHistogram's.)
 */
static inline TSN_U32 tsn_duration_bucket(TSN_U64 units)
{
	const TSN_U32 octave_size = 1u << TSN_DURATION_BUCKET_BITS;
	TSN_U32 octave, bucket;

	if (units < octave_size)
		return (TSN_U32)units;
	octave = 63u - (TSN_U32)__builtin_clzll(units) - TSN_DURATION_BUCKET_BITS;
	bucket = octave * octave_size + (TSN_U32)(units >> octave);
	return bucket < TSN_DURATION_BUCKETS ? bucket : TSN_DURATION_BUCKETS - 1;
}

/* The least duration in a bucket; of bucket + 1 it is the first one beyond. */
static inline TSN_U64 tsn_duration_low(TSN_U32 bucket)
{
	const TSN_U32 octave_size = 1u << TSN_DURATION_BUCKET_BITS;
	TSN_U32 octave;

	if (bucket < octave_size)
		return bucket;
	octave = bucket / octave_size - 1;
	return (TSN_U64)(bucket - octave * octave_size) << octave;
}

/* One open tsn_enter(): what it opened and what to put back. */
struct tsn_frame {
	TSN_U32 label;
	TSN_U32 previous;
};
TSN_ASSERT_SIZE(struct tsn_frame, 8);

#define TSN_LEVELS_MAX 24 /* executions begun and contexts mounted, in one thread at once */
#define TSN_SPARES_MAX 4  /* contexts that a thread keeps for its next executions */

enum tsn_level_kind {
	TSN_LEVEL_VOID = 0,  /* an enter/exit pair that has no execution: coarse is in no context */
	TSN_LEVEL_SCOPE = 1, /* an execution of a scope */
	TSN_LEVEL_PAIR = 2,  /* an execution of an enter/exit pair */
	TSN_LEVEL_MOUNT = 3, /* a context that this thread holds */
	TSN_LEVEL_STALE = 4, /* a context that was over before it was mounted, or none */
};

/* What put the thread into a context, and what it was in before. */
struct tsn_level {
	TSN_U64 context;
	TSN_U64 previous;
	TSN_U32 previous_coarse;
	TSN_U16 coarse;
	TSN_U16 kind; /* enum tsn_level_kind */
};
TSN_ASSERT_SIZE(struct tsn_level, 24);

/* A whole slot. Only the head and counts[] are for readers; the rest is the application's own. */
struct tsn_slot_full {
	struct tsn_slot head;
	TSN_U64 counts[TSN_LABELS_MAX];	       /* calls by label id, since the claim */
	struct tsn_frame stack[TSN_STACK_MAX]; /* of enter/exit pairs */
	TSN_U64 references[TSN_MODULES_MAX]; /* addresses of the thread-local pointers to this slot,
						one per module */
	struct tsn_level levels[TSN_LEVELS_MAX];
	TSN_U32 levels_open;
	TSN_U32 levels_lost; /* coarse pairs open for which there was no level */
	TSN_U32 blocks_used; /* places of blocks[] that are not 0 */
	TSN_U32 reserved32;
	TSN_U32 spares[TSN_SPARES_MAX]; /* indices of contexts; 0: none */
	TSN_U64 reserved[4];
	TSN_U16 blocks[TSN_LABELS_MAX]; /* by coarse label: index + 1 of its durations' block */
};
#define TSN_SLOT_STRIDE	       11584
#define TSN_SLOT_COUNTS_OFFSET 64
TSN_ASSERT_SIZE(struct tsn_slot_full, TSN_SLOT_STRIDE);

/* A registered name. A family of arity n fills n consecutive entries that differ in nothing but
 * their id. */
struct tsn_label {
	TSN_U32 kind;  /* enum tsn_kind */
	TSN_U32 base;  /* id of the family's row 0; the label's own id where it is no family */
	TSN_U32 arity; /* rows of the family; 0: no family */
	TSN_U32 reserved;
	char name[TSN_NAME_SIZE]; /* NUL-terminated; row i of a family is shown as name[i] */
};
TSN_ASSERT_SIZE(struct tsn_label, 80);

struct tsn_violation {
	TSN_U64 count;
	TSN_U32 label; /* of the latest one; 0: none */
	TSN_U32 tid;   /* of the latest one */
};
TSN_ASSERT_SIZE(struct tsn_violation, 16);

/*
 * The process descriptor. Addresses are of the process itself. A reader trusts it only if magic,
 * version and size fit, state is TSN_STATE_READY and pid is the process's own (a fork that bypassed
 * pthread_atfork leaves its parent's).
 */
struct tsn_process {
	TSN_U64 magic;
	TSN_U32 version;
	TSN_U32 size;	/* sizeof(struct tsn_process) */
	TSN_U32 state;	/* enum tsn_state; written last */
	TSN_U32 pid;	/* in the process's own pid namespace */
	TSN_U64 leader; /* address of the leader's descriptor, where this module is a follower */
	TSN_S64 tls_offset; /* of the leader's slot pointer from the thread pointer, bytes */

	TSN_U64 slots; /* struct tsn_slot_full[slots_max] */
	TSN_U32 slots_max;
	TSN_U32 slot_stride;
	TSN_U32 slots_used; /* slots beyond this index were never claimed */

	TSN_U32 labels_count; /* ids below this are complete, 0 included; written last */
	TSN_U64 labels;	      /* struct tsn_label[labels_max] */
	TSN_U32 labels_max;
	TSN_U32 label_stride;

	TSN_U64 contexts; /* struct tsn_context[contexts_max]; 0: no coarse label yet */
	TSN_U32 contexts_max;
	TSN_U32 context_stride;

	TSN_U64 retired; /* uint64_t[labels_max] */
	/* A thread's counts are being folded into retired while these differ; neither moves
	 * otherwise. */
	TSN_U64 folds_begun;
	TSN_U64 folds_done;

	TSN_U64 calls_lost; /* calls of threads that had no slot */
	struct tsn_violation violations[TSN_VIOLATION_KINDS];

	/* In-process only: the leader's functions, for followers. */
	TSN_U64 operations;

	TSN_U64 durations; /* struct tsn_durations[durations_max]; 0: no coarse label yet */
	TSN_U32 durations_max;
	TSN_U32 durations_stride;
	TSN_U32 durations_used; /* blocks beyond this index were never taken */
	TSN_U32 contexts_used;	/* contexts beyond this index were never taken */
	TSN_U32 clock;		/* enum tsn_clock; written before contexts and durations */
	TSN_U32 reserved32;
	TSN_U64 reserved[3];
};
TSN_ASSERT_SIZE(struct tsn_process, 448);

#endif
