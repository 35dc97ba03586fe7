// SPDX-License-Identifier: MIT
/* sleepers: eight threads asleep in one label and one spinner in another, until killed. Prints
 * "ready 1" when all are. */
#include "subject.h"

TSN_FINE(asleep, "asleep");
TSN_FINE(spin, "spin");

static unsigned sleeping;

static void *sleeper(void *argument)
{
	(void)argument;
	TSN_SCOPE(asleep);
	__atomic_fetch_add(&sleeping, 1, __ATOMIC_SEQ_CST);
	for (;;)
		pause();
	return NULL;
}

int main(void)
{
	pthread_t thread;
	int i;

	for (i = 0; i < 8; i++)
		pthread_create(&thread, NULL, sleeper, NULL);
	while (__atomic_load_n(&sleeping, __ATOMIC_SEQ_CST) < 8)
		usleep(1000);
	usleep(20000);
	printf("ready 1\n");
	fflush(stdout);
	TSN_SCOPE(spin);
	for (;;)
		subject_spin_until(subject_now() + 1000000);
}
