// SPDX-License-Identifier: MIT
#include "durations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEADS_CHUNK  256
#define READ_TRIES   3
#define BLOCK_BYTES  (TSN_DURATION_BUCKETS * sizeof(uint64_t))
#define BLOCKS_CHUNK 24

/* What is read of blocks at once. */
struct durations_room {
	char heads[HEADS_CHUNK * TSN_DURATIONS_BUCKETS_OFFSET] __attribute__((aligned(8)));
	uint64_t buckets[BLOCKS_CHUNK][TSN_DURATION_BUCKETS];
};

static uint64_t plus(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

struct durations *durations__new(uint64_t start, size_t *room)
{
	struct durations *durations = calloc(1, sizeof(*durations));

	if (!durations)
		return NULL;
	durations->start = start;
	durations->room = room;
	durations->base = durations->sums[0];
	durations->last = durations->sums[1];
	durations->next = durations->sums[2];
	return durations;
}

void durations__free(struct durations *durations)
{
	size_t i, label;

	if (!durations)
		return;
	for (i = 0; i < 3; i++)
		for (label = 0; label < durations->labels; label++) {
			*durations->room += durations->sums[i][label].buckets != NULL;
			free(durations->sums[i][label].buckets);
		}
	free(durations);
}

static void label_use(struct durations *durations, uint32_t label)
{
	if (durations->labels <= label)
		durations->labels = label + 1;
}

/* ---- blocks ---- */

static uint64_t epoch_of(uint64_t moment)
{
	return moment >> TSN_DURATION_EPOCH_SHIFT;
}

static void maxima_add(struct durations *durations, const struct tsn_durations *block, uint64_t now)
{
	struct durations_longest *longest = &durations->longest[block->label];
	unsigned i;

	for (i = 0; i < TSN_DURATION_MAXIMA; i++) {
		const struct tsn_duration_maximum *maximum = &block->maxima[i];
		uint64_t *to = &longest->longest;

		if (!maximum->at || maximum->at > now || maximum->longest > maximum->at ||
		    epoch_of(maximum->at) % TSN_DURATION_MAXIMA != i)
			continue;
		if (maximum->at < durations->start) {
			if (epoch_of(maximum->at) != epoch_of(durations->start))
				continue;
			to = &longest->hidden;
		}
		if (maximum->longest > *to)
			*to = maximum->longest;
	}
}

/* The label's histogram, made on first use; NULL: there is no room. */
static uint64_t *buckets_of(struct durations *durations, struct durations_sum *sum)
{
	if (!sum->buckets && *durations->room) {
		sum->buckets = calloc(1, BLOCK_BYTES);
		*durations->room -= sum->buckets != NULL;
	}
	return sum->buckets;
}

static bool block_counts(const struct tsn_durations *block)
{
	return block->label && block->label < TSN_LABELS_MAX && block->count;
}

/* read: its buckets. */
static void block_add(struct durations *durations, const struct tsn_durations *block,
		      const uint64_t *read, uint64_t now)
{
	struct durations_sum *sum = &durations->next[block->label];
	uint64_t *buckets;
	size_t i;

	label_use(durations, block->label);
	sum->count = plus(sum->count, block->count);
	sum->sum = plus(sum->sum, block->sum);
	maxima_add(durations, block, now);
	buckets = buckets_of(durations, sum);
	for (i = 0; i < TSN_DURATION_BUCKETS && buckets; i++)
		buckets[i] = plus(buckets[i], read[i]);
}

static void next_clear(struct durations *durations)
{
	size_t i;

	for (i = 0; i < durations->labels; i++) {
		durations->next[i].count = durations->next[i].sum = 0;
		if (durations->next[i].buckets)
			memset(durations->next[i].buckets, 0, BLOCK_BYTES);
	}
}

static const struct tsn_durations *head_at(const struct durations_room *room, uint32_t i)
{
	return (const void *)(room->heads + (size_t)i * TSN_DURATIONS_BUCKETS_OFFSET);
}

/* Adds up the blocks whose heads are there, each run of those that count in one reading, for most
 * of what a reading costs is that it is one. from: address of the first. */
static int chunk_add(struct durations *durations, const struct remote *remote,
		     struct durations_room *room, uint64_t from, uint32_t count, uint64_t now)
{
	uint32_t first, n, i;
	int err = 0;

	for (first = 0; first < count && !err; first += n) {
		for (n = 0; first + n < count && n < BLOCKS_CHUNK; n++)
			if (!block_counts(head_at(room, first + n)))
				break;
		err = remote__gather(remote,
				     from + (uint64_t)first * TSN_DURATIONS_STRIDE +
					     TSN_DURATIONS_BUCKETS_OFFSET,
				     TSN_DURATIONS_STRIDE, BLOCK_BYTES, n, room->buckets);
		for (i = 0; i < n && !err; i++)
			block_add(durations, head_at(room, first + i), room->buckets[i], now);
		n += !n; /* one that does not count */
	}
	return err;
}

/* Adds all blocks up in next. */
static int blocks_add(struct durations *durations, const struct tsn_process *process,
		      const struct remote *remote, struct durations_room *room, uint64_t now)
{
	uint32_t used = process->durations_used, at;
	int err = 0;

	next_clear(durations);
	for (at = 0; at < used && !err; at += HEADS_CHUNK) {
		uint32_t n = used - at < HEADS_CHUNK ? used - at : HEADS_CHUNK;
		uint64_t from = process->durations + (uint64_t)at * TSN_DURATIONS_STRIDE;

		err = remote__gather(remote, from, TSN_DURATIONS_STRIDE,
				     TSN_DURATIONS_BUCKETS_OFFSET, n, room->heads);
		if (!err)
			err = chunk_add(durations, remote, room, from, n, now);
	}
	return err;
}

/* -EAGAIN: threads exited between the two descriptors, so blocks may count twice or not at all. */
static int blocks_stood_still(const struct tsn_process *before, const struct tsn_process *after)
{
	return before->folds_begun == before->folds_done &&
			       after->folds_begun == before->folds_begun &&
			       after->durations_used == before->durations_used
		       ? 0
		       : -EAGAIN;
}

/* Puts what the blocks hold into *sums, which is base or last. */
static int sums_read(struct durations *durations, const struct table *table,
		     const struct remote *remote, uint64_t now, struct durations_sum **sums)
{
	struct tsn_process before = table->process, after;
	struct durations_sum *next = durations->next;
	struct durations_room *room;
	int err = -EAGAIN, i;

	if (!table->process.durations)
		return -ENOENT;
	room = malloc(sizeof(*room));
	if (!room)
		return -ENOMEM;
	for (i = 0; i < READ_TRIES && err == -EAGAIN; i++) {
		err = blocks_add(durations, &before, remote, room, now);
		if (!err)
			err = table__read_process(table, remote, &after);
		if (err)
			break;
		err = blocks_stood_still(&before, &after);
		before = after;
	}
	if (!err || err == -EAGAIN) {
		durations->torn = err;
		durations->next = *sums;
		*sums = next;
		if (durations->read && epoch_of(now) > durations->epoch + TSN_DURATION_MAXIMA - 1)
			durations->gap = true;
		durations->epoch = epoch_of(now);
		durations->read = true;
		err = 0;
	}
	free(room);
	return err;
}

/* ---- the pool ---- */

/* The entries that may have been used; the caller frees *entries. */
static int pool_read(const struct table *table, const struct remote *remote,
		     struct tsn_context **entries, size_t *count)
{
	size_t n = table->process.contexts_used;
	struct tsn_context *read;
	int err;

	if (!table->process.contexts)
		return -ENOENT;
	if (n < table->process.contexts_max)
		n++; /* one that is taken just now */
	read = malloc(n * sizeof(*read));
	if (!read)
		return -ENOMEM;
	err = remote__read(remote, table->process.contexts, read, n * sizeof(*read));
	if (err) {
		free(read);
		return err;
	}
	*entries = read;
	*count = n;
	return 0;
}

/* The label of an execution that is open; 0: it is none. */
static uint32_t open_label(const struct tsn_context *entry)
{
	if (entry->state != TSN_CONTEXT_OPEN || !entry->depth || entry->depth > TSN_CHAIN_MAX ||
	    entry->chain[0] >= TSN_LABELS_MAX)
		return 0;
	return entry->chain[0];
}

static int open_read(struct durations *durations, const struct table *table,
		     const struct remote *remote, uint64_t edge, struct durations_open *open)
{
	struct tsn_context *entries;
	size_t count, i;
	int err = pool_read(table, remote, &entries, &count);

	if (err)
		return err;
	memset(open, 0, durations->labels * sizeof(*open));
	for (i = 1; i < count; i++) {
		uint32_t label = open_label(&entries[i]);

		/* What was opened after the edge was not open then. */
		if (!label || entries[i].opened > edge)
			continue;
		label_use(durations, label);
		open[label].count++;
		open[label].units = plus(open[label].units, edge - entries[i].opened);
	}
	free(entries);
	return 0;
}

static void caller_add(struct durations_looks *looks, uint32_t tid)
{
	uint32_t i;

	for (i = 0; i < looks->caller_count; i++)
		if (looks->callers[i] == tid)
			return;
	if (i < DURATIONS_CALLERS_MAX)
		looks->callers[looks->caller_count++] = tid;
}

int durations__look(struct durations *durations, const struct table *table,
		    const struct remote *remote)
{
	uint16_t found[TSN_LABELS_MAX] = {0};
	struct tsn_context *entries;
	size_t count, i;
	int err = pool_read(table, remote, &entries, &count);

	if (err)
		return err;
	for (i = 1; i < count; i++) {
		uint32_t label = open_label(&entries[i]);

		if (!label)
			continue;
		label_use(durations, label);
		found[label]++;
		caller_add(&durations->looks[label], entries[i].tid);
	}
	for (i = 1; i < durations->labels; i++) {
		durations->looks[i].readings += found[i] > 0;
		durations->looks[i].shared += found[i] > 1;
	}
	free(entries);
	return 0;
}

/* ---- edges ---- */

int durations__read_base(struct durations *durations, const struct table *table,
			 const struct remote *remote, uint64_t now)
{
	int err = sums_read(durations, table, remote, now, &durations->base);
	size_t i;

	if (err)
		return err;
	for (i = 0; i < durations->labels; i++) {
		struct durations_sum *last = &durations->last[i];
		const struct durations_sum *base = &durations->base[i];
		uint64_t *buckets;

		last->count = base->count;
		last->sum = base->sum;
		buckets = base->buckets ? buckets_of(durations, last) : NULL;
		if (buckets)
			memcpy(buckets, base->buckets, BLOCK_BYTES);
	}
	return 0;
}

int durations__read_open_first(struct durations *durations, const struct table *table,
			       const struct remote *remote, uint64_t edge)
{
	return open_read(durations, table, remote, edge, durations->open_first);
}

int durations__read(struct durations *durations, const struct table *table,
		    const struct remote *remote, uint64_t now)
{
	return sums_read(durations, table, remote, now, &durations->last);
}

int durations__read_open_last(struct durations *durations, const struct table *table,
			      const struct remote *remote, uint64_t edge)
{
	return open_read(durations, table, remote, edge, durations->open_last);
}

/* ---- results ---- */

bool durations__complete(const struct durations *durations)
{
	size_t label, i;

	for (label = 0; label < durations->labels; label++) {
		const struct durations_sum *last = &durations->last[label];
		uint64_t total = 0;

		for (i = 0; i < TSN_DURATION_BUCKETS && last->buckets; i++)
			total = plus(total, last->buckets[i]);
		if (last->buckets && total < last->count)
			return false;
	}
	return true;
}

bool durations__difference(const struct durations *durations, uint32_t label, uint64_t *count,
			   uint64_t *sum, uint64_t *longest, uint64_t *buckets)
{
	const struct durations_sum *base = &durations->base[label];
	const struct durations_sum *last = &durations->last[label];
	const struct durations_longest *known = &durations->longest[label];
	uint32_t top = 0, i;
	uint64_t total = 0;
	/* Without the base's the differences would hold what came before. */
	bool complete = last->buckets && (base->buckets || !base->count);

	*sum = minus(last->sum, base->sum);
	*count = minus(last->count, base->count);
	*longest = 0;
	memset(buckets, 0, BLOCK_BYTES);
	if (!complete)
		return false;
	for (i = 0; i < TSN_DURATION_BUCKETS; i++) {
		buckets[i] = minus(last->buckets[i], base->buckets ? base->buckets[i] : 0);
		total = plus(total, buckets[i]);
		if (buckets[i])
			top = i;
	}
	*count = total;
	/* The longest one is in the topmost bucket, or what is taken for it is another one. */
	if (total && !durations->gap && known->longest >= known->hidden &&
	    tsn_duration_bucket(known->longest) == top)
		*longest = known->longest;
	return true;
}
