// SPDX-License-Identifier: MIT
/*
 * square [SECONDS]: a label that is on for 0.2 ms of every 1 ms on absolute time, another one for
 * the rest. Prints the share by stopwatch.
 */
#include "subject.h"

TSN_FINE(on, "on");
TSN_FINE(off, "off");

int main(int argc, char **argv)
{
	uint64_t now = subject_now(), end = now + subject_seconds(argc, argv, 1, 4), begin = now,
		 on_ns = 0;
	uint64_t period = now / 1000000 * 1000000, then;

	while (now < end) {
		{
			TSN_SCOPE(on);
			then = subject_spin_until(period + 200000);
		}
		on_ns += then - now;
		{
			TSN_SCOPE(off);
			now = subject_spin_until(period + 1000000);
		}
		period = now / 1000000 * 1000000;
	}
	printf("on %.9f\n", (double)on_ns / (double)(now - begin));
	return 0;
}
