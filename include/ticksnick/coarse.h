/* SPDX-License-Identifier: MIT */
/*
 * coarse.h - coarse labels as a module sees them. Included by ticksnick.h; nothing in here is for
 * applications.
 *
 * Executions are begun and ended by the leader's functions (contexts.h). What a thread is in stands
 * in its slot's levels[]: what was begun or mounted, and what it was in before.
 */
#ifndef TICKSNICK_COARSE_H
#define TICKSNICK_COARSE_H

#include <pthread.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a new thread is given. */
struct tsn_start {
	void *(*run)(void *);
	void *argument;
	tsn_context_t context;
};

TSN_COLD void tsn_coarse_mismatch(struct tsn_slot_full *slot, uint32_t label);

TSN_INLINE tsn_scope_t tsn_level_scope(const struct tsn_slot_full *slot, uint32_t level)
{
	tsn_scope_t scope = {0, TSN_NO_LEVEL, 0};

	if (level != TSN_NO_LEVEL) {
		scope.level = level + 1;
		scope.context = slot->levels[level].context;
	}
	return scope;
}

TSN_WARM tsn_scope_t tsn_coarse_scope(tsn_coarse_t op)
{
	struct tsn_slot_full *slot = tsn_thread.slot;
	uint32_t level = TSN_NO_LEVEL;

	if (!TSN_LIKELY(slot))
		slot = tsn_slot_find(op.id != 0);
	if (TSN_LIKELY(slot && op.id))
		level = tsn_module.operations->begin(slot, op.id, TSN_LEVEL_SCOPE);
	return tsn_level_scope(slot, level);
}

/* A level that is no longer the scope's was closed by something else: there is nothing to leave. */
TSN_WARM void tsn_coarse_leave(tsn_scope_t scope)
{
	struct tsn_slot_full *slot = tsn_slot_now();
	const uint32_t level = scope.level - 1;

	if (scope.level == TSN_NO_LEVEL)
		return;
	if (!TSN_LIKELY(slot))
		slot = tsn_slot_peek();
	if (TSN_LIKELY(slot && level < slot->levels_open &&
		       slot->levels[level].context == scope.context))
		tsn_module.operations->end(slot, level);
}

TSN_WARM void tsn_coarse_enter(tsn_coarse_t op)
{
	struct tsn_slot_full *slot = tsn_thread.slot;

	if (!TSN_LIKELY(slot))
		slot = tsn_slot_find(op.id != 0);
	if (TSN_LIKELY(slot))
		tsn_module.operations->begin(slot, op.id, TSN_LEVEL_PAIR);
	else
		tsn_thread.lost_pairs++;
}

TSN_INLINE int tsn_level_is_pair(const struct tsn_level *level, uint32_t label)
{
	return level->coarse == label &&
	       (level->kind == TSN_LEVEL_PAIR || level->kind == TSN_LEVEL_VOID);
}

TSN_WARM void tsn_coarse_exit(tsn_coarse_t op)
{
	struct tsn_slot_full *slot = tsn_slot_now();
	uint32_t top = slot ? slot->levels_open - 1 : TSN_LEVELS_MAX;

	if (TSN_LIKELY(top < TSN_LEVELS_MAX && !slot->levels_lost &&
		       tsn_level_is_pair(&slot->levels[top], op.id)))
		tsn_module.operations->end(slot, top);
	else
		tsn_coarse_mismatch(slot, op.id);
}

/* No slot, a pair for which there was no level, or a label that is not the innermost. */
TSN_COLD void tsn_coarse_mismatch(struct tsn_slot_full *slot, uint32_t label)
{
	uint32_t level;

	if (!slot && !tsn_thread.lost_pairs)
		slot = tsn_slot_find(0);
	if (slot && slot->levels_lost) {
		slot->levels_lost--;
		return;
	}
	for (level = slot ? slot->levels_open : 0; level > 0; level--) {
		if (!tsn_level_is_pair(&slot->levels[level - 1], label))
			continue;
		if (level != slot->levels_open)
			tsn_violate(TSN_VIOLATION_MISMATCH, label);
		tsn_module.operations->end(slot, level - 1);
		return;
	}
	if (tsn_thread.lost_pairs)
		tsn_thread.lost_pairs--;
	else if (slot)
		tsn_violate(TSN_VIOLATION_MISMATCH, label);
}

TSN_INLINE tsn_context_t tsn_capture(void)
{
	struct tsn_slot_full *slot = tsn_slot_now();
	tsn_context_t captured = {0, 0, 0};

	if (!TSN_LIKELY(slot))
		slot = tsn_slot_peek();
	if (slot) {
		captured.context = slot->head.context;
		captured.coarse = slot->head.coarse;
	}
	return captured;
}

/* A thread that has no slot is in no context; it needs none to stay there. */
TSN_WARM tsn_scope_t tsn_mount(tsn_context_t context)
{
	struct tsn_slot_full *slot = tsn_slot_now();
	uint32_t level = TSN_NO_LEVEL;

	if (!TSN_LIKELY(slot))
		slot = context.context ? tsn_slot_find(0) : tsn_slot_peek();
	if (TSN_LIKELY(slot))
		level = tsn_module.operations->mount(slot, context.context, context.coarse);
	return tsn_level_scope(slot, level);
}

static inline __attribute__((unused)) void *tsn_start_thread(void *data)
{
	struct tsn_start start = *(struct tsn_start *)data;
	TSN_WITH_CONTEXT(start.context);

	free(data);
	return start.run(start.argument);
}

TSN_INLINE int tsn_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
				  void *(*run)(void *), void *argument)
{
	struct tsn_start *start = (struct tsn_start *)malloc(sizeof(*start));
	int error;

	if (!start)
		return ENOMEM;
	start->run = run;
	start->argument = argument;
	start->context = tsn_capture();
	error = pthread_create(thread, attributes, tsn_start_thread, start);
	if (error)
		free(start);
	return error;
}

#ifdef __cplusplus
}
#endif

#endif
