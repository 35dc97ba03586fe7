// SPDX-License-Identifier: MIT
/* named NAME THREAD: a process of that name with a thread of another one, both asleep in a label,
 * until killed. Prints "ready 1" when they are. */
#include <sys/prctl.h>

#include "subject.h"

TSN_FINE(asleep, "asleep");

static void *sleeper(void *name)
{
	TSN_SCOPE(asleep);
	prctl(PR_SET_NAME, name);
	printf("ready 1\n");
	fflush(stdout);
	for (;;)
		pause();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 3)
		return 2;
	TSN_SCOPE(asleep);
	prctl(PR_SET_NAME, argv[1]);
	pthread_create(&thread, NULL, sleeper, argv[2]);
	pthread_join(thread, NULL);
	return 0;
}
