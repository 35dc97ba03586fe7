// SPDX-License-Identifier: MIT
#include "profile.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	uint32_t flag;
	const char *name;
} flag_names[] = {
	{PROFILE_FLAG_TIED, "tied"},	       {PROFILE_FLAG_TINY, "tiny"},
	{PROFILE_FLAG_LONG, "long"},	       {PROFILE_FLAG_SERIALISED, "serialised"},
	{PROFILE_FLAG_UNSAMPLED, "unsampled"}, {PROFILE_FLAG_OPEN, "open"},
	{PROFILE_FLAG_STALE, "stale"},
};

#define FLAG_COUNT	   (sizeof(flag_names) / sizeof(flag_names[0]))
#define LOSS(field, words) #field, offsetof(struct profile_losses, field), words

const struct profile_loss_field profile_loss_fields[] = {
	{LOSS(slot_unreadable, "observations whose slot could not be read"), true},
	{LOSS(slot_foreign, "observations whose slot was not the thread's own"), true},
	{LOSS(thread_untracked, "threads not tracked, the table was full"), true},
	{LOSS(table_full, "charges dropped, the cell table was full"), true},
	{LOSS(tick_missed, "ticks missed while the target ran"), true},
	{LOSS(switch_missed, "switches repaired afterwards (time kept, state estimated)"), false},
	{LOSS(clock_stepped, "intervals that ended before they began"), true},
	{LOSS(glance_partial, "glances that missed a thread"), true},
	{LOSS(threads_folded, "exited threads counted in the totals only"), false},
	{LOSS(calls_unread, "processes whose last calls were not read"), true},
	{LOSS(calls_lost, "calls by threads that found no slot"), true},
	{LOSS(labels_lost, "labels that found no free id"), true},
	{LOSS(context_unreadable, "observations whose coarse context could not be read"), true},
	{LOSS(memory_unread, "readings of a target's tables that failed"), true},
	{LOSS(contexts_lost, "executions of coarse labels that were not timed"), true},
	{LOSS(processes_untracked, "processes not followed, the table was full"), true},
	{LOSS(processes_unread, "processes over before their labels could be looked for"), true},
	{LOSS(processes_folded, "processes counted in the totals only"), false},
};
const size_t profile_loss_field_count =
	sizeof(profile_loss_fields) / sizeof(profile_loss_fields[0]);

_Static_assert(sizeof(profile_loss_fields) / sizeof(profile_loss_fields[0]) ==
		       sizeof(struct profile_losses) / sizeof(uint64_t),
	       "a loss counter without a row");

struct profile *profile__new(void)
{
	struct profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return NULL;
	profile->overhead.fraction = NAN;
	profile->totals.coverage = NAN;
	profile->totals.coverage_running = NAN;
	profile->totals.bound = NAN;
	return profile;
}

static void free_targets(struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->target_count; i++) {
		free(profile->target[i].comm);
		free(profile->target[i].exe);
		free(profile->target[i].build_id);
	}
	free(profile->target);
}

void profile__free_coarse(struct profile_coarse *coarse, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(coarse[i].label);
		free(coarse[i].histogram);
	}
	free(coarse);
}

void profile__free_pairs(struct profile_pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(pairs[i].coarse);
		free(pairs[i].fine);
	}
	free(pairs);
}

void profile__free_source(struct profile_source *source)
{
	free(source->id);
	free(source->ended_by);
	free(source->version);
	free(source->kernel);
	free(source->machine);
	free(source->cpu_model);
	free(source->virtualization);
}

static void free_rows(struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->thread_count; i++)
		free(profile->threads[i].comm);
	free(profile->threads);
	for (i = 0; i < profile->fine_count; i++)
		free(profile->fine[i].label);
	free(profile->fine);
	profile__free_coarse(profile->coarse, profile->coarse_count);
	profile__free_pairs(profile->pairs, profile->pair_count);
	for (i = 0; i < profile->warning_count; i++) {
		free(profile->warnings[i].code);
		free(profile->warnings[i].label);
		free(profile->warnings[i].text);
	}
	free(profile->warnings);
	for (i = 0; i < profile->source_count; i++)
		profile__free_source(&profile->sources[i]);
	free(profile->sources);
}

void profile__free(struct profile *profile)
{
	if (!profile)
		return;
	free(profile->tool_version);
	free(profile->host.kernel);
	free(profile->host.machine);
	free(profile->host.cpu_model);
	free(profile->host.virtualization);
	free(profile->session.ended_by);
	free_targets(profile);
	free_rows(profile);
	free(profile);
}

int profile__warn(struct profile *profile, const char *code, const char *label, const char *format,
		  ...)
{
	struct profile_warning warning = {0}, *grown;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(&warning.text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return -ENOMEM;
	warning.code = strdup(code);
	warning.label = label ? strdup(label) : NULL;
	if (!warning.code || (label && !warning.label))
		goto free_warning;
	grown = reallocarray(profile->warnings, profile->warning_count + 1, sizeof(*grown));
	if (!grown)
		goto free_warning;
	profile->warnings = grown;
	grown[profile->warning_count++] = warning;
	return 0;

free_warning:
	free(warning.code);
	free(warning.label);
	free(warning.text);
	return -ENOMEM;
}

uint64_t profile__losses(const struct profile_losses *losses)
{
	uint64_t sum = 0, count;
	size_t i;

	for (i = 0; i < profile_loss_field_count; i++) {
		if (!profile_loss_fields[i].missing)
			continue;
		memcpy(&count, (const char *)losses + profile_loss_fields[i].offset, sizeof(count));
		if (__builtin_add_overflow(sum, count, &sum))
			return UINT64_MAX;
	}
	return sum;
}

const char *profile__flag_name(uint32_t flag)
{
	size_t i;

	for (i = 0; i < FLAG_COUNT; i++)
		if (flag_names[i].flag == flag)
			return flag_names[i].name;
	return NULL;
}

uint32_t profile__flag_by_name(const char *name)
{
	size_t i;

	for (i = 0; i < FLAG_COUNT; i++)
		if (strcmp(flag_names[i].name, name) == 0)
			return flag_names[i].flag;
	return 0;
}
