/* SPDX-License-Identifier: MIT */
/*
 * ticksnick.h - label what a thread is doing, so that `ticksnick record` can say where
 * the time goes.
 *
 *	#include <ticksnick/ticksnick.h>
 *
 *	TSN_FINE(parse, "parseRecord");        // file scope; registered before main()
 *	TSN_FINE_FAMILY(level, "level", 6);    // rows level[0] .. level[5]
 *	TSN_IDLE(waiting, "epoll_wait");       // its time is kept out of shares
 *	TSN_COARSE(request, "request");        // timed at both ends, and carried across threads
 *
 *	void serve(int depth)
 *	{
 *		TSN_SCOPE(request);            // until the block is left, however it is left
 *		{
 *			TSN_SCOPE(parse);
 *			TSN_SCOPE(tsn_at(level, depth));
 *			...
 *		}
 *	}
 *
 * A fine label says what a thread is doing and is sampled. A coarse one says for what: each stay in
 * it is an execution, whose duration is measured (in units of process.clock, see slot.h) and which
 * other threads can work for. The two are independent: a thread is in one fine label and in one
 * coarse one, and leaving either restores what was before in its own kind alone.
 *
 * Nothing to link: everything is in this header, hidden in the module (executable or shared object)
 * that includes it. All modules of a process share one table, so a name has one id wherever it is
 * used. C11 and later, C++11 and later, gcc and clang, Linux on x86-64 and arm64; elsewhere, and
 * with TICKSNICK_DISABLE defined before the include, everything here compiles to nothing: arguments
 * are still evaluated and type-checked.
 *
 * Limits (slot.h): TSN_LABELS_MAX ids, 0 included; TSN_SLOTS_MAX threads with labels alive at once;
 * TSN_STACK_MAX fine pairs open in one thread; TSN_CONTEXTS_MAX - 1 executions open at once,
 * less one for each thread that has ended its own; TSN_CHAIN_MAX of them inside each other;
 * TSN_LEVELS_MAX executions, coarse pairs and mounted contexts in one thread. Exceeding one is
 * counted, reported by the recorder, and otherwise harmless.
 *
 * Costs: a fine scope takes under a nanosecond, a coarse one two readings of the clock and some
 * 20 ns. The first coarse label reserves 320 MiB of address space; memory is taken as durations are
 * counted, some KiB for each coarse label in each thread.
 *
 * Id 0 is "no label". It is what a failed registration returns, and is accepted everywhere: a scope
 * of a fine id 0 is time outside every fine label, one of a coarse id 0 begins no execution.
 *
 * Signals: a handler may use labels, coarse ones included, if the thread it interrupts has used one
 * before. A thread's first use, registration, tsn_pthread_create(), tsn_release_thread(),
 * tsn_suspend(), tsn_resume() and tsn_expect_balanced() are not async-signal-safe. A handler must
 * leave what it enters: the interrupted code finds its labels as they were. (On arm64 a call or a
 * duration counted by a handler may be lost if it interrupts the counting of the very same label.)
 *
 * longjmp() past a scope leaves its label on, as does pthread_cancel() in C code built without
 * -fexceptions. C++ exceptions restore it. An execution that was left that way ends when one that
 * it was begun inside of is left, or with its thread: without a duration, and counted
 * (TSN_VIOLATION_ABANDONED).
 *
 * fork() through the C library: the child starts with the labels and executions of the forking
 * thread, no calls counted and no durations. Executions of other threads, and those that were
 * suspended, are the parent's alone: where the child ends one, nothing is counted.
 */
#ifndef TICKSNICK_H
#define TICKSNICK_H

#include "slot.h"

#if !defined(TICKSNICK_DISABLE) && !defined(TSN_ENABLED) && defined(__linux__) && \
	defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__))
#define TSN_ENABLED 1
#endif

#ifdef TSN_ENABLED
#include <errno.h>
#endif
#ifndef _WIN32
#include <pthread.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The API ---------------------------------------------------------------------------- */

/* A fine label, idle ones included, or a family of them. Copy it freely; zero is "no label". */
typedef struct tsn_fine {
	uint32_t id;
	uint32_t arity; /* rows of the family; 0: no family */
} tsn_fine_t;

