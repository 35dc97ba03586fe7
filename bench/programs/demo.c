// SPDX-License-Identifier: MIT
/*
 * demo: a small key-value store under load. Two workers look keys up, insert and now and then write
 * a checkpoint under a lock; a logger mostly waits. Every operation is labelled; most take tens to
 * hundreds of nanoseconds.
 *
 * Usage: demo [SECONDS]   (default: until it is killed)
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ticksnick/ticksnick.h>

TSN_FINE(op_hash, "hashKey");
TSN_FINE(op_lookup, "lookup");
TSN_FINE(op_insert, "insert");
TSN_FINE(op_encode, "encodeValue");
TSN_FINE(op_verify, "verifyChecksum");
TSN_FINE(op_lock, "checkpointLock");
TSN_FINE(op_checkpoint, "writeCheckpoint");
TSN_FINE(op_log, "flushLog");
TSN_FINE(op_compact, "compactTable"); /* never happens here: shown as never sampled */
TSN_IDLE(op_wait, "waitForLog");

#define TABLE_SIZE (1 << 16)
#define VALUE_SIZE 96

struct entry {
	uint64_t key;
	unsigned char value[VALUE_SIZE];
};

static struct entry table[TABLE_SIZE];
static pthread_mutex_t checkpoint_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint checkpoints;
static atomic_bool over;

static uint64_t hash_key(uint64_t key)
{
	TSN_SCOPE(op_hash);
	int i;

	TSN_KEEP(key); /* the work must not begin before its label */
	for (i = 0; i < 4; i++) {
		key ^= key >> 33;
		key *= 0xff51afd7ed558ccdULL;
	}
	TSN_KEEP(key); /* nor end after it */
	return key;
}

static struct entry *lookup(uint64_t key)
{
	uint64_t at = hash_key(key);
	TSN_SCOPE(op_lookup);
	int probes;

	for (probes = 0; probes < 8; probes++) {
		struct entry *entry = &table[(at + (uint64_t)probes) % TABLE_SIZE];

		if (entry->key == key) {
			TSN_KEEP(entry);
			return entry;
		}
	}
	return NULL;
}

static void encode(unsigned char *value, uint64_t seed)
{
	TSN_SCOPE(op_encode);
	int i;

	for (i = 0; i < VALUE_SIZE; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		value[i] = (unsigned char)(seed >> 56);
	}
	TSN_KEEP(value);
}

static void insert(uint64_t key)
{
	uint64_t at = hash_key(key);
	struct entry *entry = &table[at % TABLE_SIZE];
	TSN_SCOPE(op_insert);

	entry->key = key;
	encode(entry->value, key);
}

static uint32_t verify(const struct entry *entry)
{
	TSN_SCOPE(op_verify);
	uint32_t sum = 1;
	int i;

	for (i = 0; i < VALUE_SIZE; i++)
		sum = sum * 31 + entry->value[i];
	TSN_KEEP(sum);
	return sum;
}

static void checkpoint(void)
{
	struct timespec disk = {0, 400000};

	TSN_SCOPE(op_lock);
	pthread_mutex_lock(&checkpoint_lock);
	{
		TSN_SCOPE(op_checkpoint);
		nanosleep(&disk, NULL);
	}
	pthread_mutex_unlock(&checkpoint_lock);
	atomic_fetch_add(&checkpoints, 1);
}

static void *worker(void *argument)
{
	uint64_t random = (uintptr_t)argument * 0x9e3779b97f4a7c15ULL + 1, n = 0;

	while (!atomic_load_explicit(&over, memory_order_relaxed)) {
		struct entry *entry;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		entry = lookup(random % 50000);
		if (entry)
			verify(entry);
		else
			insert(random % 50000);
		if (!(random >> 32 & 7))
			insert(random % 50000);
		if (++n % 20000 == 0)
			checkpoint();
	}
	return NULL;
}

static void *logger(void *argument)
{
	struct timespec pause = {0, 5000000};
	char line[64];

	(void)argument;
	while (!atomic_load_explicit(&over, memory_order_relaxed)) {
		{
			TSN_SCOPE(op_wait);
			nanosleep(&pause, NULL);
		}
		TSN_SCOPE(op_log);
		snprintf(line, sizeof(line), "%u checkpoints", atomic_load(&checkpoints));
		TSN_KEEP(line[0]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 0;
	pthread_t threads[3];
	intptr_t i;

	for (i = 0; i < 50000; i++)
		insert((uint64_t)i);
	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, (void *)(i + 1));
	pthread_create(&threads[2], NULL, logger, NULL);
	if (seconds > 0) {
		struct timespec run = {(time_t)seconds,
				       (long)((seconds - (double)(time_t)seconds) * 1e9)};

		nanosleep(&run, NULL);
		atomic_store(&over, 1);
	}
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
