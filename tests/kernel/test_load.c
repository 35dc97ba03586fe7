// SPDX-License-Identifier: MIT
/*
 * What the programs cost the verifier: each kernel stops at a million instructions, and looks at
 * more of them than another. So that no change comes near, each has a limit: about twice what
 * kernel 6.18 needs.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>

#include "engine.h"
#include "suites.h"
#include "ticksnick.skel.h"

#define INSTRUCTIONS_DEFAULT 5000 /* of those not named below */

static const struct {
	const char *program;
	unsigned instructions;
} limits[] = {
	{"on_tick", 30000},	 {"on_switch", 50000},
	{"on_exit", 15000},	 {"on_fork", 16000}, /* finds labels, where children are followed */
	{"on_exit_calls", 6000}, {"on_exec", 14000}, /* where children are followed */
};

static unsigned limit_of(const char *program)
{
	size_t i;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (!strcmp(limits[i].program, program))
			return limits[i].instructions;
	return INSTRUCTIONS_DEFAULT;
}

/* Without children that are followed, and with them. */
START_TEST(each_program_stays_far_below_what_the_verifier_allows)
{
	char error[ENGINE_ERROR_SIZE];
	struct bpf_program *program;
	struct engine *engine;
	unsigned seen = 0;

	ck_assert_msg(!engine__new(_i, &engine, error), "%s", error);
	bpf_object__for_each_program(program, engine->programs->obj)
	{
		const char *name = bpf_program__name(program);
		struct bpf_prog_info info = {0};
		__u32 size = sizeof(info);

		if (bpf_program__fd(program) < 0) {
			printf("load: %s is not for this kernel\n", name);
			continue;
		}
		ck_assert_int_eq(bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size), 0);
		printf("load: %s: %u instructions seen by the verifier (at most %u), %u in the "
		       "kernel, "
		       "%u bytes\n",
		       name, info.verified_insns, limit_of(name), info.xlated_prog_len / 8,
		       info.jited_prog_len);
		ck_assert_uint_gt(info.xlated_prog_len, 0);
		/* 0: before kernel 5.16, which does not tell. */
		ck_assert_msg(info.verified_insns <= limit_of(name), "%s: %u instructions", name,
			      info.verified_insns);
		fflush(stdout);
		seen++;
	}
	ck_assert_uint_ge(seen, 5);
	engine__free(engine);
}
END_TEST

Suite *load_suite(void)
{
	Suite *suite = suite_create("load");
	TCase *cases = tcase_create("verifier");

	tcase_set_timeout(cases, 30);
	tcase_add_loop_test(cases, each_program_stays_far_below_what_the_verifier_allows, 0, 2);
	suite_add_tcase(suite, cases);
	return suite;
}
