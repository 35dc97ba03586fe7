/* SPDX-License-Identifier: MIT */
/* Merging: the same bytes whatever the order and grouping; bounds that hold; what is refused and
 * what is said. */
#include <errno.h>
#include <stdlib.h>

#include "field_rows.h"
#include "merge_fixture.h"
#include "merge_kept.h"

#define NAMES 6

static int merge_error(struct profile *read, char error[MERGE_ERROR_SIZE])
{
	struct merge *merge = merge__new();
	const int result = merge__add(merge, read, "a file", false, error);

	merge__free(merge);
	return result;
}

/* Reports are too long to be shown: where they differ first will do. */
static void assert_same(const char *text, const char *expected)
{
	size_t i = 0, line = 1;

	for (; text[i] && text[i] == expected[i]; i++)
		line += text[i] == '\n';
	while (i > 0 && text[i - 1] != '\n')
		i--;
	if (strcmp(text, expected) != 0)
		ck_abort_msg("line %zu is %.60s, not %.60s", line, text + i, expected + i);
}

/* --- profiles of no particular sense --- */

static char *name_of(uint64_t i)
{
	char *name;

	ck_assert_int_gt(asprintf(&name, "op[%u]", (unsigned)(i % NAMES)), 0);
	return name;
}

static uint64_t *u64_at(const struct field *field, void *row)
{
	return field->kind == FIELD_U64 || field->kind == FIELD_LATER || field->kind == FIELD_SUM
		       ? fields__at(row, field->offset)
		       : NULL;
}

/* Any counts at all; some at the limit of what a report holds. */
static void randomise(const struct fields *fields, void *row, bool extreme)
{
	for (size_t i = 0; i < fields->count; i++) {
		uint64_t *at = u64_at(&fields->at[i], row);

		if (at)
			*at = extreme && random_u64() % 4 == 0 ? INT64_MAX : random_count();
	}
}

static void random_fine(struct profile *of, bool extreme)
{
	of->fine = calloc(2 * NAMES, sizeof(*of->fine));
	for (size_t i = 0; i < 2 * NAMES; i++) {
		struct profile_fine *fine = &of->fine[of->fine_count];

		if (random_u64() % 2)
			continue;
		of->fine_count++;
		randomise(&fields_fine.fields, fine, extreme);
		fine->label = name_of(i);
		fine->idle = i >= NAMES;
		fine->running_ns >>= 20;
		fine->hits >>= 20;
		fine->reports = 0;
		fine->share = fine->share_lo = fine->share_hi = fine->cpu_share = NAN;
		fine->per_call_ns = fine->in_flight = NAN;
		of->totals.running_ns += fine->running_ns;
		of->totals.hits += fine->hits;
	}
}

static void random_histogram(struct profile_coarse *row)
{
	const size_t count = random_u64() % 8;
	uint64_t total = 0;

	row->histogram = calloc(count + 1, sizeof(*row->histogram));
	row->histogram_count = count;
	for (size_t i = 0; i < count; i++) {
		row->histogram[i].bucket = (uint32_t)(i * 100 + random_u64() % 100);
		row->histogram[i].count = 1 + random_u64() % 9;
		total += row->histogram[i].count;
	}
	row->executions = total + (random_u64() % 4 == 0);
	row->max_ns = random_u64() % 4 ? random_count() : 0;
}

/* Rows by thread-time, greatest first, as reports have them. */
static void random_coarse(struct profile *of, bool extreme)
{
	of->coarse = calloc(NAMES, sizeof(*of->coarse));
	of->pairs = calloc(NAMES, sizeof(*of->pairs));
	for (size_t i = 0; i < NAMES; i++) {
		struct profile_coarse *row = &of->coarse[of->coarse_count];
		struct profile_pair *pair = &of->pairs[of->pair_count];

		if (random_u64() % 3 == 0)
			continue;
		of->coarse_count++;
		randomise(&fields_coarse.fields, row, extreme);
		random_histogram(row);
		row->label = name_of(i);
		row->reports = 0;
		row->thread_time_ns = (NAMES - i) * 1000000;
		row->running_ns = 600000 + random_u64() % 100;
		row->hits = random_u64() % 100 + 5;
		row->inside = row->working = row->busy_per_exec_ns = NAN;
		if (random_u64() % 2)
			continue;
		of->pair_count++;
		*pair = (struct profile_pair){
			.coarse = name_of(i),
			.hits = row->hits - 3,
			.running_ns = row->running_ns - 100,
			.blocked_ns = 5,
			.thread_time_ns = row->running_ns - 95,
			.part = NAN,
			.part_lo = NAN,
			.part_hi = NAN,
		};
	}
}

