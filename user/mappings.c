// SPDX-License-Identifier: MIT
#include "mappings.h"

#include <errno.h>
#include <stdlib.h>

int mappings__parse(FILE *maps, struct mappings *mappings)
{
	size_t line_size = 0;
	char *line = NULL;

	mappings->readable = mappings->count = 0;
	while (mappings->count < MAPPINGS_MODULES_MAX && getline(&line, &line_size, maps) > 0) {
		unsigned long long start, offset, inode;
		char mode[5];

		if (sscanf(line, "%llx-%*x %4s %llx %*s %llu", &start, mode, &offset, &inode) !=
			    4 ||
		    mode[0] != 'r')
			continue;
		if (!mappings->readable)
			mappings->readable = start;
		/* The file header is in the mapping of offset 0; without a file there is no module.
		 */
		if (!offset && inode)
			mappings->modules[mappings->count++] = start;
	}
	free(line);
	return ferror(maps) ? -EIO : 0;
}

int mappings__read(pid_t pid, struct mappings *mappings)
{
	char path[64];
	FILE *maps;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return errno == ENOENT ? -ESRCH : -errno;
	err = mappings__parse(maps, mappings);
	fclose(maps);
	return err;
}
