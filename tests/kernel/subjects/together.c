// SPDX-License-Identifier: MIT
/* together [SECONDS]: two threads spin on two CPUs inside one label all the time. Prints how long.
 */
#include "subject.h"

TSN_FINE(shared, "shared");

static uint64_t end_ns;

static void *spin(void *argument)
{
	subject_pin((int)(intptr_t)argument);
	TSN_SCOPE(shared);
	subject_spin_until(end_ns);
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t begin = subject_now();
	pthread_t threads[2];
	intptr_t i;

	end_ns = begin + subject_seconds(argc, argv, 1, 2);
	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, spin, (void *)i);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("inside_ns %llu\n", (unsigned long long)(end_ns - begin));
	return 0;
}
