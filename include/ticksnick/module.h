/* SPDX-License-Identifier: MIT */
/*
 * module.h - how a module finds the process's table. Included by ticksnick.h; nothing in here is
 * for applications.
 *
 * A module is an executable or shared object. Each has a copy of all of this, and one of them
 * leads: its descriptor is the one that holds the table, and the others go through its functions.
 */
#ifndef TICKSNICK_MODULE_H
#define TICKSNICK_MODULE_H

#include <errno.h>
#include <stddef.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The leader's functions, called by all modules of the process, which may come from different
 * versions of this header: append only, and look at size before calling one that was not there in
 * ABI version 1.
 */
struct tsn_operations {
	uint64_t size; /* bytes of this struct */
	/* Makes the table; 0 or an errno. Again: 0. Called with the loader's lock held. */
	int (*open)(void);
	/* Index of the module's entry in references[]; TSN_MODULES_MAX: it has none and must not
	 * keep the slot. */
	uint32_t (*join)(struct tsn_process *module);
	void (*leave)(struct tsn_process *module);
	/* The calling thread's slot, claimed if need be and kept in thread, or NULL and calls
	 * counted as lost. */
	struct tsn_slot_full *(*slot)(struct tsn_thread *thread, uint32_t index, uint64_t calls);
	void (*release)(void);
	/* An id, or 0 and errno. */
	uint32_t (*label)(const char *name, uint32_t kind, uint32_t arity);
	void (*violate)(uint32_t kind, uint32_t label);
	/* The calling thread's slot if it has one. */
	struct tsn_slot_full *(*peek)(void);
	/* The calling thread's executions and mounted contexts, by index of levels[]; contexts.h */
	uint32_t (*begin)(struct tsn_slot_full *slot, uint32_t label, uint32_t kind);
	void (*end)(struct tsn_slot_full *slot, uint32_t level);
	uint32_t (*mount)(struct tsn_slot_full *slot, uint64_t handle, uint32_t coarse);
	void (*unwind)(struct tsn_slot_full *slot, uint32_t level);
};

/* The names that strict -std=c11 hides, under names of our own. */
extern long tsn_syscall(long number, ...) __asm__("syscall") __attribute__((nothrow));
extern void *tsn_mmap(void *, size_t, int, int, int, long) __asm__("mmap") __attribute__((nothrow));
extern int tsn_madvise(void *, size_t, int) __asm__("madvise") __attribute__((nothrow));
extern int tsn_clock_gettime(int, uint64_t *) __asm__("clock_gettime") __attribute__((nothrow));

struct tsn_module {
	const struct tsn_operations *operations; /* the leader's; NULL: not found yet */
	uint32_t index;				 /* in references[] */
	int error;				 /* no table can be made; an errno */
};

/* What dl_iterate_phdr() shows of a module. */
struct tsn_elf_segment {
	uint32_t type, flags;
	uint64_t offset, address, physical, file_size, size, alignment;
};

struct tsn_elf_module {
	uint64_t base;
	const char *name;
	const struct tsn_elf_segment *segments;
	uint16_t segments_count;
};

struct tsn_election {
	struct tsn_process *ready;  /* first descriptor in link order that holds a table */
	struct tsn_process *first;  /* first descriptor in link order */
	const char *first_name;	    /* of its module, while the loader's lock is held */
	struct tsn_process *pinned; /* cannot be unloaded any more, or never could */
	struct tsn_process *leader; /* the result */
	int error;
	char name[4096]; /* of the module that must be pinned before it may lead */
};

/* <link.h> has it only with _GNU_SOURCE. */
extern int tsn_dl_iterate_phdr(int (*)(struct tsn_elf_module *, size_t, void *),
			       void *) __asm__("dl_iterate_phdr");

/*
 * A leader that could be unloaded must be pinned. Only glibc unloads, and only what is loaded
 * later: where there is a label in the executable, it leads. Weak: no dependence on libdl.
 */
