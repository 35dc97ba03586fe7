// SPDX-License-Identifier: MIT
/*
 * Has no label. Loads a labelled plugin, lets it work and unloads it; the same with a second that
 * uses a label in this very thread; then a third must find all that the first two did: host PLUGIN1
 * PLUGIN2 PLUGIN3
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "subject.h"

static int loaded(const char *name)
{
	char line[4096];
	int found = 0;
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && fgets(line, sizeof(line), maps))
		found |= strstr(line, name) != NULL;
	if (maps)
		fclose(maps);
	return found;
}

static void *load(const char *name)
{
	void *plugin = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	if (!plugin)
		fprintf(stderr, "host: %s\n", dlerror());
	return plugin;
}

int main(int argc, char **argv)
{
	int (*run)(unsigned, unsigned), (*print)(void);
	uint32_t (*counted)(unsigned);
	unsigned (*references)(void);
	void *plugin;

	if (argc != 4 || !(plugin = load(argv[1])))
		return 1;
	*(void **)&run = dlsym(plugin, "subject_run");
	*(void **)&references = dlsym(plugin, "subject_references");
	if (run(11, SUBJECT_MS / 2))
		return 1;
	dlclose(plugin);

	plugin = load(argv[2]);
	if (!plugin)
		return 1;
	*(void **)&counted = dlsym(plugin, "subject_counted");
	counted(1);
	dlclose(plugin);
#ifdef __GLIBC__
	if (!loaded(argv[1]) || loaded(argv[2])) {
		fprintf(stderr, "host: the leader must stay, a follower must go\n");
		return 1;
	}
	/* The leader's code is still there: it knows that the follower's variables are gone. */
	if (references() != 0) {
		fprintf(stderr, "host: an unloaded module is still referred to\n");
		return 1;
	}
#endif

	plugin = load(argv[3]);
	if (!plugin)
		return 1;
	*(void **)&run = dlsym(plugin, "subject_run");
	*(void **)&print = dlsym(plugin, "subject_print");
	return run(11, SUBJECT_MS / 2) || print();
}
