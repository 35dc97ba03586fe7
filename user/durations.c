// SPDX-License-Identifier: MIT
#include "durations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEADS_CHUNK 256
#define READ_TRIES  3
#define BLOCK_BYTES (TSN_DURATION_BUCKETS * sizeof(uint64_t))

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
	return durations;
}

static void sums_free(struct durations *durations, struct durations_sum *sums)
{
	size_t i;

	for (i = 0; i < TSN_LABELS_MAX; i++) {
		*durations->room += sums[i].buckets != NULL;
		free(sums[i].buckets);
	}
}

void durations__free(struct durations *durations)
{
	if (!durations)
		return;
	sums_free(durations, durations->base);
	sums_free(durations, durations->last);
	sums_free(durations, durations->next);
	free(durations);
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

static int block_add(struct durations *durations, const struct remote *remote,
		     const struct tsn_durations *block, uint64_t address, uint64_t now)
{
	struct durations_sum *sum = &durations->next[block->label];
	uint64_t read[TSN_DURATION_BUCKETS], *buckets;
	size_t i;
	int err;

	if (!block->count)
		return 0;
	sum->count = plus(sum->count, block->count);
	sum->sum = plus(sum->sum, block->sum);
	maxima_add(durations, block, now);
	buckets = buckets_of(durations, sum);
	if (!buckets)
		return 0;
	err = remote__read(remote, address + TSN_DURATIONS_BUCKETS_OFFSET, read, sizeof(read));
	for (i = 0; i < TSN_DURATION_BUCKETS && !err; i++)
		buckets[i] = plus(buckets[i], read[i]);
	return err;
}

static void next_clear(struct durations *durations)
{
	size_t i;

	for (i = 0; i < TSN_LABELS_MAX; i++) {
		durations->next[i].count = durations->next[i].sum = 0;
		if (durations->next[i].buckets)
			memset(durations->next[i].buckets, 0, BLOCK_BYTES);
	}
}

/* Adds all blocks up in next. */
static int blocks_add(struct durations *durations, const struct table *table,
		      const struct remote *remote, char *heads, uint64_t now)
{
	uint32_t used = table->process.durations_used, at, i;
	int err = 0;

	next_clear(durations);
	for (at = 0; at < used && !err; at += HEADS_CHUNK) {
		uint32_t n = used - at < HEADS_CHUNK ? used - at : HEADS_CHUNK;
		uint64_t from = table->process.durations + (uint64_t)at * TSN_DURATIONS_STRIDE;

		err = remote__gather(remote, from, TSN_DURATIONS_STRIDE,
				     TSN_DURATIONS_BUCKETS_OFFSET, n, heads);
		for (i = 0; i < n && !err; i++) {
			const struct tsn_durations *block =
				(const void *)(heads + (size_t)i * TSN_DURATIONS_BUCKETS_OFFSET);

			if (block->label && block->label < TSN_LABELS_MAX)
				err = block_add(durations, remote, block,
						from + (uint64_t)i * TSN_DURATIONS_STRIDE, now);
		}
	}
	return err;
}

/* Whether a thread's blocks were folded, or new ones taken, since the descriptor in table was read.
 */
static int blocks_stood_still(const struct table *table, const struct remote *remote,
			      struct table *fresh)
{
	int err;

	*fresh = *table;
	err = table__refresh(fresh, remote);
	if (err)
		return err;
	return table->process.folds_begun == table->process.folds_done &&
			       fresh->process.folds_begun == table->process.folds_begun &&
			       fresh->process.durations_used == table->process.durations_used
		       ? 0
		       : -EAGAIN;
}

/* Puts what the blocks hold into sums. */
static int sums_read(struct durations *durations, const struct table *table,
		     const struct remote *remote, uint64_t now, struct durations_sum *sums)
{
	size_t size = TSN_LABELS_MAX * sizeof(*sums);
	struct durations_sum *swap;
	struct table *fresh;
	char *heads;
	int err = -EAGAIN, i;

	if (!table->process.durations)
		return -ENOENT;
	heads = malloc((size_t)HEADS_CHUNK * TSN_DURATIONS_BUCKETS_OFFSET);
	fresh = malloc(2 * sizeof(*fresh));
	swap = malloc(size);
	if (!heads || !fresh || !swap)
		err = -ENOMEM;
	else
		fresh[0] = *table;
	for (i = 0; i < READ_TRIES && err == -EAGAIN; i++) {
		err = blocks_add(durations, &fresh[0], remote, heads, now);
		if (err)
			break;
		err = blocks_stood_still(&fresh[0], remote, &fresh[1]);
		if (err == -EAGAIN)
			fresh[0] = fresh[1];
	}
	if (!err || err == -EAGAIN) {
		durations->torn = err;
		memcpy(swap, sums, size);
		memcpy(sums, durations->next, size);
		memcpy(durations->next, swap, size);
		if (durations->read && epoch_of(now) > durations->epoch + TSN_DURATION_MAXIMA - 1)
			durations->gap = true;
		durations->epoch = epoch_of(now);
		durations->read = true;
		err = 0;
	}
	free(heads);
	free(fresh);
	free(swap);
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

static int open_read(const struct table *table, const struct remote *remote, uint64_t edge,
		     struct durations_open *open)
{
	struct tsn_context *entries;
	size_t count, i;
	int err = pool_read(table, remote, &entries, &count);

	if (err)
		return err;
	memset(open, 0, TSN_LABELS_MAX * sizeof(*open));
	for (i = 1; i < count; i++) {
		uint32_t label = open_label(&entries[i]);

		/* What was opened after the edge was not open then. */
		if (!label || entries[i].opened > edge)
			continue;
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
		found[label]++;
		caller_add(&durations->looks[label], entries[i].tid);
	}
	for (i = 1; i < TSN_LABELS_MAX; i++) {
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
	int err = sums_read(durations, table, remote, now, durations->base);
	size_t i;

	if (err)
		return err;
	for (i = 0; i < TSN_LABELS_MAX; i++) {
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
	return open_read(table, remote, edge, durations->open_first);
}

int durations__read(struct durations *durations, const struct table *table,
		    const struct remote *remote, uint64_t now)
{
	return sums_read(durations, table, remote, now, durations->last);
}

int durations__read_open_last(struct durations *durations, const struct table *table,
			      const struct remote *remote, uint64_t edge)
{
	return open_read(table, remote, edge, durations->open_last);
}

/* ---- results ---- */

bool durations__complete(const struct durations *durations)
{
	size_t label, i;

	for (label = 0; label < TSN_LABELS_MAX; label++) {
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