/* A coarse label, or a family of them: likewise. */
typedef struct tsn_coarse {
	uint32_t id;
	uint32_t arity;
} tsn_coarse_t;

/* What a scope puts back, and what it ends. */
typedef struct tsn_scope {
	uint32_t previous; /* fine label */
	uint32_t level;	   /* 0: of a fine label; else index + 1 in levels[], or TSN_NO_LEVEL */
	uint64_t context;
} tsn_scope_t;

/*
 * What a thread is working for: an execution, or none where all is zero. Belongs to the caller,
 * holds no resources, may be copied, dropped and mounted any number of times, also after its
 * execution is over: what runs in it then is reported as stale.
 */
typedef struct tsn_captured {
	uint64_t context;
	uint32_t coarse;
	uint32_t reserved;
} tsn_context_t;

/*
 * What tsn_suspend() took off a thread; belongs to the caller and may be moved. Where executions or
 * mounted contexts are open in it, it is to be resumed once: dropped, they stay open for good.
 */
typedef struct tsn_saved {
	uint64_t context;
	uint32_t fine;
	uint32_t coarse;
	uint32_t depth;
	uint32_t lost_pairs;
	uint32_t levels_open;
	uint32_t levels_lost;
	struct tsn_frame stack[TSN_STACK_MAX];
	struct tsn_level levels[TSN_LEVELS_MAX];
} tsn_saved_t;

#define TSN_INLINE static inline __attribute__((always_inline, unused))

/*
 * TSN_FINE(identifier, name), TSN_IDLE(identifier, name), TSN_FINE_FAMILY(identifier, name, arity),
 * TSN_COARSE(identifier, name), TSN_COARSE_FAMILY(identifier, name, arity), at file scope: define a
 * static tsn_fine_t or tsn_coarse_t and register it in a constructor of priority 101, which is
 * before main() and before C++ static objects. errno is not kept; an identifier whose registration
 * failed has id 0.
 */
#define TSN_FINE(identifier, name) TSN_DEFINE(tsn_fine_t, identifier, tsn_register_fine(name))
#define TSN_IDLE(identifier, name) TSN_DEFINE(tsn_fine_t, identifier, tsn_register_idle(name))
#define TSN_FINE_FAMILY(identifier, name, arity) \
	TSN_DEFINE(tsn_fine_t, identifier, tsn_register_fine_family(name, arity))
#define TSN_COARSE(identifier, name) TSN_DEFINE(tsn_coarse_t, identifier, tsn_register_coarse(name))
#define TSN_COARSE_FAMILY(identifier, name, arity) \
	TSN_DEFINE(tsn_coarse_t, identifier, tsn_register_coarse_family(name, arity))

/*
 * Register a name, 1 to 63 bytes, which is copied; any thread, any time. The same name, kind and
 * arity returns the same id. On failure id 0 and errno: EINVAL name NULL, empty or too long, or
 * arity 0; EEXIST the name has another kind or arity; ENOSPC no id is free; ENOMEM and the like, no
 * memory for the table.
 */
TSN_INLINE tsn_fine_t tsn_register_fine(const char *name);
TSN_INLINE tsn_fine_t tsn_register_idle(const char *name);
TSN_INLINE tsn_fine_t tsn_register_fine_family(const char *name, uint32_t arity);
TSN_INLINE tsn_coarse_t tsn_register_coarse(const char *name);
TSN_INLINE tsn_coarse_t tsn_register_coarse_family(const char *name, uint32_t arity);

