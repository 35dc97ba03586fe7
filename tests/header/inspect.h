/* SPDX-License-Identifier: MIT */
/* inspect.h - what a reader of the table would see, from within the process that it belongs to. */
#ifndef TICKSNICK_TESTS_INSPECT_H
#define TICKSNICK_TESTS_INSPECT_H

#include <ticksnick/ticksnick.h>

/* The descriptor that holds the table; this module's own or its leader's. NULL: there is none yet.
 */
static inline struct tsn_process *inspect__process(void)
{
	struct tsn_process *process = &tsn_process_descriptor;

	if (process->state == TSN_STATE_FOLLOWER)
		process = (struct tsn_process *)process->leader;
	return process->state == TSN_STATE_READY ? process : NULL;
}

static inline struct tsn_slot_full *inspect__slot(uint32_t index)
{
	return (struct tsn_slot_full *)inspect__process()->slots + index;
}

static inline struct tsn_label *inspect__label(uint32_t id)
{
	return (struct tsn_label *)inspect__process()->labels + id;
}

static inline uint64_t inspect__retired(uint32_t id)
{
	return ((uint64_t *)inspect__process()->retired)[id];
}

/* Calls of all threads, gone or not. */
static inline uint64_t inspect__calls(uint32_t id)
{
	uint64_t calls = inspect__retired(id);
	uint32_t i;

	for (i = 0; i < inspect__process()->slots_used; i++)
		calls += inspect__slot(i)->counts[id];
	return calls;
}

/* Id of a name, 0 if it is not registered. */
static inline uint32_t inspect__find(const char *name)
{
	uint32_t id;

	for (id = 1; id < inspect__process()->labels_count; id++) {
		if (strcmp(inspect__label(id)->name, name) == 0)
			return id;
	}
	return 0;
}

/* Slots that some thread holds. */
static inline uint32_t inspect__claimed(void)
{
	uint32_t i, claimed = 0;

	for (i = 0; i < inspect__process()->slots_used; i++)
		claimed += inspect__slot(i)->head.tid != 0;
	return claimed;
}

/* The context that a handle names, whosever it is by now. */
static inline struct tsn_context *inspect__context(uint64_t handle)
{
	return (struct tsn_context *)inspect__process()->contexts + (uint32_t)handle;
}

/* Executions that are open. */
static inline uint32_t inspect__open(void)
{
	uint32_t i, open = 0;

	for (i = 1; i < inspect__process()->contexts_used; i++)
		open += inspect__context(i)->state == TSN_CONTEXT_OPEN;
	return open;
}

static inline struct tsn_durations *inspect__durations(uint32_t index)
{
	return (struct tsn_durations *)inspect__process()->durations + index;
}

/* The block of a label and a slot's index + 1, or of what threads share (0); NULL: there is none.
 */
static inline struct tsn_durations *inspect__block(uint32_t label, uint32_t owner)
{
	uint32_t i;

	for (i = 0; i < inspect__process()->durations_used; i++) {
		if (inspect__durations(i)->label == label && inspect__durations(i)->owner == owner)
			return inspect__durations(i);
	}
	return NULL;
}

/* Executions of a label that have ended, in all threads. */
static inline uint64_t inspect__executions(uint32_t label)
{
	uint64_t count = 0;
	uint32_t i;

	for (i = 0; i < inspect__process()->durations_used; i++) {
		if (inspect__durations(i)->label == label)
			count += inspect__durations(i)->count;
	}
	return count;
}

static inline uint64_t inspect__violations(enum tsn_violation_kind kind)
{
	return inspect__process()->violations[kind].count;
}

static inline uint64_t inspect__all_violations(void)
{
	uint64_t count = 0;
	int kind;

	for (kind = 0; kind < TSN_VIOLATION_KINDS; kind++)
		count += inspect__process()->violations[kind].count;
	return count;
}

#endif
