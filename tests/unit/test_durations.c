// SPDX-License-Identifier: MIT
/* Durations and open executions as a process publishes them, right and wrong. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "durations.h"
#include "memory.h"
#include "suites.h"

#define DESCRIPTOR  0x10000u
#define SLOTS	    0x7f0000000000u
#define LABELS	    0x20000u
#define RETIRED	    0x40000u
#define POOL	    0x100000u
#define BLOCKS	    0x1000000u
#define BLOCK_COUNT 3
#define POOL_COUNT  6
#define EPOCH	    (1ULL << TSN_DURATION_EPOCH_SHIFT)
#define START	    (8 * EPOCH + 1000)
#define NOW	    (START + 1000000)
#define REQUEST	    1
#define QUERY	    2

static struct tsn_process process;
static struct tsn_label labels[TSN_LABELS_MAX];
static uint64_t retired[TSN_LABELS_MAX];
static struct tsn_context pool[POOL_COUNT];
static struct tsn_durations blocks[BLOCK_COUNT];
static struct memory memory;
static struct remote remote;
static struct table table;
static struct durations *durations;
static size_t room;

static uint64_t count, sum, longest, buckets[TSN_DURATION_BUCKETS];

static void setup(void)
{
	memset(&memory, 0, sizeof(memory));
	memset(labels, 0, sizeof(labels));
	memset(retired, 0, sizeof(retired));
	memset(pool, 0, sizeof(pool));
	memset(blocks, 0, sizeof(blocks));
	memset(&table, 0, sizeof(table));
	process = (struct tsn_process){
		.magic = TSN_MAGIC,
		.version = TSN_ABI_VERSION,
		.size = sizeof(process),
		.state = TSN_STATE_READY,
		.pid = 42,
		.slots = SLOTS,
		.slots_max = TSN_SLOTS_MAX,
		.slot_stride = TSN_SLOT_STRIDE,
		.labels_count = 3,
		.labels = LABELS,
		.labels_max = TSN_LABELS_MAX,
		.label_stride = sizeof(struct tsn_label),
		.retired = RETIRED,
		.contexts = POOL,
		.contexts_max = POOL_COUNT,
		.context_stride = sizeof(struct tsn_context),
		.contexts_used = POOL_COUNT,
		.durations = BLOCKS,
		.durations_max = BLOCK_COUNT,
		.durations_stride = TSN_DURATIONS_STRIDE,
		.durations_used = BLOCK_COUNT,
		.clock = TSN_CLOCK_MONOTONIC,
	};
	labels[1] = (struct tsn_label){TSN_KIND_COARSE, 1, 0, 0, "request"};
	labels[2] = (struct tsn_label){TSN_KIND_COARSE, 2, 0, 0, "query"};
	memory_map(&memory, DESCRIPTOR, &process, sizeof(process));
	memory_map(&memory, LABELS, labels, sizeof(labels));
	memory_map(&memory, RETIRED, retired, sizeof(retired));
	memory_map(&memory, POOL, pool, sizeof(pool));
	memory_map(&memory, BLOCKS, blocks, sizeof(blocks));
	remote = memory_remote(&memory);
	ck_assert_int_eq(table__open(&table, &remote, DESCRIPTOR, 42), 0);
	room = 100;
	durations = durations__new(START, &room);
	ck_assert_ptr_nonnull(durations);
}

static void teardown(void)
{
	durations__free(durations);
	ck_assert_uint_eq(room, 100);
}

/* One execution, as the application notes it. */
static void execute(unsigned block, uint32_t label, uint64_t units, uint64_t at)
{
	struct tsn_durations *to = &blocks[block];
	struct tsn_duration_maximum *maximum =
		&to->maxima[(at >> TSN_DURATION_EPOCH_SHIFT) % TSN_DURATION_MAXIMA];

	to->label = label;
	to->buckets[tsn_duration_bucket(units)]++;
	if (at >> TSN_DURATION_EPOCH_SHIFT != maximum->at >> TSN_DURATION_EPOCH_SHIFT ||
	    units > maximum->longest)
		*maximum = (struct tsn_duration_maximum){units, at};
	to->sum += units;
	to->count++;
}

static void base(void)
{
	ck_assert_int_eq(durations__read_base(durations, &table, &remote, START), 0);
	ck_assert_int_eq(durations__read_open_first(durations, &table, &remote, START), 0);
}

