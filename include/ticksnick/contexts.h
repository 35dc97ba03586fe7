/* SPDX-License-Identifier: MIT */
/*
 * contexts.h - executions of coarse labels, begun, mounted and ended. Included by ticksnick.h;
 * nothing in here is for applications. Of the leader's module only.
 *
 * A context is free (in a thread's spares[] or on the list of free ones), open, or closed and still
 * mounted. Who takes its state from open or closed to free is the one that may give it away. A
 * mount counts itself first and then looks whether the execution is still the one it means; who
 * frees it looks for mounts afterwards, and takes the freeing back if there is one. So one of them
 * sees the other.
 *
 * No function here takes a lock, but where no context is to be had.
 */
#ifndef TICKSNICK_CONTEXTS_H
#define TICKSNICK_CONTEXTS_H

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of context.parent: whose opener is gone (fork), so that its last holder ends it. */
#define TSN_PARENT_GONE UINT32_MAX

#define TSN_CONTEXTS_PLENTY 1024 /* free ones, at which threads may keep spares again */
#define TSN_GATHER_EVERY    1024 /* refusals between two searches for contexts */

struct tsn_pool {
	uint64_t free;	  /* the list's head: changes << 32 | length << 16 | index */
	uint32_t scarce;  /* threads keep no spares */
	uint32_t refused; /* since contexts became scarce */
};

TSN_COLD int tsn_contexts_open(void);
TSN_COLD uint32_t tsn_contexts_pop(void);
TSN_COLD void tsn_contexts_push(uint32_t index);
TSN_COLD uint32_t tsn_contexts_unused(void);
TSN_COLD uint32_t tsn_contexts_gather(void);
TSN_COLD void tsn_contexts_spill(struct tsn_slot_full *slot, uint32_t first);
TSN_COLD void tsn_contexts_forget(struct tsn_slot_full *slot);
TSN_COLD uint32_t tsn_context_find(struct tsn_slot_full *slot);
TSN_WARM void tsn_context_settle(struct tsn_slot_full *slot, struct tsn_context *context);
TSN_WARM void tsn_context_let_go(struct tsn_slot_full *slot, uint64_t handle);
TSN_COLD void tsn_context_abandon(struct tsn_slot_full *slot, uint64_t handle, uint32_t label);
TSN_COLD uint32_t tsn_level_refuse(struct tsn_slot_full *slot, uint32_t label, uint32_t kind,
				   uint32_t violation);
TSN_WARM uint32_t tsn_level_begin(struct tsn_slot_full *slot, uint32_t label, uint32_t kind);
TSN_WARM void tsn_level_end(struct tsn_slot_full *slot, uint32_t level);
TSN_WARM uint32_t tsn_level_mount(struct tsn_slot_full *slot, uint64_t handle, uint32_t coarse);
TSN_COLD void tsn_level_unwind(struct tsn_slot_full *slot, uint32_t level);

/* leader.h */
TSN_COLD void tsn_leader_reclaim(uint32_t tid);
TSN_COLD void tsn_leader_violate(uint32_t kind, uint32_t label);

extern TSN_MODULE struct tsn_pool tsn_pool;
TSN_MODULE struct tsn_pool tsn_pool;

/* Makes contexts and durations, under the lock; 0 or an errno. Again: 0. */
TSN_COLD int tsn_contexts_open(void)
{
	const uint64_t durations_size = (uint64_t)TSN_DURATIONS_MAX * sizeof(struct tsn_durations);
	const uint64_t contexts_size = TSN_CONTEXTS_MAX * sizeof(struct tsn_context);
	struct tsn_process *process = &tsn_process_descriptor;
	char *memory;

	if (process->contexts)
		return 0;
	/* PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE */
	memory = (char *)tsn_mmap(NULL, durations_size + contexts_size, 0x1 | 0x2,
				  0x2 | 0x20 | 0x4000, -1, 0);
	if (memory == (char *)-1)
		return errno;
	tsn_madvise(memory, durations_size, 15 /* MADV_NOHUGEPAGE */);
	process->clock = tsn_clock_choose();
	process->contexts_max = TSN_CONTEXTS_MAX;
	process->context_stride = sizeof(struct tsn_context);
	process->contexts_used = 1; /* index 0 is nobody's */
	process->durations_max = TSN_DURATIONS_MAX;
	process->durations_stride = sizeof(struct tsn_durations);
	__atomic_store_n(&process->durations, (uint64_t)memory, __ATOMIC_RELEASE);
	__atomic_store_n(&process->contexts, (uint64_t)memory + durations_size, __ATOMIC_RELEASE);
	return 0;
}

