/* SPDX-License-Identifier: MIT */
/* Runs all unit tests. CK_VERBOSITY, CK_RUN_SUITE and CK_FORK are check's own and work as its
 * manual says. */
#include <stdlib.h>

#include "suites.h"

static Suite *(*const suites[])(void) = {
	stats_suite,	    windows_suite,  model_suite,     model_bounds_suite,
	model_flags_suite,  probe_suite,    profile_suite,   render_suite,
	report_suite,	    table_suite,    image_suite,     pids_suite,
	histogram_suite,    spans_suite,    durations_suite, snapshot_suite,
	ledger_suite,	    roll_suite,	    reader_suite,    merge_suite,
	merge_bounds_suite, estimate_suite, compare_suite,   compare_warnings_suite,
	trimmed_suite,
};

int main(void)
{
	SRunner *runner = srunner_create(NULL);
	int failed;

	for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++)
		srunner_add_suite(runner, suites[i]());
	srunner_run_all(runner, getenv("CK_VERBOSITY") ? CK_ENV : CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
