// SPDX-License-Identifier: MIT
/* Uses all of the API. Compiled, without a warning, in every language and mode; also as C++. */
#include <ticksnick/ticksnick.h>

TSN_FINE(one, "one");
TSN_FINE_FAMILY(rows, "rows", 3);
TSN_IDLE(nothing, "nothing");
TSN_FINE(unused, "unused");
TSN_COARSE(request, "request");
TSN_COARSE_FAMILY(stages, "stages", 3);
TSN_COARSE(unused_coarse, "unused coarse");

int every_call(int index, unsigned long units, const char *name);

static void *new_thread(void *argument)
{
	TSN_SCOPE(request);
	return argument;
}

static int every_coarse_call(int index, const char *name)
{
	tsn_coarse_t made = tsn_register_coarse(name);
	const tsn_coarse_t made_rows = tsn_register_coarse_family(name, 2);
	tsn_context_t context = tsn_capture();
	pthread_t thread;

	TSN_SCOPE(request);
	{
		TSN_WITH_CONTEXT(context);
		TSN_SCOPE(tsn_at(stages, (uint64_t)index));
		TSN_SCOPE(tsn_at(made_rows, 1));
	}
	tsn_enter(made);
	tsn_exit(made);
	return tsn_pthread_create(&thread, NULL, new_thread, NULL);
}

int every_call(int index, unsigned long units, const char *name)
{
	tsn_fine_t made = tsn_register_fine(name);
	const tsn_fine_t made_rows = tsn_register_fine_family(name, 2);
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
	return every_coarse_call(index, name) | tsn_expect_balanced();
}
