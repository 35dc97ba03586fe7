/* SPDX-License-Identifier: MIT */
/*
 * leader.h - the process's table, and who has which part of it. Included by ticksnick.h; nothing in
 * here is for applications.
 *
 * Every module has these functions, but only the leader's are called: through tsn_operations, by
 * all modules.
 */
#ifndef TICKSNICK_LEADER_H
#define TICKSNICK_LEADER_H

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of the leader's module only. Zero is the initial state of the lock in glibc and musl. */
struct tsn_leader {
	pthread_mutex_t lock; /* taken with signals blocked; nothing that may call back is called
				 under it */
	uint64_t signals;     /* the mask to restore after fork() */
	uint32_t forking;     /* the lock is fork_thread's, and nothing is half done under it */
	pthread_t fork_thread;
	uint64_t reclaimed_ns;
	struct tsn_process *modules[TSN_MODULES_MAX];
	uint32_t free_hint; /* no slot below it is free */
	uint32_t releases;  /* slots that became free, plus one */
	uint32_t has_key;
	uint32_t fork_handled;
	pthread_key_t key;
};

#define TSN_OLD_GLIBC 0
#ifdef __GLIBC__
#if !__GLIBC_PREREQ(2, 34)
#undef TSN_OLD_GLIBC
#define TSN_OLD_GLIBC 1
#endif
#endif

#if TSN_OLD_GLIBC
/* These were in libpthread, without which there is one thread, and no exit of a thread to wait for.
 */
static int tsn_key_create(pthread_key_t *, void (*)(void *))
	__attribute__((weakref("pthread_key_create"), unused));
static int tsn_setspecific(pthread_key_t, const void *)
	__attribute__((weakref("pthread_setspecific"), unused));
extern int tsn_register_atfork(void (*)(void), void (*)(void), void (*)(void),
			       void *) __asm__("__register_atfork");
#define TSN_HAS_KEYS			   (tsn_key_create && tsn_setspecific)
#define tsn_atfork(prepare, parent, child) tsn_register_atfork(prepare, parent, child, NULL)
#else
#define TSN_HAS_KEYS	1
#define tsn_key_create	pthread_key_create
#define tsn_setspecific pthread_setspecific
#define tsn_atfork	pthread_atfork
#endif

TSN_COLD uint64_t tsn_leader_lock(void);
TSN_COLD void tsn_leader_unlock(uint64_t signals);
TSN_COLD int tsn_leader_open(void);
TSN_COLD uint32_t tsn_leader_join(struct tsn_process *module);
TSN_COLD void tsn_leader_leave(struct tsn_process *module);
TSN_COLD struct tsn_slot_full *tsn_leader_slot(struct tsn_thread *thread, uint32_t index,
					       uint64_t calls);
TSN_COLD struct tsn_slot_full *tsn_leader_peek(void);
TSN_COLD struct tsn_slot_full *tsn_leader_claim(void);
TSN_COLD struct tsn_slot_full *tsn_leader_free_slot(void);
TSN_COLD struct tsn_slot_full *tsn_leader_slot_at(uint32_t index);
TSN_COLD void tsn_leader_touch(const uint64_t *calls);
TSN_COLD void tsn_leader_reclaim(uint32_t tid);
TSN_COLD void tsn_leader_retire(struct tsn_slot_full *slot);
TSN_COLD void tsn_leader_release(void);
TSN_COLD void tsn_leader_thread_exit(void *slot);
TSN_COLD uint32_t tsn_leader_label(const char *name, uint32_t kind, uint32_t arity);
TSN_COLD uint32_t tsn_leader_label_add(const char *name, uint32_t kind, uint32_t arity);
TSN_COLD void tsn_leader_violate(uint32_t kind, uint32_t label);
TSN_COLD void tsn_leader_fork_prepare(void);
TSN_COLD void tsn_leader_fork_end(void);
TSN_COLD void tsn_leader_fork_child(void);

extern TSN_MODULE struct tsn_leader tsn_leader;
TSN_MODULE struct tsn_leader tsn_leader;

const struct tsn_operations tsn_operations = {
	sizeof(struct tsn_operations),
	tsn_leader_open,
	tsn_leader_join,
	tsn_leader_leave,
	tsn_leader_slot,
	tsn_leader_release,
	tsn_leader_label,
	tsn_leader_violate,
	tsn_leader_peek,
	tsn_level_begin,
	tsn_level_end,
	tsn_level_mount,
	tsn_level_unwind,
};

