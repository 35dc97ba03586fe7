// SPDX-License-Identifier: MIT
/* plugin: a module with a label of its own; see plugged.c. */
#include "../subject.h"

TSN_FINE(plugged, "plugged");

void plugin_run(int times);
void plugin_run(int times)
{
	while (--times) {
		TSN_SCOPE(plugged);
		TSN_KEEP(times);
	}
	TSN_SCOPE(plugged);
	subject_spin_until(subject_now() + 200000000);
	subject_sleep(200000000);
}
