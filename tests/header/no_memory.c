// SPDX-License-Identifier: MIT
/* A process that has no memory for the table works without it. Exit status: the line of the first
 * failed expectation. */
#include <stdio.h>
#include <sys/resource.h>

#include "expect.h"
#include "inspect.h"

int main(void)
{
	struct rlimit limit = {16 << 20, 16 << 20};
	tsn_fine_t none = {0, 0}, label;
	tsn_context_t old = {0x100000001, 1, 0};
	tsn_coarse_t coarse = {23, 0};
	tsn_saved_t saved;

	EXPECT(setrlimit(RLIMIT_AS, &limit) == 0);
	errno = 23;
	{
		TSN_SCOPE(none);
	}
	EXPECT(errno == 23);
	errno = 0;
	label = tsn_register_fine("label");
	EXPECT(label.id == 0);
	EXPECT(errno == ENOMEM);
	EXPECT(tsn_register_fine_family("family", 3).id == 0);
	{
		TSN_SCOPE(label);
		TSN_SCOPE_N(none, 23);
		TSN_SCOPE(tsn_at(label, 1));
	}
	EXPECT(tsn_register_coarse("coarse").id == 0);
	{
		TSN_SCOPE(coarse);
		TSN_WITH_CONTEXT(old);
		EXPECT(tsn_capture().context == 0);
		tsn_enter(coarse);
		tsn_exit(coarse);
		tsn_exit(coarse);
	}
	tsn_exit(label);
	tsn_enter(label);
	tsn_exit(label);
	tsn_enter(label);
	saved = tsn_suspend();
	tsn_resume(saved);
	EXPECT(tsn_expect_balanced() == 0);
	tsn_release_thread();
	EXPECT(inspect__process() == NULL);
	EXPECT(tsn_thread.slot == NULL);
	return 0;
}