/* From the thread pointer, which the kernel knows, to the pointer that it follows. */
TSN_INLINE int64_t tsn_tls_offset(void)
{
	uint64_t thread_pointer;

#ifdef __x86_64__
	__asm__("movq %%fs:0, %0" : "=r"(thread_pointer));
#else
	__asm__("mrs %0, tpidr_el0" : "=r"(thread_pointer));
#endif
	return (int64_t)((uint64_t)&tsn_thread.slot - thread_pointer);
}

/* Whether this thread is between tsn_leader_fork_prepare() and the end of its fork(), where other
 * handlers of it may use labels. */
TSN_INLINE int tsn_leader_forks(void)
{
	return __atomic_load_n(&tsn_leader.forking, __ATOMIC_ACQUIRE) &&
	       pthread_equal(tsn_leader.fork_thread, pthread_self());
}

/*
 * With signals blocked a handler that uses labels cannot find the lock taken by its own thread. By
 * raw system calls: the C library would leave out the signals that it keeps for itself.
 */
TSN_COLD uint64_t tsn_leader_lock(void)
{
	uint64_t all = ~(uint64_t)0, before = 0;

	if (tsn_leader_forks())
		return 0;
	tsn_syscall(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &all, &before, sizeof(all));
	pthread_mutex_lock(&tsn_leader.lock);
	return before;
}

TSN_COLD void tsn_leader_unlock(uint64_t signals)
{
	if (tsn_leader_forks())
		return;
	pthread_mutex_unlock(&tsn_leader.lock);
	tsn_syscall(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &signals, NULL, sizeof(signals));
}

TSN_COLD int tsn_leader_open(void)
{
	const uint64_t slots_size = (uint64_t)TSN_SLOTS_MAX * sizeof(struct tsn_slot_full);
	const uint64_t labels_size = TSN_LABELS_MAX * sizeof(struct tsn_label);
	const uint64_t retired_size = TSN_LABELS_MAX * sizeof(uint64_t);
	struct tsn_process *process = &tsn_process_descriptor;
	uint64_t signals = tsn_leader_lock();
	char *memory;
	int error = 0;

	if (process->state == TSN_STATE_READY)
		goto unlock;
	/* PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE */
	memory = (char *)tsn_mmap(NULL, slots_size + labels_size + retired_size, 0x1 | 0x2,
				  0x2 | 0x20 | 0x4000, -1, 0);
	if (memory == (char *)-1) {
		error = errno;
		goto unlock;
	}
	/* MADV_NOHUGEPAGE: a thread costs three or four pages, not two megabytes. */
	tsn_madvise(memory, slots_size, 15);
	process->slots = (uint64_t)memory;
	process->slots_max = TSN_SLOTS_MAX;
	process->slot_stride = sizeof(struct tsn_slot_full);
	process->labels = process->slots + slots_size;
	process->labels_max = TSN_LABELS_MAX;
	process->label_stride = sizeof(struct tsn_label);
	process->labels_count = 1;
	process->retired = process->labels + labels_size;
	process->tls_offset = tsn_tls_offset();
	process->pid = (uint32_t)tsn_syscall(SYS_getpid);
	tsn_leader.releases = 1;
	tsn_leader_touch((const uint64_t *)process->retired);
	__atomic_store_n(&process->state, TSN_STATE_READY, __ATOMIC_RELEASE);
unlock:
	tsn_leader_unlock(signals);
	return error;
}

TSN_COLD uint32_t tsn_leader_join(struct tsn_process *module)
{
	uint64_t signals = tsn_leader_lock();
	uint32_t index, free_index = TSN_MODULES_MAX;

	if (!tsn_leader.has_key && TSN_HAS_KEYS)
		tsn_leader.has_key = !tsn_key_create(&tsn_leader.key, tsn_leader_thread_exit);
	for (index = 0; index < TSN_MODULES_MAX && tsn_leader.modules[index] != module; index++) {
		if (free_index == TSN_MODULES_MAX && !tsn_leader.modules[index])
			free_index = index;
	}
	if (index == TSN_MODULES_MAX && module != &tsn_process_descriptor) {
		index = free_index;
		if (index < TSN_MODULES_MAX)
			tsn_leader.modules[index] = module;
	}
	tsn_leader_unlock(signals);
	/* A slot that others have claimed is this module's too, before it has registered anything.
	 */
	if (!tsn_module.operations)
		__atomic_store_n(&tsn_module.operations, &tsn_operations, __ATOMIC_RELEASE);
	/* Not under the lock: it allocates memory, by a function that may itself be labelled. */
	if (!__atomic_exchange_n(&tsn_leader.fork_handled, 1, __ATOMIC_ACQ_REL))
		tsn_atfork(tsn_leader_fork_prepare, tsn_leader_fork_end, tsn_leader_fork_child);
	return index;
}