#if defined(__GLIBC__) && defined(__PIC__) && !defined(__PIE__)
#define TSN_PINS 1
static void *tsn_dlopen(const char *, int) __attribute__((weakref("dlopen"), unused));
#endif

TSN_COLD struct tsn_slot_full *tsn_slot_peek(void);
TSN_COLD const struct tsn_operations *tsn_module_operations(void);
TSN_COLD void tsn_module_leave(void);
TSN_COLD int tsn_balance_fine(struct tsn_slot_full *slot);
TSN_COLD int tsn_balance_coarse(struct tsn_slot_full *slot);
TSN_COLD struct tsn_process *tsn_elf_descriptor(const struct tsn_elf_module *module);
TSN_COLD int tsn_election_visit(struct tsn_elf_module *module, size_t size, void *data);
TSN_COLD int tsn_election_hold(struct tsn_elf_module *module, size_t size, void *data);
TSN_COLD void tsn_election_decide(struct tsn_election *election);
TSN_COLD void tsn_election_run(struct tsn_election *election);

extern TSN_MODULE struct tsn_module tsn_module;
extern TSN_MODULE const struct tsn_operations tsn_operations; /* leader.h */
extern TSN_MODULE struct tsn_process tsn_process_descriptor;

TSN_MODULE struct tsn_module tsn_module;

/* In the order of the struct; the linker and the loader fill in operations, before any constructor
 * runs. */
TSN_MODULE __attribute__((used)) struct tsn_process tsn_process_descriptor = {
	TSN_MAGIC,
	TSN_ABI_VERSION,
	sizeof(struct tsn_process),
	TSN_STATE_VOID,
	0,
	0,
	0,
	/* slots */ 0,
	0,
	0,
	0,
	/* labels */ 0,
	0,
	0,
	0,
	/* contexts */ 0,
	0,
	0,
	/* retired */ 0,
	0,
	0,
	/* calls_lost */ 0,
	{{0, 0, 0}},
	(uint64_t)&tsn_operations,
	/* durations */ 0,
	0,
	0,
	0,
	0,
	/* clock */ 0,
	0,
	{0},
};

TSN_INLINE size_t tsn_frames_size(uint32_t depth)
{
	return (depth < TSN_STACK_MAX ? depth : TSN_STACK_MAX) * sizeof(struct tsn_frame);
}

/* On the way in the context is first, on the way out it is last: see struct tsn_context. */
TSN_INLINE void tsn_slot_go_in(struct tsn_slot_full *slot, uint64_t context, uint32_t coarse)
{
	TSN_FENCE();
	__atomic_store_n(&slot->head.context, context, __ATOMIC_RELAXED);
	TSN_FENCE();
	__atomic_store_n(&slot->head.coarse, coarse, __ATOMIC_RELEASE);
	TSN_FENCE();
}

TSN_INLINE void tsn_slot_go_out(struct tsn_slot_full *slot, uint64_t context, uint32_t coarse)
{
	TSN_FENCE();
	__atomic_store_n(&slot->head.coarse, coarse, __ATOMIC_RELAXED);
	TSN_FENCE();
	__atomic_store_n(&slot->head.context, context, __ATOMIC_RELEASE);
	TSN_FENCE();
}

/* Where readers find the descriptor: an ELF note, in no COMDAT group, or --gc-sections would drop
 * it. */
__asm__(".pushsection .note.ticksnick,\"a\",%note\n"
	".balign 4\n"
	".4byte 10, 8, 1\n"
	".asciz \"ticksnick\"\n"
	".balign 4\n"
	".8byte tsn_process_descriptor - .\n"
	".popsection\n");

/* Every translation unit's runs, the first does it: after the module's other destructors, when it
 * is unloaded or at exit. */
static __attribute__((destructor(101))) void tsn_unload(void)
{
	tsn_module_leave();
}

/* Looks at every 4 bytes instead of following sizes: linkers disagree about the padding between
 * notes. */