static void random_threads(struct profile *of)
{
	const size_t count = random_u64() % 4;

	of->threads = calloc(count + 1, sizeof(*of->threads));
	for (of->thread_count = 0; of->thread_count < count; of->thread_count++) {
		struct profile_thread *thread = &of->threads[of->thread_count];

		randomise(&fields_threads.fields, thread, false);
		thread->running_ns = random_u64() % 3;
		thread->runnable_ns = thread->blocked_ns = thread->io_ns = 0;
		thread->comm = name_of(random_u64());
		thread->tid = (int)(random_u64() % 3);
	}
	of->target = calloc(1, sizeof(*of->target));
	of->target_count = 1;
	of->target->pid = (int)(random_u64() % 3);
	of->target->comm = name_of(random_u64());
	of->target->exe = random_u64() % 3 ? name_of(random_u64()) : NULL;
	of->target->build_id = random_u64() % 3 ? name_of(random_u64()) : NULL;
}

static void random_session(struct profile *of, bool extreme)
{
	static const char *const endings[] = {"duration", "signal"};
	static const double rates[] = {99, 997, 1e3 / 3, NAN};
	static const char *const codes[] = {"tiny", "few_hits", "calls_unread", "merged_labels",
					    "violation_leak"};

	randomise(&fields_session.fields, &of->session, extreme);
	randomise(&fields_overhead.fields, &of->overhead, extreme);
	of->overhead.tick_total_ns = of->overhead.switch_total_ns = 0;
	for (size_t i = 0; i < profile_loss_field_count; i++)
		*(uint64_t *)fields__at(&of->losses, profile_loss_fields[i].offset) =
			random_count();
	of->session.frequency_hz = rates[random_u64() % 4];
	of->session.ended_by = strdup(endings[random_u64() % 2]);
	of->session.strict = random_u64() % 2;
	of->session.follow_children = random_u64() % 2;
	of->tool_version = name_of(random_u64());
	of->tool_abi = (unsigned)(random_u64() % 3);
	of->host.kernel = name_of(random_u64());
	of->host.machine = name_of(random_u64());
	of->host.cpus = (unsigned)(random_u64() % 5);
	of->host.cpu_model = random_u64() % 2 ? name_of(random_u64()) : NULL;
	for (size_t i = 0; i < COUNT(codes); i++)
		if (random_u64() % 2)
			ck_assert_int_eq(profile__warn(of, codes[i], NULL, "%u times",
						       (unsigned)(random_u64() % 3)),
					 0);
}

/* As in a file; the caller frees it. */
static char *random_report(bool extreme)
{
	struct profile *of = profile__new();
	char *text;

	randomise(&fields_totals.fields, &of->totals, extreme);
	of->totals.running_ns >>= 8;
	of->totals.hits >>= 8;
	of->totals.report_squares = 0;
	if (random_u64() % 4 == 0)
		of->totals.weight_squares = 0; /* as of an earlier version */
	random_fine(of, extreme);
	random_coarse(of, extreme);
	random_threads(of);
	random_session(of, extreme);
	text = render(of);
	profile__free(of);
	return text;
}

/* --- order and grouping --- */

/* Merges any two of the reports, and goes on with what that makes, until one is left. */
static size_t check_groupings(char **texts, size_t count, const char *expected)
{
	size_t ways = 0;

	if (count == 1) {
		assert_same(texts[0], expected);
		return 1;
	}
	for (size_t i = 0; i < count; i++)
		for (size_t k = i + 1; k < count; k++) {
			char *left[8], *pair[2] = {texts[i], texts[k]};
			size_t n = 0;

			if (random_u64() % 2) {
				pair[0] = texts[k];
				pair[1] = texts[i];
			}
			for (size_t m = 0; m < count; m++)
				if (m != i && m != k)
					left[n++] = texts[m];
			left[n] = merged_text(pair, 2);
			ways += check_groupings(left, n + 1, expected);
			free(left[n]);
		}
	return ways;
}