/* The module's thread-local pointers are gone with it: forget where they were. */
TSN_COLD void tsn_leader_leave(struct tsn_process *module)
{
	uint64_t signals = tsn_leader_lock();
	uint32_t index, i;

	for (index = 0; index < TSN_MODULES_MAX; index++) {
		if (tsn_leader.modules[index] != module)
			continue;
		tsn_leader.modules[index] = NULL;
		for (i = 0; i < tsn_process_descriptor.slots_used; i++)
			tsn_leader_slot_at(i)->references[index] = 0;
	}
	tsn_leader_unlock(signals);
}

/*
 * Brings the pages of calls by label id into being by reading them, which takes no memory: the
 * kernel side cannot tell a page that was never touched from one that is swapped out.
 */
TSN_COLD void tsn_leader_touch(const uint64_t *calls)
{
	uint32_t i;

	for (i = 0; i < TSN_LABELS_MAX; i += 4096 / sizeof(*calls))
		(void)__atomic_load_n(&calls[i], __ATOMIC_RELAXED);
	(void)__atomic_load_n(&calls[TSN_LABELS_MAX - 1], __ATOMIC_RELAXED);
}

TSN_COLD struct tsn_slot_full *tsn_leader_slot_at(uint32_t index)
{
	return (struct tsn_slot_full *)tsn_process_descriptor.slots + index;
}

TSN_COLD struct tsn_slot_full *tsn_leader_peek(void)
{
	return tsn_thread.slot;
}

TSN_COLD struct tsn_slot_full *tsn_leader_slot(struct tsn_thread *thread, uint32_t index,
					       uint64_t calls)
{
	struct tsn_slot_full *slot = tsn_thread.slot;

	/* A thread that was refused asks again when a slot has become free, and now and then. */
	if (!slot &&
	    (tsn_thread.refused != __atomic_load_n(&tsn_leader.releases, __ATOMIC_RELAXED) ||
	     !(++tsn_thread.refused_calls & 0xffff)))
		slot = tsn_leader_claim();
	if (!slot) {
		__atomic_fetch_add(&tsn_process_descriptor.calls_lost, calls, __ATOMIC_RELAXED);
		return NULL;
	}
	if (thread != &tsn_thread && index < TSN_MODULES_MAX) {
		slot->references[index] = (uint64_t)&thread->slot;
		TSN_FENCE();
		thread->slot = slot;
	}
	return slot;
}

/* The calling thread's new slot; it has none. NULL: the table is full. */
TSN_COLD struct tsn_slot_full *tsn_leader_claim(void)
{
	uint64_t signals = tsn_leader_lock();
	uint32_t tid = (uint32_t)tsn_syscall(SYS_gettid);
	struct tsn_slot_full *slot = tsn_leader_free_slot();
	uint32_t first_refusal = !tsn_thread.refused;

	if (!slot) {
		tsn_leader_reclaim(tid);
		slot = tsn_leader_free_slot();
	}
	if (slot) {
		tsn_leader_touch(slot->counts);
		slot->head.generation++;
		slot->head.flags = TSN_SLOT_CLAIMED;
		__atomic_store_n(&slot->head.tid, tid, __ATOMIC_RELEASE);
		__atomic_store_n(&tsn_thread.slot, slot, __ATOMIC_RELEASE);
	} else {
		tsn_thread.refused = tsn_leader.releases;
	}
	tsn_leader_unlock(signals);
	if (!slot && first_refusal)
		tsn_leader_violate(TSN_VIOLATION_SLOTS_FULL, 0);
	if (slot && tsn_tls_offset() != tsn_process_descriptor.tls_offset)
		tsn_leader_violate(TSN_VIOLATION_TLS, 0);
	if (slot && tsn_leader.has_key)
		tsn_setspecific(tsn_leader.key, slot);
	return slot;
}

TSN_COLD struct tsn_slot_full *tsn_leader_free_slot(void)
{
	struct tsn_process *process = &tsn_process_descriptor;
	uint32_t i;

	for (i = tsn_leader.free_hint; i < process->slots_used; i++) {
		if (!tsn_leader_slot_at(i)->head.tid)
			break;
	}
	tsn_leader.free_hint = i;
	if (i == TSN_SLOTS_MAX)
		return NULL;
	if (i == process->slots_used)
		__atomic_store_n(&process->slots_used, i + 1, __ATOMIC_RELEASE);
	return tsn_leader_slot_at(i);
}