static bool result(uint32_t label, uint64_t now)
{
	ck_assert_int_eq(durations__read(durations, &table, &remote, now), 0);
	return durations__difference(durations, label, &count, &sum, &longest, buckets);
}

START_TEST(executions_are_those_since_the_base_summed_over_blocks)
{
	execute(0, REQUEST, 500, START - 10);
	base();
	execute(0, REQUEST, 700, START + 10);
	execute(1, REQUEST, 900, START + 20);
	execute(2, QUERY, 30, START + 30);
	ck_assert(result(REQUEST, NOW));
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(sum, 1600);
	ck_assert_uint_eq(longest, 900);
	ck_assert_uint_eq(buckets[tsn_duration_bucket(500)], 0);
	ck_assert_uint_eq(buckets[tsn_duration_bucket(700)], 1);
	ck_assert(result(QUERY, NOW));
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(longest, 30);
}
END_TEST

START_TEST(without_a_base_everything_counts)
{
	execute(0, REQUEST, 700, START + 10);
	ck_assert(result(REQUEST, NOW));
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(sum, 700);
}
END_TEST

START_TEST(a_base_alone_gives_nothing)
{
	execute(0, REQUEST, 500, START - 10);
	base();
	durations__difference(durations, REQUEST, &count, &sum, &longest, buckets);
	ck_assert_uint_eq(count, 0);
	ck_assert_uint_eq(sum, 0);
	ck_assert_uint_eq(longest, 0);
}
END_TEST

START_TEST(the_longest_is_not_known_where_a_longer_one_just_before_the_session_may_hide_it)
{
	execute(0, REQUEST, 800, START - 10);
	base();
	execute(0, REQUEST, 700, START + 10); /* its maximum is not kept */
	ck_assert(result(REQUEST, NOW));
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(longest, 0);
	execute(0, REQUEST, 850, START + 20);
	ck_assert(result(REQUEST, NOW));
	ck_assert_uint_eq(longest, 850);
}
END_TEST

START_TEST(maxima_of_all_epochs_are_kept_if_readings_are_close)
{
	unsigned i;

	base();
	execute(0, REQUEST, 5000, START + 10);
	for (i = 1; i < 10; i++) {
		ck_assert(result(REQUEST, START + (i - 1) * EPOCH + 20));
		execute(0, REQUEST, 100, START + i * EPOCH + 10);
	}
	ck_assert(result(REQUEST, START + 9 * EPOCH + 20));
	ck_assert_uint_eq(longest, 5000);
}
END_TEST

START_TEST(the_longest_is_not_known_where_readings_are_too_far_apart)
{
	base();
	execute(0, REQUEST, 5000, START + 10);
	ck_assert(result(REQUEST, START + 3 * EPOCH));
	ck_assert_uint_eq(longest, 5000);
	ck_assert(result(REQUEST, START + 7 * EPOCH));
	ck_assert_uint_eq(longest, 0);
}
END_TEST

static const struct tsn_duration_maximum nonsense[] = {
	{5000, NOW + EPOCH * 4}, /* the future */
	{NOW * 2, START + 10},	 /* longer than time is */
	{5000, START + EPOCH},	 /* another epoch's */
	{UINT64_MAX, UINT64_MAX}, {5000, 1},
};

START_TEST(after_a_gap_or_a_step_back_of_the_clock_counts_are_right_and_no_maximum_is_made_up)
{
	/* By how many epochs the clock moves between two readings. */
	static const int64_t moves[] = {1000, -3, -8};
	uint64_t then = START + (uint64_t)moves[_i] * EPOCH;

	base();
	execute(0, REQUEST, 5000, NOW);
	ck_assert(result(REQUEST, NOW));
	execute(0, REQUEST, 7000, then);
	ck_assert(result(REQUEST, then));
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(sum, 12000);
	ck_assert(longest == 0 || longest == 7000);
}
END_TEST

START_TEST(a_maximum_that_cannot_be_is_no_maximum)
{
	base();
	execute(0, REQUEST, 700, START + 10);
	blocks[1].label = REQUEST;
	blocks[1].count = 1;
	blocks[1].buckets[tsn_duration_bucket(600)] = 1;
	blocks[1].maxima[(START >> TSN_DURATION_EPOCH_SHIFT) % TSN_DURATION_MAXIMA] = nonsense[_i];
	ck_assert(result(REQUEST, NOW));
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(longest, 700);
}
END_TEST

