// SPDX-License-Identifier: MIT
/*
 * Texts of /proc and /sys, most of which a process has some say in. The first byte says which one
 * the rest is.
 */
#include <ctype.h>

#include "fuzz.h"
#include "host.h"
#include "mappings.h"
#include "pids.h"
#include "probe.h"
#include "proc.h"

static FILE *opened(const char *text, size_t size)
{
	FILE *file = fmemopen((void *)text, size, "r");

	fuzz_assert(file);
	return file;
}

static void maps_try(const char *text, size_t size)
{
	struct mappings mappings = {.count = 42};
	FILE *file = opened(text, size);

	if (!mappings__parse(file, &mappings))
		fuzz_assert(mappings.count <= MAPPINGS_MODULES_MAX && mappings.count <= size);
	fclose(file);
}

static void status_try(const char *text, size_t size)
{
	struct proc_status status = {0};
	FILE *file = opened(text, size);

	if (!proc__parse_status(file, &status))
		fuzz_assert(status.state && status.tgid > 0);
	fclose(file);
}

static void parsers_try(const char *text)
{
	struct probe_version version = {42, 43};
	enum probe_lockdown level;
	pid_t pids[16];
	uint64_t caps;
	long number;
	size_t count, i;

	if (probe__parse_version(text, &version))
		fuzz_assert(version.major == 42 && version.minor == 43);
	probe__parse_caps(text, &caps);
	probe__parse_lockdown(text, &level);
	probe__parse_number(text, &number);
	host__count_cpus(text);
	count = 0;
	if (!pids__parse(text, pids, 16, &count)) {
		fuzz_assert(count <= 16);
		for (i = 0; i < count; i++)
			fuzz_assert(pids[i] > 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (size < 2)
		return 0;
	text = strndup((const char *)data + 1, size - 1);
	fuzz_assert(text);
	switch (data[0] % 3) {
	case 0:
		maps_try((const char *)data + 1, size - 1);
		break;
	case 1:
		status_try((const char *)data + 1, size - 1);
		break;
	default:
		parsers_try(text);
	}
	free(text);
	return 0;
}