/*
 * One verb serves both kinds of label; op is a tsn_fine_t or a tsn_coarse_t, and anything else does
 * not compile. (_Generic in C, overloads in C++; defined at the end of this file.)
 *
 * tsn_at(family, index): row index of a family, 0 .. arity - 1. Outside of it: id 0, and counted
 * (TSN_VIOLATION_INDEX).
 *
 * TSN_SCOPE(op): the thread is in op until the enclosing block is left, then in what it was in
 * before; counts one call, and where op is coarse is one execution. TSN_SCOPE_N(op, n): the same
 * around n units of work, n >= 0; counts n calls; op is fine. Both are declarations.
 *
 * tsn_enter(op), tsn_exit(op): for boundaries that no block encloses; tsn_exit() names what it
 * closes. Fine pairs nest among themselves, up to TSN_STACK_MAX deep in a thread; a deeper one is
 * counted (TSN_VIOLATION_DEPTH), does not set its label, and must still be closed. Closing a label
 * that is not the innermost open one is counted (TSN_VIOLATION_MISMATCH); it closes all that was
 * opened since that label, or nothing if the label is not open.
 *
 * Coarse pairs nest among all that is coarse, scopes and mounted contexts included. What a
 * mismatch closes besides the label it names is abandoned: it has no duration, and each is counted
 * (TSN_VIOLATION_ABANDONED). The same holds for leaving a scope. An execution that is too deep
 * (TSN_VIOLATION_CHAIN) or finds no context (TSN_VIOLATION_CONTEXTS_FULL) does not set its label;
 * its pair must still be closed.
 */

/*
 * tsn_capture(): what the calling thread is working for now. TSN_WITH_CONTEXT(context): the thread
 * works for that, and for nothing else, until the enclosing block is left; a declaration. An
 * execution begun meanwhile is inside of it, or of nothing if it is over.
 */
TSN_INLINE tsn_context_t tsn_capture(void);
#define TSN_WITH_CONTEXT(context) \
	TSN_SCOPE_VARIABLE(tsn_scope_t, tsn_scope_leave) = tsn_mount(context)

/*
 * pthread_create(), and the new thread works for what its creator works for. Errors are those of
 * pthread_create(); ENOMEM also for want of a few bytes. Programs that do not call it do not need
 * libpthread.
 */
#ifndef _WIN32
TSN_INLINE int tsn_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
				  void *(*run)(void *), void *argument);
#endif

/*
 * At a point where the thread should be in no label: 0; or -1, the innermost open label is counted
 * as leaked (TSN_VIOLATION_LEAK; the innermost fine and the innermost coarse one, each) and the
 * thread is put outside of all labels. Executions that are still open are abandoned.
 */
TSN_INLINE int tsn_expect_balanced(void);

/* Gives the calling thread's slot back now instead of at its exit. Call counts and durations are
 * kept; open labels are forgotten, and executions abandoned. */
TSN_INLINE void tsn_release_thread(void);

/*
 * For fibers and coroutines: take all labels, open pairs, executions and mounted contexts off the
 * calling thread, and put them on the thread that goes on with the work, replacing any that it has.
 * Executions stay open meanwhile. Around a switch: saved = tsn_suspend(); switch_away();
 * tsn_resume(saved);
 */
TSN_INLINE tsn_saved_t tsn_suspend(void);
TSN_INLINE void tsn_resume(tsn_saved_t saved);

/*
 * TSN_KEEP(x): the variable x has its value here, and the compiler knows nothing about it after.
 * Without it, a computation that stays in registers may be moved into or out of the label around
 * it. Costs at most a move (clang: a store and a load).
 */

#define TSN_NO_LEVEL UINT32_MAX

#define TSN_JOIN2(a, b) a##b
#define TSN_JOIN(a, b)	TSN_JOIN2(a, b)

#ifdef __cplusplus
}
#endif

#ifndef TSN_ENABLED
#include "disabled.h"
#else

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The hot path ----------------------------------------------------------------------- */

/* Defined in every translation unit, one per module after linking; C and C++ share it. */
#define TSN_MODULE __attribute__((weak, visibility("hidden")))
#define TSN_COLD   __attribute__((weak, visibility("hidden"), noinline, cold, nothrow))
#define TSN_WARM   __attribute__((weak, visibility("hidden"), noinline, nothrow))

/* glibc has room for initial-exec variables of modules that are loaded later; other C libraries may
 * refuse those. */
#if defined(__GLIBC__) && defined(__PIC__) && !defined(__PIE__)
#define TSN_TLS_MODEL __attribute__((tls_model("initial-exec")))
#else
#define TSN_TLS_MODEL
#endif

