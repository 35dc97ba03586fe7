/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kernel.h - the few kernel types the programs use, and every difference between kernel releases.
 *
 * CO-RE relocates each access to the running kernel's layout, so only the fields that are read
 * stand here.
 */
#ifndef TICKSNICK_BPF_KERNEL_H
#define TICKSNICK_BPF_KERNEL_H

#include <linux/types.h>
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct upid {
	int nr;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct rq {
	struct task_struct *curr;
};

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	__u64 sum_exec_runtime;
	struct cfs_rq *cfs_rq;
};

struct signal_struct {
	int nr_threads;
	unsigned int flags;
};

struct mm_struct {
	unsigned long saved_auxv[2]; /* longer */
};

struct thread_struct {
#if defined(__TARGET_ARCH_x86)
	unsigned long fsbase;
#else
	struct {
		unsigned long tp_value;
	} uw;
#endif
};

struct thread_info {
	__u32 cpu;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	int on_cpu; /* not without CONFIG_SMP */
	int pid;
	int tgid;
	__u64 start_time;
	unsigned long nvcsw;
	unsigned long nivcsw;
	struct sched_entity se;
	struct thread_struct thread;
	struct pid *thread_pid;
	struct signal_struct *signal;
	struct mm_struct *mm;
	char comm[16];
	unsigned int in_execve : 1;
};

/* Before 5.14 the field was "volatile long state". */
struct task_struct___before_5_14 {
	long state;
};

/* Before 5.16 the field was here, not in thread_info. */
struct task_struct___before_5_16 {
	unsigned int cpu;
};

#pragma clang attribute pop

/* include/linux/sched.h; the values have not changed since 5.15. */
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_DEAD	     0x0080
#define TASK_WAKING	     0x0200
#define TASK_NOLOAD	     0x0400
#define PF_EXITING	     0x00000004
#define SIGNAL_GROUP_EXIT    0x00000004

/*
 * The state a task is switched out in. Kernels from 5.18 pass it to the tracepoint as well, but a
 * program that takes that argument does not load before; reading it from the task differs only
 * where a wakeup came first, and then "runnable" is right.
 */
static __always_inline __u32 kernel__task_state(struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return (__u32)BPF_CORE_READ((struct task_struct___before_5_14 *)task, state);
}

/*
 * The user-space thread pointer that thread-local storage is addressed by. task may be any address:
 * the read goes through bpf_probe_read_kernel. It is what the kernel saved or was told by
 * arch_prctl or clone, which is what every libc uses.
 */
static __always_inline __u64 kernel__thread_pointer(const void *task)
{
	const struct task_struct *t = task;

#if defined(__TARGET_ARCH_x86)
	return BPF_CORE_READ(t, thread.fsbase);
#else
	return BPF_CORE_READ(t, thread.uw.tp_value);
#endif
}

/*
 * The run queue of the CPU that a task runs on, as an address for kernel__current_of(); 0: kernels
 * without CONFIG_FAIR_GROUP_SCHED do not say. (The per-CPU variable itself can be had only with
 * CONFIG_KALLSYMS_ALL.)
 */
static __always_inline __u64 kernel__runqueue(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->se.cfs_rq) ||
	    !bpf_core_field_exists(((struct cfs_rq *)0)->rq))
		return 0;
	return (__u64)task->se.cfs_rq->rq;
}

/* What runs on the CPU of that run queue at this instant, whatever events fired. */
static __always_inline struct task_struct *kernel__current_of(__u64 runqueue)
{
	return BPF_CORE_READ((struct rq *)runqueue, curr);
}

/* Whether a task runs on that CPU at this instant. task may be any address; one that is gone may
 * give any answer, so compare its pid as well. */
static __always_inline bool kernel__runs_on(struct task_struct *task, __u32 cpu)
{
	if (bpf_core_field_exists(task->on_cpu) && !BPF_CORE_READ(task, on_cpu))
		return false;
	if (bpf_core_field_exists(task->thread_info.cpu))
		return BPF_CORE_READ(task, thread_info.cpu) == cpu;
	return BPF_CORE_READ((struct task_struct___before_5_16 *)task, cpu) == cpu;
}

/* Switches away from the CPU so far, each counted before its event fires. */
static __always_inline __u64 kernel__switches(struct task_struct *task)
{
	return task->nvcsw + task->nivcsw;
}

/* The number of a struct pid in its pid namespace of that level; 0 if it cannot be read. */
static __always_inline __u32 kernel__pid_number(struct pid *pid, __u32 level)
{
	__u32 nr = 0;

	if (level > 32) /* MAX_PID_NS_LEVEL */
		return 0;
	bpf_probe_read_kernel(&nr, sizeof(nr),
			      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
				      level * bpf_core_type_size(struct upid) +
				      bpf_core_field_offset(struct upid, nr));
	return nr;
}

/* How deep a task's own (innermost) pid namespace is; the machine's first is 0. */
static __always_inline __u32 kernel__namespace_level(struct task_struct *task)
{
	return BPF_CORE_READ(task, thread_pid, level);
}

/* The tid of a task in its own pid namespace; 0 if it cannot be read. */
static __always_inline __u32 kernel__namespace_tid(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);

	return kernel__pid_number(pid, BPF_CORE_READ(pid, level));
}

/* Whether the task replaces its image at this instant. task may be any address. */
static __always_inline bool kernel__in_execve(const void *task)
{
	const struct task_struct *t = task;

	return bpf_core_field_exists(t->in_execve) && BPF_CORE_READ_BITFIELD_PROBED(t, in_execve);
}

/* Its tid in the namespace of that level, which its own one is or lies in. */
static __always_inline __u32 kernel__tid_at(struct task_struct *task, __u32 level)
{
	return kernel__pid_number(BPF_CORE_READ(task, thread_pid), level);
}

#endif