START_TEST(what_runs_backwards_or_over_is_no_negative_and_no_small_number)
{
	execute(0, REQUEST, 500, START - 10);
	base();
	memset(blocks, 0, sizeof(blocks));
	ck_assert(!result(REQUEST, NOW) || !count);
	ck_assert_uint_eq(sum, 0);
	blocks[0].label = blocks[1].label = REQUEST;
	blocks[0].count = blocks[1].count = UINT64_MAX;
	blocks[0].sum = blocks[1].sum = UINT64_MAX - 1;
	blocks[0].buckets[9] = blocks[1].buckets[9] = UINT64_MAX;
	blocks[0].buckets[8] = UINT64_MAX;
	ck_assert(result(REQUEST, NOW));
	ck_assert_uint_eq(count, UINT64_MAX);
	ck_assert_uint_eq(sum, UINT64_MAX - 500);
}
END_TEST

START_TEST(blocks_of_labels_that_cannot_be_are_passed_over)
{
	base();
	execute(0, 0, 5, START + 10);
	execute(1, TSN_LABELS_MAX, 5, START + 10);
	execute(2, UINT32_MAX, 5, START + 10);
	ck_assert_int_eq(durations__read(durations, &table, &remote, NOW), 0);
	ck_assert_uint_eq(room, 100);
}
END_TEST

START_TEST(without_room_for_histograms_there_are_counts)
{
	room = 1;
	execute(0, REQUEST, 500, START - 10);
	base();
	execute(0, REQUEST, 700, START + 10);
	ck_assert(!result(REQUEST, NOW));
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(sum, 700);
	durations__free(durations);
	ck_assert_uint_eq(room, 1);
	room = 100;
	durations = NULL;
}
END_TEST

START_TEST(blocks_that_are_folded_meanwhile_are_read_all_the_same)
{
	base();
	execute(0, REQUEST, 700, START + 10);
	process.folds_begun = 1;
	ck_assert(result(REQUEST, NOW));
	ck_assert_uint_eq(count, 1);
	ck_assert(durations->torn);
	process.folds_done = 1;
	ck_assert_int_eq(table__refresh(&table, &remote), 0);
	ck_assert(result(REQUEST, NOW));
	ck_assert_uint_eq(count, 1);
	ck_assert(!durations->torn);
}
END_TEST

START_TEST(blocks_that_are_not_mapped_fail_the_reading_and_leave_the_sums)
{
	base();
	execute(0, REQUEST, 700, START + 10);
	ck_assert(result(REQUEST, NOW));
	process.durations_max = process.durations_used = BLOCK_COUNT + 1;
	ck_assert_int_eq(table__refresh(&table, &remote), 0);
	ck_assert_int_eq(durations__read(durations, &table, &remote, NOW), -EFAULT);
	ck_assert(durations__difference(durations, REQUEST, &count, &sum, &longest, buckets));
	ck_assert_uint_eq(count, 1);
}
END_TEST

#define FIELD(name, value)                                                             \
	{                                                                              \
#name, offsetof(struct tsn_process, name), sizeof(process.name), value \
	}

static const struct {
	const char *name;
	size_t offset, size;
	uint64_t value;
} lies[] = {
	FIELD(durations, 0),
	FIELD(durations, UINT64_MAX),
	FIELD(durations_max, TSN_DURATIONS_MAX + 1),
	FIELD(durations_max, UINT32_MAX),
	FIELD(durations_used, BLOCK_COUNT + 1),
	FIELD(durations_stride, TSN_DURATIONS_STRIDE - 64),
	FIELD(durations_stride, 0),
	FIELD(clock, TSN_CLOCK_NONE),
	FIELD(clock, TSN_CLOCK_TSC + 1),
};

START_TEST(durations_that_contradict_the_abi_are_taken_for_none)
{
	memcpy((char *)&process + lies[_i].offset, &lies[_i].value, lies[_i].size);
	ck_assert_int_eq(table__open(&table, &remote, DESCRIPTOR, 42), 0);
	ck_assert_uint_eq(table.process.durations, 0);
	ck_assert_uint_eq(table.process.contexts, POOL);
	ck_assert_int_eq(durations__read(durations, &table, &remote, NOW), -ENOENT);
}
END_TEST

