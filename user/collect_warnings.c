// SPDX-License-Identifier: MIT
#include "collect_warnings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Part of the session that reading durations at its edges may take. */
#define SPANS_LATE 0.02

/* Part of its running time that a program's labels may be unknown. */
#define LABELS_LATE 0.02

static const struct {
	unsigned kind;
	const char *code, *text,
		*label; /* label: printf-style, what is said of the label if it is known */
} violation_warnings[] = {
	{TSN_VIOLATION_LEAK, "violation_leak", "a label was still open at tsn_expect_balanced()",
	 ", the latest: %s"},
	{TSN_VIOLATION_MISMATCH, "violation_mismatch",
	 "tsn_exit() closed a label that was not the innermost open one", ", the latest: %s"},
	{TSN_VIOLATION_DEPTH, "violation_depth",
	 "more than 64 enter/exit pairs were open in one thread", ", the latest not set: %s"},
	{TSN_VIOLATION_INDEX, "violation_index",
	 "tsn_at() was given an index that its family has not",
	 "; the latest family begins with %s"},
	{TSN_VIOLATION_SLOTS_FULL, "slots_full",
	 "a thread found no free slot, so it is in no label", ""},
	{TSN_VIOLATION_LABELS_FULL, "labels_full",
	 "a registration found no free label id (1,023 are allowed): its time is in no label", ""},
	{TSN_VIOLATION_TLS, "tls_dynamic",
	 "a thread keeps its slot pointer in dynamic thread-local storage, where it is not found",
	 ""},
	{TSN_VIOLATION_NAME, "label_refused",
	 "a registration was refused, so its time is in no label: names have 1 to 63 bytes, and "
	 "one kind",
	 "; the name is there with another: %s"},
	{TSN_VIOLATION_CONTEXTS_FULL, "contexts_full",
	 "an execution found no free context (8,191 may be open, less a spare for each thread), so "
	 "it was not timed",
	 ", the latest: %s"},
	{TSN_VIOLATION_CHAIN, "chain_depth",
	 "more than 16 coarse labels were inside each other (is an exit missing?); what is further "
	 "in was not timed",
	 ", the latest: %s"},
	{TSN_VIOLATION_ABANDONED, "abandoned",
	 "an execution was never left (a tsn_exit that is missing, longjmp, the end of its "
	 "thread), so it is in no duration, but the time under it is in its row",
	 ", the latest: %s"},
};

/* " in process 12", where there are several; "" else. */
static void where(char *text, size_t size, const struct session *session,
		  const struct ledger_note *note)
{
	if (note->processes > 1)
		snprintf(text, size, "; in %" PRIu64 " processes, the latest %d", note->processes,
			 note->pid);
	else if (session->options.follow || session->member_count > 1)
		snprintf(text, size, "; in process %d", note->pid);
	else
		*text = 0;
}

/* One violation in the processes of one ledger. 0 or -ENOMEM. */
static int violation_warn(const struct session *session, const struct ledger *ledger, size_t which,
			  struct profile *profile)
{
	const struct ledger_note *note = &ledger->violations[violation_warnings[which].kind];
	char about[TABLE_NAME_SIZE + 64] = "", process[96];
	const char *label = NULL;

	if (!note->count)
		return 0;
	if (note->label && note->label < ledger->names.label_count)
		label = ledger->names.labels[note->label].name;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
	if (label)
		snprintf(about, sizeof(about), violation_warnings[which].label, label);
#pragma GCC diagnostic pop
	where(process, sizeof(process), session, note);
	return profile__warn(profile, violation_warnings[which].code, label,
			     "%" PRIu64 " time%s %s%s%s", note->count, note->count == 1 ? "" : "s",
			     violation_warnings[which].text, about, process);
}

/* "process 12", or "3 processes (the latest 12)". */
static void who(char *text, size_t size, const struct ledger_note *note)
{
	if (note->processes == 1)
		snprintf(text, size, "process %d", note->pid);
	else
		snprintf(text, size, "%" PRIu64 " processes (the latest is %d)", note->processes,
			 note->pid);
}

static const char *unread_reason(int err)
{
	switch (err) {
	case -EFAULT:
		return "their memory was not there";
	case -EINVAL:
		return "they contradicted what they had said before";
	case -ETIMEDOUT:
		return "reading did not end in time";
	default:
		return strerror(-err);
	}
}

/* Where reading durations at the edges took so long that spans show it. */
static int late_warn(const struct session *session, const struct ledger *ledger,
		     struct profile *profile)
{
	double late = (double)ledger->spans_took_ns,
	       length = (double)(session->stop_ns - session->start_ns);

	return late > SPANS_LATE * length
		       ? profile__warn(profile, "executions_late", NULL,
				       "reading the executions of process %d took %.0f ms: inside "
				       "and working are off by up to %.1f%%",
				       ledger->spans_took_pid, late / 1e6, 100 * late / length)
		       : 0;
}

/* Running time of all processes of a ledger, by their hits, ns. */
static double ran_ns(const struct snapshot *snapshot, size_t ledger)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < snapshot->cell_count; i++) {
		const struct snapshot_cell *cell = &snapshot->cells[i];

		if (cell->key.target == ledger && cell->key.role != TSN_CELL_OUTER)
			sum += (double)snapshot__weight_ns(&cell->cell);
	}
	return sum;
}