/* Frees the slots of threads that ended without a word, and those of a former thread of the id tid
 * (0: none), at most every 100 ms: it is a system call for each slot. */
TSN_COLD void tsn_leader_reclaim(uint32_t tid)
{
	const uint32_t pid = (uint32_t)tsn_syscall(SYS_getpid);
	struct tsn_slot_full *slot;
	uint64_t now[2] = {0, 0};
	uint32_t i;

	tsn_syscall(SYS_clock_gettime, 1 /* CLOCK_MONOTONIC */, now);
	now[0] = now[0] * 1000000000u + now[1];
	if (tsn_leader.reclaimed_ns && now[0] - tsn_leader.reclaimed_ns < 100000000u)
		return;
	tsn_leader.reclaimed_ns = now[0];
	for (i = 0; i < tsn_process_descriptor.slots_used; i++) {
		slot = tsn_leader_slot_at(i);
		if (!slot->head.tid)
			continue;
		if (slot->head.tid == tid ||
		    (tsn_syscall(SYS_tgkill, pid, slot->head.tid, 0) == -1 && errno == ESRCH))
			tsn_leader_retire(slot);
	}
}

/* Abandons what is open in the slot, folds its counts into the retired ones and its durations into
 * the shared ones, and frees it. Readers see either both sides before or both after. */
TSN_COLD void tsn_leader_retire(struct tsn_slot_full *slot)
{
	struct tsn_process *process = &tsn_process_descriptor;
	uint64_t *retired = (uint64_t *)process->retired;
	uint32_t index = (uint32_t)(slot - tsn_leader_slot_at(0));
	uint32_t i;

	tsn_level_unwind(slot, 0);
	tsn_contexts_spill(slot, 0);
	__atomic_fetch_add(&process->folds_begun, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < process->labels_count; i++) {
		if (!slot->counts[i])
			continue;
		__atomic_fetch_add(&retired[i], slot->counts[i], __ATOMIC_RELAXED);
		slot->counts[i] = 0;
	}
	tsn_durations_fold(slot);
	tsn_label_set(slot, 0);
	tsn_slot_go_out(slot, 0, 0);
	slot->head.depth = 0;
	slot->head.flags = 0;
	memset(slot->references, 0, sizeof(slot->references));
	__atomic_store_n(&slot->head.tid, 0, __ATOMIC_RELEASE);
	__atomic_fetch_add(&process->folds_done, 1, __ATOMIC_SEQ_CST);
	if (index < tsn_leader.free_hint)
		tsn_leader.free_hint = index;
	tsn_leader.releases += tsn_leader.releases == UINT32_MAX ? 2 : 1; /* never 0 */
}

TSN_COLD void tsn_leader_release(void)
{
	uint64_t signals = tsn_leader_lock();
	struct tsn_slot_full *slot = tsn_thread.slot;
	uint32_t i;

	if (slot) {
		for (i = 0; i < TSN_MODULES_MAX; i++) {
			if (slot->references[i])
				*(struct tsn_slot_full **)slot->references[i] = NULL;
		}
		tsn_thread.slot = NULL;
		TSN_FENCE();
		tsn_leader_retire(slot);
	}
	tsn_leader_unlock(signals);
	if (slot && tsn_leader.has_key)
		tsn_setspecific(tsn_leader.key, NULL);
}

/* Destructors that run later may use labels: the thread claims a slot again, and this runs again.
 */
TSN_COLD void tsn_leader_thread_exit(void *slot)
{
	(void)slot;
	tsn_leader_release();
}

TSN_COLD uint32_t tsn_leader_label(const char *name, uint32_t kind, uint32_t arity)
{
	uint64_t signals;
	uint32_t id;
	int error;

	if (!name || !name[0] || !memchr(name, 0, TSN_NAME_SIZE)) {
		tsn_leader_violate(TSN_VIOLATION_NAME, 0);
		errno = EINVAL;
		return 0;
	}
	signals = tsn_leader_lock();
	error = kind == TSN_KIND_COARSE ? tsn_contexts_open() : 0;
	id = error ? 0 : tsn_leader_label_add(name, kind, arity);
	tsn_leader_unlock(signals);
	if (error)
		errno = error;
	else if (!id && errno == ENOSPC)
		tsn_leader_violate(TSN_VIOLATION_LABELS_FULL, 0);
	return id;
}

