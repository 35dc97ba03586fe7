// SPDX-License-Identifier: MIT
#include "modes.h"

#include <string.h>

const struct mode modes[] = {
	{"run", mode_run, "twenty operations of 20 ns to 2 us beside their true shares"},
	{"verify", mode_verify,
	 "many sessions of four lengths: noise or bias, and do the bounds hold"},
	{"small", mode_small, "operations of 20 and 25 ns, sampled fast and long"},
	{"sweep", mode_sweep, "on 1, 2, 4, 8 threads, and what waits for a CPU"},
	{"estimators", mode_estimators, "ways to say more with the same ticks, beside each other"},
	{"hook", mode_hook, "what a label costs, beside two clock readings"},
	{"cost", mode_cost, "what recording costs the target, and what the recorder takes"},
	{"active", mode_active, "the same while other threads are parked"},
	{"lockstep", mode_lockstep, "programs that keep step with the timer"},
	{"leakcheck", mode_leakcheck, "labels that do not balance end a strict session"},
	{"lock", mode_lock, "threads that queue for a mutex: waiting, and one at a time"},
	{"coarse", mode_coarse,
	 "requests timed at both ends: percentiles, what ran inside, the cost"},
	{"violate", mode_violate, "a coarse label on too small an operation is warned about"},
	{"fanout", mode_fanout,
	 "requests whose work other threads do, with and without their context"},
	{"diff", mode_diff, "two builds compared: is a slower operation found, and no other"},
	{"all", mode_all, "all of these, one after the other, in one table"},
};

const size_t mode_count = sizeof(modes) / sizeof(modes[0]);

const struct mode *modes__find(const char *name)
{
	for (size_t i = 0; i < mode_count; i++)
		if (strcmp(modes[i].name, name) == 0)
			return &modes[i];
	return NULL;
}
