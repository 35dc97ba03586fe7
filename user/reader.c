// SPDX-License-Identifier: MIT
#include "reader.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "proc.h"

#define PIECES_MAX  256
#define ROOM	    (512u << 10) /* bytes of one request */
#define SECOND	    1000000000u
#define ENDED_TRIES 20 /* a millisecond each */
/* What is worth asking whether it was waiting for a CPU, and how long to wait for that at a time.
 */
#define CPU_WAIT_NS (SECOND / 50)

/* size * count <= ROOM, count <= PIECES_MAX. */
struct request {
	pid_t pid; /* any thread of the process that lives */
	uint64_t address;
	uint64_t stride, size, count;
};

struct answer {
	int64_t result;
	uint64_t taken_ns; /* CPU time of the child so far */
};

struct reader {
	pid_t pid;
	pid_t through; /* a thread of it that lived when it was last looked at: a main thread that
			  has ended has no memory any more */
	uint64_t allowance_ns, counted_ns; /* what was left when last counted, and when that was */
	bool refused;			   /* until the allowance is whole again */
};

/* The child that reads for all readers. */
static struct {
	pid_t pid;   /* 0: none */
	pid_t owner; /* who made it: a fork of the recorder must not end it */
	int channel; /* requests go out, answers come in */
	char *room;  /* shared with it, which puts what it read there; a new one for each child,
			since one that was given up may still write */
	uint64_t taken_ns; /* CPU time of this one, as it last said */
	uint64_t delay_ns; /* that it waited for a CPU, when last looked at */
} child;

static size_t readers;		   /* that there are */
static pid_t killed, killed_owner; /* one whose end was not seen yet; 0: none */
static uint64_t taken_ns;	   /* by all children */

uint64_t reader__taken_ns(void)
{
	return taken_ns;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

static uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

struct reader *reader__new(pid_t pid)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->pid = reader->through = pid;
	reader->allowance_ns = READER_ALLOWANCE_NS;
	reader->counted_ns = now_ns();
	readers++;
	return reader;
}

/* One request, as whoever calls it. */
static int memory_read(const struct request *request, char *to)
{
	struct iovec whole = {.iov_base = to, .iov_len = request->size * request->count};
	struct iovec pieces[PIECES_MAX];
	ssize_t got;
	size_t i;

	for (i = 0; i < request->count; i++) {
		pieces[i].iov_base = (void *)(uintptr_t)(request->address + i * request->stride);
		pieces[i].iov_len = request->size;
	}
	got = process_vm_readv(request->pid, &whole, 1, pieces, request->count, 0);
	if (got < 0)
		return -errno;
	return (size_t)got == whole.iov_len ? 0 : -EFAULT;
}

/* ---- the child ---- */

/*
 * Until the recorder closes its end, or dies. It holds nothing of the recorder's open, or what
 * waits for that to be closed would wait for a read, and is in a session of its own, so that the
 * terminal does not stop it while the recorder counts the time.
 */
static __attribute__((noreturn)) void child_run(int channel, pid_t parent)
{
	struct request request;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(channel, 0) < 0)
		_exit(1);
	syscall(SYS_close_range, 1u, ~0u, 0u);
	setsid();
	while (recv(0, &request, sizeof(request), 0) == sizeof(request)) {
		struct answer answer = {memory_read(&request, child.room)};

		answer.taken_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		if (send(0, &answer, sizeof(answer), MSG_NOSIGNAL) != sizeof(answer))
			break;
	}
	_exit(0);
}

static int child_make(void)
{
	pid_t parent = getpid();
	int channels[2], err;

	child.room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (child.room == MAP_FAILED)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channels)) {
		err = -errno;
		goto unmap;
	}
	child.pid = fork();
	if (!child.pid)
		child_run(channels[1], parent);
	err = -errno;
	close(channels[1]);
	if (child.pid > 0) {
		child.channel = channels[0];
		child.owner = parent;
		child.taken_ns = child.delay_ns = 0;
		return 0;
	}
	child.pid = 0;
	close(channels[0]);
unmap:
	munmap(child.room, ROOM);
	return err;
}

/* Takes note of the end of one that was killed, if it has come by now. */
static void killed_reap(void)
{
	if (killed && killed_owner == getpid() && waitpid(killed, NULL, WNOHANG))
		killed = 0;
}

/*
 * Nothing can be done about a child that not even SIGKILL reaches (it waits for a disk), so it is
 * not waited for long, and its end is noted later.
 */
static void child_end(void)
{
	static const struct timespec moment = {.tv_nsec = 1000000};
	int i;

	if (!child.pid)
		return;
	close(child.channel);
	if (child.owner == getpid()) {
		kill(child.pid, SIGKILL);
		killed = child.pid;
		killed_owner = child.owner;
		for (i = 0; i < ENDED_TRIES && killed; i++) {
			nanosleep(&moment, NULL);
			killed_reap();
		}
	}
	munmap(child.room, ROOM);
	child.pid = 0;
}

void reader__free(struct reader *reader)
{
	if (!reader)
		return;
	free(reader);
	if (!--readers)
		child_end();
}

/* ---- requests ---- */

