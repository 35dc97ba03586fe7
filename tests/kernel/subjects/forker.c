// SPDX-License-Identifier: MIT
/*
 * forker: prints "ready 1"; after SIGUSR1 forks three children inside "waits", who call "counted" a
 * thousand times each and spin for 0.1 s in "work"; waits for them, then calls "counted" 23 times.
 * Prints waits_ns.
 */
#include <sys/wait.h>

#include "subject.h"

TSN_FINE(waits, "waits");
TSN_FINE(work, "work");
TSN_FINE(counted, "counted");

static void count(int times)
{
	while (times--) {
		TSN_SCOPE(counted);
		TSN_KEEP(times);
	}
}

int main(void)
{
	uint64_t then;
	int i;

	subject_steps();
	count(1); /* so that there is a slot to inherit */
	subject_say("ready", 1);
	subject_wait_step(1);
	then = subject_now();
	{
		TSN_SCOPE(waits);
		for (i = 0; i < 3; i++)
			if (!fork()) {
				TSN_SCOPE(work);
				count(1000);
				subject_spin_until(subject_now() + 100000000);
				_exit(0);
			}
		while (wait(NULL) > 0)
			;
	}
	subject_say("waits_ns", subject_now() - then);
	count(23);
	return 0;
}
