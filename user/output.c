// SPDX-License-Identifier: MIT
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPORARY_TRIES 16

struct output {
	FILE *stream; /* in memory */
	char *text;
	size_t length;
	int fd;	       /* of the file without a name, or of what is written directly; -1: none */
	int directory; /* -1: written directly */
	char *name;    /* final, in directory */
	mode_t mode;
	int stop_fd; /* see output__stop_at(); -1: none */
};

static void output__free(struct output *output)
{
	if (output->stream)
		fclose(output->stream);
	free(output->text);
	if (output->fd >= 0)
		close(output->fd);
	if (output->directory >= 0)
		close(output->directory);
	free(output->name);
	free(output);
}

/* The number of one of this process's own descriptors, or -1: opening such a path would write from
 * the file's start. */
static int own_descriptor(const char *path)
{
	static const char *const prefixes[] = {"/dev/fd/", "/proc/self/fd/"};
	size_t i;

	if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strcmp(path, "/dev/stderr") == 0)
		return STDERR_FILENO;
	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		const char *digits = path + strlen(prefixes[i]);

		if (strncmp(path, prefixes[i], strlen(prefixes[i])) != 0)
			continue;
		if (*digits && strspn(digits, "0123456789") == strlen(digits) && strlen(digits) < 8)
			return atoi(digits);
	}
	return -1;
}

/* fd was opened for a path that led to no regular file; it may have been exchanged since. */
static int check_direct(int fd)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	return S_ISREG(status.st_mode) ? -EAGAIN : 0;
}

static int open_direct(struct output *output, const char *path)
{
	int own = own_descriptor(path);

	if (own >= 0)
		output->fd = fcntl(own, F_DUPFD_CLOEXEC, 3);
	else
		output->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (output->fd < 0)
		return -errno;
	if (own < 0)
		return check_direct(output->fd);
	return (fcntl(output->fd, F_GETFL) & O_ACCMODE) == O_RDONLY ? -EBADF : 0;
}

static int open_directory(struct output *output, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *parent = NULL;
	int error = 0;

	output->name = strdup(slash ? slash + 1 : path);
	parent = !slash		 ? strdup(".")
		 : slash == path ? strdup("/")
				 : strndup(path, (size_t)(slash - path));
	if (!output->name || !parent) {
		error = -ENOMEM;
		goto free_parent;
	}
	if (!*output->name || strcmp(output->name, ".") == 0 || strcmp(output->name, "..") == 0) {
		error = *path ? -EISDIR : -ENOENT;
		goto free_parent;
	}
	output->directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (output->directory < 0 && errno == EACCES) /* may be written though not be listed */
		output->directory = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (output->directory < 0)
		error = -errno;

free_parent:
	free(parent);
	return error;
}

/* Whether a rename onto what is there would fail at the end, or go against its owner's wish. */
static int check_replaceable(const struct output *output)
{
	struct stat directory, file;
	struct statx extended;
	int flags = AT_SYMLINK_NOFOLLOW;

	if (fstatat(output->directory, output->name, &file, flags))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(file.st_mode))
		return -EISDIR;
	if (S_ISREG(file.st_mode) && faccessat(output->directory, output->name, W_OK, AT_EACCESS))
		return -errno;
	if (fstat(output->directory, &directory))
		return -errno;
	if ((directory.st_mode & S_ISVTX) && geteuid() != 0 && file.st_uid != geteuid() &&
	    directory.st_uid != geteuid())
		return -EPERM;
	if (statx(output->directory, output->name, flags, STATX_TYPE, &extended) == 0 &&
	    (extended.stx_attributes & STATX_ATTR_MOUNT_ROOT))
		return -EBUSY;
	return 0;
}

/* A signal between two steps would leave a file behind. The caller restores *before. */
static void signals_block(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, before);
}

static void signals_restore(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* A new name beside the final one; the caller frees it. NULL: cannot be had. */
static char *temporary_name(void)
{
	unsigned long long number;
	char *name;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number) ||
	    asprintf(&name, ".ticksnick-%016llx.tmp", number) < 0)
		return NULL;
	return name;
}

