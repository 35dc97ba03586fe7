// SPDX-License-Identifier: MIT
/*
 * handover [SECONDS]: two threads on two CPUs pass a critical section back and forth; the label is
 * set only while it is held, and a stopwatch runs as long. Prints the time it was held.
 */
#include "subject.h"

TSN_FINE(critical, "critical");
TSN_FINE(turn_wait, "waitForTurn");

static uint64_t end_ns, held_ns[2];
static int turn;

static void *pass(void *argument)
{
	int self = (int)(intptr_t)argument;

	subject_pin(self);
	for (;;) {
		{
			TSN_SCOPE(turn_wait);
			while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != self)
				if (subject_now() > end_ns + 1000000000u)
					return NULL;
		}
		if (subject_now() >= end_ns)
			break;
		{
			TSN_SCOPE(critical);
			uint64_t begin = subject_now();

			held_ns[self] += subject_spin_until(begin + 40000) - begin;
		}
		__atomic_store_n(&turn, !self, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&turn, !self, __ATOMIC_RELEASE);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other;

	end_ns = subject_now() + subject_seconds(argc, argv, 1, 2);
	pthread_create(&other, NULL, pass, (void *)1);
	pass(NULL);
	pthread_join(other, NULL);
	printf("held_ns %llu\n", (unsigned long long)(held_ns[0] + held_ns[1]));
	return 0;
}
