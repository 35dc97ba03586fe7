// SPDX-License-Identifier: MIT
/*
 * What a process publishes: a valid process, changed as the input says, also between two readings
 * of its descriptor; then all that a session does with it, up to the report. Records of the input:
 * what (1 byte), and what that takes; see change_apply().
 */
#include <errno.h>
#include <locale.h>
#include <math.h>

#include "durations.h"
#include "fuzz.h"
#include "label_names.h"
#include "model.h"
#include "spans.h"
#include "table.h"

#define OWN_PID 42
#define EPOCH	(1ULL << TSN_DURATION_EPOCH_SHIFT)
#define START	(8 * EPOCH + 1000)
#define NOW	(START + 1000000)
#define ROOM	16 /* histograms */
#define KEPT	4  /* slots and blocks that are there; the others repeat them */

enum { DESCRIPTOR, FOLLOWER, LABELS, RETIRED, SLOTS, CONTEXTS, DURATIONS, REGIONS };

/* Of one reading of all calls, tries included, or of all durations. */
#define CALLS_BYTES                                                               \
	(5 * (3 * sizeof(struct tsn_process) + sizeof(labels) + sizeof(retired) + \
	      (uint64_t)TSN_SLOTS_MAX * sizeof(retired)))
#define DURATIONS_BYTES                                                             \
	(3 * ((uint64_t)TSN_DURATIONS_MAX * TSN_DURATIONS_STRIDE + sizeof(labels) + \
	      sizeof(struct tsn_process)))

static struct tsn_process process, follower;
static struct tsn_label labels[TSN_LABELS_MAX];
static uint64_t retired[TSN_LABELS_MAX];
static struct tsn_slot_full slots[KEPT];
static struct tsn_context contexts[TSN_CONTEXTS_MAX];
static struct tsn_durations blocks[KEPT];

static struct fuzz_region regions[REGIONS];
static struct fuzz_memory memory;
static struct fuzz_input changes;
static unsigned wait; /* readings of the descriptor until the next change */

static struct table table;
static struct table_calls calls;
static struct label_names names;
static uint64_t buckets[ROOM][TSN_DURATION_BUCKETS];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	setlocale(LC_CTYPE, "C.UTF-8");
	return 0;
}

/* ---- a valid process ---- */

static void region_set(unsigned which, uint64_t address, void *bytes, uint64_t size, uint64_t count,
		       uint64_t kept)
{
	regions[which] = (struct fuzz_region){address, size, count, kept, bytes, 0};
}

static void label_set(unsigned id, uint32_t kind, const char *name, uint32_t base, uint32_t arity)
{
	labels[id] = (struct tsn_label){.kind = kind, .base = base, .arity = arity};
	snprintf(labels[id].name, sizeof(labels[id].name), "%s", name);
}

static void labels_build(void)
{
	unsigned i;

	memset(labels, 0, sizeof(labels));
	label_set(1, TSN_KIND_FINE, "parse", 1, 0);
	label_set(2, TSN_KIND_FINE, "level", 2, 2);
	label_set(3, TSN_KIND_FINE, "level", 2, 2);
	label_set(4, TSN_KIND_IDLE, "poll", 4, 0);
	label_set(5, TSN_KIND_COARSE, "request", 5, 0);
	label_set(6, TSN_KIND_COARSE, "query", 6, 2);
	label_set(7, TSN_KIND_COARSE, "query", 6, 2);
	for (i = 8; i < TSN_LABELS_MAX; i++)
		label_set(i, TSN_KIND_FINE, "another", i, 0);
}

