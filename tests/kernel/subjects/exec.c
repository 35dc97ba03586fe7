// SPDX-License-Identifier: MIT
/*
 * exec: spends 0.3 s in one label, then a thread that is not the main one replaces the image by the
 * program itself, which spends 0.5 s in another. Prints both.
 */
#include <string.h>

#include "subject.h"

TSN_FINE(before, "before");
TSN_FINE(after, "after");

static void *replace(void *argument)
{
	{
		TSN_SCOPE(before);
		subject_spin_until(subject_now() + 300000000);
	}
	execl("/proc/self/exe", "exec", "again", NULL);
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1 && !strcmp(argv[1], "again")) {
		TSN_SCOPE(after);
		subject_spin_until(subject_now() + 500000000);
		printf("before_ns 300000000\nafter_ns 500000000\n");
		return 0;
	}
	pthread_create(&thread, NULL, replace, NULL);
	pthread_join(thread, NULL);
	return 1;
}
