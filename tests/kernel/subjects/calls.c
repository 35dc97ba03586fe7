// SPDX-License-Identifier: MIT
/*
 * calls [SECONDS]: 23 calls of one label: 9 by a thread that exits at once, 7 by one that exits in
 * the middle, 4 by one that is still there when the process ends, 3 by the main thread, the last of
 * them as its last act.
 */
#include "subject.h"

TSN_FINE(counted, "counted");

static void call(int times)
{
	while (times--) {
		TSN_SCOPE(counted);
		TSN_KEEP(times);
	}
}

static void *caller(void *argument)
{
	intptr_t what = (intptr_t)argument;

	call((int)(what & 15));
	if (what & 16)
		usleep(100000);
	if (what & 32)
		for (;;)
			pause();
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t end = subject_now() + subject_seconds(argc, argv, 1, 0.3);
	pthread_t threads[3];

	pthread_create(&threads[0], NULL, caller, (void *)(intptr_t)9);
	pthread_create(&threads[1], NULL, caller, (void *)(intptr_t)(7 | 16));
	pthread_create(&threads[2], NULL, caller, (void *)(intptr_t)(4 | 32));
	call(2);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	while (subject_now() < end)
		usleep(1000);
	printf("calls 23\n");
	fflush(stdout);
	call(1);
	return 0;
}