static void tables_build(void)
{
	unsigned i;

	memset(slots, 0, sizeof(slots));
	memset(contexts, 0, sizeof(contexts));
	memset(blocks, 0, sizeof(blocks));
	for (i = 0; i < TSN_LABELS_MAX; i++)
		retired[i] = i;
	for (i = 0; i < KEPT; i++) {
		slots[i].head = (struct tsn_slot){.fine = 1,
						  .coarse = 5,
						  .tid = OWN_PID + i,
						  .context = (1ULL << 32) | (i + 1)};
		slots[i].counts[1] = 1000;
		contexts[i + 1] = (struct tsn_context){.generation = 1,
						       .state = TSN_CONTEXT_OPEN,
						       .depth = 2,
						       .opened = START,
						       .tid = OWN_PID,
						       .chain = {5, 6}};
		blocks[i] = (struct tsn_durations){
			.label = 5 + i % 3,
			.owner = i,
			.count = 2,
			.sum = 300,
			.maxima[START / EPOCH % TSN_DURATION_MAXIMA] = {200, START + 10}};
		blocks[i].buckets[tsn_duration_bucket(100)]++;
		blocks[i].buckets[tsn_duration_bucket(200)]++;
	}
}

static void process_build(void)
{
	process = (struct tsn_process){
		.magic = TSN_MAGIC,
		.version = TSN_ABI_VERSION,
		.size = sizeof(process),
		.state = TSN_STATE_READY,
		.pid = OWN_PID,
		.slots = 0x7f0000000000u,
		.slots_max = TSN_SLOTS_MAX,
		.slot_stride = TSN_SLOT_STRIDE,
		.slots_used = KEPT,
		.labels_count = 8,
		.labels = 0x200000,
		.labels_max = TSN_LABELS_MAX,
		.label_stride = sizeof(labels[0]),
		.contexts = 0x400000,
		.contexts_max = TSN_CONTEXTS_MAX,
		.context_stride = sizeof(contexts[0]),
		.contexts_used = KEPT + 1,
		.retired = 0x300000,
		.durations = 0x7e0000000000u,
		.durations_max = TSN_DURATIONS_MAX,
		.durations_stride = TSN_DURATIONS_STRIDE,
		.durations_used = KEPT,
		.clock = TSN_CLOCK_MONOTONIC,
	};
	follower = (struct tsn_process){.magic = TSN_MAGIC,
					.version = TSN_ABI_VERSION,
					.size = sizeof(process),
					.state = TSN_STATE_FOLLOWER,
					.leader = 0x10000};
	region_set(DESCRIPTOR, 0x10000, &process, sizeof(process), 1, 1);
	region_set(FOLLOWER, 0x20000, &follower, sizeof(follower), 1, 1);
	region_set(LABELS, process.labels, labels, sizeof(labels[0]), TSN_LABELS_MAX,
		   TSN_LABELS_MAX);
	region_set(RETIRED, process.retired, retired, sizeof(retired[0]), TSN_LABELS_MAX,
		   TSN_LABELS_MAX);
	region_set(SLOTS, process.slots, slots, sizeof(slots[0]), TSN_SLOTS_MAX, KEPT);
	region_set(CONTEXTS, process.contexts, contexts, sizeof(contexts[0]), TSN_CONTEXTS_MAX,
		   TSN_CONTEXTS_MAX);
	region_set(DURATIONS, process.durations, blocks, sizeof(blocks[0]), TSN_DURATIONS_MAX,
		   KEPT);
}

/* ---- what the input makes of it ---- */

/* Bytes at an offset of a region. */
static void bytes_lay(struct fuzz_region *region)
{
	uint64_t size = region->element_size * region->element_kept;
	uint64_t at = fuzz_number(&changes, 4) % size, n = fuzz_number(&changes, 1) % 80;

	n = n < size - at ? n : size - at;
	n = n < changes.left ? n : changes.left;
	fuzz_take(&changes, region->bytes + at, n);
}