static const struct {
	const char *name;
	size_t offset, size;
	uint64_t value;
} pool_lies[] = {
	FIELD(contexts, 0),
	FIELD(contexts, UINT64_MAX - 64),
	FIELD(contexts_max, 0),
	FIELD(contexts_max, TSN_CONTEXTS_MAX + 1),
	FIELD(contexts_used, POOL_COUNT + 1),
	FIELD(context_stride, 32),
};

START_TEST(a_pool_that_contradicts_the_abi_is_taken_for_none)
{
	memcpy((char *)&process + pool_lies[_i].offset, &pool_lies[_i].value, pool_lies[_i].size);
	ck_assert_int_eq(table__open(&table, &remote, DESCRIPTOR, 42), 0);
	ck_assert_uint_eq(table.process.contexts, 0);
	ck_assert_int_eq(durations__look(durations, &table, &remote), -ENOENT);
}
END_TEST

START_TEST(a_pool_that_moves_is_not_followed)
{
	process.contexts += 4096;
	ck_assert_int_eq(table__refresh(&table, &remote), -EINVAL);
}
END_TEST

/* ---- the pool ---- */

static void open_context(unsigned place, uint32_t label, uint64_t opened, uint32_t tid)
{
	pool[place] = (struct tsn_context){
		.generation = 7,
		.state = TSN_CONTEXT_OPEN,
		.depth = 1,
		.opened = opened,
		.tid = tid,
		.chain = {(uint16_t)label},
	};
}

START_TEST(executions_open_at_an_edge_are_those_opened_before_it_with_their_age)
{
	open_context(1, REQUEST, START - 100, 1);
	open_context(2, REQUEST, START - 20, 1);
	open_context(3, QUERY, START + 5, 1); /* between the edge and the reading */
	base();
	ck_assert_uint_eq(durations->open_first[REQUEST].count, 2);
	ck_assert_uint_eq(durations->open_first[REQUEST].units, 120);
	ck_assert_uint_eq(durations->open_first[QUERY].count, 0);
	pool[1].state = TSN_CONTEXT_CLOSED;
	pool[2].state = TSN_CONTEXT_FREE;
	ck_assert_int_eq(durations__read_open_last(durations, &table, &remote, NOW), 0);
	ck_assert_uint_eq(durations->open_last[REQUEST].count, 0);
	ck_assert_uint_eq(durations->open_last[QUERY].count, 1);
	ck_assert_uint_eq(durations->open_last[QUERY].units, NOW - START - 5);
}
END_TEST

START_TEST(entries_of_the_pool_that_make_no_sense_are_open_nowhere)
{
	open_context(0, REQUEST, 0, 1); /* never used */
	open_context(1, 0, 0, 1);
	open_context(2, TSN_LABELS_MAX, 0, 1);
	open_context(3, UINT16_MAX, 0, 1);
	open_context(4, REQUEST, 0, 1);
	pool[4].depth = 1000;
	open_context(5, REQUEST, UINT64_MAX, 1);
	base();
	ck_assert_uint_eq(durations->open_first[REQUEST].count, 0);
	ck_assert_uint_eq(durations->open_first[0].count, 0);
	pool[5].opened = 0;
	pool[4].opened = 0;
	pool[4].depth = 1;
	ck_assert_int_eq(durations__read_open_last(durations, &table, &remote, UINT64_MAX), 0);
	ck_assert_uint_eq(durations->open_last[REQUEST].count, 2);
	ck_assert_uint_eq(durations->open_last[REQUEST].units, UINT64_MAX);
}
END_TEST

