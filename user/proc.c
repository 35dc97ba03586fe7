// SPDX-License-Identifier: MIT
#include "proc.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PF_EXITING 4 /* include/linux/sched.h of the kernel */

static FILE *open_of(pid_t pid, pid_t tid, const char *name)
{
	char path[96];

	if (tid)
		snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
	else
		snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return fopen(path, "re");
}

int proc__parse_status(FILE *file, struct proc_status *status)
{
	struct proc_status read = {0};
	char line[512];

	while (fgets(line, sizeof(line), file)) {
		char *last;

		/* A name cannot forge a line: the kernel escapes the newline in it. */
		if (!strncmp(line, "State:", 6))
			sscanf(line + 6, " %c", &read.state);
		else if (!strncmp(line, "Tgid:", 5))
			read.tgid = (pid_t)strtol(line + 5, NULL, 10);
		else if (!strncmp(line, "Pid:", 4))
			read.own_id = (uint32_t)strtoul(line + 4, NULL, 10);
		else if (!strncmp(line, "NSpid:", 6) && (last = strrchr(line, '\t')))
			read.own_id = (uint32_t)strtoul(last + 1, NULL, 10);
	}
	if (!read.state || read.tgid <= 0)
		return -ESRCH;
	*status = read;
	return 0;
}

bool proc__exiting(pid_t pid, pid_t tid)
{
	FILE *file = open_of(pid, tid, "stat");
	unsigned flags = PF_EXITING;
	char text[512], *rest;
	size_t n;

	if (!file)
		return true;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = 0;
	rest = strrchr(text, ')'); /* the name before it may hold anything */
	if (!rest || sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
		return true;
	return flags & PF_EXITING;
}

bool proc__in_first_namespace(void)
{
	char link[64];
	ssize_t n = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);

	if (n < 0)
		return true;
	link[n] = 0;
	return !strcmp(link, PROC_FIRST_PID_NAMESPACE);
}

int proc__status(pid_t pid, pid_t tid, struct proc_status *status)
{
	FILE *file = open_of(pid, tid, "status");
	int err;

	if (!file)
		return -errno;
	err = proc__parse_status(file, status);
	fclose(file);
	return err;
}

int proc__threads(pid_t pid, pid_t **tids, size_t *count)
{
	size_t capacity = 0, n = 0;
	pid_t *found = NULL, *grown;
	struct dirent *entry;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		if (n == capacity) {
			capacity = capacity ? capacity * 2 : 64;
			grown = realloc(found, capacity * sizeof(*grown));
			if (!grown) {
				free(found);
				closedir(dir);
				return -ENOMEM;
			}
			found = grown;
		}
		found[n++] = tid;
	}
	closedir(dir);
	*tids = found;
	*count = n;
	return 0;
}

static bool living(pid_t pid, pid_t tid)
{
	struct proc_status status;

	return !proc__status(pid, tid, &status) && status.state != 'Z' && status.state != 'X';
}

pid_t proc__living(pid_t pid)
{
	pid_t *tids, found = 0;
	size_t count, i;

	if (living(pid, 0))
		return pid;
	if (proc__threads(pid, &tids, &count))
		return 0;
	for (i = 0; i < count && !found; i++)
		if (tids[i] != pid && living(pid, tids[i]))
			found = tids[i];
	free(tids);
	return found;
}

char *proc__comm(pid_t pid, pid_t tid)
{
	FILE *file = open_of(pid, tid, "comm");
	char name[64];
	size_t n;

	if (!file)
		return NULL;
	n = fread(name, 1, sizeof(name) - 1, file);
	fclose(file);
	if (n && name[n - 1] == '\n')
		n--;
	name[n] = 0;
	return n ? strdup(name) : NULL;
}

char *proc__exe(pid_t pid)
{
	char path[64], exe[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	if (n <= 0)
		return NULL;
	exe[n] = 0;
	return strdup(exe);
}

int64_t proc__clock_offset(pid_t pid)
{
	FILE *file = open_of(pid, 0, "timens_offsets");
	long long seconds = 0, ns = 0;
	char line[128];

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "monotonic %lld %lld", &seconds, &ns) == 2)
			break;
	fclose(file);
	if (llabs(seconds) > INT64_MAX / 1000000000 - 1)
		return 0;
	return (int64_t)seconds * 1000000000 + ns;
}