TSN_COLD uint32_t tsn_leader_label_add(const char *name, uint32_t kind, uint32_t arity)
{
	struct tsn_process *process = &tsn_process_descriptor;
	struct tsn_label *labels = (struct tsn_label *)process->labels;
	const uint32_t base = process->labels_count, rows = arity ? arity : 1;
	uint32_t id;

	for (id = 1; id < base; id++) {
		if (labels[id].base != id || strcmp(labels[id].name, name) != 0)
			continue;
		if (labels[id].kind == kind && labels[id].arity == arity)
			return id;
		tsn_leader_violate(TSN_VIOLATION_NAME, id);
		errno = EEXIST;
		return 0;
	}
	if (rows > TSN_LABELS_MAX - base) {
		errno = ENOSPC;
		return 0;
	}
	for (id = base; id < base + rows; id++) {
		labels[id].kind = kind;
		labels[id].base = base;
		labels[id].arity = arity;
		strcpy(labels[id].name, name);
	}
	__atomic_store_n(&process->labels_count, base + rows, __ATOMIC_RELEASE);
	return base;
}

TSN_COLD void tsn_leader_violate(uint32_t kind, uint32_t label)
{
	struct tsn_violation *violation = &tsn_process_descriptor.violations[kind];

	__atomic_store_n(&violation->label, label, __ATOMIC_RELAXED);
	__atomic_store_n(&violation->tid, (uint32_t)tsn_syscall(SYS_gettid), __ATOMIC_RELAXED);
	__atomic_fetch_add(&violation->count, 1, __ATOMIC_RELEASE);
}

TSN_COLD void tsn_leader_fork_prepare(void)
{
	uint64_t signals = tsn_leader_lock();

	tsn_leader.signals = signals;
	tsn_leader.fork_thread = pthread_self();
	__atomic_store_n(&tsn_leader.forking, 1, __ATOMIC_RELEASE);
}

/* In the parent, and in the child when it is its own. */
TSN_COLD void tsn_leader_fork_end(void)
{
	__atomic_store_n(&tsn_leader.forking, 0, __ATOMIC_RELEASE);
	tsn_leader_unlock(tsn_leader.signals);
}

/*
 * The child has one thread, which keeps its slot and all pointers to it, its labels, open pairs and
 * executions; ids are kept too. Every other slot is void and all counts and durations are zero.
 * Dropping the pages is what makes this cheap with thousands of slots.
 */
TSN_COLD void tsn_leader_fork_child(void)
{
	struct tsn_process *process = &tsn_process_descriptor;
	struct tsn_slot_full *slot = tsn_thread.slot;
	struct tsn_slot head;
	struct tsn_frame stack[TSN_STACK_MAX];
	struct tsn_level levels[TSN_LEVELS_MAX];
	uint32_t levels_open = 0, levels_lost = 0, i;
	uint64_t references[TSN_MODULES_MAX];

	if (slot) {
		head = slot->head;
		memcpy(stack, slot->stack, sizeof(stack));
		memcpy(references, slot->references, sizeof(references));
		memcpy(levels, slot->levels, sizeof(levels));
		levels_open = slot->levels_open;
		levels_lost = slot->levels_lost;
	}
	/* MADV_DONTNEED; the slots end at a page's end whatever its size, up to 64 KiB. */
	if (tsn_madvise(tsn_leader_slot_at(0), TSN_SLOTS_MAX * sizeof(*slot), 4)) {
		for (i = 0; i < process->slots_used; i++)
			memset(tsn_leader_slot_at(i), 0, sizeof(*slot));
	}
	if (slot) {
		tsn_leader_touch(slot->counts);
		head.tid = (uint32_t)tsn_syscall(SYS_gettid);
		head.generation++;
		slot->head = head;
		memcpy(slot->stack, stack, sizeof(stack));
		memcpy(slot->references, references, sizeof(references));
		memcpy(slot->levels, levels, sizeof(levels));
		slot->levels_open = levels_open;
		slot->levels_lost = levels_lost;
	}
	process->slots_used = slot ? (uint32_t)(slot - tsn_leader_slot_at(0)) + 1 : 0;
	tsn_leader.free_hint = 0;
	tsn_leader.reclaimed_ns = 0;
	memset((void *)process->retired, 0, TSN_LABELS_MAX * sizeof(uint64_t));
	memset(process->violations, 0, sizeof(process->violations));
	process->folds_begun = process->folds_done = process->calls_lost = 0;
	if (process->contexts) {
		tsn_contexts_forget(slot);
		tsn_durations_forget();
	}
	__atomic_store_n(&process->pid, (uint32_t)tsn_syscall(SYS_getpid), __ATOMIC_RELEASE);
	tsn_leader_fork_end();
}

#ifdef __cplusplus
}
#endif

#endif
