// SPDX-License-Identifier: MIT
/* Uses all of the API. Compiled, without a warning, in every language and mode; also as C++. */
#include <ticksnick/ticksnick.h>

TSN_FINE(one, "one");
TSN_FINE_FAMILY(rows, "rows", 3);
TSN_IDLE(nothing, "nothing");
TSN_FINE(unused, "unused");

int every_call(int index, unsigned long units, const char *name);

int every_call(int index, unsigned long units, const char *name)
{
	tsn_fine_t made = tsn_register_fine(name);
	tsn_fine_t made_rows = tsn_register_fine_family(name, 2);
	tsn_fine_t made_idle = tsn_register_idle(name);
	tsn_saved_t saved;

	TSN_SCOPE(one);
	{
		TSN_SCOPE(made);
		{
			TSN_SCOPE(made_idle);
		}
	}
	{
		TSN_SCOPE_N(tsn_at(rows, (uint64_t)index), units);
		TSN_KEEP(index);
	}
	if (index) {
		TSN_SCOPE(tsn_at(made_rows, 1));
		tsn_enter(nothing);
		saved = tsn_suspend();
		tsn_resume(saved);
		tsn_exit(nothing);
	}
	tsn_release_thread();
	return tsn_expect_balanced();
}
