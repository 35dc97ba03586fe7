// SPDX-License-Identifier: MIT
/*
 * rawexit: prints "ready 1"; after SIGUSR1 a thread calls "counted" five times and ends by the
 * system call, past its library; then the main thread calls it 18 times.
 */
#include "subject.h"

TSN_FINE(counted, "counted");

static void count(int times)
{
	while (times--) {
		TSN_SCOPE(counted);
		TSN_KEEP(times);
	}
}

static void *leave(void *argument)
{
	count(5);
	syscall(SYS_exit, 0);
	return argument;
}

int main(void)
{
	pthread_t thread;

	subject_steps();
	subject_say("ready", 1);
	subject_wait_step(1);
	pthread_create(&thread, NULL, leave, NULL);
	pthread_join(thread, NULL);
	count(18);
	return 0;
}
