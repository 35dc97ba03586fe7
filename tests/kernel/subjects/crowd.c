// SPDX-License-Identifier: MIT
/* crowd THREADS: so many threads asleep in "asleep", and the main one asleep in no label, until
 * killed. Prints "ready 1" when all are. */
#include "subject.h"

TSN_FINE(asleep, "asleep");

static unsigned sleeping;

static void *sleeper(void *argument)
{
	TSN_SCOPE(asleep);
	__atomic_fetch_add(&sleeping, 1, __ATOMIC_SEQ_CST);
	for (;;)
		pause();
	return argument;
}

int main(int argc, char **argv)
{
	unsigned wanted = argc > 1 ? (unsigned)atoi(argv[1]) : 4000, i;
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	for (i = 0; i < wanted; i++)
		if (pthread_create(&thread, &attributes, sleeper, NULL)) {
			perror("pthread_create");
			return 1;
		}
	while (__atomic_load_n(&sleeping, __ATOMIC_SEQ_CST) < wanted)
		usleep(1000);
	usleep(100000);
	subject_say("ready", 1);
	for (;;)
		pause();
}
