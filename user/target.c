// SPDX-License-Identifier: MIT
#include "target.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "image.h"
#include "mappings.h"
#include "proc.h"

/* An id of the host's is easily given to a recorder in a container. */
#define NO_PROCESS_INSIDE                                                                         \
	"there is no process %d in this pid namespace, a container's: ids are its own here, and " \
	"for processes outside of it run on the host"

static void identity_read(struct target *target)
{
	struct mappings mappings;
	char hex[129];

	target->changed = false;
	free(target->comm);
	free(target->exe);
	free(target->build_id);
	target->comm = proc__comm(target->pid, 0);
	target->exe = proc__exe(proc__living(target->pid));
	target->build_id = NULL;
	/* The executable is mapped first. */
	if (!reader__mappings(target->reader, &mappings) && mappings.count &&
	    !image__build_id(&target->remote, mappings.modules[0], hex))
		target->build_id = strdup(hex);
}

int target__open(pid_t pid, struct target **opened, char error[TARGET_ERROR_SIZE])
{
	struct proc_status status;
	struct target *target;
	int err = proc__status(pid, 0, &status);

	/* A process lives as long as any of its threads. */
	if (err || !proc__living(status.tgid)) {
		snprintf(error, TARGET_ERROR_SIZE,
			 err == -EACCES || err == -EPERM ? "not allowed to look at process %d"
			 : !err				 ? "process %d has ended already"
			 : proc__in_first_namespace()	 ? "there is no process %d"
							 : NO_PROCESS_INSIDE,
			 pid);
		return err == -EACCES || err == -EPERM ? err : -ESRCH;
	}
	target = calloc(1, sizeof(*target));
	if (!target) {
		snprintf(error, TARGET_ERROR_SIZE, "out of memory");
		return -ENOMEM;
	}
	target->pid = status.tgid;
	target->pidfd = -1;
	if (status.tgid != pid) {
		target->thread_id = pid;
		proc__status(status.tgid, 0, &status);
	}
	target->own_pid = status.own_id;
	target->pidfd = (int)syscall(SYS_pidfd_open, target->pid, 0);
	if (target->pidfd < 0) {
		err = -errno;
		snprintf(error, TARGET_ERROR_SIZE, "cannot watch process %d: %s", target->pid,
			 strerror(-err));
		target__free(target);
		return err;
	}
	target->reader = reader__new(target->pid, NULL);
	if (!target->reader) {
		snprintf(error, TARGET_ERROR_SIZE, "out of memory");
		target__free(target);
		return -ENOMEM;
	}
	target->remote = remote__process(target->reader);
	identity_read(target);
	*opened = target;
	return 0;
}

struct target *target__follow(const struct target_news *news)
{
	struct target *target = calloc(1, sizeof(*target));
	const struct target *original = news->original;

	if (!target) {
		if (news->pidfd >= 0)
			close(news->pidfd);
		return NULL;
	}
	target->pid = news->pid;
	target->own_pid = news->own_pid;
	target->pidfd = news->pidfd;
	target->reader = reader__new(news->pid, news->relative ? news->relative->reader : NULL);
	if (!target->reader) {
		target__free(target);
		return NULL;
	}
	target->remote = remote__process(target->reader);
	if (original) {
		target->exe = original->exe ? strdup(original->exe) : NULL;
		target->build_id = original->build_id ? strdup(original->build_id) : NULL;
	} else if (target->pidfd >= 0) {
		identity_read(target);
	}
	free(target->comm);
	target->comm = strdup(news->comm);
	if (original && news->located && original->located) {
		table__copy(&target->table, &original->table);
		target->located = true;
	}
	return target;
}

void target__free(struct target *target)
{
	if (!target)
		return;
	if (target->pidfd >= 0)
		close(target->pidfd);
	reader__free(target->reader);
	free(target->comm);
	free(target->exe);
	free(target->build_id);
	free(target);
}

int target__locate(struct target *target)
{
	struct mappings mappings;
	int err, best = -ENOENT;
	size_t i;

	if (target->located)
		return 0;
	target__identify(target);
	err = reader__mappings(target->reader, &mappings);
	if (err)
		return err;
	for (i = 0; i < mappings.count && best; i++) {
		uint64_t address;

		err = image__find_descriptor(&target->remote, mappings.modules[i], &address);
		if (err == -EPERM || err == -ESRCH || err == -ETIMEDOUT)
			best = err;
		if (err == -ETIMEDOUT)
			break;
		if (err)
			continue;
		err = table__open(&target->table, &target->remote, address, target->own_pid);
		/* Another module may hold the table; of the reasons, "not yet" is the most hopeful.
		 */
		if (!err || err == -EAGAIN || best == -ENOENT)
			best = err == -EINVAL ? -EPROTONOSUPPORT : err;
	}
	if (!mappings.count)
		best = -ENODATA;
	target->located = !best;
	return best;
}

void target__forget(struct target *target)
{
	target->located = false;
	target->changed = true;
}

void target__identify(struct target *target)
{
	if (target->changed)
		identity_read(target);
}

bool target__gone(const struct target *target)
{
	struct pollfd watched = {.fd = target->pidfd, .events = POLLIN};

	if (target->pidfd < 0)
		return true;
	return poll(&watched, 1, 0) > 0;
}
