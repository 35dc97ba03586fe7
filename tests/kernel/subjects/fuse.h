/* SPDX-License-Identifier: MIT */
/*
 * fuse.h - a file system in user space with one file of one page, which does not answer what is
 * written to it. Takes root. Ends with the main thread of its user, and after FUSE_LIFE_S in any
 * case: who looks at a process that waits for it, as ps does, waits with it.
 */
#ifndef TICKSNICK_SUBJECT_FUSE_H
#define TICKSNICK_SUBJECT_FUSE_H

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FUSE_PAGE   4096u
#define FUSE_NODE   2u
#define FUSE_LIFE_S 3

static struct fuse_attr fuse_attr_of(uint64_t node)
{
	return (struct fuse_attr){.ino = node,
				  .size = node == FUSE_ROOT_ID ? 0 : FUSE_PAGE,
				  .mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0666,
				  .nlink = 1,
				  .blksize = FUSE_PAGE};
}

static void fuse_reply(int fd, uint64_t unique, int error, const void *data, size_t size)
{
	static char message[sizeof(struct fuse_out_header) + FUSE_PAGE];
	struct fuse_out_header header = {
		.len = (uint32_t)(sizeof(header) + size), .error = error, .unique = unique};

	memcpy(message, &header, sizeof(header));
	if (size)
		memcpy(message + sizeof(header), data, size);
	if (write(fd, message, header.len) < 0)
		perror("fuse");
}

static void fuse_answer(int fd, const struct fuse_in_header *request)
{
	static const char page[FUSE_PAGE];
	const struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION,
					   .minor = 31,
					   .max_readahead = FUSE_PAGE,
					   .max_write = FUSE_PAGE};
	const struct fuse_open_out opened = {.open_flags = FOPEN_KEEP_CACHE};
	struct fuse_entry_out entry = {.nodeid = FUSE_NODE,
				       .attr_valid = 1000,
				       .entry_valid = 1000,
				       .attr = fuse_attr_of(FUSE_NODE)};
	struct fuse_attr_out attr = {.attr_valid = 1000, .attr = fuse_attr_of(request->nodeid)};

	switch (request->opcode) {
	case FUSE_INIT:
		fuse_reply(fd, request->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		fuse_reply(fd, request->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		fuse_reply(fd, request->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		fuse_reply(fd, request->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		fuse_reply(fd, request->unique, 0, page, sizeof(page));
		break;
	case FUSE_WRITE:
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		fuse_reply(fd, request->unique, -ENOSYS, NULL, 0);
	}
}

static void fuse_serve(int fd)
{
	static char request[FUSE_MIN_READ_BUFFER + FUSE_PAGE]
		__attribute__((aligned(__alignof__(struct fuse_in_header))));

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "fuse-server");
	alarm(FUSE_LIFE_S);
	while (read(fd, request, sizeof(request)) > 0)
		fuse_answer(fd, (const void *)request);
	_exit(0);
}

/* A descriptor of the file; -1: see errno. */
static int fuse_file(void)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC), file;
	char options[96];

	if (fd < 0 || unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return -1;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (mount("withheld", "/mnt", "fuse", MS_NODEV | MS_NOSUID, options))
		return -1;
	if (!fork())
		fuse_serve(fd);
	file = open("/mnt/file", O_RDWR | O_CLOEXEC);
	close(fd);
	return file;
}

#endif
