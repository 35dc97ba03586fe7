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
 *
 *	void parse_record(int depth)
 *	{
 *		TSN_SCOPE(parse);              // until the block is left, however it is left
 *		{
 *			TSN_SCOPE(tsn_at(level, depth));
 *			...
 *		}
 *	}
 *
 * Nothing to link: everything is in this header, hidden in the module (executable or shared object)
 * that includes it. All modules of a process share one table, so a name has one id wherever it is
 * used. C11 and later, C++11 and later, gcc and clang, Linux on x86-64 and arm64; elsewhere, and
 * with TICKSNICK_DISABLE defined before the include, everything here compiles to nothing: arguments
 * are still evaluated and type-checked.
 *
 * Limits (slot.h): TSN_LABELS_MAX ids, 0 included; TSN_SLOTS_MAX threads with labels alive at once;
 * TSN_STACK_MAX pairs open in one thread. Exceeding one is counted, reported by the recorder, and
 * otherwise harmless.
 *
 * Id 0 is "no label". It is what a failed registration returns, and is accepted everywhere: a scope
 * of id 0 is time outside every label.
 *
 * Signals: a handler may use labels if the thread it interrupts has used one before. A thread's
 * first use, registration, tsn_release_thread() and tsn_expect_balanced() are not
 * async-signal-safe. A handler must leave what it enters: the interrupted code finds its labels as
 * they were. (On arm64 a call counted by a handler may be lost if it interrupts the counting of the
 * very same label.)
 *
 * longjmp() past a scope leaves its label on, as does pthread_cancel() in C code built without
 * -fexceptions. C++ exceptions restore it.
 *
 * fork() through the C library: the child starts with the labels of the forking thread and no calls
 * counted.
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

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The API
 * ----------------------------------------------------------------------------------------------------------
 */

/* A fine label, idle ones included, or a family of them. Copy it freely; zero is "no label". */
typedef struct tsn_fine {
	uint32_t id;
	uint32_t arity; /* rows of the family; 0: no family */
} tsn_fine_t;

/* What TSN_SCOPE puts back. */
typedef struct tsn_scope {
	uint32_t previous;
} tsn_scope_t;

/* What tsn_suspend() took off a thread; belongs to the caller, holds no resources, may be copied or
 * dropped. */
typedef struct tsn_saved {
	uint64_t context;
	uint32_t fine;
	uint32_t coarse;
	uint32_t depth;
	uint32_t lost_pairs;
	struct tsn_frame stack[TSN_STACK_MAX];
} tsn_saved_t;

#define TSN_INLINE static inline __attribute__((always_inline, unused))

/*
 * TSN_FINE(identifier, name), TSN_IDLE(identifier, name), TSN_FINE_FAMILY(identifier, name, arity),
 * at file scope: define a static tsn_fine_t and register it in a constructor of priority 101, which
 * is before main() and before C++ static objects. errno is not kept; an identifier whose
 * registration failed has id 0.
 */
#define TSN_FINE(identifier, name) TSN_DEFINE(identifier, tsn_register_fine(name))
#define TSN_IDLE(identifier, name) TSN_DEFINE(identifier, tsn_register_idle(name))
#define TSN_FINE_FAMILY(identifier, name, arity) \
	TSN_DEFINE(identifier, tsn_register_fine_family(name, arity))

/*
 * Register a name, 1 to 63 bytes, which is copied; any thread, any time. The same name, kind and
 * arity returns the same id. On failure id 0 and errno: EINVAL name NULL, empty or too long, or
 * arity 0; EEXIST the name has another kind or arity; ENOSPC no id is free; ENOMEM and the like, no
 * memory for the table.
 */
TSN_INLINE tsn_fine_t tsn_register_fine(const char *name);
TSN_INLINE tsn_fine_t tsn_register_idle(const char *name);
TSN_INLINE tsn_fine_t tsn_register_fine_family(const char *name, uint32_t arity);

/* Row index of a family, 0 .. arity - 1. Outside of it: id 0, and counted (TSN_VIOLATION_INDEX). */
TSN_INLINE tsn_fine_t tsn_at(tsn_fine_t family, uint64_t index);

/*
 * TSN_SCOPE(op): the thread is in op until the enclosing block is left, then in what it was in
 * before; counts one call. TSN_SCOPE_N(op, n): the same around n units of work, n >= 0; counts n
 * calls. Both are declarations.
 */
#define TSN_SCOPE(op) TSN_SCOPE_N(op, 1)
/* TSN_SCOPE_N is defined below, once for each way of building. */

/*
 * For boundaries that no block encloses: tsn_exit() names what it closes. Pairs nest, up to
 * TSN_STACK_MAX deep in a thread; a deeper one is counted (TSN_VIOLATION_DEPTH), does not set its
 * label, and must still be closed. Closing a label that is not the innermost open one is counted
 * (TSN_VIOLATION_MISMATCH); it closes all that was opened since that label, or nothing if the label
 * is not open.
 */
TSN_INLINE void tsn_enter(tsn_fine_t op);
TSN_INLINE void tsn_exit(tsn_fine_t op);

/*
 * At a point where the thread should be in no label: 0; or -1, the innermost open label is counted
 * as leaked (TSN_VIOLATION_LEAK) and the thread is put outside of all labels.
 */
TSN_INLINE int tsn_expect_balanced(void);

/* Gives the calling thread's slot back now instead of at its exit. Call counts are kept; open
 * labels are forgotten. */
TSN_INLINE void tsn_release_thread(void);

/*
 * For fibers and coroutines: take all labels and open pairs off the calling thread, and put them on
 * the thread that goes on with the work, replacing any that it has. Around a switch: saved =
 * tsn_suspend(); switch_away(); tsn_resume(saved);
 */
