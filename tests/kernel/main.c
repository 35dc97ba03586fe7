// SPDX-License-Identifier: MIT
/*
 * Kernel tests: each records a program whose truth is known. They load BPF, so they need root;
 * where that is not to be had they are skipped loudly, and in CI (CI=true) fail.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "record.h"
#include "suites.h"

int main(void)
{
	char error[ENGINE_ERROR_SIZE];
	SRunner *runner;
	int failed;

	if (engine__probe(error)) {
		fprintf(stderr, "kernel tests: NOT RUN: %s\n", error);
		if (record__in_ci()) {
			puts("0 passed, 1 failed");
			return EXIT_FAILURE;
		}
		puts("0 passed, 0 failed, 1 skipped");
		return EXIT_SUCCESS;
	}
	runner = srunner_create(load_suite());
	srunner_add_suite(runner, share_suite());
	srunner_add_suite(runner, waiting_suite());
	srunner_add_suite(runner, calls_suite());
	srunner_add_suite(runner, coarse_suite());
	srunner_add_suite(runner, lifecycle_suite());
	srunner_add_suite(runner, threads_suite());
	srunner_add_suite(runner, children_suite());
	srunner_add_suite(runner, pace_suite());
	srunner_add_suite(runner, soak_suite());
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
