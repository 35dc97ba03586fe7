// SPDX-License-Identifier: MIT
/*
 * More modules than may keep a thread's slot: those that may not must do the same, slower.
 * many_modules PLUGIN..; each plugin is called in this thread. Exit status 0, or 1 and a line on
 * stderr.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "expect.h"
#include "inspect.h"
#include "subject.h"

TSN_FINE(outside, "outside");

int main(int argc, char **argv)
{
	uint32_t (*big)(uint64_t), (*small)(uint64_t), (*counted)(unsigned);
	int i, round, modules = argc - 1;
	void *plugin;

	TSN_SCOPE(outside);
	for (round = 0; round < 2; round++) {
		for (i = 1; i < argc; i++) {
			plugin = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
			EXPECT(plugin);
			*(void **)&big = dlsym(plugin, "subject_big");
			*(void **)&small = dlsym(plugin, "subject_small");
			*(void **)&counted = dlsym(plugin, "subject_counted");
			EXPECT(counted(round == 0 && i <= SUBJECT_CALLS) ==
			       inspect__find("counted"));
			big((uint64_t)(SUBJECT_MS * 350 / modules));
			EXPECT(tsn_thread.slot->head.fine == outside.id);
			small((uint64_t)(SUBJECT_MS * 150 / modules));
			EXPECT(tsn_thread.slot->head.fine == outside.id);
		}
	}
	printf("counted %llu\n", (unsigned long long)inspect__calls(inspect__find("counted")));
	EXPECT(inspect__calls(inspect__find("big")) == 2 * (uint64_t)modules);
	EXPECT(inspect__executions(inspect__find("batch")) == 2 * (uint64_t)modules);
	EXPECT(inspect__open() == 0);
	for (i = 0; i < TSN_MODULES_MAX; i++)
		EXPECT(tsn_thread.slot->references[i]);
	EXPECT(inspect__claimed() == 1);
	EXPECT(inspect__all_violations() == 0);
	tsn_release_thread();
	for (i = 1; i < argc; i++) {
		plugin = dlopen(argv[i], RTLD_NOW | RTLD_NOLOAD);
		EXPECT(plugin);
		*(void **)&counted = dlsym(plugin, "subject_counted");
		counted(0);
		EXPECT(tsn_thread.slot->head.generation == 2);
	}
	EXPECT(inspect__claimed() == 1);
	puts("many modules");
	return 0;
}