TSN_INLINE tsn_saved_t tsn_suspend(void);
TSN_INLINE void tsn_resume(tsn_saved_t saved);

/*
 * TSN_KEEP(x): the variable x has its value here, and the compiler knows nothing about it after.
 * Without it, a computation that stays in registers may be moved into or out of the label around
 * it. Costs at most a move (clang: a store and a load).
 */

#define TSN_JOIN2(a, b) a##b
#define TSN_JOIN(a, b)	TSN_JOIN2(a, b)

#ifndef TSN_ENABLED

/* ---- Compiled to nothing
 * ---------------------------------------------------------------------------------------------- */

#define TSN_DEFINE(identifier, registration) \
	static const __attribute__((unused)) tsn_fine_t identifier = {0, 0}

#define TSN_SCOPE_N(op, n)                                                      \
	__attribute__((unused)) tsn_scope_t TSN_JOIN(tsn_scope_, __COUNTER__) = \
		tsn_scope_enter((op), (n))

#define TSN_KEEP(x) ((void)(x))

TSN_INLINE tsn_scope_t tsn_scope_enter(tsn_fine_t op, uint64_t n)
{
	tsn_scope_t scope = {0};

	(void)op;
	(void)n;
	return scope;
}

TSN_INLINE tsn_fine_t tsn_register_fine(const char *name)
{
	tsn_fine_t none = {0, 0};

	(void)name;
	return none;
}

TSN_INLINE tsn_fine_t tsn_register_idle(const char *name)
{
	return tsn_register_fine(name);
}

TSN_INLINE tsn_fine_t tsn_register_fine_family(const char *name, uint32_t arity)
{
	(void)arity;
	return tsn_register_fine(name);
}

TSN_INLINE tsn_fine_t tsn_at(tsn_fine_t family, uint64_t index)
{
	(void)index;
	return family;
}

TSN_INLINE void tsn_enter(tsn_fine_t op)
{
	(void)op;
}

TSN_INLINE void tsn_exit(tsn_fine_t op)
{
	(void)op;
}

TSN_INLINE int tsn_expect_balanced(void)
{
	return 0;
}

TSN_INLINE void tsn_release_thread(void)
{
}

TSN_INLINE tsn_saved_t tsn_suspend(void)
{
	tsn_saved_t saved;

	saved.depth = 0;
	return saved;
}

TSN_INLINE void tsn_resume(tsn_saved_t saved)
{
	(void)saved;
}

#ifdef __cplusplus
}
#endif

#else /* TSN_ENABLED */

/* ---- The hot path
 * -----------------------------------------------------------------------------------------------------
 */

/* Defined in every translation unit, one per module after linking; C and C++ share it. */
#define TSN_MODULE __attribute__((weak, visibility("hidden")))
#define TSN_COLD   __attribute__((weak, visibility("hidden"), noinline, cold, nothrow))

/* glibc has room for initial-exec variables of modules that are loaded later; other C libraries may
 * refuse those. */
#if defined(__GLIBC__) && defined(__PIC__) && !defined(__PIE__)
#define TSN_TLS_MODEL __attribute__((tls_model("initial-exec")))
#else
#define TSN_TLS_MODEL
#endif

#define TSN_FENCE()   __asm__ volatile("" : : : "memory")
#define TSN_LIKELY(x) __builtin_expect(!!(x), 1)

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

/* The trailing declaration takes the user's semicolon. */
#define TSN_DEFINE(identifier, registration)                                        \
	static __attribute__((unused)) tsn_fine_t identifier;                       \
	static __attribute__((constructor(101))) void tsn_define_##identifier(void) \
	{                                                                           \
		identifier = registration;                                          \
	}                                                                           \
	struct tsn_fine

#define TSN_SCOPE_N(op, n)                                                      \
	__attribute__((cleanup(tsn_scope_leave), unused)) tsn_scope_t TSN_JOIN( \
		tsn_scope_, __COUNTER__) = tsn_scope_enter((op), (n))

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

TSN_INLINE tsn_scope_t tsn_scope_enter(tsn_fine_t op, uint64_t n)
{
	struct tsn_slot_full *slot = tsn_thread.slot;
	tsn_scope_t scope = {0};

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
	struct tsn_slot_full *slot = tsn_slot_now();

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

TSN_INLINE void tsn_enter(tsn_fine_t op)
{
	struct tsn_slot_full *slot = tsn_thread.slot;

	if (TSN_LIKELY(slot && slot->head.depth < TSN_STACK_MAX))
		tsn_pair_open(slot, op.id);
	else
		tsn_enter_slow(op.id);
}

TSN_INLINE void tsn_exit(tsn_fine_t op)
{
	struct tsn_slot_full *slot = tsn_slot_now();
	uint32_t top = slot ? slot->head.depth - 1 : TSN_STACK_MAX;

	if (TSN_LIKELY(top < TSN_STACK_MAX && slot->stack[top].label == op.id))
		tsn_pair_close(slot, top);
	else
		tsn_exit_slow(op.id);
}

TSN_INLINE tsn_fine_t tsn_at(tsn_fine_t family, uint64_t index)
{
	tsn_fine_t row = {0, 0};

	if (TSN_LIKELY(index < family.arity))
		row.id = family.id + (uint32_t)index;
	else
		tsn_violate(TSN_VIOLATION_INDEX, family.id);
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

TSN_INLINE tsn_fine_t tsn_register_fine_family(const char *name, uint32_t arity)
{
	tsn_fine_t family = {0, 0};

	if (!arity) {
		errno = EINVAL;
		return family;
	}
	family.id = tsn_register(name, TSN_KIND_FINE, arity);
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
#include "leader.h"

#endif /* TSN_ENABLED */
#endif
