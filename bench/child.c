// SPDX-License-Identifier: MIT
#include "child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_SIZE 320

extern char **environ;

int child__start(const char *const *arguments, struct child *child)
{
	posix_spawn_file_actions_t files;
	int in[2], out[2], err;

	/* Not for later children: a pipe that they held open would never end. */
	if (pipe2(in, O_CLOEXEC) != 0)
		return -errno;
	if (pipe2(out, O_CLOEXEC) != 0) {
		err = -errno;
		close(in[0]);
		close(in[1]);
		return err;
	}
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, in[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
	err = posix_spawnp(&child->pid, arguments[0], &files, NULL, (char *const *)arguments,
			   environ);
	posix_spawn_file_actions_destroy(&files);
	close(in[0]);
	close(out[1]);
	child->in = in[1];
	child->out = err ? NULL : fdopen(out[0], "r");
	if (child->out)
		return 0;
	close(in[1]);
	close(out[0]);
	return err ? -err : -ENOMEM;
}

int child__end(struct child *child, int signal)
{
	int status = 0;

	if (child->in >= 0)
		close(child->in);
	child->in = -1;
	if (signal)
		kill(child->pid, signal);
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	fclose(child->out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool child__has_open(pid_t pid, const char *link_prefix)
{
	char path[64], link[64];
	struct dirent *entry;
	bool found = false;
	ssize_t length;
	DIR *files;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	files = opendir(path);
	if (!files)
		return false;
	while (!found && (entry = readdir(files))) {
		length = readlinkat(dirfd(files), entry->d_name, link, sizeof(link) - 1);
		link[length > 0 ? length : 0] = '\0';
		found = strncmp(link, link_prefix, strlen(link_prefix)) == 0;
	}
	closedir(files);
	return found;
}

/* The first number of a thread's schedstat. */
static double thread_cpu_ns(pid_t pid, const char *tid)
{
	char path[PATH_SIZE];
	double ns = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", pid, tid);
	file = fopen(path, "re");
	if (!file)
		return 0; /* it has just ended */
	if (fscanf(file, "%lf", &ns) != 1)
		ns = NAN;
	fclose(file);
	return ns;
}

double child__cpu_ns(pid_t pid)
{
	struct dirent *entry;
	char path[PATH_SIZE];
	double sum_ns = 0;
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	threads = opendir(path);
	if (!threads)
		return NAN;
	while ((entry = readdir(threads)))
		if (entry->d_name[0] != '.')
			sum_ns += thread_cpu_ns(pid, entry->d_name);
	closedir(threads);
	return sum_ns;
}
