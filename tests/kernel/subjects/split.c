// SPDX-License-Identifier: MIT
/*
 * split [SECONDS]: two threads, 70% of the time in one label, 30% in another, by stopwatch. Each
 * stay lasts 7 or 3 us on average, by half to one and a half times: fixed ones would begin anew in
 * step with each tick, which takes longer than they do.
 */
#include "subject.h"

TSN_FINE(seventy, "seventy");
TSN_FINE(thirty, "thirty");

static uint64_t run_ns, spent[2][2];

/* mean_ns / 2 .. mean_ns * 3 / 2 */
static uint64_t about(uint64_t mean_ns, uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return mean_ns / 2 + *random % mean_ns;
}

static void *work(void *argument)
{
	/* Kept local: a cache line shared by the threads would make them wait outside the labels.
	 */
	uint64_t *sums = argument, mine[2] = {0, 0};
	uint64_t now = subject_now(), end = now + run_ns, then, random = now | 1;

	while (now < end) {
		{
			TSN_SCOPE(seventy);
			then = subject_spin_until(now + about(7000, &random));
		}
		mine[0] += then - now;
		{
			TSN_SCOPE(thirty);
			now = subject_spin_until(then + about(3000, &random));
		}
		mine[1] += now - then;
	}
	sums[0] = mine[0];
	sums[1] = mine[1];
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other;

	run_ns = subject_seconds(argc, argv, 1, 2);
	pthread_create(&other, NULL, work, spent[0]);
	work(spent[1]);
	pthread_join(other, NULL);
	printf("seventy %.9f\n",
	       (double)(spent[0][0] + spent[1][0]) /
		       (double)(spent[0][0] + spent[0][1] + spent[1][0] + spent[1][1]));
	return 0;
}
