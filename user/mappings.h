/* SPDX-License-Identifier: MIT */
/*
 * mappings - what /proc/PID/maps says of a process. To read that file may take without end, as the
 * kernel waits there for whoever changes the mappings, who may wait for a file system in user
 * space: for the memory of others see reader__mappings() (reader.h).
 */
#ifndef TICKSNICK_MAPPINGS_H
#define TICKSNICK_MAPPINGS_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define MAPPINGS_MODULES_MAX 4096

struct mappings {
	uint64_t readable; /* the first address that the process itself can read; 0: none */
	uint64_t count;	   /* of modules */
	/* Where modules may begin: the first mapping of each file, in address order. */
	uint64_t modules[MAPPINGS_MODULES_MAX];
};

/* From what that file holds. 0 or -EIO. */
int mappings__parse(FILE *maps, struct mappings *mappings);
/* From the file itself. 0 or a negative errno (-ESRCH: no such process). */
int mappings__read(pid_t pid, struct mappings *mappings);

#endif
