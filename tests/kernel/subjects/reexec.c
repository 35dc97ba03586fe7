// SPDX-License-Identifier: MIT
/*
 * reexec [IMAGES]: each image but the last replaces itself from a thread, with others of its kind
 * in the way on the same CPU; the last one sleeps for 0.3 s in "asleep" and spins for 0.2 s in
 * "awake". Labels have other ids in every image. Prints wall_ns, from the first image to the end,
 * and asleep_ns.
 */
#include <string.h>

#include "subject.h"

static uint64_t began;

static void *burn(void *argument)
{
	for (;;)
		TSN_KEEP(argument);
	return argument;
}

static void *replace(void *argument)
{
	tsn_fine_t label = tsn_register_fine("before");
	char left[16], start[32];

	snprintf(left, sizeof(left), "%d", *(int *)argument - 1);
	snprintf(start, sizeof(start), "%llu", (unsigned long long)began);
	{
		TSN_SCOPE(label);
		/* The labels of an image are known once the recorder has looked at it. */
		subject_sleep(*(int *)argument > 2 ? 10000000 : 100000000);
		execl("/proc/self/exe", "reexec", left, start, NULL);
	}
	return argument;
}

int main(int argc, char **argv)
{
	int images = argc > 1 ? atoi(argv[1]) : 2;
	pthread_t threads[2];
	tsn_fine_t label;
	uint64_t then;

	began = argc > 2 ? strtoull(argv[2], NULL, 10) : subject_now();
	subject_pin(0);
	if (images > 1) {
		pthread_create(&threads[0], NULL, burn, NULL);
		pthread_create(&threads[1], NULL, replace, &images);
		pthread_join(threads[1], NULL);
		return 1;
	}
	label = tsn_register_fine("asleep");
	subject_sleep(150000000); /* until it has been looked at */
	then = subject_now();
	{
		TSN_SCOPE(label);
		subject_sleep(300000000);
	}
	subject_say("asleep_ns", subject_now() - then);
	label = tsn_register_fine("awake");
	{
		TSN_SCOPE(label);
		subject_spin_until(subject_now() + 200000000);
	}
	subject_say("wall_ns", subject_now() - began);
	return 0;
}
