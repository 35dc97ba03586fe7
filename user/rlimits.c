// SPDX-License-Identifier: MIT
#include "rlimits.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#define FILES_FEW 128

static struct {
	int resource;
	bool known;
	struct rlimit before;
} raised[] = {
	/* A timer for each CPU, some thirty for the programs and maps. */
	{.resource = RLIMIT_NOFILE},
	/* Before 5.11 maps are charged to it; where it may not be raised they may still fit. */
	{.resource = RLIMIT_MEMLOCK},
};

void rlimits__raise(void)
{
	struct rlimit limit;
	size_t i;

	for (i = 0; i < sizeof(raised) / sizeof(raised[0]); i++) {
		if (raised[i].known || getrlimit(raised[i].resource, &raised[i].before))
			continue;
		raised[i].known = true;
		limit = raised[i].before;
		if (raised[i].resource == RLIMIT_MEMLOCK)
			limit.rlim_cur = limit.rlim_max = RLIM_INFINITY;
		else
			limit.rlim_cur = limit.rlim_max;
		setrlimit(raised[i].resource, &limit);
	}
}

unsigned long rlimits__few_files(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= FILES_FEW ? 0 : limit.rlim_cur;
}

void rlimits__restore(void)
{
	size_t i;

	for (i = 0; i < sizeof(raised) / sizeof(raised[0]); i++)
		if (raised[i].known)
			setrlimit(raised[i].resource, &raised[i].before);
}
