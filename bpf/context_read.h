/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * context_read.h - reads which execution of a coarse label a thread is in, and so in which labels
 * further out, from the target's pool of contexts. The pool is user memory like the slots, and as
 * little is believed.
 */
#ifndef TICKSNICK_BPF_CONTEXT_READ_H
#define TICKSNICK_BPF_CONTEXT_READ_H

#include "slot_read.h"

/* Where the pool is, before the recorder has seen that there is one: as the process says. */
static __always_inline void pool_find(const struct tsn_target *target, __u64 *pool, __u64 *end)
{
	__u32 size[2]; /* contexts_max, context_stride */
	__u64 from = target->process + offsetof(struct tsn_process, contexts);

	if (bpf_probe_read_user(pool, sizeof(*pool), (void *)from) ||
	    bpf_probe_read_user(size, sizeof(size), (void *)(from + sizeof(*pool))) ||
	    size[0] > TSN_CONTEXTS_MAX || size[1] != sizeof(struct tsn_context)) {
		*pool = *end = 0;
		return;
	}
	*end = *pool + size[0] * sizeof(struct tsn_context);
}

/* Where the entry of that handle is in a pool; 0: in no place of it. */
static __always_inline __u64 pool_entry(__u64 pool, __u64 end, __u64 handle)
{
	__u64 place = (__u32)handle, at = pool + place * sizeof(struct tsn_context);

	return place && place < TSN_CONTEXTS_MAX && at < end ? at : 0;
}

/*
 * When the execution of that handle was closed, ns, or where its entry has been used again since,
 * when it can have been closed at the latest; 0: it goes on, or there is no telling. Global, so
 * that the verifier looks at it once; weak, because each object file has it.
 */
__weak __noinline __u64 context_closed(__u32 target_index, __u64 handle)
{
	struct tsn_target *target = bpf_map_lookup_elem(&targets, &target_index);
	struct tsn_context context;
	__u64 at;

	if (!target || (target->clock != TSN_CLOCK_MONOTONIC &&
			(target->clock != TSN_CLOCK_TSC || !control.tsc.unit)))
		return 0;
	at = pool_entry(target->contexts, target->contexts_end, handle);
	if (!at || bpf_probe_read_user(&context, offsetof(struct tsn_context, tid), (void *)at) ||
	    (context.generation == handle >> 32 && context.state == TSN_CONTEXT_OPEN))
		return 0;
	if (target->clock == TSN_CLOCK_TSC)
		return tsn_tsc_ns(&control.tsc, context.opened);
	return context.opened - (__u64)target->clock_offset;
}

/*
 * Makes the chain (role and places 0 before) of a thread whose slot holds that coarse label, not 0,
 * and that context. An entry that cannot be read or believed is counted, and leaves the chain
 * empty: the time is the innermost label's alone.
 *
 * The thread has been interrupted or is off the CPU, so its slot stands still meanwhile; others may
 * close the execution or use its entry again, and that is what makes it stale.
 *
 * Global, so that the verifier looks at it once; weak, because each object file has it.
 */
__weak __noinline int context_read(__u32 target_index, __u64 handle, __u32 coarse,
				   struct tsn_chain *chain)
{
	struct tsn_target *target = bpf_map_lookup_elem(&targets, &target_index);
	__u64 pool, end, at;
	struct tsn_context context;

	if (!chain || !target)
		return 0;
	pool = target->contexts;
	end = target->contexts_end;
	if (!pool)
		pool_find(target, &pool, &end);
	at = pool_entry(pool, end, handle);
	if (!at || bpf_probe_read_user(&context, sizeof(context), (void *)at) ||
	    tsn_chain_take(chain, &context, handle >> 32, coarse))
		count(TSN_COUNT_CONTEXT_UNREADABLE);
	return 0;
}

#endif
