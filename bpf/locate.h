/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * locate.h - finds what the executable of the current process publishes, before the recorder has:
 * for a process that forks right after it began. As user/image.c and user/table.c do it, but only
 * in the executable itself, and without waiting for pages that are not there.
 */
#ifndef TICKSNICK_BPF_LOCATE_H
#define TICKSNICK_BPF_LOCATE_H

#include "maps.h"

#define LOCATE_AUXV	24 /* pairs */
#define LOCATE_SEGMENTS 20
#define LOCATE_NOTES	8 /* of one segment */

/* include/uapi/linux/elf.h */
#define AT_PHDR		3
#define AT_PHNUM	5
#define PT_LOAD		1
#define PT_NOTE		4
#define ELF_HEADER_SIZE 64

struct locate_segment {
	__u32 type, flags;
	__u64 offset, address, physical, file_size, memory_size, align;
};

struct locate_note {
	__u32 name_size, data_size, type;
	__u32 name[3];
};

/* "ticksnick", in words as they are read; both architectures are little-endian. */
#define LOCATE_OWNER_0 0x6b636974
#define LOCATE_OWNER_1 0x63696e73
#define LOCATE_OWNER_2 0x6b

/* The descriptor that some note in [at, at + size) leads to; 0: none. Global, so that the verifier
 * looks at it once. */
__weak __noinline __u64 locate_note(__u64 at, __u64 size, __u64 align)
{
	struct locate_note note;
	__u64 end = at + size, data;
	__s64 offset;
	__u32 i;

	align = align == 8 ? 7 : 3;
	for (i = 0; i < LOCATE_NOTES && at + sizeof(note) <= end; i++) {
		if (bpf_probe_read_user(&note, sizeof(note), (void *)at) || note.name_size > size ||
		    note.data_size > size)
			return 0;
		data = (at + 12 + note.name_size + align) & ~align;
		if (note.type == TSN_NOTE_TYPE && note.name_size == sizeof(TSN_NOTE_OWNER) &&
		    note.data_size == sizeof(offset) && note.name[0] == LOCATE_OWNER_0 &&
		    note.name[1] == LOCATE_OWNER_1 && (__u16)note.name[2] == LOCATE_OWNER_2)
			return bpf_probe_read_user(&offset, sizeof(offset), (void *)data)
				       ? 0
				       : data + offset;
		at = (data + note.data_size + align) & ~align;
	}
	return 0;
}

/* Fills in the addresses of the target from the descriptor, if it is complete. */
static __always_inline bool addresses_take(struct tsn_target *target, __u64 at)
{
	/* The members of struct tsn_process up to context_stride. */
	struct {
		__u64 magic;
		__u32 version, size, state, pid;
		__u64 leader;
		__s64 tls_offset;
		__u64 slots;
		__u32 slots_max, slot_stride, slots_used, labels_count;
		__u64 labels;
		__u32 labels_max, label_stride;
		__u64 contexts;
		__u32 contexts_max, context_stride;
		__u64 retired;
	} p;

	_Static_assert(sizeof(p) == __builtin_offsetof(struct tsn_process, folds_begun),
		       "as the ABI has it");
	if (bpf_probe_read_user(&p, sizeof(p), (void *)at))
		return false;
	if (p.magic == TSN_MAGIC && p.state == TSN_STATE_FOLLOWER) {
		at = p.leader;
		if (bpf_probe_read_user(&p, sizeof(p), (void *)at))
			return false;
	}
	if (p.magic != TSN_MAGIC || p.version != TSN_ABI_VERSION || p.state != TSN_STATE_READY ||
	    p.pid != target->own_pid || p.slots_max > TSN_SLOTS_MAX ||
	    p.slot_stride != TSN_SLOT_STRIDE || p.labels_count > TSN_LABELS_MAX)
		return false;
	target->tls_offset = p.tls_offset;
	target->slots = p.slots;
	target->slots_end = p.slots + (__u64)p.slots_max * TSN_SLOT_STRIDE;
	target->retired = p.retired;
	target->process = at;
	target->labels_count = 0; /* the recorder has read no names yet */
	/* Where the pool is, and in which clock, is asked for when it is needed. */
	target->contexts = target->contexts_end = 0;
	target->ready = 1;
	return true;
}

/* Of the current process, which is that target. */
static __noinline int target_locate(struct task_struct *task, struct tsn_target *target)
{
	struct locate_segment segment;
	__u64 pair[2], headers = 0, count = 0, bias = 0, found = 0;
	unsigned long *auxv;
	__u32 i;

	auxv = (void *)BPF_CORE_READ(task, mm) +
	       bpf_core_field_offset(struct mm_struct, saved_auxv);
	for (i = 0; i < LOCATE_AUXV; i++) {
		if (bpf_probe_read_kernel(pair, sizeof(pair), auxv + 2 * i) || !pair[0])
			break;
		if (pair[0] == AT_PHDR)
			headers = pair[1];
		else if (pair[0] == AT_PHNUM)
			count = pair[1];
	}
	for (i = 0; i < LOCATE_SEGMENTS && i < count; i++) {
		if (bpf_probe_read_user(&segment, sizeof(segment),
					(void *)(headers + i * sizeof(segment))))
			return 0;
		if (segment.type != PT_LOAD || segment.offset)
			continue;
		bias = headers - ELF_HEADER_SIZE - segment.address;
		break;
	}
	for (i = 0; i < LOCATE_SEGMENTS && i < count; i++) {
		if (bpf_probe_read_user(&segment, sizeof(segment),
					(void *)(headers + i * sizeof(segment))))
			return 0;
		if (segment.type != PT_NOTE)
			continue;
		found = locate_note(bias + segment.address, segment.memory_size, segment.align);
		if (found)
			return addresses_take(target, found);
	}
	return 0;
}

#endif
