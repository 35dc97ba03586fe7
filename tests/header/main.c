// SPDX-License-Identifier: MIT
/* Every test runs in a forked child, so with no calls counted and no violations. */
#include <stdlib.h>

#include "suites.h"

int main(void)
{
	Suite *suite = suite_create("header");
	SRunner *runner;
	int failed;

	suite_add_tcase(suite, labels__tcase());
	suite_add_tcase(suite, scopes__tcase());
	suite_add_tcase(suite, threads__tcase());
	suite_add_tcase(suite, pairs__tcase());
	suite_add_tcase(suite, fork__tcase());
	suite_add_tcase(suite, coarse__tcase());
	suite_add_tcase(suite, mounts__tcase());
	suite_add_tcase(suite, contexts__tcase());
	suite_add_tcase(suite, durations__tcase());
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