START_TEST(the_result_is_the_same_to_the_last_bit_in_any_grouping)
{
	char *texts[5], *expected;

	random_state = (uint64_t)_i + 1;
	for (size_t i = 0; i < COUNT(texts); i++)
		texts[i] = random_report(_i % 2);
	expected = merged_text(texts, COUNT(texts));
	ck_assert_uint_eq(check_groupings(texts, COUNT(texts), expected), 180);
	free(expected);
	free_texts(texts, COUNT(texts));
}
END_TEST

/* All orders, by Heap's algorithm. */
static size_t check_orders(char **texts, size_t all, size_t count, const char *expected)
{
	size_t orders = 0;

	if (count <= 1) {
		char *text = merged_text(texts, all);

		assert_same(text, expected);
		free(text);
		return 1;
	}
	for (size_t i = 0; i < count; i++) {
		const size_t with = count % 2 ? 0 : i;
		char *swapped;

		orders += check_orders(texts, all, count - 1, expected);
		swapped = texts[with];
		texts[with] = texts[count - 1];
		texts[count - 1] = swapped;
	}
	return orders;
}

START_TEST(the_result_is_the_same_in_any_order)
{
	char *texts[5], *expected;

	random_state = (uint64_t)_i + 100;
	for (size_t i = 0; i < COUNT(texts); i++)
		texts[i] = random_report(_i % 2);
	expected = merged_text(texts, COUNT(texts));
	ck_assert_uint_eq(check_orders(texts, COUNT(texts), COUNT(texts), expected), 120);
	free(expected);
	free_texts(texts, COUNT(texts));
}
END_TEST

START_TEST(a_report_merged_alone_is_what_merging_that_again_makes)
{
	char *text, *once, *twice;

	random_state = (uint64_t)_i + 200;
	text = random_report(_i % 2);
	once = merged_text(&text, 1);
	twice = merged_text(&once, 1);
	assert_same(twice, once);
	free(text);
	free(once);
	free(twice);
}
END_TEST

/* --- rows of which there is an end --- */

#define CROWDS	       4
#define CROWD_THREADS  1500
#define CROWD_TARGETS  1400
#define CROWD_LIFETIME 500

/* As many threads and targets as CROWDS reports are too many of; most have a double somewhere. */
static char *crowded_report(size_t which)
{
	struct profile *of = profile__new();
	char *text;

	of->session.start_unix_ns = which;
	of->threads = calloc(CROWD_THREADS, sizeof(*of->threads));
	of->target = calloc(CROWD_TARGETS, sizeof(*of->target));
	for (; of->thread_count < CROWD_THREADS; of->thread_count++) {
		struct profile_thread *thread = &of->threads[of->thread_count];

		thread->tid = (int)(random_u64() % 3);
		thread->comm = name_of(random_u64());
		thread->lifetime_ns = thread->running_ns = random_u64() % CROWD_LIFETIME;
	}
	for (; of->target_count < CROWD_TARGETS; of->target_count++) {
		of->target[of->target_count].pid = (int)(random_u64() % 2000);
		of->target[of->target_count].comm = name_of(random_u64());
	}
	of->losses.threads_folded = which;
	of->losses.processes_folded = 10 * which;
	text = render(of);
	profile__free(of);
	return text;
}

START_TEST(the_longest_threads_stay_in_any_grouping_and_the_others_are_counted)
{
	uint64_t lifetimes[CROWD_LIFETIME] = {0}, longer = 0;
	char *texts[CROWDS], *expected;
	struct profile *merged;

	random_state = 300;
	for (size_t i = 0; i < CROWDS; i++) {
		struct profile *read;

		texts[i] = crowded_report(i);
		read = parse(texts[i]);
		for (size_t k = 0; k < read->thread_count; k++)
			lifetimes[read->threads[k].lifetime_ns]++;
		profile__free(read);
	}
	expected = merged_text(texts, CROWDS);
	merged = parse(expected);
	ck_assert_uint_eq(merged->thread_count, MERGE_THREADS_MAX);
	ck_assert_uint_eq(merged->losses.threads_folded,
			  CROWDS * CROWD_THREADS - MERGE_THREADS_MAX + 6);
	ck_assert_uint_eq(merged->target_count, MERGE_TARGETS_MAX);
	ck_assert_uint_eq(merged->losses.processes_folded,
			  CROWDS * CROWD_TARGETS - MERGE_TARGETS_MAX + 60);
	for (size_t k = 0; k < MERGE_THREADS_MAX; k++)
		lifetimes[merged->threads[k].lifetime_ns]--;
	for (size_t k = merged->threads[MERGE_THREADS_MAX - 1].lifetime_ns + 1; k < CROWD_LIFETIME;
	     k++)
		longer += lifetimes[k];
	ck_assert_uint_eq(longer, 0);
	ck_assert_uint_eq(check_groupings(texts, CROWDS, expected), 18);
	profile__free(merged);
	free(expected);
	free_texts(texts, CROWDS);
}
END_TEST