/* Counts the time since the last count: what was used of it, and what has come back. */
static void allowance_count(struct reader *reader, uint64_t now, bool reading)
{
	uint64_t passed = now - reader->counted_ns, used = reading ? passed : 0;

	reader->allowance_ns += passed / READER_REFILL;
	reader->allowance_ns -= used < reader->allowance_ns ? used : reader->allowance_ns;
	if (reader->allowance_ns >= READER_ALLOWANCE_NS) {
		reader->allowance_ns = READER_ALLOWANCE_NS;
		reader->refused = false;
	}
	reader->counted_ns = now;
}

/* Whether it is late for want of a CPU, and not for the memory that it reads. */
static bool child_wants_cpu(void)
{
	struct proc_status status;

	return !proc__status(child.pid, 0, &status) && status.state == 'R';
}

/* How long it has waited for a CPU since this was asked last; what it still waits comes later. */
static uint64_t child_delay_ns(void)
{
	unsigned long long delay_ns;
	uint64_t more = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", child.pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%*u %llu", &delay_ns) == 1) {
		more = delay_ns - child.delay_ns;
		child.delay_ns = delay_ns;
	}
	fclose(file);
	return more;
}

/* What the child has waited for a CPU is no time of the reader's. */
static void delay_excuse(struct reader *reader, uint64_t now)
{
	uint64_t delay = child_delay_ns(), passed = now - reader->counted_ns;

	reader->counted_ns += delay < passed ? delay : passed;
}

/* The result; -ETIMEDOUT: none came in time; -EPIPE: the child is gone. */
static int answer_await(struct reader *reader)
{
	struct pollfd watched = {.fd = child.channel, .events = POLLIN};
	uint64_t until = reader->counted_ns + reader->allowance_ns, now = reader->counted_ns;
	struct answer answer;

	for (;;) {
		uint64_t left = until > now ? until - now : 0;
		struct timespec timeout = {(time_t)(left / SECOND), (long)(left % SECOND)};
		int ready = ppoll(&watched, 1, &timeout, NULL);

		if (ready > 0)
			break;
		if (ready && errno != EINTR)
			return -ETIMEDOUT;
		now = now_ns();
		if (ready)
			continue;
		delay_excuse(reader, now);
		until = reader->counted_ns + reader->allowance_ns;
		if (until > now)
			continue;
		if (!child_wants_cpu())
			return -ETIMEDOUT;
		until = now + CPU_WAIT_NS;
	}
	if (recv(child.channel, &answer, sizeof(answer), 0) != sizeof(answer))
		return -EPIPE;
	taken_ns += answer.taken_ns - child.taken_ns;
	child.taken_ns = answer.taken_ns;
	now = now_ns();
	if (now - reader->counted_ns > CPU_WAIT_NS)
		delay_excuse(reader, now);
	return (int)answer.result;
}

static int request_once(struct reader *reader, const struct request *request, char *to)
{
	int err = 0;

	killed_reap();
	allowance_count(reader, now_ns(), false);
	if (reader->refused)
		return -ETIMEDOUT;
	if (!child.pid)
		err = child_make();
	if (err)
		return err;
	if (send(child.channel, request, sizeof(*request), MSG_NOSIGNAL) == sizeof(*request))
		err = answer_await(reader);
	else
		err = -EPIPE;
	allowance_count(reader, now_ns(), true);
	if (err == -ETIMEDOUT) {
		reader->allowance_ns = 0;
		reader->refused = true;
	}
	if (err == -ETIMEDOUT || err == -EPIPE)
		child_end();
	if (!err)
		memcpy(to, child.room, request->size * request->count);
	/*
	 * Where the recorder may read its descendants alone (Yama, without CAP_SYS_PTRACE) its
	 * child may not, but then what is read is of the recorder's own user.
	 */
	return err == -EPERM ? memory_read(request, to) : err;
}

/* Whether the thread read through is still one of the process's; the process itself is. */
static bool thread_ours(const struct reader *reader)
{
	char path[64];

	if (reader->through == reader->pid)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/task/%d", reader->pid, reader->through);
	return !access(path, F_OK);
}

/* Another thread to read through; false: there is none. */
static bool thread_change(struct reader *reader)
{
	pid_t tid = proc__living(reader->pid);

	if (!tid || tid == reader->through)
		return false;
	reader->through = tid;
	return true;
}

static int request_do(struct reader *reader, struct request *request, char *to)
{
	int err;

	if (!thread_ours(reader))
		reader->through = reader->pid;
	do {
		request->pid = reader->through;
		err = request_once(reader, request, to);
	} while (err == -ESRCH && thread_change(reader));
	return err;
}

int reader__gather(struct reader *reader, uint64_t address, size_t stride, size_t size,
		   size_t count, void *to)
{
	char *out = to;
	int err = 0;

	if (size > ROOM) {
		for (; count && !err; count--, address += stride)
			for (size_t done = 0, part; done < size && !err;
			     done += part, out += part) {
				part = size - done < ROOM ? size - done : ROOM;
				err = request_do(reader,
						 &(struct request){.address = address + done,
								   .stride = part,
								   .size = part,
								   .count = 1},
						 out);
			}
		return err;
	}
	while (count && size && !err) {
		size_t n = ROOM / size;
		struct request request = {.address = address, .stride = stride, .size = size};

		n = n < PIECES_MAX ? n : PIECES_MAX;
		request.count = n < count ? n : count;
		err = request_do(reader, &request, out);
		out += request.count * size;
		address += request.count * stride;
		count -= request.count;
	}
	return err;
}
