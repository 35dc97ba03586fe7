// SPDX-License-Identifier: MIT
/*
 * late [SECONDS] [busy]: has labelled nothing when it prints "ready 1"; a second later, which it
 * sleeps or works, it registers a label by name and spends the rest of the time in it.
 */
#include "subject.h"

int main(int argc, char **argv)
{
	uint64_t end = subject_now() + subject_seconds(argc, argv, 1, 3);
	tsn_fine_t label;

	printf("ready 1\n");
	fflush(stdout);
	if (argc > 2)
		subject_spin_until(subject_now() + 1000000000);
	else
		usleep(1000000);
	label = tsn_register_fine("late");
	while (subject_now() < end) {
		TSN_SCOPE(label);
		subject_spin_until(subject_now() + 100000);
	}
	return 0;
}
