// SPDX-License-Identifier: MIT
#include "ids.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#define ROOM_MIN 1024 /* entries */

static int by_seen(const void *a, const void *b)
{
	const struct tsn_id *x = a, *y = b;

	return x->seen < y->seen ? -1 : x->seen > y->seen;
}

/* Until the end of the file, into memory that grows. */
static int read_all(int fd, struct ids *ids)
{
	size_t room = 0, bytes = 0;
	char *grown;
	ssize_t got;

	for (;;) {
		if (bytes == room) {
			room = room ? room * 2 : ROOM_MIN * sizeof(*ids->at);
			grown = realloc(ids->at, room);
			if (!grown)
				return -ENOMEM;
			ids->at = (void *)grown;
		}
		got = read(fd, (char *)ids->at + bytes, room - bytes);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		bytes += (size_t)got;
	}
	ids->count = bytes / sizeof(*ids->at);
	return 0;
}

int ids__read(struct bpf_link *link, struct ids *ids)
{
	struct ids found = {0};
	int fd, err;

	if (!link) {
		*ids = found;
		return 0;
	}
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0)
		return -errno;
	err = read_all(fd, &found);
	close(fd);
	if (err) {
		ids__free(&found);
		return err;
	}
	qsort(found.at, found.count, sizeof(*found.at), by_seen);
	*ids = found;
	return 0;
}

void ids__free(struct ids *ids)
{
	free(ids->at);
	*ids = (struct ids){0};
}

uint32_t ids__find(const struct ids *ids, pid_t tid)
{
	struct tsn_id key = {.seen = (uint32_t)tid}, *found;

	if (!ids->at)
		return key.seen;
	found = bsearch(&key, ids->at, ids->count, sizeof(*found), by_seen);
	return found ? found->tid : 0;
}
