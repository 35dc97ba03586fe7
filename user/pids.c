// SPDX-License-Identifier: MIT
#include "pids.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define PID_LIMIT 4194304 /* PID_MAX_LIMIT, include/linux/threads.h */

static bool contains(const pid_t *pids, size_t count, pid_t pid)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

int pids__parse(const char *text, pid_t *pids, size_t capacity, size_t *count)
{
	size_t n = 0;

	for (;; text++) {
		unsigned long value;
		char *end;

		if (!isdigit((unsigned char)*text))
			return -EINVAL;
		errno = 0;
		value = strtoul(text, &end, 10);
		if (errno || !value || value > PID_LIMIT || (*end && *end != ','))
			return -EINVAL;
		if (!contains(pids, n, (pid_t)value)) {
			if (n == capacity)
				return -E2BIG;
			pids[n++] = (pid_t)value;
		}
		if (!*end)
			break;
		text = end;
	}
	*count = n;
	return 0;
}
