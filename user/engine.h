/* SPDX-License-Identifier: MIT */
/*
 * engine - the loaded BPF programs and their maps, as the recorder handles them.
 *
 * Order of use: engine__new (attached, but inert), engine__watch for each process, engine__start,
 * then engine__stop, after which nothing in the maps moves any more.
 */
#ifndef TICKSNICK_ENGINE_H
#define TICKSNICK_ENGINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <ticksnick/cells.h>

#define ENGINE_ERROR_SIZE 256

struct ids;
struct ticksnick_bpf;
struct timer;

struct engine {
	struct ticksnick_bpf *programs;
	/* Shared with the programs. */
	struct tsn_control *control;
	struct tsn_cpu *cpus;	       /* [TSN_CPUS_MAX] */
	struct tsn_target *targets;    /* [target_max] */
	struct tsn_presence *presence; /* [target_max * TSN_LABELS_MAX] */
	uint64_t *final_calls;	       /* likewise */
	struct tsn_piece *pieces;      /* [TSN_PIECES_MAX] */
	uint32_t target_max;
	bool follow;
	bool final_calls_work; /* the kernel lets the exit hook read a process's last calls */
	int cells_fd, threads_fd, exited_fd, replaced_fd, free_targets_fd;
	struct timer *timer;
};

/*
 * Loads and attaches. follow: children of targets become targets of their own, in the places that
 * engine__release() has given. On failure: a negative errno and one sentence in error.
 */
int engine__new(bool follow, struct engine **engine, char error[ENGINE_ERROR_SIZE]);
void engine__free(struct engine *engine); /* NULL is fine */

/*
 * Loads the programs and lets go of them again, to see whether this machine allows it. 0, or a
 * negative errno and one sentence in error.
 */
int engine__probe(char error[ENGINE_ERROR_SIZE]);

/* The ids of the threads that can be seen from here; ids__free(). 0 or a negative errno. */
int engine__ids(const struct engine *engine, struct ids *ids);

/* From now on the threads of process pid are charged to targets[index]. 0 or a negative errno
 * (-ESRCH: gone). */
int engine__watch(struct engine *engine, pid_t pid, uint32_t index);

/* Whether the id of the process in targets[index] has stood for it all along, under that image or a
 * later one; false: the process has ended, and the id is another's or nobody's. */
bool engine__holds(const struct engine *engine, uint32_t index);

/* Gives targets[index] to a process that will be forked, or to an image. Its process, if it had
 * one, must have ended or be charged to another place; what was counted for it is zeroed. */
void engine__release(struct engine *engine, uint32_t index);

/*
 * Makes the hooks live; what they see counts from start_ns on, which may lie ahead, and the timers
 * fire at frequency_hz. 0 or a negative errno.
 */
int engine__start(struct engine *engine, uint64_t start_ns, double frequency_hz);

/* Ends the session at stop_ns (CLOCK_MONOTONIC): waits until no program is under way. */
void engine__stop(struct engine *engine, uint64_t stop_ns);

/* CLOCK_MONOTONIC, the clock of the programs, ns. */
uint64_t engine__now(void);

/* What this thread has taken of a CPU so far, ns: what others make it wait for is no cost. */
uint64_t engine__taken(void);

#endif
