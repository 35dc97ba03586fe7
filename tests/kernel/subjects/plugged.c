// SPDX-License-Identifier: MIT
/*
 * plugged PLUGIN [bare]: loads a module, which calls "plugged" 23 times, spins in it for 0.2 s and
 * sleeps in it for 0.2 s, and unloads it, twice; then calls "own" seven times. "bare": has no label
 * of its own until then. Prints cpu_ns and wall_ns of what the module did.
 */
#include <dlfcn.h>

#include "subject.h"

static uint64_t cpu, wall;

static int play(const char *path)
{
	uint64_t cpu_then = subject_clock(CLOCK_THREAD_CPUTIME_ID), then = subject_now();
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*run)(int);

	if (!module) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&run = dlsym(module, "plugin_run");
	run(23);
	cpu += subject_clock(CLOCK_THREAD_CPUTIME_ID) - cpu_then;
	wall += subject_now() - then;
	dlclose(module);
	return 0;
}

int main(int argc, char **argv)
{
	tsn_fine_t own = {0};
	int i;

	if (argc < 2)
		return 2;
	if (argc < 3) {
		own = tsn_register_fine("own");
		TSN_SCOPE(own);
		subject_sleep(50000000);
	}
	if (play(argv[1]))
		return 1;
	subject_sleep(200000000);
	if (play(argv[1]))
		return 1;
	own = tsn_register_fine("own");
	for (i = argc < 3; i < 7; i++) {
		TSN_SCOPE(own);
		TSN_KEEP(i);
	}
	subject_say("cpu_ns", cpu);
	subject_say("wall_ns", wall);
	return 0;
}
