// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * ids.bpf.c - the ids of the threads that the recorder can see, for one in a container: there /proc
 * has the container's ids, while the kernel side knows threads by the machine's.
 */
#include "kernel.h"
#include <ticksnick/cells.h>

/* Run by the recorder itself, which reads a struct tsn_id for each thread of its pid namespace. */
SEC("?iter/task")
int on_id(struct bpf_iter__task *context)
{
	struct seq_file *out = context->meta->seq;
	struct task_struct *task = context->task;
	struct tsn_id id = {};

	if (!task)
		return 0;
	id.level = kernel__namespace_level((struct task_struct *)bpf_get_current_task());
	id.tid = task->pid;
	id.tgid = task->tgid;
	id.seen = kernel__tid_at(task, id.level);
	bpf_seq_write(out, &id, sizeof(id));
	return 0;
}
