// SPDX-License-Identifier: MIT
/*
 * late [busy]: has labelled nothing when it prints "ready 1"; a second after SIGUSR1, until which
 * it sleeps or works, it registers a label by name and stays in it.
 */
#include "subject.h"

int main(int argc, char **argv)
{
	tsn_fine_t label;

	(void)argv;
	subject_steps();
	printf("ready 1\n");
	fflush(stdout);
	if (argc > 1) {
		while (subject_step < 1)
			;
		subject_spin_until(subject_now() + 1000000000);
	} else {
		subject_wait_step(1);
		usleep(1000000);
	}
	label = tsn_register_fine("late");
	for (;;) {
		TSN_SCOPE(label);
		subject_spin_until(subject_now() + 100000);
	}
}