TSN_COLD struct tsn_process *tsn_elf_descriptor(const struct tsn_elf_module *module)
{
	static const uint32_t head[3] = {sizeof(TSN_NOTE_OWNER), 8, TSN_NOTE_TYPE};
	const uint64_t desc = sizeof(head) + ((sizeof(TSN_NOTE_OWNER) + 3) & ~(size_t)3);
	const struct tsn_elf_segment *segment;
	struct tsn_process *process;
	const char *at, *end;
	int64_t offset;

	for (segment = module->segments; segment < module->segments + module->segments_count;
	     segment++) {
		if (segment->type != 4) /* PT_NOTE */
			continue;
		at = (const char *)(module->base + segment->address);
		end = at + segment->size;
		for (; (uint64_t)(end - at) >= desc + sizeof(offset); at += 4) {
			if (memcmp(at, head, sizeof(head)) != 0 ||
			    memcmp(at + sizeof(head), TSN_NOTE_OWNER, sizeof(TSN_NOTE_OWNER)) != 0)
				continue;
			memcpy(&offset, at + desc, sizeof(offset));
			process = (struct tsn_process *)((uint64_t)(at + desc) + (uint64_t)offset);
			if (process->magic == TSN_MAGIC && process->version == TSN_ABI_VERSION &&
			    process->size == sizeof(*process) && process->operations)
				return process;
		}
	}
	return NULL;
}

TSN_COLD int tsn_election_visit(struct tsn_elf_module *module, size_t size, void *data)
{
	struct tsn_election *election = (struct tsn_election *)data;
	struct tsn_process *process = tsn_elf_descriptor(module);

	(void)size;
	if (!process)
		return 0;
	if (!election->first) {
		election->first = process;
		election->first_name = module->name;
	}
	if (__atomic_load_n(&process->state, __ATOMIC_ACQUIRE) == TSN_STATE_READY)
		election->ready = process;
	return election->ready != NULL;
}

/*
 * The first module in link order leads, even if its constructors have not run yet: it is there for
 * longest. Unless it is the executable, whose name is empty, it is pinned first.
 */
TSN_COLD void tsn_election_decide(struct tsn_election *election)
{
	const struct tsn_operations *operations;
	struct tsn_process *leader = election->ready;

	if (!leader) {
		leader = election->first ? election->first : &tsn_process_descriptor;
#ifdef TSN_PINS
		if (tsn_dlopen && leader != election->pinned && election->first_name &&
		    election->first_name[0] &&
		    strlen(election->first_name) < sizeof(election->name)) {
			strcpy(election->name, election->first_name);
			return;
		}
#endif
		operations = (const struct tsn_operations *)leader->operations;
		election->error = operations->open();
	}
	election->leader = leader;
}

/* Called for the first module only: the loader's lock is held until it returns. (musl: its order of
 * modules never changes.) */
TSN_COLD int tsn_election_hold(struct tsn_elf_module *module, size_t size, void *data)
{
	struct tsn_election *election = (struct tsn_election *)data;

	(void)module;
	(void)size;
	tsn_dl_iterate_phdr(tsn_election_visit, election);
	tsn_election_decide(election);
	return 1;
}

TSN_COLD void tsn_election_run(struct tsn_election *election)
{
	memset(election, 0, offsetof(struct tsn_election, name));
	for (;;) {
		election->ready = election->first = NULL;
		election->first_name = NULL;
		election->name[0] = 0;
		if (!tsn_dl_iterate_phdr(tsn_election_hold, election))
			tsn_election_decide(election);
		if (election->leader)
			return;
#ifdef TSN_PINS
		/* RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE; not under the loader's lock, which comes
		 * second. */
		tsn_dlopen(election->name, 0x1 | 0x4 | 0x1000);
#endif
		election->pinned = election->first;
	}
}

