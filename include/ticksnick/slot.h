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
 *   struct tsn_process   one per module (executable or shared object), found through an ELF note;
 * exactly one of them, the leader's, is TSN_STATE_READY, the others say where it is (leader) struct
 * tsn_slot[]    one per registered thread, TSN_SLOT_STRIDE bytes apart, in one lazily committed
 * mapping struct tsn_label[]   names by id; id 0 is "no label" uint64_t retired[]   calls of
 * threads that are gone, by label id
 */
#ifndef TICKSNICK_SLOT_H
#define TICKSNICK_SLOT_H

#ifndef __bpf__
#include <stdint.h>
#define TSN_U32 uint32_t
#define TSN_U64 uint64_t
#define TSN_S64 int64_t
#else
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
#define TSN_CONTEXTS_MAX 4096

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
	TSN_U64 context;    /* coarse context: generation << 32 | index; 0: none */
	TSN_U32 tid;	    /* owner's thread id in its own pid namespace; 0: free */
	TSN_U32 generation; /* grows by one with each claim */
	TSN_U32 depth;	    /* enter/exit pairs open */
	TSN_U32 flags;
	TSN_U64 reserved[4];
};
TSN_ASSERT_SIZE(struct tsn_slot, 64);

/* One open tsn_enter(): what it opened and what to put back. */
struct tsn_frame {
	TSN_U32 label;
	TSN_U32 previous;
};
TSN_ASSERT_SIZE(struct tsn_frame, 8);

/* A whole slot. Only the head and counts[] are for readers; the rest is the application's own. */
struct tsn_slot_full {
	struct tsn_slot head;
	TSN_U64 counts[TSN_LABELS_MAX];	       /* calls by label id, since the claim */
	struct tsn_frame stack[TSN_STACK_MAX]; /* of enter/exit pairs */
	TSN_U64 references[TSN_MODULES_MAX]; /* addresses of the thread-local pointers to this slot,
						one per module */
};
#define TSN_SLOT_STRIDE	       8896
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

	TSN_U64 contexts; /* the context pool; 0: none yet */
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
	TSN_U64 reserved[7];
};
TSN_ASSERT_SIZE(struct tsn_process, 448);

#endif