#define TSN_FENCE()	__asm__ volatile("" : : : "memory")
#define TSN_LIKELY(x)	__builtin_expect(!!(x), 1)
#define TSN_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* clang takes memory wherever it may; gcc miscompiles alternatives (12: the value is lost). */
#ifdef __clang__
#define TSN_KEEP(x) __asm__ volatile("" : "+r,m"(x) : : "memory")
#else
#define TSN_KEEP(x) __asm__ volatile("" : "+rm"(x) : : "memory")
#endif

/* The calling thread as one module knows it. */
struct tsn_thread {
	/* NULL: not registered. First, because the kernel finds the leader's at tls_offset from the
	 * thread pointer. */
	struct tsn_slot_full *slot;
	uint32_t lost_pairs; /* tsn_enter() without a slot, whose tsn_exit() is no mismatch */
	uint32_t busy;	     /* looking for the table: labels used by malloc() and the like are lost
				meanwhile */
	/* Of the leader's only: */
	uint32_t refused;	/* tsn_leader.releases when no slot was free; 0: never refused */
	uint32_t refused_calls; /* since then */
};

extern TSN_MODULE TSN_TLS_MODEL __thread struct tsn_thread tsn_thread;
TSN_MODULE TSN_TLS_MODEL __thread struct tsn_thread tsn_thread;

/* The calling thread's slot, registering it if need be; NULL if there is none, then the calls are
 * counted as lost. */
TSN_COLD struct tsn_slot_full *tsn_slot_find(uint64_t calls);
TSN_COLD void tsn_scope_leave_slow(uint32_t previous);
TSN_COLD void tsn_enter_slow(uint32_t label);
TSN_COLD void tsn_exit_slow(uint32_t label);
TSN_COLD int tsn_balance(void);
TSN_COLD void tsn_release(void);
TSN_COLD void tsn_save(tsn_saved_t *saved);
TSN_COLD void tsn_restore(const tsn_saved_t *saved);
TSN_COLD uint32_t tsn_register(const char *name, uint32_t kind, uint32_t arity);
TSN_COLD void tsn_violate(uint32_t kind, uint32_t label);

/* coarse.h */
TSN_WARM tsn_scope_t tsn_coarse_scope(tsn_coarse_t op);
TSN_WARM void tsn_coarse_leave(tsn_scope_t scope);
TSN_WARM void tsn_coarse_enter(tsn_coarse_t op);
TSN_WARM void tsn_coarse_exit(tsn_coarse_t op);
TSN_WARM tsn_scope_t tsn_mount(tsn_context_t context);

/* The trailing declaration takes the user's semicolon. */
#define TSN_DEFINE(type, identifier, registration)                                  \
	static __attribute__((unused)) type identifier;                             \
	static __attribute__((constructor(101))) void tsn_define_##identifier(void) \
	{                                                                           \
		identifier = registration;                                          \
	}                                                                           \
	struct tsn_fine

#define TSN_SCOPE_VARIABLE(type, leave) \
	__attribute__((cleanup(leave), unused)) type TSN_JOIN(tsn_scope_, __COUNTER__)

/* Work before and after stays on its side of the store, which is one instruction: the kernel
 * interrupts, it does not race. */
TSN_INLINE void tsn_label_set(struct tsn_slot_full *slot, uint32_t label)
{
	TSN_FENCE();
	__atomic_store_n(&slot->head.fine, label, __ATOMIC_RELAXED);
	TSN_FENCE();
}

TSN_INLINE void tsn_label_count(struct tsn_slot_full *slot, uint32_t label, uint64_t n)
{
#ifdef __x86_64__
	/* One instruction, so that a signal handler that counts the same label loses nothing. */
	__asm__ volatile("addq %1, %0" : "+m"(slot->counts[label]) : "er"(n) : "cc");
#else
	slot->counts[label] += n;
#endif
}

TSN_INLINE tsn_scope_t tsn_fine_scope(tsn_fine_t op, uint64_t n)
{
	struct tsn_slot_full *slot = tsn_thread.slot;
	tsn_scope_t scope = {0, 0, 0};

	if (!TSN_LIKELY(slot)) {
		slot = tsn_slot_find(n);
		if (!slot)
			return scope;
	}
	scope.previous = slot->head.fine;
	tsn_label_set(slot, op.id);
	tsn_label_count(slot, op.id, n);
	return scope;
}