/* Threads may do this at once: they come to the same result. */
TSN_COLD const struct tsn_operations *tsn_module_operations(void)
{
	const struct tsn_operations *operations;
	struct tsn_election election;
	struct tsn_process *own = &tsn_process_descriptor;

	operations = __atomic_load_n(&tsn_module.operations, __ATOMIC_ACQUIRE);
	if (operations || tsn_module.error)
		return operations;
	tsn_election_run(&election);
	if (election.error) {
		tsn_module.error = election.error;
		return NULL;
	}
	operations = (const struct tsn_operations *)election.leader->operations;
	tsn_module.index = operations->join(own);
	if (election.leader != own) {
		own->leader = (uint64_t)election.leader;
		__atomic_store_n(&own->state, TSN_STATE_FOLLOWER, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&tsn_module.operations, operations, __ATOMIC_RELEASE);
	return operations;
}

TSN_COLD void tsn_module_leave(void)
{
	tsn_module.index = TSN_MODULES_MAX;
	if (tsn_module.operations && tsn_module.operations != &tsn_operations)
		tsn_module.operations->leave(&tsn_process_descriptor);
}

TSN_COLD struct tsn_slot_full *tsn_slot_find(uint64_t calls)
{
	const struct tsn_operations *operations;
	struct tsn_slot_full *slot = NULL;
	int saved_errno = errno;

	if (tsn_thread.busy)
		return NULL;
	tsn_thread.busy = 1;
	operations = tsn_module_operations();
	if (operations)
		slot = operations->slot(&tsn_thread, tsn_module.index, calls);
	tsn_thread.busy = 0;
	errno = saved_errno;
	return slot;
}

TSN_COLD uint32_t tsn_register(const char *name, uint32_t kind, uint32_t arity)
{
	const struct tsn_operations *operations;
	uint32_t was_busy = tsn_thread.busy;
	uint32_t id = 0;

	tsn_thread.busy = 1;
	operations = tsn_module_operations();
	if (operations)
		id = operations->label(name, kind, arity);
	else
		errno = tsn_module.error;
	tsn_thread.busy = was_busy;
	return id;
}

TSN_COLD void tsn_violate(uint32_t kind, uint32_t label)
{
	const struct tsn_operations *operations = tsn_module_operations();

	if (operations)
		operations->violate(kind, label);
}

/* The end of a scope in a module that must not keep its thread's slot, or in a thread that lost it
 * or never had one. */
TSN_COLD void tsn_scope_leave_slow(uint32_t previous)
{
	struct tsn_slot_full *slot;

	if (tsn_module.operations == &tsn_operations || tsn_module.index < TSN_MODULES_MAX)
		return;
	slot = tsn_slot_find(0);
	if (slot)
		tsn_label_set(slot, previous);
}

/* No slot, or no room in its stack. */
TSN_COLD void tsn_enter_slow(uint32_t label)
{
	struct tsn_slot_full *slot = tsn_thread.slot ? tsn_thread.slot : tsn_slot_find(1);

	if (!slot) {
		tsn_thread.lost_pairs++;
	} else if (slot->head.depth < TSN_STACK_MAX) {
		tsn_pair_open(slot, label);
	} else {
		slot->head.depth++;
		tsn_label_count(slot, label, 1);
		tsn_violate(TSN_VIOLATION_DEPTH, label);
	}
}

/* No slot, a pair that was too deep to have a frame, or a mismatch. */
TSN_COLD void tsn_exit_slow(uint32_t label)
{
	struct tsn_slot_full *slot = tsn_thread.slot;
	uint32_t depth;

	if (!slot && !tsn_thread.lost_pairs)
		slot = tsn_slot_find(0);
	if (slot && slot->head.depth > TSN_STACK_MAX) {
		slot->head.depth--;
		return;
	}
	for (depth = slot ? slot->head.depth : 0; depth > 0; depth--) {
		if (slot->stack[depth - 1].label != label)
			continue;
		if (depth != slot->head.depth)
			tsn_violate(TSN_VIOLATION_MISMATCH, label);
		tsn_pair_close(slot, depth - 1);
		return;
	}
	if (tsn_thread.lost_pairs)
		tsn_thread.lost_pairs--;
	else if (slot)
		tsn_violate(TSN_VIOLATION_MISMATCH, label);
}

/* The slot of a thread that has one, kept by this module or not. */
TSN_COLD struct tsn_slot_full *tsn_slot_peek(void)
{
	const struct tsn_operations *operations;

	if (tsn_thread.slot)
		return tsn_thread.slot;
	operations = __atomic_load_n(&tsn_module.operations, __ATOMIC_ACQUIRE);
	return operations ? operations->peek() : NULL;
}

TSN_COLD int tsn_balance_fine(struct tsn_slot_full *slot)
{
	uint32_t depth = slot->head.depth < TSN_STACK_MAX ? slot->head.depth : TSN_STACK_MAX;
	uint32_t label = slot->head.fine;

	if (!depth && !label)
		return 0;
	if (!label)
		label = slot->stack[depth - 1].label;
	tsn_label_set(slot, 0);
	slot->head.depth = 0;
	tsn_violate(TSN_VIOLATION_LEAK, label);
	return -1;
}

TSN_COLD int tsn_balance_coarse(struct tsn_slot_full *slot)
{
	uint32_t label;

	if (!slot->levels_open)
		return 0;
	label = slot->levels[slot->levels_open - 1].coarse;
	tsn_module.operations->unwind(slot, 0);
	tsn_violate(TSN_VIOLATION_LEAK, label);
	return -1;
}

TSN_COLD int tsn_balance(void)
{
	struct tsn_slot_full *slot = tsn_slot_peek();
	int fine, coarse;

	tsn_thread.lost_pairs = 0;
	if (!slot)
		return 0;
	fine = tsn_balance_fine(slot);
	coarse = tsn_balance_coarse(slot);
	return fine | coarse;
}

TSN_COLD void tsn_release(void)
{
	const struct tsn_operations *operations;

	tsn_thread.lost_pairs = 0;
	operations = __atomic_load_n(&tsn_module.operations, __ATOMIC_ACQUIRE);
	if (operations)
		operations->release();
}

TSN_COLD void tsn_save(tsn_saved_t *saved)
{
	struct tsn_slot_full *slot = tsn_slot_peek();

	memset(saved, 0, offsetof(tsn_saved_t, stack));
	saved->lost_pairs = tsn_thread.lost_pairs;
	tsn_thread.lost_pairs = 0;
	if (!slot)
		return;
	saved->fine = slot->head.fine;
	saved->coarse = slot->head.coarse;
	saved->context = slot->head.context;
	saved->depth = slot->head.depth;
	memcpy(saved->stack, slot->stack, tsn_frames_size(saved->depth));
	saved->levels_open = slot->levels_open;
	saved->levels_lost = slot->levels_lost;
	memcpy(saved->levels, slot->levels, saved->levels_open * sizeof(saved->levels[0]));
	tsn_label_set(slot, 0);
	tsn_slot_go_out(slot, 0, 0);
	slot->head.depth = slot->levels_open = slot->levels_lost = 0;
}

TSN_COLD void tsn_restore(const tsn_saved_t *saved)
{
	struct tsn_slot_full *slot = tsn_slot_peek();

	if (!slot &&
	    (saved->fine || saved->coarse || saved->context || saved->depth || saved->levels_open))
		slot = tsn_slot_find(0);
	tsn_thread.lost_pairs = saved->lost_pairs + (slot ? 0 : saved->depth);
	if (!slot)
		return;
	if (slot->levels_open)
		tsn_module.operations->unwind(slot, 0);
	slot->head.depth = saved->depth;
	memcpy(slot->stack, saved->stack, tsn_frames_size(saved->depth));
	memcpy(slot->levels, saved->levels, saved->levels_open * sizeof(saved->levels[0]));
	slot->levels_open = saved->levels_open;
	slot->levels_lost = saved->levels_lost;
	tsn_slot_go_out(slot, 0, 0);
	tsn_slot_go_in(slot, saved->context, saved->coarse);
	tsn_label_set(slot, saved->fine);
}

#ifdef __cplusplus
}
#endif

#endif
