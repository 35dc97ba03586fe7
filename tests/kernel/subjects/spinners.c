// SPDX-License-Identifier: MIT
/* spinners [SECONDS]: four threads that spin on one CPU, each in a label of its own. */
#include "subject.h"

TSN_FINE_FAMILY(spinner, "spinner", 4);

static uint64_t end_ns;

static void *spin(void *argument)
{
	subject_pin(0);
	TSN_SCOPE(tsn_at(spinner, (uint32_t)(uintptr_t)argument));
	subject_spin_until(end_ns);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];
	uintptr_t i;

	end_ns = subject_now() + subject_seconds(argc, argv, 1, 2);
	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, spin, (void *)i);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
