/* SPDX-License-Identifier: MIT */
/*
 * durations.h - the clock, and how long executions took. Included by ticksnick.h; nothing in here
 * is for applications. Of the leader's module only.
 *
 * A thread counts in blocks of its own, one for each coarse label, and adds them to the blocks that
 * threads share when it ends. Blocks are taken under the leader's lock, once for each thread and
 * label; counting takes none.
 */
#ifndef TICKSNICK_DURATIONS_H
#define TICKSNICK_DURATIONS_H

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of slot->blocks[]: there was no block for this thread and label, the shared one must do. */
#define TSN_BLOCK_SHARED UINT16_MAX

/* Blocks of threads; the others are for what threads share, one for each label at most. */
#define TSN_BLOCKS_OWN_MAX (TSN_DURATIONS_MAX - TSN_LABELS_MAX)

struct tsn_blocks {
	uint32_t free;			 /* index + 1 of the first free block; 0: none */
	uint32_t own;			 /* blocks that threads have */
	uint16_t shared[TSN_LABELS_MAX]; /* index + 1, by label */
};

TSN_COLD uint32_t tsn_clock_choose(void);
TSN_COLD uint32_t tsn_clock_invariant(void);
TSN_COLD struct tsn_durations *tsn_durations_at(uint32_t number);
TSN_COLD uint32_t tsn_durations_block(uint32_t label, uint32_t owner);
TSN_COLD uint32_t tsn_durations_shared(uint32_t label);
TSN_COLD uint32_t tsn_durations_own(struct tsn_slot_full *slot, uint32_t label);
TSN_COLD void tsn_durations_share(struct tsn_slot_full *slot, uint32_t label, uint64_t duration,
				  uint64_t end);
TSN_COLD void tsn_durations_longest(struct tsn_durations *block, uint64_t duration, uint64_t end);
TSN_COLD void tsn_durations_merge(struct tsn_durations *shared, struct tsn_durations *block);
TSN_COLD void tsn_durations_fold(struct tsn_slot_full *slot);
TSN_COLD void tsn_durations_forget(void);
TSN_WARM void tsn_durations_count(struct tsn_slot_full *slot, uint32_t label, uint64_t duration,
				  uint64_t end);

/* leader.h */
TSN_COLD uint64_t tsn_leader_lock(void);
TSN_COLD void tsn_leader_unlock(uint64_t signals);
TSN_COLD struct tsn_slot_full *tsn_leader_slot_at(uint32_t index);

extern TSN_MODULE struct tsn_blocks tsn_blocks;
TSN_MODULE struct tsn_blocks tsn_blocks;

/* ---- The clock -------------------------------------------------------------------------- */

/* CPUID 8000_0007h, EDX bit 8: it counts at one rate in all states of the processor. */
TSN_COLD uint32_t tsn_clock_invariant(void)
{
#ifdef __x86_64__
	uint32_t a = 0x80000000u, b, c = 0, d;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	if (a < 0x80000007u)
		return 0;
	a = 0x80000007u;
	c = 0;
	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return d >> 8 & 1;
#else
	return 0;
#endif
}

/*
 * The time stamp counter only where the kernel keeps time by it: then it has found the counters of
 * all processors to agree. By raw system calls, as everything that may run before main().
 */
TSN_COLD uint32_t tsn_clock_choose(void)
{
	static const char path[] =
		"/sys/devices/system/clocksource/clocksource0/current_clocksource";
	const int saved_errno = errno;
	char name[8] = {0};
	long fd;

	if (!tsn_clock_invariant())
		return TSN_CLOCK_MONOTONIC;
	/* AT_FDCWD; O_RDONLY | O_CLOEXEC */
	fd = tsn_syscall(SYS_openat, -100, path, 0x80000, 0);
	if (fd >= 0) {
		tsn_syscall(SYS_read, fd, name, sizeof(name) - 1);
		tsn_syscall(SYS_close, fd);
	}
	errno = saved_errno;
	return strcmp(name, "tsc\n") == 0 ? TSN_CLOCK_TSC : TSN_CLOCK_MONOTONIC;
}

/* In units of process.clock. The fence is the kernel's own clock's: work before it has been done.
 */
TSN_INLINE uint64_t tsn_clock_now(void)
{
	uint64_t now[2];
#ifdef __x86_64__
	uint32_t low, high;

	if (tsn_process_descriptor.clock == TSN_CLOCK_TSC) {
		__asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
		return (uint64_t)high << 32 | low;
	}
#endif
	tsn_clock_gettime(1 /* CLOCK_MONOTONIC */, now);
	return now[0] * 1000000000u + now[1];
}