/* Where labels were found so late that shares show it. */
static int labels_late_warn(const struct session *session, size_t which, struct profile *profile)
{
	const struct ledger_note *late = &session->ledgers[which]->unlocated_ns;
	double ran = ran_ns(&session->snapshot, which);
	char process[96];

	if ((double)late->count <= LABELS_LATE * ran)
		return 0;
	who(process, sizeof(process), late);
	return profile__warn(
		profile, "labels_late", NULL,
		"the labels of %s were found after it had run for %.0f ms (%.1f%% of its "
		"running time): that time is in no label",
		process, (double)late->count / 1e6, 100 * (double)late->count / ran);
}

static int ledger_warn(const struct session *session, size_t which, struct profile *profile)
{
	const struct ledger *ledger = session->ledgers[which];
	char process[96];
	size_t v;
	int err = 0;

	if (ledger->replaced.count && !session->options.follow)
		err |= profile__warn(profile, "image_replaced", NULL,
				     "process %d replaced its image (exec); both images are in "
				     "this report",
				     ledger->replaced.pid);
	if (ledger->images_lost.count)
		err |= profile__warn(profile, "images_lost", NULL,
				     "process %d replaced its image more often than there is room "
				     "for; its later time is in no label",
				     ledger->images_lost.pid);
	who(process, sizeof(process), &ledger->distrusted);
	if (ledger->distrusted.count)
		err |= profile__warn(profile, "label_distrusted", NULL,
				     "%" PRIu64
				     " label names of %s were not valid; they are shown as #id",
				     ledger->distrusted.count, process);
	who(process, sizeof(process), &ledger->coarse_distrusted);
	if (ledger->coarse_distrusted.count)
		err |= profile__warn(profile, "coarse_distrusted", NULL,
				     "what %s says of where its coarse labels are kept is not "
				     "valid, and was left out",
				     process);
	who(process, sizeof(process), &ledger->unread);
	if (ledger->unread.count)
		err |= profile__warn(profile, "memory_unread", NULL,
				     "%" PRIu64 " times the tables of %s could not be read, the "
				     "last time because %s; calls, names and executions may be "
				     "missing",
				     ledger->unread.count, process,
				     unread_reason(ledger->unread_error));
	who(process, sizeof(process), &ledger->calls_unread);
	if (ledger->calls_unread.count)
		err |= profile__warn(profile, "calls_unread", NULL,
				     "%s ended before the last calls could be read; calls of the "
				     "last second may be missing",
				     process);
	who(process, sizeof(process), &ledger->executions_unread);
	if (ledger->executions_unread.count)
		err |= profile__warn(profile, "executions_unread", NULL,
				     "%s ended before the last executions could be read; those of "
				     "the last second may be missing",
				     process);
	err |= late_warn(session, ledger, profile);
	err |= labels_late_warn(session, which, profile);
	for (v = 0; v < sizeof(violation_warnings) / sizeof(violation_warnings[0]); v++)
		err |= violation_warn(session, ledger, v, profile);
	return err;
}

static int thread_id_warn(pid_t thread_id, pid_t pid, struct profile *profile)
{
	return thread_id ? profile__warn(profile, "thread_id_resolved", NULL,
					 "%d is a thread of process %d; the whole process was "
					 "recorded",
					 thread_id, pid)
			 : 0;
}

static int member_warn(const struct session *session, const struct session_member *member,
		       struct profile *profile)
{
	uint64_t forks = session->engine->targets[member->index].forks;
	int pid = member->target->pid, err = 0;

	if (member->current)
		err |= thread_id_warn(member->target->thread_id, pid, profile);
	if (!member->images_lost && member->current && !member->published)
		err |= profile__warn(profile, "no_slot", NULL,
				     "process %d published no ticksnick slot, so all its time is "
				     "in no label",
				     pid);
	if (forks)
		err |= profile__warn(profile, "children_left_out", NULL,
				     "process %d forked %" PRIu64
				     " times; its children are not in this report "
				     "(--follow-children)",
				     pid, forks);
	return err;
}

/* What became of the processes, where children are followed. */
static int roll_warn(const struct roll *roll, struct profile *profile)
{
	size_t i;
	int err = 0;

	for (i = 0; i < roll->count; i++)
		err |= thread_id_warn(roll->processes[i]->thread_id, roll->processes[i]->pid,
				      profile);
	if (roll->unlabelled)
		err |= profile__warn(profile, "unlabelled_left_out", NULL,
				     "%" PRIu64 " process%s without labels %s left out; the latest "
				     "was %s (pid %d)",
				     roll->unlabelled, roll->unlabelled == 1 ? "" : "es",
				     roll->unlabelled == 1 ? "was" : "were", roll->unlabelled_comm,
				     roll->unlabelled_pid);
	return err;
}

int collect_warnings__fill(const struct session *session, struct profile *profile)
{
	size_t i;
	int err = 0;

	for (i = 0; i < session->member_count && !session->options.follow; i++)
		err |= member_warn(session, session->members[i], profile);
	if (session->options.follow)
		err |= roll_warn(&session->roll, profile);
	for (i = 0; i < session->ledger_count; i++)
		err |= ledger_warn(session, i, profile);
	return err;
}
