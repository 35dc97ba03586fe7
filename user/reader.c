// SPDX-License-Identifier: MIT
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
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

#include "allowance.h"
#include "mappings.h"
#include "proc.h"

#define PIECES_MAX  256
#define ROOM	    (512u << 10) /* bytes of one request */
#define SECOND	    1000000000u
#define ENDED_TRIES 20 /* a millisecond each */
/* How long to wait at a time for a child that has no CPU; and waiting that is worth asking whether
 * it was for one. */
#define CPU_WAIT_NS (SECOND / 50)
#define ASK_NS	    (SECOND / 10000)

enum request_kind {
	READ_MEMORY,
	READ_MAPPINGS,
};

/* size * count <= ROOM, count <= PIECES_MAX. */
struct request {
	uint32_t kind; /* enum request_kind */
	pid_t pid;     /* any thread of the process that lives */
	uint64_t address;
	uint64_t stride, size, count;
};

struct answer {
	int64_t result;
	uint64_t taken_ns;  /* CPU time of the child so far */
	uint64_t delay_ns;  /* that it had waited for a CPU before */
	uint64_t waited_ns; /* that this took without working or waiting for a CPU */
};

struct reader {
	pid_t pid;
	pid_t through; /* a thread of it that lived when it was last looked at: a main thread that
			  has ended has no memory any more */
	struct allowance *allowance;
};

/* The child that reads for all readers. */
static struct {
	pid_t pid;   /* 0: none */
	pid_t owner; /* who made it: a fork of the recorder must not end it */
	int channel; /* requests go out, answers come in */
	char *room;  /* shared with it, which puts what it read there; a new one for each child,
			since one that was given up may still write */
	uint64_t taken_ns; /* CPU time of this one, as it last said */
	uint64_t delay_ns; /* that it waited for a CPU, likewise or when last looked at */
} child;

/* Those whose end was not seen yet. There is none of another owner. */
static struct {
	pid_t pids[READER_KILLED_MAX];
	size_t count;
	pid_t owner;
} killed;

static struct {
	int fd; /* -1: none */
	bool begun;
	uint64_t left_ns; /* of READER_HURRY_NS */
} hurry = {.fd = -1};

static size_t readers;	  /* that there are */
static uint64_t taken_ns; /* by all children */

uint64_t reader__taken_ns(void)
{
	return taken_ns;
}