/* --- reports that were made by hand --- */

static bool said(const struct profile *of, const char *code)
{
	for (size_t i = 0; i < of->warning_count; i++)
		if (strcmp(of->warnings[i].code, code) == 0)
			return true;
	return false;
}

static void other_kernel(struct profile *of)
{
	free(of->host.kernel);
	of->host.kernel = strdup("9.9");
}

static void other_cpus(struct profile *of)
{
	of->host.cpus = 64;
}

static void other_version(struct profile *of)
{
	free(of->tool_version);
	of->tool_version = strdup("9.9");
}

static void other_rate(struct profile *of)
{
	of->session.frequency_hz = 99;
}

static void other_build(struct profile *of)
{
	of->target->build_id[0] = '9';
}

static void other_label(struct profile *of)
{
	of->fine[0].label[0] = '9';
}

static void other_kind(struct profile *of)
{
	of->fine[0].idle = true;
}

static void no_sums(struct profile *of)
{
	of->totals.weight_squares = 0;
	of->session.start_unix_ns = 12345;
}

static void other_start(struct profile *of)
{
	of->session.start_unix_ns = 12345;
}

static const struct {
	void (*change)(struct profile *of);
	const char *code;
} differences[] = {
	{other_kernel, "merged_hosts"},
	{other_cpus, "merged_hosts"},
	{other_version, "merged_versions"},
	{other_rate, "merged_rates"},
	{other_build, "merged_builds"},
	{other_label, "merged_labels"},
	{other_kind, "merged_kinds"},
	{no_sums, "merged_windows"},
	{NULL, "merged_twice"},
	{other_start, NULL},
};

START_TEST(what_differs_between_reports_is_said)
{
	struct profile *changed, *merged;
	char *texts[2];

	random_state = 12;
	changed = simulate(&usual);
	changed->tool_version = strdup("1");
	changed->host.kernel = strdup("1");
	changed->target = calloc(1, sizeof(*changed->target));
	changed->target_count = 1;
	changed->target->comm = strdup("server");
	changed->target->exe = strdup("/bin/server");
	changed->target->build_id = strdup("0a");
	texts[0] = render(changed);
	if (differences[_i].change)
		differences[_i].change(changed);
	texts[1] = render(changed);
	profile__free(changed);
	merged = merge_all(texts, 2);
	for (size_t i = 0; i < COUNT(differences); i++) {
		const char *code = differences[i].code;
		const char *expected = differences[_i].code;

		/* What is of another kind is another label. */
		if (code &&
		    !(differences[_i].change == other_kind && strcmp(code, "merged_labels") == 0))
			ck_assert_msg(said(merged, code) ==
					      (expected && strcmp(code, expected) == 0),
				      "%s is %ssaid", code, said(merged, code) ? "" : "not ");
	}
	free_texts(texts, 2);
	profile__free(merged);
}
END_TEST

START_TEST(reports_that_scatter_are_named_and_those_alike_are_not)
{
	struct simulated other = usual;
	struct profile *alike, *apart;
	char *texts[6];

	random_state = 13;
	alike = repeats(&usual, COUNT(texts));
	ck_assert(!said(alike, "merged_scatter"));
	for (size_t i = 0; i < COUNT(texts); i++) {
		other.parts[0] = i % 2 ? 0.4 : 0.6;
		other.parts[1] = i % 2 ? 0.4 : 0.2;
		texts[i] = simulated_text(&other);
	}
	apart = merge_all(texts, COUNT(texts));
	ck_assert(said(apart, "merged_scatter"));
	free_texts(texts, COUNT(texts));
	profile__free(alike);
	profile__free(apart);
}
END_TEST