/*
 * The slot of the thread that runs now: a fiber may have gone on in another than it entered in.
 * Compilers keep addresses of thread-local variables across calls. On x86-64 the address is in the
 * instruction; on arm64 they keep the thread pointer, so take a fresh one and only the distance
 * from them.
 */
TSN_INLINE struct tsn_slot_full *tsn_slot_now(void)
{
#ifdef __aarch64__
	uint64_t distance = (uint64_t)&tsn_thread.slot - (uint64_t)__builtin_thread_pointer();
	uint64_t pointer;

	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(pointer) : : "memory");
	return *(struct tsn_slot_full **)(pointer + distance);
#else
	TSN_FENCE();
	return tsn_thread.slot;
#endif
}

TSN_INLINE void tsn_scope_leave(tsn_scope_t *scope)
{
	struct tsn_slot_full *slot;

	if (scope->level) { /* the compiler knows */
		tsn_coarse_leave(*scope);
		return;
	}
	slot = tsn_slot_now();
	if (TSN_LIKELY(slot))
		tsn_label_set(slot, scope->previous);
	else
		tsn_scope_leave_slow(scope->previous);
}

/* The depth moves before the frame is written: a signal handler in between uses the frame above. */
TSN_INLINE void tsn_pair_open(struct tsn_slot_full *slot, uint32_t label)
{
	struct tsn_frame *frame = &slot->stack[slot->head.depth];

	slot->head.depth++;
	TSN_FENCE();
	/* Atomic lest a compiler join the two in a vector register, which takes five times as long.
	 */
	__atomic_store_n(&frame->label, label, __ATOMIC_RELAXED);
	__atomic_store_n(&frame->previous, slot->head.fine, __ATOMIC_RELAXED);
	tsn_label_set(slot, label);
	tsn_label_count(slot, label, 1);
}

/* Closes the pair at index, and all that are open above it. */
TSN_INLINE void tsn_pair_close(struct tsn_slot_full *slot, uint32_t index)
{
	tsn_label_set(slot, slot->stack[index].previous);
	slot->head.depth = index;
}

TSN_INLINE void tsn_fine_enter(tsn_fine_t op)
{
	struct tsn_slot_full *slot = tsn_thread.slot;

	if (TSN_LIKELY(slot && slot->head.depth < TSN_STACK_MAX))
		tsn_pair_open(slot, op.id);
	else
		tsn_enter_slow(op.id);
}

TSN_INLINE void tsn_fine_exit(tsn_fine_t op)
{
	struct tsn_slot_full *slot = tsn_slot_now();
	uint32_t top = slot ? slot->head.depth - 1 : TSN_STACK_MAX;

	if (TSN_LIKELY(top < TSN_STACK_MAX && slot->stack[top].label == op.id))
		tsn_pair_close(slot, top);
	else
		tsn_exit_slow(op.id);
}

TSN_INLINE uint32_t tsn_row(uint32_t id, uint32_t arity, uint64_t index)
{
	if (TSN_LIKELY(index < arity))
		return id + (uint32_t)index;
	tsn_violate(TSN_VIOLATION_INDEX, id);
	return 0;
}

TSN_INLINE tsn_fine_t tsn_fine_at(tsn_fine_t family, uint64_t index)
{
	tsn_fine_t row = {tsn_row(family.id, family.arity, index), 0};

	return row;
}

TSN_INLINE tsn_coarse_t tsn_coarse_at(tsn_coarse_t family, uint64_t index)
{
	tsn_coarse_t row = {tsn_row(family.id, family.arity, index), 0};

	return row;
}

TSN_INLINE tsn_fine_t tsn_register_fine(const char *name)
{
	tsn_fine_t label = {tsn_register(name, TSN_KIND_FINE, 0), 0};

	return label;
}