/* A number of 4 or 8 bytes at a field, of those at which arithmetic turns. */
static void number_lay(struct fuzz_region *region)
{
	static const uint64_t numbers[] = {0,
					   1,
					   2,
					   63,
					   64,
					   TSN_LABELS_MAX - 1,
					   TSN_LABELS_MAX,
					   TSN_LABELS_MAX + 1,
					   TSN_SLOTS_MAX,
					   TSN_SLOTS_MAX + 1,
					   TSN_CONTEXTS_MAX,
					   TSN_CONTEXTS_MAX + 1,
					   TSN_DURATIONS_MAX,
					   TSN_DURATIONS_MAX + 1,
					   INT32_MAX,
					   UINT32_MAX,
					   1ULL << 47,
					   1ULL << 56,
					   1ULL << 63,
					   INT64_MAX,
					   UINT64_MAX,
					   0xffff888000000000u,
					   START,
					   NOW};
	uint64_t size = region->element_size * region->element_kept;
	uint64_t at = fuzz_number(&changes, 2) * 4 % size, n = fuzz_number(&changes, 1) & 1 ? 8 : 4;
	uint64_t number =
		numbers[fuzz_number(&changes, 1) % (sizeof(numbers) / sizeof(numbers[0]))];

	memcpy(region->bytes + at, &number, n < size - at ? n : size - at);
}

static void change_apply(void)
{
	uint8_t what = (uint8_t)fuzz_number(&changes, 1);
	struct fuzz_region *region = &regions[what % REGIONS];

	switch (what / REGIONS % 6) {
	case 0:
	case 1:
		bytes_lay(region);
		break;
	case 2:
	case 3:
		number_lay(region);
		break;
	case 4:
		wait = 1 + what % REGIONS;
		break;
	default:
		if (what & 1)
			region->gone = !region->gone;
		else
			memset(region->bytes, (int)fuzz_number(&changes, 1),
			       region->element_size * region->element_kept);
	}
}

static void changes_go_on(uint64_t address)
{
	if (address != regions[DESCRIPTOR].address || (wait && --wait))
		return;
	while (changes.left && !wait)
		change_apply();
}

/* ---- what a session does ---- */

static void table_check(void)
{
	const struct tsn_process *p = &table.process;
	uint32_t i;

	fuzz_assert(table.label_count >= 1 && table.label_count <= TSN_LABELS_MAX);
	fuzz_assert(p->slots_used <= p->slots_max && p->slots_max <= TSN_SLOTS_MAX);
	fuzz_assert(p->contexts_used <= p->contexts_max && p->contexts_max <= TSN_CONTEXTS_MAX);
	fuzz_assert(p->durations_used <= p->durations_max && p->durations_max <= TSN_DURATIONS_MAX);
	for (i = 1; i < table.label_count; i++) {
		fuzz_assert(memchr(table.labels[i].name, 0, TABLE_NAME_SIZE));
		fuzz_assert(table.labels[i].name[0] && table.labels[i].kind <= TSN_KIND_COARSE);
	}
}

static void heads_try(const struct remote *remote)
{
	struct tsn_chain chain;
	struct tsn_slot *heads;
	size_t count, i;

	if (table__read_heads(&table, remote, &heads, &count))
		return;
	fuzz_assert(count <= TSN_SLOTS_MAX);
	for (i = 0; i < count && i < 2 * KEPT; i++)
		table__read_chain(&table, remote, &heads[i], &chain);
	free(heads);
}

static void durations_try(const struct remote *remote, struct durations *durations)
{
	memory.bytes_asked = 0;
	durations__read_base(durations, &table, remote, START);
	fuzz_assert(memory.bytes_asked <= DURATIONS_BYTES);
	durations__read_open_first(durations, &table, remote, START);
	durations__look(durations, &table, remote);
	if (!table__refresh(&table, remote)) {
		table_check();
		durations__read(durations, &table, remote, NOW);
		durations__read_open_last(durations, &table, remote, NOW);
	}
	durations__complete(durations);
}

/* ---- the report ---- */