/* ---- Blocks ----------------------------------------------------------------------------- */

/* By index + 1. */
TSN_COLD struct tsn_durations *tsn_durations_at(uint32_t number)
{
	return (struct tsn_durations *)tsn_process_descriptor.durations + (number - 1);
}

/* A block that is all zero, as index + 1; there always is one, see TSN_BLOCKS_OWN_MAX. */
TSN_COLD uint32_t tsn_durations_block(uint32_t label, uint32_t owner)
{
	struct tsn_process *process = &tsn_process_descriptor;
	struct tsn_durations *block;
	uint32_t number = tsn_blocks.free;

	if (number) {
		block = tsn_durations_at(number);
		tsn_blocks.free = (uint32_t)block->next;
		block->next = 0;
	} else {
		number = process->durations_used + 1;
		block = tsn_durations_at(number);
		__atomic_store_n(&process->durations_used, number, __ATOMIC_RELEASE);
	}
	block->owner = owner;
	__atomic_store_n(&block->label, label, __ATOMIC_RELEASE);
	return number;
}

TSN_COLD uint32_t tsn_durations_shared(uint32_t label)
{
	if (!tsn_blocks.shared[label])
		tsn_blocks.shared[label] = (uint16_t)tsn_durations_block(label, 0);
	return tsn_blocks.shared[label];
}

/* The thread's block for a label it has none for yet. */
TSN_COLD uint32_t tsn_durations_own(struct tsn_slot_full *slot, uint32_t label)
{
	uint64_t signals = tsn_leader_lock();
	uint32_t number = slot->blocks[label]; /* a signal handler may have been here */

	if (!number) {
		if (tsn_blocks.own < TSN_BLOCKS_OWN_MAX) {
			tsn_blocks.own++;
			number = tsn_durations_block(label,
						     (uint32_t)(slot - tsn_leader_slot_at(0)) + 1);
		} else {
			tsn_durations_shared(label);
			number = TSN_BLOCK_SHARED;
		}
		slot->blocks_used++;
		slot->blocks[label] = (uint16_t)number;
	}
	tsn_leader_unlock(signals);
	return number;
}

/* ---- Counting --------------------------------------------------------------------------- */

/* Written by the owner alone, and its signal handlers. */
TSN_INLINE void tsn_durations_add(uint64_t *sum, uint64_t n)
{
#ifdef __x86_64__
	__asm__ volatile("addq %1, %0" : "+m"(*sum) : "er"(n) : "cc", "memory");
#else
	__atomic_store_n(sum, *sum + n, __ATOMIC_RELEASE);
#endif
}

TSN_WARM void tsn_durations_count(struct tsn_slot_full *slot, uint32_t label, uint64_t duration,
				  uint64_t end)
{
	const uint32_t bucket = tsn_duration_bucket(duration);
	const uint64_t octave = (uint64_t)1 << (bucket >> TSN_DURATION_BUCKET_BITS);
	const uint64_t epoch = end >> TSN_DURATION_EPOCH_SHIFT;
	struct tsn_duration_maximum *maximum;
	struct tsn_durations *block;
	uint32_t number = slot->blocks[label];

	if (!TSN_LIKELY(number))
		number = tsn_durations_own(slot, label);
	if (number == TSN_BLOCK_SHARED) {
		tsn_durations_share(slot, label, duration, end);
		return;
	}
	block = (struct tsn_durations *)tsn_process_descriptor.durations + (number - 1);
	if (!TSN_LIKELY(block->octaves & octave))
		__atomic_fetch_or(&block->octaves, octave, __ATOMIC_RELAXED);
	tsn_durations_add(&block->buckets[bucket], 1);
	maximum = &block->maxima[epoch % TSN_DURATION_MAXIMA];
	if (!TSN_LIKELY(duration <= maximum->longest &&
			maximum->at >> TSN_DURATION_EPOCH_SHIFT == epoch))
		tsn_durations_longest(block, duration, end);
	tsn_durations_add(&block->sum, duration);
	tsn_durations_add(&block->count, 1);
}

TSN_COLD void tsn_durations_share(struct tsn_slot_full *slot, uint32_t label, uint64_t duration,
				  uint64_t end)
{
	struct tsn_durations *block = tsn_durations_at(tsn_blocks.shared[label]);

	(void)slot;
	__atomic_fetch_add(&block->buckets[tsn_duration_bucket(duration)], 1, __ATOMIC_RELEASE);
	tsn_durations_longest(block, duration, end);
	__atomic_fetch_add(&block->sum, duration, __ATOMIC_RELEASE);
	__atomic_fetch_add(&block->count, 1, __ATOMIC_RELEASE);
}