START_TEST(a_recording_is_refused_the_second_time_also_out_of_a_merged_report)
{
	struct simulated other = usual;
	char *texts[2], *both, error[MERGE_ERROR_SIZE];
	struct merge *merge = merge__new();
	struct profile *first, *again;

	random_state = 14;
	other.start_unix_ns = 1;
	texts[0] = simulated_text(&usual);
	texts[1] = simulated_text(&other);
	both = merged_text(texts, 2);
	first = parse(both);
	ck_assert_int_eq(merge__add(merge, first, "both.json", false, error), 0);
	for (int same = 0; same < 2; same++) {
		again = parse(texts[1]);
		ck_assert_int_eq(merge__add(merge, again, "again.json", same, error),
				 same ? 0 : -EEXIST);
		ck_assert(same || strstr(error, "both.json"));
		profile__free(again);
	}
	again = merge__finish(merge);
	ck_assert_uint_eq(again->source_count, 3);
	ck_assert_uint_eq(again->totals.hits, 9600);
	profile__free(again);
	profile__free(first);
	merge__free(merge);
	free(both);
	free_texts(texts, 2);
}
END_TEST

static struct profile_coarse *add_coarse(struct profile *of, const char *name, uint64_t executions,
					 uint32_t bucket, uint64_t max_ns)
{
	of->coarse = calloc(1, sizeof(*of->coarse));
	of->coarse_count = 1;
	of->coarse->label = strdup(name);
	of->coarse->executions = executions;
	of->coarse->sum_ns = executions * bucket;
	of->coarse->max_ns = max_ns;
	of->coarse->histogram = calloc(1, sizeof(*of->coarse->histogram));
	of->coarse->histogram_count = executions > 0;
	*of->coarse->histogram = (struct profile_bucket){bucket, executions};
	return of->coarse;
}

/* Executions of 100 ns and of 900 ns; how long the longest was, as each report and the merged one
 * have it. */
static const struct {
	uint64_t executions[2], max_ns[2];
	uint64_t merged_max_ns, p50_ns, mean_ns;
} longest[] = {
	{{30, 10}, {100, 905}, 905, 100, 300}, {{30, 10}, {0, 905}, 0, 100, 300},
	{{30, 10}, {100, 0}, 0, 100, 300},     {{30, 0}, {100, 0}, 100, 100, 100},
	{{0, 10}, {7, 900}, 900, 900, 900},
};

START_TEST(durations_are_those_of_all_executions_and_an_unknown_longest_stays_so)
{
	struct profile *merged;
	char *texts[2];

	for (size_t i = 0; i < 2; i++) {
		struct profile *of = profile__new();

		of->session.start_unix_ns = i;
		add_coarse(of, "request", longest[_i].executions[i], i ? 900 : 100,
			   longest[_i].max_ns[i]);
		texts[i] = render(of);
		profile__free(of);
	}
	merged = merge_all(texts, 2);
	ck_assert_uint_eq(merged->coarse->max_ns, longest[_i].merged_max_ns);
	ck_assert_uint_eq(merged->coarse->p50_ns, longest[_i].p50_ns);
	ck_assert_uint_eq(merged->coarse->mean_ns, longest[_i].mean_ns);
	free_texts(texts, 2);
	profile__free(merged);
}
END_TEST

static void too_many_durations(struct profile *of)
{
	add_coarse(of, "request", 3, 100, 100)->executions = 2;
}

static void fine_without_time(struct profile *of)
{
	of->totals.running_ns = 5;
}

static void fine_without_hits(struct profile *of)
{
	of->totals.hits = 5;
}

static void pairs_without_time(struct profile *of)
{
	add_coarse(of, "request", 3, 100, 100);
	of->pairs = calloc(1, sizeof(*of->pairs));
	of->pair_count = 1;
	of->pairs->coarse = strdup("request");
	of->pairs->thread_time_ns = 1;
}

static const struct {
	void (*change)(struct profile *of);
	const char *error;
} contradictions[] = {
	{too_many_durations, "coarse[0] has more durations"},
	{fine_without_time, "totals.running_ns"},
	{fine_without_hits, "totals.hits"},
	{pairs_without_time, "coarse[0] is less than the sum of its pairs"},
};

START_TEST(a_report_that_contradicts_itself_is_refused)
{
	char error[MERGE_ERROR_SIZE] = "";
	struct profile *of;

	random_state = 15;
	of = simulate(&usual);
	contradictions[_i].change(of);
	ck_assert_int_eq(merge_error(of, error), -EINVAL);
	ck_assert_msg(strstr(error, contradictions[_i].error) != NULL, "%s", error);
	profile__free(of);
}
END_TEST