/* ---- Free contexts ---------------------------------------------------------------------- */

TSN_INLINE struct tsn_context *tsn_context_at(uint32_t index)
{
	return (struct tsn_context *)tsn_process_descriptor.contexts + index;
}

TSN_COLD void tsn_contexts_push(uint32_t index)
{
	uint64_t head = __atomic_load_n(&tsn_pool.free, __ATOMIC_RELAXED), next;

	do {
		__atomic_store_n(&tsn_context_at(index)->parent, (uint32_t)(head & 0xffff),
				 __ATOMIC_RELAXED);
		next = ((head >> 32) + 1) << 32 | (((head >> 16 & 0xffff) + 1) << 16) | index;
	} while (!__atomic_compare_exchange_n(&tsn_pool.free, &head, next, 0, __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED));
	if ((next >> 16 & 0xffff) >= TSN_CONTEXTS_PLENTY)
		__atomic_store_n(&tsn_pool.scarce, 0, __ATOMIC_RELAXED);
}

/* What it reads of a context that another thread has taken meanwhile is not used: the head has
 * changed. */
TSN_COLD uint32_t tsn_contexts_pop(void)
{
	uint64_t head = __atomic_load_n(&tsn_pool.free, __ATOMIC_ACQUIRE), next;
	uint32_t index;

	do {
		index = (uint32_t)(head & 0xffff);
		if (!index)
			return 0;
		next = __atomic_load_n(&tsn_context_at(index)->parent, __ATOMIC_RELAXED) & 0xffff;
		next |= ((head >> 32) + 1) << 32 | (((head >> 16 & 0xffff) - 1) << 16);
	} while (!__atomic_compare_exchange_n(&tsn_pool.free, &head, next, 0, __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
	return index;
}

/* One that was never used. */
TSN_COLD uint32_t tsn_contexts_unused(void)
{
	uint32_t *used = &tsn_process_descriptor.contexts_used;
	uint32_t index = __atomic_load_n(used, __ATOMIC_RELAXED);

	do {
		if (index >= TSN_CONTEXTS_MAX)
			return 0;
	} while (!__atomic_compare_exchange_n(used, &index, index + 1, 0, __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED));
	return index;
}

/* Gives back the slot's spares, from the first one on. */
TSN_COLD void tsn_contexts_spill(struct tsn_slot_full *slot, uint32_t first)
{
	uint32_t i, index;

	for (i = first; i < TSN_SPARES_MAX; i++) {
		index = __atomic_exchange_n(&slot->spares[i], 0, __ATOMIC_ACQ_REL);
		if (index)
			tsn_contexts_push(index);
	}
}

/*
 * None was free: takes what other threads keep, all but their first, and what threads held that
 * died without a word. Done once, then now and then; meanwhile all that becomes free is free for
 * all.
 */
TSN_COLD uint32_t tsn_contexts_gather(void)
{
	uint64_t signals;
	uint32_t i;

	if (__atomic_load_n(&tsn_pool.scarce, __ATOMIC_RELAXED) &&
	    __atomic_add_fetch(&tsn_pool.refused, 1, __ATOMIC_RELAXED) % TSN_GATHER_EVERY)
		return 0;
	signals = tsn_leader_lock();
	__atomic_store_n(&tsn_pool.scarce, 1, __ATOMIC_RELAXED);
	for (i = 0; i < tsn_process_descriptor.slots_used; i++)
		tsn_contexts_spill(tsn_leader_slot_at(i), 1);
	tsn_leader_reclaim(0);
	tsn_leader_unlock(signals);
	return tsn_contexts_pop();
}

/* One instruction on x86-64, or one that notices: a signal handler may do the same at any point. */
TSN_INLINE int tsn_spare_swap(uint32_t *spare, uint32_t from, uint32_t to)
{
#ifdef __x86_64__
	uint8_t done;

	__asm__ volatile("cmpxchgl %3, %1\n\tsete %0"
			 : "=q"(done), "+m"(*spare), "+a"(from)
			 : "r"(to)
			 : "cc", "memory");
	return done;
#else
	return __atomic_compare_exchange_n(spare, &from, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
#endif
}

/* A free context for the calling thread, whose slot it is; index, or 0. The first spare is the
 * thread's alone. */
TSN_INLINE uint32_t tsn_context_take(struct tsn_slot_full *slot)
{
	uint32_t index = slot->spares[0];

	if (TSN_LIKELY(index && tsn_spare_swap(&slot->spares[0], index, 0)))
		return index;
	return tsn_context_find(slot);
}

TSN_COLD uint32_t tsn_context_find(struct tsn_slot_full *slot)
{
	uint32_t i, index;

	for (i = 1; i < TSN_SPARES_MAX; i++) {
		if (!slot->spares[i])
			continue;
		index = __atomic_exchange_n(&slot->spares[i], 0, __ATOMIC_ACQ_REL);
		if (index)
			return index;
	}
	index = tsn_contexts_pop();
	if (!index)
		index = tsn_contexts_unused();
	return index ? index : tsn_contexts_gather();
}

/* Others only take from spares, so that one that is empty stays empty. */
TSN_INLINE void tsn_context_put(struct tsn_slot_full *slot, uint32_t index)
{
	uint32_t i;

	for (i = 0; i < TSN_SPARES_MAX && !tsn_pool.scarce; i++) {
		if (!slot->spares[i] && tsn_spare_swap(&slot->spares[i], 0, index))
			return;
	}
	tsn_contexts_push(index);
}

/* ---- State ------------------------------------------------------------------------------ */

/* Generation and state, in one word as they stand in memory. */
TSN_INLINE uint64_t tsn_context_word(uint32_t generation, uint32_t state)
{
	return (uint64_t)state << 32 | generation;
}

TSN_INLINE uint64_t *tsn_context_state(struct tsn_context *context)
{
	return (uint64_t *)(void *)context;
}

TSN_INLINE int tsn_context_move(struct tsn_context *context, uint32_t generation, uint32_t from,
				uint32_t to)
{
	uint64_t word = tsn_context_word(generation, from);

	return __atomic_compare_exchange_n(tsn_context_state(context), &word,
					   tsn_context_word(generation, to), 0, __ATOMIC_SEQ_CST,
					   __ATOMIC_RELAXED);
}

/* The context that a handle names, whether or not it is still that execution's; NULL: none. */
TSN_INLINE struct tsn_context *tsn_context_named(uint64_t handle)
{
	const uint32_t index = (uint32_t)handle;

	if (!index || index >= TSN_CONTEXTS_MAX || !tsn_process_descriptor.contexts)
		return NULL;
	return tsn_context_at(index);
}

/* NULL where the execution is over, or there is none. */
TSN_INLINE struct tsn_context *tsn_context_if_open(uint64_t handle)
{
	struct tsn_context *context = tsn_context_named(handle);

	if (context && __atomic_load_n(tsn_context_state(context), __ATOMIC_ACQUIRE) ==
			       tsn_context_word((uint32_t)(handle >> 32), TSN_CONTEXT_OPEN))
		return context;
	return NULL;
}

/* Frees a closed context that nobody holds. */
TSN_WARM void tsn_context_settle(struct tsn_slot_full *slot, struct tsn_context *context)
{
	uint64_t word;

	for (;;) {
		word = __atomic_load_n(tsn_context_state(context), __ATOMIC_SEQ_CST);
		if (word >> 32 != TSN_CONTEXT_CLOSED ||
		    __atomic_load_n(&context->holders, __ATOMIC_SEQ_CST) ||
		    !tsn_context_move(context, (uint32_t)word, TSN_CONTEXT_CLOSED,
				      TSN_CONTEXT_FREE))
			return;
		if (!__atomic_load_n(&context->holders, __ATOMIC_SEQ_CST)) {
			tsn_context_put(slot, (uint32_t)(context - tsn_context_at(0)));
			return;
		}
		/* Nobody else moves it: it was given to nobody. */
		__atomic_store_n(tsn_context_state(context), word, __ATOMIC_SEQ_CST);
	}
}

/*
 * Ends an execution; false: it was over. now: by tsn_clock_now().
 *
 * Where nobody holds it there is no locked instruction, which would take a tenth of the whole. So a
 * thread that mounts the execution at this very moment may still find it open, and hold a context
 * that is used again. That does no harm: its slot has the old generation, so it is stale, as it
 * should be, and the new execution is settled when it lets go.
 */
TSN_INLINE int tsn_context_close(struct tsn_slot_full *slot, uint64_t handle, uint64_t now)
{
	struct tsn_context *context = tsn_context_at((uint32_t)handle);
	const uint32_t generation = (uint32_t)(handle >> 32);

	/* Before the state moves: from then on the last holder may give the context away. */
	if (__atomic_load_n(tsn_context_state(context), __ATOMIC_ACQUIRE) !=
	    tsn_context_word(generation, TSN_CONTEXT_OPEN))
		return 0;
	__atomic_store_n(&context->opened, now, __ATOMIC_RELAXED);
	if (TSN_LIKELY(!__atomic_load_n(&context->holders, __ATOMIC_RELAXED))) {
		__atomic_store_n(&context->state, TSN_CONTEXT_FREE, __ATOMIC_RELEASE);
		tsn_context_put(slot, (uint32_t)handle);
		return 1;
	}
	if (!tsn_context_move(context, generation, TSN_CONTEXT_OPEN, TSN_CONTEXT_CLOSED))
		return 0;
	tsn_context_settle(slot, context);
	return 1;
}

/* Keeps the context of an execution from being used again; false: it may already have been. */
TSN_INLINE int tsn_context_hold(struct tsn_slot_full *slot, uint64_t handle)
{
	struct tsn_context *context = tsn_context_named(handle);
	const uint32_t generation = (uint32_t)(handle >> 32);
	uint64_t word;

	if (!context || __atomic_load_n(&context->generation, __ATOMIC_ACQUIRE) != generation)
		return 0;
	__atomic_fetch_add(&context->holders, 1, __ATOMIC_SEQ_CST);
	word = __atomic_load_n(tsn_context_state(context), __ATOMIC_SEQ_CST);
	if (word == tsn_context_word(generation, TSN_CONTEXT_OPEN) ||
	    word == tsn_context_word(generation, TSN_CONTEXT_CLOSED))
		return 1;
	tsn_context_let_go(slot, handle);
	return 0;
}

TSN_WARM void tsn_context_let_go(struct tsn_slot_full *slot, uint64_t handle)
{
	struct tsn_context *context = tsn_context_at((uint32_t)handle);
	uint32_t holders = __atomic_load_n(&context->holders, __ATOMIC_RELAXED);

	/* None: a mount that was suspended while its process was forked. */
	do {
		if (!holders)
			return;
	} while (!__atomic_compare_exchange_n(&context->holders, &holders, holders - 1, 0,
					      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	if (holders > 1)
		return;
	if (context->parent == TSN_PARENT_GONE)
		tsn_context_move(context, (uint32_t)(handle >> 32), TSN_CONTEXT_OPEN,
				 TSN_CONTEXT_CLOSED);
	tsn_context_settle(slot, context);
}

TSN_COLD void tsn_context_abandon(struct tsn_slot_full *slot, uint64_t handle, uint32_t label)
{
	if (tsn_context_close(slot, handle, tsn_clock_now()))
		tsn_leader_violate(TSN_VIOLATION_ABANDONED, label);
}

/* ---- Levels ----------------------------------------------------------------------------- */

/* The place is taken before it is written: a signal handler in between uses the one above. */
TSN_INLINE void tsn_level_push(struct tsn_slot_full *slot, uint64_t context, uint32_t coarse,
			       uint32_t kind)
{
	struct tsn_level *level = &slot->levels[slot->levels_open];

	slot->levels_open++;
	TSN_FENCE();
	level->context = context;
	level->previous = slot->head.context;
	level->previous_coarse = slot->head.coarse;
	level->coarse = (uint16_t)coarse;
	level->kind = (uint16_t)kind;
	TSN_FENCE();
}

/* A pair that has no execution is still to be closed, a scope is nothing. */
TSN_COLD uint32_t tsn_level_refuse(struct tsn_slot_full *slot, uint32_t label, uint32_t kind,
				   uint32_t violation)
{
	if (violation)
		tsn_leader_violate(violation, label);
	if (kind != TSN_LEVEL_PAIR)
		return TSN_NO_LEVEL;
	if (slot->levels_open == TSN_LEVELS_MAX)
		slot->levels_lost++;
	else
		tsn_level_push(slot, 0, label, TSN_LEVEL_VOID);
	return TSN_NO_LEVEL;
}

/* Begins an execution of label in the calling thread, whose slot it is. Its level, or
 * TSN_NO_LEVEL. */
TSN_WARM uint32_t tsn_level_begin(struct tsn_slot_full *slot, uint32_t label, uint32_t kind)
{
	const struct tsn_context *outer = tsn_context_if_open(slot->head.context);
	const uint32_t level = slot->levels_open;
	struct tsn_context *context;
	uint32_t index, generation;

	if (!label)
		return tsn_level_refuse(slot, 0, kind, 0);
	tsn_label_count(slot, label, 1);
	if (level == TSN_LEVELS_MAX || (outer && outer->depth >= TSN_CHAIN_MAX))
		return tsn_level_refuse(slot, label, kind, TSN_VIOLATION_CHAIN);
	index = tsn_context_take(slot);
	if (!index)
		return tsn_level_refuse(slot, label, kind, TSN_VIOLATION_CONTEXTS_FULL);
	context = tsn_context_at(index);
	generation = context->generation % 0x7fffffff + 1; /* 1 .. 2^31 - 1, then 1 again */
	__atomic_store_n(&context->generation, generation, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	context->tid = slot->head.tid;
	context->chain[0] = (uint16_t)label;
	if (outer) {
		context->depth = outer->depth + 1;
		context->parent = (uint32_t)slot->head.context;
		memcpy(&context->chain[1], outer->chain, sizeof(outer->chain) - sizeof(uint16_t));
	} else {
		context->depth = 1;
		context->parent = 0;
		memset(&context->chain[1], 0, sizeof(context->chain) - sizeof(uint16_t));
	}
	context->opened = tsn_clock_now();
	__atomic_store_n(&context->state, TSN_CONTEXT_OPEN, __ATOMIC_RELEASE);
	tsn_level_push(slot, (uint64_t)generation << 32 | index, label, kind);
	tsn_slot_go_in(slot, (uint64_t)generation << 32 | index, label);
	return level;
}

/* Takes the innermost level off; what it was is for the caller to end. */
TSN_INLINE struct tsn_level tsn_level_pop(struct tsn_slot_full *slot)
{
	const uint32_t top = slot->levels_open - 1;
	const struct tsn_level level = slot->levels[top];

	/* Neither of the labels need be on the other's chain where one was mounted. */
	if (TSN_UNLIKELY(level.kind >= TSN_LEVEL_MOUNT)) {
		tsn_slot_go_out(slot, 0, 0);
		tsn_slot_go_in(slot, level.previous, level.previous_coarse);
	} else {
		tsn_slot_go_out(slot, level.previous, level.previous_coarse);
	}
	slot->levels[top].kind = TSN_LEVEL_VOID;
	slot->levels_open = top;
	TSN_FENCE();
	return level;
}

/* Ends the level, and abandons those inside of it. */
TSN_WARM void tsn_level_end(struct tsn_slot_full *slot, uint32_t at)
{
	const uint64_t now = tsn_clock_now();
	struct tsn_level level;
	uint64_t opened;

	if (!TSN_LIKELY(slot->levels_open + slot->levels_lost == at + 1))
		tsn_level_unwind(slot, at + 1);
	level = tsn_level_pop(slot);
	if (TSN_LIKELY(level.kind == TSN_LEVEL_SCOPE || level.kind == TSN_LEVEL_PAIR)) {
		opened = tsn_context_at((uint32_t)level.context)->opened;
		if (TSN_LIKELY(tsn_context_close(slot, level.context, now)))
			tsn_durations_count(slot, level.coarse, now > opened ? now - opened : 0,
					    now);
	} else if (level.kind == TSN_LEVEL_MOUNT) {
		tsn_context_let_go(slot, level.context);
	}
}

TSN_WARM uint32_t tsn_level_mount(struct tsn_slot_full *slot, uint64_t handle, uint32_t coarse)
{
	const uint32_t level = slot->levels_open;
	uint32_t kind;

	if (level == TSN_LEVELS_MAX) {
		tsn_leader_violate(TSN_VIOLATION_CHAIN, coarse);
		return TSN_NO_LEVEL;
	}
	kind = tsn_context_hold(slot, handle) ? TSN_LEVEL_MOUNT : TSN_LEVEL_STALE;
	tsn_level_push(slot, handle, coarse, kind);
	tsn_slot_go_out(slot, 0, 0);
	tsn_slot_go_in(slot, handle, coarse);
	return level;
}

/* Abandons what is open from the level on, innermost first. */
TSN_COLD void tsn_level_unwind(struct tsn_slot_full *slot, uint32_t at)
{
	struct tsn_level level;

	slot->levels_lost = 0;
	while (slot->levels_open > at) {
		level = tsn_level_pop(slot);
		if (level.kind == TSN_LEVEL_SCOPE || level.kind == TSN_LEVEL_PAIR)
			tsn_context_abandon(slot, level.context, level.coarse);
		else if (level.kind == TSN_LEVEL_MOUNT)
			tsn_context_let_go(slot, level.context);
	}
}

/* ---- fork() ----------------------------------------------------------------------------- */

/*
 * In the child: what the calling thread has begun stays open, what it has mounted stays as long as
 * it is mounted, and all others are free. Generations go on, for handles are kept in places that
 * nobody knows. slot: NULL or the calling thread's, with no spares.
 */
TSN_COLD void tsn_contexts_forget(struct tsn_slot_full *slot)
{
	const uint32_t used = tsn_process_descriptor.contexts_used;
	struct tsn_context *context;
	const struct tsn_level *level;
	uint32_t i;

	for (i = 1; i < used; i++)
		tsn_context_at(i)->holders = tsn_context_at(i)->tid = 0;
	for (i = 0; slot && i < slot->levels_open; i++) {
		level = &slot->levels[i];
		context = tsn_context_at((uint32_t)level->context);
		if (level->kind == TSN_LEVEL_MOUNT)
			context->holders++;
		else if ((level->kind == TSN_LEVEL_SCOPE || level->kind == TSN_LEVEL_PAIR) &&
			 tsn_context_if_open(level->context))
			context->tid = slot->head.tid;
	}
	memset(&tsn_pool, 0, sizeof(tsn_pool));
	for (i = 1; i < used; i++) {
		context = tsn_context_at(i);
		if (context->tid)
			continue;
		if (!context->holders) {
			context->state = TSN_CONTEXT_FREE;
			tsn_contexts_push(i);
		} else if (context->state == TSN_CONTEXT_OPEN) {
			context->parent = TSN_PARENT_GONE;
		} else {
			context->state = TSN_CONTEXT_CLOSED;
		}
	}
}

#ifdef __cplusplus
}
#endif

#endif