START_TEST(looks_count_labels_with_one_and_with_several_open_and_their_threads)
{
	uint32_t tid;

	ck_assert_int_eq(durations__look(durations, &table, &remote), 0);
	ck_assert_uint_eq(durations->looks[REQUEST].readings, 0);
	open_context(1, REQUEST, START, 11);
	open_context(2, QUERY, START, 11);
	ck_assert_int_eq(durations__look(durations, &table, &remote), 0);
	open_context(3, REQUEST, START, 12);
	ck_assert_int_eq(durations__look(durations, &table, &remote), 0);
	ck_assert_uint_eq(durations->looks[REQUEST].readings, 2);
	ck_assert_uint_eq(durations->looks[REQUEST].shared, 1);
	ck_assert_uint_eq(durations->looks[REQUEST].caller_count, 2);
	ck_assert_uint_eq(durations->looks[QUERY].readings, 2);
	ck_assert_uint_eq(durations->looks[QUERY].shared, 0);
	ck_assert_uint_eq(durations->looks[QUERY].caller_count, 1);
	for (tid = 100; tid < 200; tid++) {
		pool[3].tid = tid;
		ck_assert_int_eq(durations__look(durations, &table, &remote), 0);
	}
	ck_assert_uint_eq(durations->looks[REQUEST].caller_count, DURATIONS_CALLERS_MAX);
}
END_TEST

/* ---- chains ---- */

#define HANDLE(generation, place) ((uint64_t)(generation) << 32 | (place))