TSN_INLINE tsn_fine_t tsn_register_idle(const char *name)
{
	tsn_fine_t label = {tsn_register(name, TSN_KIND_IDLE, 0), 0};

	return label;
}

TSN_INLINE tsn_coarse_t tsn_register_coarse(const char *name)
{
	tsn_coarse_t label = {tsn_register(name, TSN_KIND_COARSE, 0), 0};

	return label;
}

TSN_INLINE uint32_t tsn_register_family(const char *name, uint32_t kind, uint32_t arity)
{
	if (arity)
		return tsn_register(name, kind, arity);
	errno = EINVAL;
	return 0;
}

TSN_INLINE tsn_fine_t tsn_register_fine_family(const char *name, uint32_t arity)
{
	tsn_fine_t family = {tsn_register_family(name, TSN_KIND_FINE, arity), 0};

	family.arity = family.id ? arity : 0;
	return family;
}

TSN_INLINE tsn_coarse_t tsn_register_coarse_family(const char *name, uint32_t arity)
{
	tsn_coarse_t family = {tsn_register_family(name, TSN_KIND_COARSE, arity), 0};

	family.arity = family.id ? arity : 0;
	return family;
}

TSN_INLINE int tsn_expect_balanced(void)
{
	return tsn_balance();
}

TSN_INLINE void tsn_release_thread(void)
{
	tsn_release();
}

TSN_INLINE tsn_saved_t tsn_suspend(void)
{
	tsn_saved_t saved;

	tsn_save(&saved);
	return saved;
}

TSN_INLINE void tsn_resume(tsn_saved_t saved)
{
	tsn_restore(&saved);
}

#ifdef __cplusplus
}
#endif

#include "module.h"
#include "coarse.h"
#include "durations.h"
#include "contexts.h"
#include "leader.h"

#endif /* TSN_ENABLED */

/* ---- One verb for both kinds ------------------------------------------------------------ */

#define TSN_SCOPE(op) TSN_SCOPE_VARIABLE(tsn_scope_t, tsn_scope_leave) = tsn_scope_enter(op)
#define TSN_SCOPE_N(op, n) \
	TSN_SCOPE_VARIABLE(tsn_scope_t, tsn_scope_leave) = tsn_fine_scope((op), (n))

TSN_INLINE tsn_scope_t tsn_fine_scope_once(tsn_fine_t op)
{
	return tsn_fine_scope(op, 1);
}

#ifdef __cplusplus

TSN_INLINE tsn_scope_t tsn_scope_enter(tsn_fine_t op)
{
	return tsn_fine_scope_once(op);
}

TSN_INLINE tsn_scope_t tsn_scope_enter(tsn_coarse_t op)
{
	return tsn_coarse_scope(op);
}

TSN_INLINE void tsn_enter(tsn_fine_t op)
{
	tsn_fine_enter(op);
}

TSN_INLINE void tsn_enter(tsn_coarse_t op)
{
	tsn_coarse_enter(op);
}

TSN_INLINE void tsn_exit(tsn_fine_t op)
{
	tsn_fine_exit(op);
}

TSN_INLINE void tsn_exit(tsn_coarse_t op)
{
	tsn_coarse_exit(op);
}

TSN_INLINE tsn_fine_t tsn_at(tsn_fine_t family, uint64_t index)
{
	return tsn_fine_at(family, index);
}

TSN_INLINE tsn_coarse_t tsn_at(tsn_coarse_t family, uint64_t index)
{
	return tsn_coarse_at(family, index);
}

#else

#define TSN_BY_KIND(op, fine, coarse) _Generic((op), tsn_fine_t : fine, tsn_coarse_t : coarse)

#define tsn_scope_enter(op)   TSN_BY_KIND(op, tsn_fine_scope_once, tsn_coarse_scope)(op)
#define tsn_enter(op)	      TSN_BY_KIND(op, tsn_fine_enter, tsn_coarse_enter)(op)
#define tsn_exit(op)	      TSN_BY_KIND(op, tsn_fine_exit, tsn_coarse_exit)(op)
#define tsn_at(family, index) TSN_BY_KIND(family, tsn_fine_at, tsn_coarse_at)((family), (index))

#endif

#endif