/* Two labels, and two pairs of a coarse label, with half of all there can be. */
static char *report_at_the_limit(uint64_t start_unix_ns)
{
	const uint64_t half = INT64_MAX / 2;
	struct profile *of = profile__new();
	struct profile_coarse *row = add_coarse(of, "request", 3, 100, 100);
	char *text;

	of->session.start_unix_ns = start_unix_ns;
	of->totals.running_ns = of->totals.hits = INT64_MAX;
	row->running_ns = row->hits = row->thread_time_ns = INT64_MAX;
	row->executions = row->histogram->count = INT64_MAX;
	of->fine = calloc(2, sizeof(*of->fine));
	of->pairs = calloc(2, sizeof(*of->pairs));
	for (; of->pair_count < 2; of->pair_count++) {
		of->fine[of->pair_count] = (struct profile_fine){.label = name_of(of->pair_count),
								 .running_ns = half,
								 .thread_time_ns = half,
								 .hits = half};
		of->pairs[of->pair_count] = (struct profile_pair){.coarse = strdup("request"),
								  .fine = name_of(of->pair_count),
								  .running_ns = half,
								  .thread_time_ns = half,
								  .hits = half};
	}
	of->fine_count = 2;
	text = render(of);
	profile__free(of);
	return text;
}

START_TEST(what_is_merged_at_the_limit_can_be_merged_further)
{
	char *texts[] = {report_at_the_limit(0), report_at_the_limit(1)}, *once, *twice;

	once = merged_text(texts, 2);
	twice = merged_text(&once, 1);
	assert_same(twice, once);
	free(once);
	free(twice);
	free_texts(texts, 2);
}
END_TEST

START_TEST(sums_stay_at_the_limit_of_a_report)
{
	ck_assert_uint_eq(field_rows__add_u64(INT64_MAX, 1), INT64_MAX);
	ck_assert_uint_eq(field_rows__add_u64(UINT64_MAX, UINT64_MAX), INT64_MAX);
	ck_assert_uint_eq(field_rows__add_u64(INT64_MAX - 1, 1), INT64_MAX);
	ck_assert_uint_eq(field_rows__add_u64(1, 2), 3);
}
END_TEST

/* Whoever wrote the file, and whatever later versions add. */
START_TEST(the_id_of_a_recording_is_of_its_content_alone)
{
	struct profile *of, *read;
	uint64_t id;
	char *text;

	random_state = 17;
	of = simulate(&usual);
	text = render(of);
	read = parse(text);
	id = field_rows__hash(read);
	read->totals.window_squares++;
	read->fine[0].glances++;
	read->losses.processes_unread = 0;
	ck_assert_uint_eq(field_rows__hash(read), id);
	read->fine[1].hits_user++;
	ck_assert_uint_ne(field_rows__hash(read), id);
	free(text);
	profile__free(read);
	profile__free(of);
}
END_TEST

Suite *merge_suite(void)
{
	Suite *suite = suite_create("merge");
	TCase *algebra = tcase_create("algebra"), *content = tcase_create("content");

	suite_add_tcase(suite, algebra);
	suite_add_tcase(suite, content);
	tcase_set_timeout(algebra, 60);
	tcase_add_loop_test(algebra, the_result_is_the_same_to_the_last_bit_in_any_grouping, 0, 6);
	tcase_add_loop_test(algebra, the_result_is_the_same_in_any_order, 0, 4);
	tcase_add_loop_test(algebra, a_report_merged_alone_is_what_merging_that_again_makes, 0, 40);
	tcase_add_test(algebra,
		       the_longest_threads_stay_in_any_grouping_and_the_others_are_counted);
	tcase_add_test(algebra, what_is_merged_at_the_limit_can_be_merged_further);
	tcase_add_test(algebra, sums_stay_at_the_limit_of_a_report);
	tcase_add_loop_test(content, what_differs_between_reports_is_said, 0, COUNT(differences));
	tcase_add_test(content, reports_that_scatter_are_named_and_those_alike_are_not);
	tcase_add_test(content, a_recording_is_refused_the_second_time_also_out_of_a_merged_report);
	tcase_add_loop_test(content,
			    durations_are_those_of_all_executions_and_an_unknown_longest_stays_so,
			    0, COUNT(longest));
	tcase_add_loop_test(content, a_report_that_contradicts_itself_is_refused, 0,
			    COUNT(contradictions));
	tcase_add_test(content, the_id_of_a_recording_is_of_its_content_alone);
	return suite;
}
