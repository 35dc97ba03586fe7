// SPDX-License-Identifier: MIT
/*
 * rawclone [own]: a thread made by clone() alone spins for 0.4 s while its creator sleeps in
 * "creator". It shares the creator's thread-local storage, or has its "own", which is all zero but
 * for what the compiler wants. Prints cpu_ns, by the new thread's own clock, and its tid.
 */
#include <string.h>

#include "subject.h"

TSN_FINE(creator, "creator");

#define STACK_SIZE 65536

static char stack[STACK_SIZE] __attribute__((aligned(16)));
static char storage[65536] __attribute__((aligned(64)));
static volatile uint64_t cpu_ns;
static volatile int tid, done;

/* Nothing here may touch what a library keeps per thread. */
static int spin(void *argument)
{
	struct timespec now;

	(void)argument;
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		cpu_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	} while (cpu_ns < 400000000);
	return 0;
}

int main(int argc, char **argv)
{
	int flags =
		CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
	void *own = storage + sizeof(storage) / 2;

#ifdef __x86_64__
	/* The thread's pointer to itself, twice. Where arm64 has its variables nothing may be. */
	*(void **)own = own;
	((void **)own)[2] = own;
#endif
	if (argc > 1 && !strcmp(argv[1], "own"))
		flags |= CLONE_SETTLS;
	{
		TSN_SCOPE(creator);
		tid = clone(spin, stack + STACK_SIZE, flags, NULL, NULL, own, NULL);
		if (tid < 0) {
			perror("clone");
			return 1;
		}
		while (!syscall(SYS_tgkill, getpid(), tid, 0))
			usleep(5000);
	}
	subject_say("tid", (uint64_t)tid);
	subject_say("cpu_ns", cpu_ns);
	return 0;
}