/* Where a file cannot be without a name. *temporary: its name, which the caller frees. */
static int open_named(const struct output *output, char **temporary)
{
	int tries, fd;
	char *name;

	for (tries = 0; tries < TEMPORARY_TRIES; tries++) {
		name = temporary_name();
		if (!name)
			return -ENOMEM;
		fd = openat(output->directory, name,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0) {
			*temporary = name;
			return fd;
		}
		free(name);
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* What filesystems and kernels say that have no files without a name. */
static bool is_unnamed_unknown(int error)
{
	return error == -EOPNOTSUPP || error == -EISDIR || error == -EINVAL || error == -ENOENT;
}

/* The file without a name, or, where there is no such thing, proof that one can be made. */
static int open_unnamed(struct output *output)
{
	char *temporary = NULL;
	sigset_t before;
	int fd = openat(output->directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	if (fd >= 0) {
		output->fd = fd;
		return 0;
	}
	if (!is_unnamed_unknown(-errno))
		return -errno;
	signals_block(&before);
	fd = open_named(output, &temporary);
	if (fd >= 0) {
		unlinkat(output->directory, temporary, 0);
		free(temporary);
	}
	signals_restore(&before);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* Leads to something that is no regular file and no directory. */
static bool is_special(const char *path)
{
	struct stat status;

	if (own_descriptor(path) >= 0)
		return true;
	return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

static int prepare(struct output *output, const char *path)
{
	int error;

	output->stream = open_memstream(&output->text, &output->length);
	if (!output->stream)
		return -ENOMEM;
	if (is_special(path))
		return open_direct(output, path);
	error = open_directory(output, path);
	if (!error)
		error = check_replaceable(output);
	if (!error)
		error = open_unnamed(output);
	return error;
}

struct output *output__open(const char *path, int *error)
{
	struct output *output = calloc(1, sizeof(*output));
	mode_t mask = umask(022);

	umask(mask);
	if (!output) {
		*error = -ENOMEM;
		return NULL;
	}
	output->fd = -1;
	output->directory = -1;
	output->stop_fd = -1;
	output->mode = 0644 & ~mask;
	*error = prepare(output, path);
	if (*error) {
		output__free(output);
		return NULL;
	}
	return output;
}

FILE *output__stream(struct output *output)
{
	return output->stream;
}

void output__abort(struct output *output)
{
	if (output)
		output__free(output);
}

/* Waits until fd takes something or stop_fd is readable. 0, or -EINTR: only the latter. */
static int wait_writable(int fd, int stop_fd)
{
	struct pollfd watched[] = {{.fd = fd, .events = POLLOUT},
				   {.fd = stop_fd, .events = POLLIN}};

	while (poll(watched, 2, -1) < 0 && errno == EINTR)
		;
	return !watched[0].revents && watched[1].revents ? -EINTR : 0;
}

static int write_all(int fd, const char *text, size_t length)
{
	ssize_t written;

	while (length) {
		written = write(fd, text, length);
		/* Standard output may be shared with one who wants it not to block. */
		if (written < 0 && errno == EAGAIN && !wait_writable(fd, -1))
			continue;
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		text += written;
		length -= (size_t)written;
	}
	return 0;
}

void output__stop_at(struct output *output, int fd)
{
	output->stop_fd = fd;
}

/* As write_all(), but by pieces that a pipe takes at once when it takes anything. */
static int write_pieces(const struct output *output)
{
	size_t done, piece;
	int error = 0;

	for (done = 0; done < output->length && !error; done += piece) {
		piece = output->length - done < PIPE_BUF ? output->length - done : PIPE_BUF;
		error = wait_writable(output->fd, output->stop_fd);
		if (!error)
			error = write_all(output->fd, output->text + done, piece);
	}
	return error;
}

/* From an environment variable that sudo sets; -1: there is none, or it is nonsense. */
static long sudo_id(const char *name)
{
	const char *text = getenv(name);
	char *end;
	long id;

	if (!text || *text < '0' || *text > '9')
		return -1;
	errno = 0;
	id = strtol(text, &end, 10);
	return *end || errno || id > INT_MAX ? -1 : id;
}

/* A filesystem may know no owners; the report is readable all the same, so that is no failure. */
static void give_to_caller(int fd)
{
	long uid = sudo_id("SUDO_UID"), gid = sudo_id("SUDO_GID");

	if (geteuid() != 0 || uid < 0 || gid < 0)
		return;
	if (fchown(fd, (uid_t)uid, (gid_t)gid))
		return;
}

static int sync_directory(int directory)
{
	if (fsync(directory) == 0 || errno == EINVAL ||
	    errno == EBADF) /* EBADF: open by O_PATH only */
		return 0;
	return -errno;
}

/* All of a file but its name. */
static int fill(const struct output *output, int fd)
{
	int error = write_all(fd, output->text, output->length);

	if (error)
		return error;
	give_to_caller(fd);
	return fchmod(fd, output->mode) || fsync(fd) ? -errno : 0;
}

static int rename_to_final(const struct output *output, const char *temporary)
{
	int error = 0;

	if (renameat(output->directory, temporary, output->directory, output->name)) {
		error = -errno;
		unlinkat(output->directory, temporary, 0);
	}
	return error;
}

static int link_as(const struct output *output, const char *name)
{
	char from[32];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", output->fd);
	return linkat(AT_FDCWD, from, output->directory, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* Gives the file without a name the final one. A link cannot replace what is there: then it has a
 * temporary one for an instant. */
static int name_unnamed(const struct output *output)
{
	int error = link_as(output, output->name), tries;

	for (tries = 0; error == -EEXIST && tries < TEMPORARY_TRIES; tries++) {
		char *temporary = temporary_name();

		if (!temporary)
			return -ENOMEM;
		error = link_as(output, temporary);
		if (!error)
			error = rename_to_final(output, temporary);
		free(temporary);
	}
	return error;
}

/* No /proc to name it by, no links on this filesystem, or a security module's word. */
static bool is_link_refused(int error)
{
	return error == -ENOENT || error == -EOPNOTSUPP || error == -EPERM || error == -EACCES ||
	       error == -EXDEV;
}

static int replace_named(const struct output *output)
{
	char *temporary = NULL;
	int fd = open_named(output, &temporary), error;

	if (fd < 0)
		return fd;
	error = fill(output, fd);
	close(fd);
	if (error)
		unlinkat(output->directory, temporary, 0);
	else
		error = rename_to_final(output, temporary);
	free(temporary);
	return error;
}

static int replace(const struct output *output)
{
	int error = output->fd < 0 ? 0 : fill(output, output->fd);
	sigset_t before;

	if (error)
		return error;
	signals_block(&before);
	error = output->fd < 0 ? -EOPNOTSUPP : name_unnamed(output);
	if (is_link_refused(error))
		error = replace_named(output);
	signals_restore(&before);
	return error ? error : sync_directory(output->directory);
}

int output__commit(struct output *output)
{
	int error;

	/* the stream is in memory, so this is all that can fail */
	error = fflush(output->stream) || ferror(output->stream) ? -ENOMEM : 0;
	if (!error)
		error = output->directory < 0 ? write_pieces(output) : replace(output);
	output__free(output);
	return error;
}

int output__finish(struct output *output, int error)
{
	if (!error)
		return output__commit(output);
	output__abort(output);
	return error;
}
