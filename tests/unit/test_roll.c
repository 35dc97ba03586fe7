/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "roll.h"
#include "suites.h"

static const struct {
	struct roll_facts facts;
	enum roll_fate fate;
} judged[] = {
	/* Nothing is known. */
	{{0}, ROLL_UNREAD},
	{{.owned = true}, ROLL_KEPT},
	{{.looked_at = true}, ROLL_UNLABELLED},
	{{.owned = true, .looked_at = true}, ROLL_KEPT},
	/* A copy of a labelled process is labelled, unless its end says that it is none. */
	{{.copied = true}, ROLL_KEPT},
	{{.copied = true, .told = true}, ROLL_UNLABELLED},
	{{.copied = true, .told = true, .owned = true}, ROLL_KEPT},
	{{.copied = true, .told = true, .used = true}, ROLL_KEPT},
	/* What goes on as another program counts if it did anything before. */
	{{.replaced = true}, ROLL_UNLABELLED},
	{{.copied = true, .owned = true, .replaced = true}, ROLL_UNLABELLED},
	{{.copied = true, .owned = true, .replaced = true, .used = true}, ROLL_KEPT},
};

START_TEST(an_image_is_kept_if_it_has_labels_of_its_own)
{
	ck_assert_int_eq(roll__judge(&judged[_i].facts), judged[_i].fate);
}
END_TEST

START_TEST(a_process_is_in_the_report_if_one_of_its_images_is)
{
	struct roll roll = {0};
	struct roll_process *shell = roll__enter(&roll, 1), *server = roll__enter(&roll, 2),
			    *brief = roll__enter(&roll, 3);

	ck_assert_int_eq(roll__image(shell, ROLL_UNLABELLED, 1, "sh", NULL, NULL), 0);
	ck_assert_int_eq(roll__image(server, ROLL_KEPT, 5, "new", "/new", "55"), 0);
	/* Told of in the wrong order. */
	ck_assert_int_eq(roll__image(server, ROLL_KEPT, 2, "old", "/old", NULL), 0);
	ck_assert_int_eq(roll__image(server, ROLL_UNLABELLED, 7, "sleep", NULL, NULL), 0);
	ck_assert_int_eq(roll__image(brief, ROLL_UNREAD, 3, "ls", NULL, NULL), 0);
	roll__leave(&roll, shell, "sh");
	roll__leave(&roll, brief, NULL);
	roll__leave(&roll, server, "sleep");
	ck_assert_uint_eq(roll.count, 1);
	ck_assert_uint_eq(roll.kept_ever, 1);
	ck_assert_uint_eq(roll.unlabelled, 1);
	ck_assert_uint_eq(roll.unread, 1);
	ck_assert_int_eq(roll.unlabelled_pid, 1);
	ck_assert_str_eq(roll.unlabelled_comm, "sh");
	ck_assert_int_eq(roll.processes[0]->pid, 2);
	ck_assert_str_eq(roll.processes[0]->comm, "new");
	ck_assert_str_eq(roll.processes[0]->exe, "/new");
	ck_assert_str_eq(roll.processes[0]->build_id, "55");
	roll__free(&roll);
}
END_TEST

START_TEST(the_roll_is_bounded_and_counts_what_is_beyond)
{
	struct roll roll = {0};
	int i;

	for (i = 0; i < ROLL_KEPT_MAX + 3; i++) {
		struct roll_process *process = roll__enter(&roll, i + 1);

		ck_assert_int_eq(roll__image(process, ROLL_KEPT, (uint64_t)i, "w", NULL, NULL), 0);
		roll__leave(&roll, process, "w");
	}
	ck_assert_uint_eq(roll.count, ROLL_KEPT_MAX);
	ck_assert_uint_eq(roll.folded, 3);
	ck_assert_uint_eq(roll.kept_ever, ROLL_KEPT_MAX + 3);
	ck_assert_int_eq(roll.processes[0]->pid, 1);
	roll__free(&roll);
}
END_TEST

Suite *roll_suite(void)
{
	Suite *suite = suite_create("roll");
	TCase *cases = tcase_create("processes");

	tcase_add_loop_test(cases, an_image_is_kept_if_it_has_labels_of_its_own, 0,
			    (int)(sizeof(judged) / sizeof(judged[0])));
	tcase_add_test(cases, a_process_is_in_the_report_if_one_of_its_images_is);
	tcase_add_test(cases, the_roll_is_bounded_and_counts_what_is_beyond);
	suite_add_tcase(suite, cases);
	return suite;
}
