// SPDX-License-Identifier: MIT
/* The parsers of probe, pure. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"

int probe__parse_version(const char *release, struct probe_version *version)
{
	struct probe_version parsed;
	int used = 0;

	if (*release < '0' || *release > '9')
		return -EINVAL;
	if (sscanf(release, "%4u.%4u%n", &parsed.major, &parsed.minor, &used) != 2)
		return -EINVAL;
	if (release[used] >= '0' && release[used] <= '9')
		return -EINVAL;
	*version = parsed;
	return 0;
}

int probe__parse_caps(const char *status, uint64_t *effective)
{
	const char *line = strstr(status, "CapEff:");
	uint64_t parsed;
	char *end;

	if (!line || (line != status && line[-1] != '\n'))
		return -EINVAL;
	line += strlen("CapEff:");
	line += strspn(line, " \t");
	if (!strspn(line, "0123456789abcdefABCDEF") || strspn(line, "0123456789abcdefABCDEF") > 16)
		return -EINVAL;
	parsed = strtoull(line, &end, 16);
	if (*end && *end != '\n')
		return -EINVAL;
	*effective = parsed;
	return 0;
}

int probe__parse_lockdown(const char *text, enum probe_lockdown *level)
{
	static const char *const names[] = {
		[PROBE_LOCKDOWN_NONE] = "[none]",
		[PROBE_LOCKDOWN_INTEGRITY] = "[integrity]",
		[PROBE_LOCKDOWN_CONFIDENTIALITY] = "[confidentiality]",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strstr(text, names[i])) {
			*level = (enum probe_lockdown)i;
			return 0;
		}
	}
	return -EINVAL;
}

int probe__parse_number(const char *text, long *value)
{
	long parsed;
	char *end;

	errno = 0;
	parsed = strtol(text, &end, 10);
	if (errno || end == text || (*end && *end != '\n'))
		return -EINVAL;
	*value = parsed;
	return 0;
}

bool probe__has_cap(uint64_t effective, enum probe_cap cap)
{
	uint64_t enough = UINT64_C(1) << cap;

	if (cap == PROBE_CAP_BPF || cap == PROBE_CAP_PERFMON)
		enough |= UINT64_C(1) << PROBE_CAP_SYS_ADMIN;
	return effective & enough;
}
