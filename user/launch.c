// SPDX-License-Identifier: MIT
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rlimits.h"

/* The user who called sudo. 0, or a negative errno: better no command than one with rights its
 * caller did not have. */
static int privileges_drop(void)
{
	const char *uid_text = getenv("SUDO_UID"), *gid_text = getenv("SUDO_GID");
	struct passwd *user;
	uid_t uid;
	gid_t gid;

	if (geteuid() || !uid_text || !gid_text)
		return 0;
	uid = (uid_t)strtoul(uid_text, NULL, 10);
	gid = (gid_t)strtoul(gid_text, NULL, 10);
	user = getpwuid(uid);
	if (user ? initgroups(user->pw_name, gid) : setgroups(1, &gid))
		return -errno;
	if (setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		return -errno;
	return 0;
}

static void child(int go_fd, int failed_fd, char *const argv[])
{
	sigset_t none;
	char byte;
	int err;

	if (read(go_fd, &byte, 1) != 1)
		_exit(0); /* the recorder gave up */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	rlimits__restore();
	err = privileges_drop();
	if (!err) {
		execvp(argv[0], argv);
		err = -errno;
	}
	if (write(failed_fd, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

int launch__prepare(struct launch *launch, char *const argv[])
{
	int go[2], failed[2], err;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(failed, O_CLOEXEC)) {
		err = -errno;
		goto close_go;
	}
	pid = fork();
	if (pid < 0) {
		err = -errno;
		goto close_failed;
	}
	if (!pid) {
		close(go[1]);
		close(failed[0]);
		child(go[0], failed[1], argv);
	}
	close(go[0]);
	close(failed[1]);
	*launch = (struct launch){.pid = pid, .go_fd = go[1], .failed_fd = failed[0]};
	return 0;

close_failed:
	close(failed[0]);
	close(failed[1]);
close_go:
	close(go[0]);
	close(go[1]);
	return err;
}

int launch__go(struct launch *launch)
{
	int err = 0;

	if (write(launch->go_fd, "", 1) != 1)
		err = -errno;
	/* The other end closes when exec succeeds. */
	if (!err && read(launch->failed_fd, &err, sizeof(err)) != sizeof(err))
		err = 0;
	if (err)
		launch__end(launch);
	return err;
}

/* Returns its id. */
static pid_t forget(struct launch *launch)
{
	pid_t pid = launch->pid;

	close(launch->go_fd);
	close(launch->failed_fd);
	launch->pid = 0;
	return pid;
}

bool launch__failed(struct launch *launch, char what[LAUNCH_WHAT_SIZE])
{
	int status = 0;

	if (launch->pid <= 0 || waitpid(launch->pid, &status, WNOHANG) != launch->pid)
		return false;
	forget(launch);
	if (WIFSIGNALED(status))
		snprintf(what, LAUNCH_WHAT_SIZE, "was ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(what, LAUNCH_WHAT_SIZE, "exited with status %d", WEXITSTATUS(status));
	return status != 0;
}

void launch__end(struct launch *launch)
{
	struct timespec moment = {0, 10000000};
	pid_t pid;
	int tries;

	if (launch->pid <= 0)
		return;
	pid = forget(launch);
	if (waitpid(pid, NULL, WNOHANG) == 0) {
		kill(pid, SIGTERM);
		for (tries = 0; tries < 100 && waitpid(pid, NULL, WNOHANG) == 0; tries++)
			nanosleep(&moment, NULL);
		if (tries == 100) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
	}
}