/*
 * Others, threads or signal handlers, may do the same at any point. The longest of an epoch that is
 * gone is taken away before the new epoch is written, so that no reader takes it for the new one's;
 * whoever finds that another was faster looks again.
 */
TSN_COLD void tsn_durations_longest(struct tsn_durations *block, uint64_t duration, uint64_t end)
{
	const uint64_t epoch = end >> TSN_DURATION_EPOCH_SHIFT;
	struct tsn_duration_maximum *maximum = &block->maxima[epoch % TSN_DURATION_MAXIMA];
	uint64_t at, longest;

	for (;;) {
		at = __atomic_load_n(&maximum->at, __ATOMIC_ACQUIRE);
		longest = __atomic_load_n(&maximum->longest, __ATOMIC_ACQUIRE);
		if (at && at >> TSN_DURATION_EPOCH_SHIFT > epoch)
			return;
		if (at && at >> TSN_DURATION_EPOCH_SHIFT == epoch) {
			if (duration <= longest)
				return;
			if (!__atomic_compare_exchange_n(&maximum->longest, &longest, duration, 0,
							 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
				continue;
			__atomic_compare_exchange_n(&maximum->at, &at, end, 0, __ATOMIC_ACQ_REL,
						    __ATOMIC_RELAXED);
			return;
		}
		if (__atomic_compare_exchange_n(&maximum->longest, &longest, 0, 0, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			__atomic_compare_exchange_n(&maximum->at, &at, end, 0, __ATOMIC_ACQ_REL,
						    __ATOMIC_RELAXED);
	}
}

/* ---- The end of threads ----------------------------------------------------------------- */

/* Adds a block to the shared one and makes it all zero, touching what has been written alone. */
TSN_COLD void tsn_durations_merge(struct tsn_durations *shared, struct tsn_durations *block)
{
	uint32_t bucket, i;

	for (bucket = 0; bucket < TSN_DURATION_BUCKETS; bucket++) {
		if (!(block->octaves >> (bucket >> TSN_DURATION_BUCKET_BITS) & 1)) {
			bucket |= (1u << TSN_DURATION_BUCKET_BITS) - 1;
			continue;
		}
		if (!block->buckets[bucket])
			continue;
		__atomic_fetch_add(&shared->buckets[bucket], block->buckets[bucket],
				   __ATOMIC_RELEASE);
		block->buckets[bucket] = 0;
	}
	for (i = 0; i < TSN_DURATION_MAXIMA; i++) {
		if (block->maxima[i].at)
			tsn_durations_longest(shared, block->maxima[i].longest,
					      block->maxima[i].at);
	}
	__atomic_fetch_add(&shared->sum, block->sum, __ATOMIC_RELEASE);
	__atomic_fetch_add(&shared->count, block->count, __ATOMIC_RELEASE);
	memset(block, 0, TSN_DURATIONS_BUCKETS_OFFSET);
}

/* Under the lock, between folds_begun and folds_done. */
TSN_COLD void tsn_durations_fold(struct tsn_slot_full *slot)
{
	struct tsn_durations *block;
	uint32_t label, number;

	for (label = 1; slot->blocks_used && label < TSN_LABELS_MAX; label++) {
		number = slot->blocks[label];
		if (!number)
			continue;
		slot->blocks[label] = 0;
		slot->blocks_used--;
		if (number == TSN_BLOCK_SHARED)
			continue;
		block = tsn_durations_at(number);
		tsn_durations_merge(tsn_durations_at(tsn_durations_shared(label)), block);
		block->next = tsn_blocks.free;
		tsn_blocks.free = number;
		tsn_blocks.own--;
	}
}

/* In the child of a fork: all blocks are free, and zero, at the price of one system call. */
TSN_COLD void tsn_durations_forget(void)
{
	struct tsn_process *process = &tsn_process_descriptor;
	char *blocks = (char *)process->durations;
	size_t size = process->durations_used * sizeof(struct tsn_durations);

	if (size && tsn_madvise(blocks, size, 4 /* MADV_DONTNEED */))
		memset(blocks, 0, size);
	process->durations_used = 0;
	memset(&tsn_blocks, 0, sizeof(tsn_blocks));
}

#ifdef __cplusplus
}
#endif

#endif
