// SPDX-License-Identifier: MIT
#include "roll.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum roll_fate roll__judge(const struct roll_facts *facts)
{
	if (facts->replaced && !facts->used)
		return ROLL_UNLABELLED;
	if (facts->owned || facts->used || (facts->copied && !facts->told))
		return ROLL_KEPT;
	if (facts->told || facts->looked_at)
		return ROLL_UNLABELLED;
	return ROLL_UNREAD;
}

static void process_free(struct roll_process *process)
{
	free(process->comm);
	free(process->exe);
	free(process->build_id);
	free(process);
}

void roll__free(struct roll *roll)
{
	size_t i;

	for (i = 0; i < roll->count; i++)
		process_free(roll->processes[i]);
	free(roll->processes);
	*roll = (struct roll){0};
}

struct roll_process *roll__enter(struct roll *roll, pid_t pid)
{
	size_t capacity = roll->capacity ? roll->capacity * 2 : 64;
	struct roll_process *process, **grown;

	if (roll->count == roll->capacity) {
		grown = realloc(roll->processes, capacity * sizeof(*grown));
		if (!grown)
			return NULL;
		roll->processes = grown;
		roll->capacity = capacity;
	}
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	roll->processes[roll->count++] = process;
	return process;
}

static int put(char **to, const char *from)
{
	char *copy = from ? strdup(from) : NULL;

	if (from && !copy)
		return -ENOMEM;
	free(*to);
	*to = copy;
	return 0;
}

int roll__image(struct roll_process *process, enum roll_fate fate, uint64_t serial,
		const char *comm, const char *exe, const char *build_id)
{
	process->unread |= fate == ROLL_UNREAD;
	if (fate != ROLL_KEPT || (process->kept && serial < process->serial))
		return 0;
	process->kept = true;
	process->serial = serial;
	if (put(&process->comm, comm ? comm : "?") || put(&process->exe, exe) ||
	    put(&process->build_id, build_id))
		return -ENOMEM;
	return 0;
}

/* Without changing the order of the others. The latest ones are the likeliest to end. */
static void process_remove(struct roll *roll, struct roll_process *process)
{
	size_t i = roll->count;

	while (i && roll->processes[i - 1] != process)
		i--;
	if (!i)
		return;
	memmove(&roll->processes[i - 1], &roll->processes[i],
		(roll->count - i) * sizeof(*roll->processes));
	roll->count--;
	process_free(process);
}

void roll__leave(struct roll *roll, struct roll_process *process, const char *comm)
{
	if (process->kept) {
		roll->kept_ever++;
		if (roll->kept < ROLL_KEPT_MAX) {
			roll->kept++;
			return;
		}
		roll->folded++;
	} else if (process->unread) {
		roll->unread++;
	} else {
		roll->unlabelled++;
		roll->unlabelled_pid = process->pid;
		snprintf(roll->unlabelled_comm, sizeof(roll->unlabelled_comm), "%s",
			 comm ? comm : "?");
	}
	process_remove(roll, process);
}