static size_t spans_fill(const struct durations *durations, struct spans_label *rows)
{
	size_t count = 0, kept = 0;
	uint32_t id;

	for (id = 1; id < table.label_count && count < TSN_LABELS_MAX; id++) {
		struct spans_label *row = &rows[count];

		if (table.labels[id].kind != TSN_KIND_COARSE)
			continue;
		count++;
		*row = (struct spans_label){
			.name = label_names__get(&names, &table, id), .unit_ns = 1, .stretch = 1};
		if (!durations->last[id].buckets || kept == ROOM)
			continue;
		if (durations__difference(durations, id, &row->executions, &row->sum_units,
					  &row->longest_units, buckets[kept]) &&
		    row->executions)
			row->buckets = buckets[kept++];
		row->open_first = durations->open_first[id].count;
		row->open_first_units = durations->open_first[id].units;
		row->open_last = durations->open_last[id].count;
		row->open_last_units = durations->open_last[id].units;
		row->callers = durations->looks[id].caller_count;
		row->readings = durations->looks[id].readings;
		row->readings_shared = durations->looks[id].shared;
		fuzz_assert(row->callers <= DURATIONS_CALLERS_MAX);
	}
	return count;
}

static size_t model_fill(struct model_label *rows)
{
	size_t count = 0;
	uint32_t id;

	for (id = 1; id < table.label_count; id++)
		if (table.labels[id].kind != TSN_KIND_COARSE)
			rows[count++] =
				(struct model_label){.name = label_names__get(&names, &table, id),
						     .idle = table.labels[id].kind == TSN_KIND_IDLE,
						     .hits_user = id % 3,
						     .weight_ns = id % 3 * 1000000,
						     .blocked_ns = id * 1000,
						     .calls = calls.calls[id],
						     .callers = calls.callers[id]};
	return count;
}

static void report_try(const struct durations *durations)
{
	static struct model_label fine[TSN_LABELS_MAX];
	static struct spans_label coarse[TSN_LABELS_MAX];
	struct model_input model = {.labels = fine, .running_ns = 1000000000, .alpha = 0.05};
	struct spans_cell cell = {.coarse = table.label_count > 5 ? table.labels[5].name : NULL,
				  .fine = table.label_count > 1 ? table.labels[1].name : NULL,
				  .hits = 100,
				  .weight_ns = 100000000,
				  .blocked_ns = 1000};
	struct spans_input spans = {.labels = coarse,
				    .cells = &cell,
				    .cell_count = 1,
				    .running_ns = 1000000000,
				    .alpha = 0.05,
				    .cost_ns = 65};
	struct profile *profile = profile__new();

	fuzz_assert(profile);
	memset(&names, 0, sizeof(names));
	profile->session.duration_ns = 1000000000;
	profile->tool_version = strdup("0");
	profile->session.ended_by = strdup("duration");
	profile->host.kernel = strdup("6");
	profile->host.machine = strdup("x");
	model.label_count = model_fill(fine);
	spans.label_count = spans_fill(durations, coarse);
	fuzz_assert(!model__compute(&model, profile));
	fuzz_assert(!spans__compute(&spans, profile));
	fuzz_show(profile);
	profile__free(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct durations *durations;
	struct remote remote;
	size_t room = ROOM;
	int err;

	labels_build();
	tables_build();
	process_build();
	memory =
		(struct fuzz_memory){.regions = regions, .count = REGIONS, .before = changes_go_on};
	remote = fuzz_remote(&memory);
	changes = (struct fuzz_input){data, size};
	wait = 0;
	memset(&table, 0, sizeof(table));
	memset(&calls, 0, sizeof(calls));

	err = table__open(&table, &remote, regions[size & 1 ? FOLLOWER : DESCRIPTOR].address,
			  OWN_PID);
	fuzz_assert(size || !err);
	if (err)
		return 0;
	table_check();
	memory.bytes_asked = 0;
	table__read_calls(&table, &remote, &calls);
	fuzz_assert(memory.bytes_asked <= CALLS_BYTES);
	table_check();
	heads_try(&remote);
	durations = durations__new(START, &room);
	fuzz_assert(durations);
	durations_try(&remote, durations);
	report_try(durations);
	durations__free(durations);
	fuzz_assert(room == ROOM);
	return 0;
}
