// SPDX-License-Identifier: MIT
/*
 * An executable that has no label of its own, but works with the contexts of a library that has
 * (compiled with LIBRARY). The executable comes first in link order, so the table is its. Exit
 * status 0, or 1 and a line on stderr.
 */
#include <stdio.h>

#include "expect.h"
#include "inspect.h"

void library_begin(void);
void library_end(void);

#ifdef LIBRARY
TSN_COARSE(request, "request");

void library_begin(void)
{
	tsn_enter(request);
}

void library_end(void)
{
	tsn_exit(request);
}
#else
static void *work(void *context)
{
	TSN_WITH_CONTEXT(*(tsn_context_t *)context);

	return tsn_capture().context == ((tsn_context_t *)context)->context ? context : NULL;
}

int main(void)
{
	tsn_context_t context;
	tsn_saved_t saved;
	pthread_t thread;
	void *same;

	library_begin();
	context = tsn_capture();
	EXPECT(context.context);
	{
		TSN_WITH_CONTEXT(context);
		EXPECT(tsn_capture().context == context.context);
	}
	EXPECT(!tsn_pthread_create(&thread, NULL, work, &context));
	EXPECT(!pthread_join(thread, &same) && same);
	saved = tsn_suspend();
	EXPECT(!tsn_capture().context);
	tsn_resume(saved);
	EXPECT(tsn_capture().context == context.context);
	library_end();
	EXPECT(tsn_expect_balanced() == 0);
	library_begin();
	EXPECT(tsn_expect_balanced() == -1);
	EXPECT(!tsn_capture().context);
	EXPECT(inspect__open() == 0);
	EXPECT(inspect__process()->state == TSN_STATE_READY);
	return 0;
}
#endif