void reader__hurry_at(int fd)
{
	hurry.fd = fd;
	hurry.begun = false;
	hurry.left_ns = READER_HURRY_NS;
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

struct reader *reader__new(pid_t pid, const struct reader *relative)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->pid = reader->through = pid;
	reader->allowance =
		relative ? allowance__share(relative->allowance) : allowance__new(now_ns());
	if (!reader->allowance) {
		free(reader);
		return NULL;
	}
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

/* Likewise. to: room for it. */
static int request_answer(const struct request *request, void *to)
{
	if (request->kind == READ_MAPPINGS)
		return mappings__read(request->pid, to);
	return memory_read(request, to);
}

/* ---- the child ---- */

/* How long a process has waited for a CPU so far, as its schedstat says; 0 where it says nothing.
 */
static uint64_t delay_read(int schedstat)
{
	unsigned long long delay_ns = 0;
	char text[96];
	ssize_t n = schedstat < 0 ? -1 : pread(schedstat, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = 0;
	return sscanf(text, "%*u %llu", &delay_ns) == 1 ? delay_ns : 0;
}

/* What of the time since began is neither work nor waiting for a CPU. */
static uint64_t waited(uint64_t began_ns, uint64_t worked_ns, uint64_t delay_ns, int schedstat)
{
	uint64_t passed = now_ns() - began_ns, other = worked_ns;

	if (passed > other + ASK_NS)
		other += delay_read(schedstat) - delay_ns;
	return passed > other ? passed - other : 0;
}

/*
 * Until the recorder closes its end, or dies. It holds nothing of the recorder's open, or what
 * waits for that to be closed would wait for a read, and is in a session of its own, so that the
 * terminal does not stop it while the recorder counts the time.
 */
static __attribute__((noreturn)) void child_run(int channel, pid_t parent)
{
	struct request request;
	uint64_t began, before;
	int schedstat;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(channel, 0) < 0)
		_exit(1);
	syscall(SYS_close_range, 1u, ~0u, 0u);
	setsid();
	schedstat = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
	before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	while (recv(0, &request, sizeof(request), 0) == sizeof(request)) {
		struct answer answer = {.delay_ns = delay_read(schedstat)};

		began = now_ns();
		answer.result = request_answer(&request, child.room);
		answer.taken_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		answer.waited_ns =
			waited(began, answer.taken_ns - before, answer.delay_ns, schedstat);
		before = answer.taken_ns;
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

/* Takes note of the end of those that were killed, as far as it has come by now. */
static void killed_reap(void)
{
	size_t i;

	if (killed.owner != getpid())
		killed.count = 0;
	killed.owner = getpid();
	for (i = killed.count; i--;)
		if (waitpid(killed.pids[i], NULL, WNOHANG))
			killed.pids[i] = killed.pids[--killed.count];
}

static bool killed_holds(pid_t pid)
{
	size_t i;

	for (i = 0; i < killed.count; i++)
		if (killed.pids[i] == pid)
			return true;
	return false;
}

/* Whether it is late for want of a CPU, and not for the memory that it reads. */
static bool wants_cpu(pid_t pid)
{
	struct proc_status status;

	return !proc__status(pid, 0, &status) && status.state == 'R';
}

/*
 * False: it does not end. Nothing can be done about a child that not even SIGKILL reaches, for what
 * it waits for is on its way (from a disk, or a file system in user space, which may never answer),
 * so it is not waited for long, and its end is noted when it comes.
 */
static bool child_end(void)
{
	static const struct timespec moment = {.tv_nsec = 1000000};
	bool ends = true;
	pid_t pid = child.pid;
	int i;

	if (!pid)
		return true;
	close(child.channel);
	if (child.owner == getpid()) {
		kill(pid, SIGKILL);
		killed_reap();
		/* There is room: else it would not have been made. */
		killed.pids[killed.count++] = pid;
		for (i = 0; i < ENDED_TRIES && killed_holds(pid); i++) {
			nanosleep(&moment, NULL);
			killed_reap();
		}
		ends = !killed_holds(pid) || wants_cpu(pid);
	}
	munmap(child.room, ROOM);
	child.pid = 0;
	return ends;
}

void reader__free(struct reader *reader)
{
	if (!reader)
		return;
	allowance__free(reader->allowance);
	free(reader);
	if (!--readers)
		child_end();
}

/* ---- requests ---- */

/* How long it has waited for a CPU since its latest answer, or since this was asked last; what it
 * still waits comes later. */
static uint64_t child_delay_ns(void)
{
	uint64_t delay_ns, more;
	char path[64];
	int schedstat;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", child.pid);
	schedstat = open(path, O_RDONLY | O_CLOEXEC);
	delay_ns = delay_read(schedstat);
	if (schedstat >= 0)
		close(schedstat);
	more = delay_ns > child.delay_ns ? delay_ns - child.delay_ns : 0;
	child.delay_ns += more;
	return more;
}

/* How long it may be waited for this read, ns. */
static uint64_t left_now(struct reader *reader, uint64_t now)
{
	uint64_t left;

	if (hurry.begun)
		allowance__hurry(reader->allowance, now);
	left = allowance__left(reader->allowance, now);
	return hurry.begun && hurry.left_ns < left ? hurry.left_ns : left;
}

static void left_use(struct reader *reader, uint64_t now, uint64_t waited_ns)
{
	if (hurry.begun)
		hurry.left_ns -= waited_ns < hurry.left_ns ? waited_ns : hurry.left_ns;
	allowance__use(reader->allowance, now, waited_ns);
}

/* Waits for the child's answer; *left_ns: so long. 0; -ETIMEDOUT: none came in time. */
static int answer_await(struct reader *reader, uint64_t *left_ns)
{
	struct pollfd watched[] = {{.fd = child.channel, .events = POLLIN},
				   {.fd = hurry.begun ? -1 : hurry.fd, .events = POLLIN}};
	uint64_t now = now_ns(), start = now, excused = 0, until = now + *left_ns;
	uint64_t last = until + READER_EXCUSES * (uint64_t)ALLOWANCE_NS;

	for (;;) {
		uint64_t left = until > now ? until - now : 0;
		struct timespec timeout = {(time_t)(left / SECOND), (long)(left % SECOND)};
		int ready = ppoll(watched, 2, &timeout, NULL);

		if (ready > 0 && watched[0].revents)
			return 0;
		if (ready < 0 && errno != EINTR)
			return -ETIMEDOUT;
		now = now_ns();
		if (ready > 0) {
			/* What was waited so far was before the hurry. */
			watched[1].fd = -1;
			hurry.begun = true;
			start = now;
			excused = 0;
			*left_ns = left_now(reader, now);
			until = now + *left_ns;
			last = until + READER_EXCUSES * (uint64_t)ALLOWANCE_HURRY_NS;
		}
		if (ready)
			continue;
		/* That the child has waited for a CPU is no time of the reader's. */
		excused += child_delay_ns();
		until = start + *left_ns + (excused < now - start ? excused : now - start);
		if (until <= now && wants_cpu(child.pid))
			until = now + CPU_WAIT_NS;
		until = until < last ? until : last;
		if (until <= now)
			return -ETIMEDOUT;
	}
}

/* The result; -ETIMEDOUT: none came in time; -EPIPE: the child is gone. */
static int answer_take(struct reader *reader, uint64_t *left_ns)
{
	struct answer answer;
	int err = answer_await(reader, left_ns);

	if (err)
		return err;
	if (recv(child.channel, &answer, sizeof(answer), 0) != sizeof(answer))
		return -EPIPE;
	taken_ns += answer.taken_ns - child.taken_ns;
	child.taken_ns = answer.taken_ns;
	child.delay_ns = answer.delay_ns;
	left_use(reader, now_ns(), answer.waited_ns);
	return (int)answer.result;
}

/* Gives up reading for a while; or for good, where the child cannot be ended. */
static void give_up(struct reader *reader, uint64_t left_ns)
{
	left_use(reader, now_ns(), left_ns);
	allowance__exhaust(reader->allowance, now_ns());
	if (!child_end())
		allowance__end(reader->allowance);
}

/*
 * Where the recorder may read its descendants alone (Yama, without CAP_SYS_PTRACE) its child may
 * not, but then what is read is of the recorder's own user.
 */
static bool own_try(int err)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];

	if ((err != -EPERM && err != -EACCES) || syscall(SYS_capget, &header, caps))
		return false;
	return !(caps[0].effective & 1u << CAP_SYS_PTRACE);
}

/* to: room for the answer. */
static int request_once(struct reader *reader, const struct request *request, void *to)
{
	uint64_t left_ns = left_now(reader, now_ns());
	int err = 0;

	killed_reap();
	if (!left_ns)
		return -ETIMEDOUT;
	if (!child.pid && killed.count == READER_KILLED_MAX)
		return -ETIMEDOUT;
	if (!child.pid)
		err = child_make();
	if (err)
		return err;
	if (send(child.channel, request, sizeof(*request), MSG_NOSIGNAL) == sizeof(*request))
		err = answer_take(reader, &left_ns);
	else
		err = -EPIPE;
	if (err == -ETIMEDOUT)
		give_up(reader, left_ns);
	else if (err == -EPIPE)
		child_end();
	if (!err)
		memcpy(to, child.room, request->size * request->count);
	return own_try(err) ? request_answer(request, to) : err;
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

static int request_do(struct reader *reader, struct request *request, void *to)
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

int reader__mappings(struct reader *reader, struct mappings *mappings)
{
	struct request request = {.kind = READ_MAPPINGS, .size = sizeof(*mappings), .count = 1};

	/* What has no memory any more has an empty file, and that is no error there. */
	reader->through = proc__living(reader->pid);
	if (!reader->through)
		reader->through = reader->pid;
	return request_do(reader, &request, mappings);
}