static const struct {
	const char *name;
	uint64_t handle;
	struct tsn_context entry; /* at place 1 */
	uint32_t coarse;
	int err;
	struct tsn_chain chain;
} chains[] = {
	{"alone", HANDLE(7, 1), {7, TSN_CONTEXT_OPEN, .depth = 1, .chain = {1}}, 1, 0, {0}},
	{"two",
	 HANDLE(7, 1),
	 {7, TSN_CONTEXT_OPEN, .depth = 2, .chain = {1, 2}},
	 1,
	 0,
	 {.places = 2, .outer = {0, 2}}},
	{"each label once, and not the innermost again",
	 HANDLE(7, 1),
	 {7, TSN_CONTEXT_OPEN, .depth = 6, .chain = {1, 2, 1, 3, 2, 3}},
	 1,
	 0,
	 {.places = 6, .outer = {0, 2, 0, 3, 0, 0}}},
	{"caught on the way in: begins at the label the slot holds",
	 HANDLE(7, 1),
	 {7, TSN_CONTEXT_OPEN, .depth = 3, .chain = {1, 2, 3}},
	 2,
	 0,
	 {.places = 3, .outer = {0, 0, 3}}},
	{"another label altogether",
	 HANDLE(7, 1),
	 {7, TSN_CONTEXT_OPEN, .depth = 3, .chain = {1, 2, 3}},
	 9,
	 0,
	 {.places = 3}},
	{"sixteen",
	 HANDLE(7, 1),
	 {7, TSN_CONTEXT_OPEN, .depth = 16,
	  .chain = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
	 1,
	 0,
	 {.places = 16, .outer = {0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}}},
	{"over",
	 HANDLE(7, 1),
	 {7, TSN_CONTEXT_CLOSED, .depth = 2, .chain = {1, 2}},
	 1,
	 0,
	 {.role = TSN_CELL_STALE}},
	{"used again",
	 HANDLE(7, 1),
	 {8, TSN_CONTEXT_OPEN, .depth = 2, .chain = {1, 2}},
	 1,
	 0,
	 {.role = TSN_CELL_STALE}},
	{"no state",
	 HANDLE(7, 1),
	 {7, 99, .depth = 1, .chain = {1}},
	 1,
	 0,
	 {.role = TSN_CELL_STALE}},
	{"no depth", HANDLE(7, 1), {7, TSN_CONTEXT_OPEN, .chain = {1}}, 1, -EINVAL, {0}},
	{"17 deep",
	 HANDLE(7, 1),
	 {7, TSN_CONTEXT_OPEN, .depth = 17, .chain = {1}},
	 1,
	 -EINVAL,
	 {0}},
	{"no label",
	 HANDLE(7, 1),
	 {7, TSN_CONTEXT_OPEN, .depth = 2, .chain = {1, TSN_LABELS_MAX}},
	 1,
	 -EINVAL,
	 {0}},
	{"label 0", HANDLE(7, 1), {7, TSN_CONTEXT_OPEN, .depth = 2, .chain = {1}}, 1, -EINVAL, {0}},
	{"none", HANDLE(7, 0), {7, TSN_CONTEXT_OPEN, .depth = 1, .chain = {1}}, 1, -EINVAL, {0}},
	{"beyond", HANDLE(7, POOL_COUNT), {7}, 1, -EINVAL, {0}},
	{"far beyond", HANDLE(7, UINT32_MAX), {7}, 1, -EINVAL, {0}},
	{"in no coarse label", HANDLE(7, POOL_COUNT), {7}, 0, 0, {0}},
};

START_TEST(the_chain_of_a_sleeping_thread_is_what_its_entry_says)
{
	struct tsn_slot head = {.coarse = chains[_i].coarse, .context = chains[_i].handle};
	struct tsn_chain chain = {0};
	int err;

	pool[0] = pool[1] = chains[_i].entry;
	err = table__read_chain(&table, &remote, &head, &chain);
	ck_assert_msg(err == chains[_i].err, "%s: %d", chains[_i].name, err);
	ck_assert_msg(!memcmp(&chain, &chains[_i].chain, offsetof(struct tsn_chain, outer)) &&
			      !memcmp(chain.outer, chains[_i].chain.outer,
				      chain.places * sizeof(chain.outer[0])),
		      "%s", chains[_i].name);
}
END_TEST

#define TABLE_TEST(test, rows) tcase_add_loop_test(tcase, test, 0, sizeof(rows) / sizeof((rows)[0]))

/* Of a counter of 2.5 GHz that stood at 1,000 at 50 ns: a unit is 0.4 ns. */
static const struct {
	uint64_t tsc, ns;
} counters[] = {
	{999, 50},
	{1000, 50},
	{3500, 1050},
	{1000 + 2500000000ull * 3600, 50 + 3600000000000ull},
	{1000 + 2500000000ull * 86400 * 365, 50 + 31536000000000000ull},
};

START_TEST(a_counter_is_read_as_ns)
{
	const struct tsn_tsc at = {.tsc = 1000, .ns = 50, .unit = (uint64_t)(0.4 * 0x1p32)};
	const uint64_t ns = tsn_tsc_ns(&at, counters[_i].tsc);

	ck_assert_uint_le(ns, counters[_i].ns);
	ck_assert_double_ge((double)ns, (double)counters[_i].ns * (1 - 1e-9) - 1);
}
END_TEST

Suite *durations_suite(void)
{
	Suite *suite = suite_create("durations");
	TCase *tcase = tcase_create("durations");

	TABLE_TEST(a_counter_is_read_as_ns, counters);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, executions_are_those_since_the_base_summed_over_blocks);
	tcase_add_test(tcase, without_a_base_everything_counts);
	tcase_add_test(tcase, a_base_alone_gives_nothing);
	tcase_add_test(
		tcase,
		the_longest_is_not_known_where_a_longer_one_just_before_the_session_may_hide_it);
	tcase_add_test(tcase, maxima_of_all_epochs_are_kept_if_readings_are_close);
	tcase_add_test(tcase, the_longest_is_not_known_where_readings_are_too_far_apart);
	tcase_add_loop_test(
		tcase,
		after_a_gap_or_a_step_back_of_the_clock_counts_are_right_and_no_maximum_is_made_up,
		0, 3);
	TABLE_TEST(a_maximum_that_cannot_be_is_no_maximum, nonsense);
	tcase_add_test(tcase, what_runs_backwards_or_over_is_no_negative_and_no_small_number);
	tcase_add_test(tcase, blocks_of_labels_that_cannot_be_are_passed_over);
	tcase_add_test(tcase, without_room_for_histograms_there_are_counts);
	tcase_add_test(tcase, blocks_that_are_folded_meanwhile_are_read_all_the_same);
	tcase_add_test(tcase, blocks_that_are_not_mapped_fail_the_reading_and_leave_the_sums);
	TABLE_TEST(durations_that_contradict_the_abi_are_taken_for_none, lies);
	TABLE_TEST(a_pool_that_contradicts_the_abi_is_taken_for_none, pool_lies);
	tcase_add_test(tcase, a_pool_that_moves_is_not_followed);
	tcase_add_test(tcase, executions_open_at_an_edge_are_those_opened_before_it_with_their_age);
	tcase_add_test(tcase, entries_of_the_pool_that_make_no_sense_are_open_nowhere);
	tcase_add_test(tcase, looks_count_labels_with_one_and_with_several_open_and_their_threads);
	TABLE_TEST(the_chain_of_a_sleeping_thread_is_what_its_entry_says, chains);
	suite_add_tcase(suite, tcase);
	return suite;
}
