// SPDX-License-Identifier: MIT
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host.h"
#include "probe.h"
#include "proc.h"

/* /proc/self/status grows with the list of groups. */
#define TEXT_SIZE 65536
/* 997 Hz with the shortest period that the redraw gives, 25% under the mean. */
#define TICKS_PER_SECOND_MAX 1330

void probe__say(struct probe_result *result, const char *name, enum probe_status status,
		const char *format, ...)
{
	va_list arguments;

	*result = (struct probe_result){.name = name, .status = status};
	va_start(arguments, format);
	vsnprintf(result->detail, sizeof(result->detail), format, arguments);
	va_end(arguments);
}

void probe__mend(struct probe_result *result, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(result->remedy, sizeof(result->remedy), format, arguments);
	va_end(arguments);
}

static bool read_text(const char *root, const char *path, char *text, size_t size)
{
	return host__read_file(root, path, text, size) >= 0;
}

static bool read_number(const char *root, const char *path, long *value)
{
	char text[64];

	return read_text(root, path, text, sizeof(text)) && probe__parse_number(text, value) == 0;
}

uint64_t probe__effective_caps(const char *root)
{
	char text[TEXT_SIZE];
	uint64_t effective;

	if (!read_text(root, "/proc/self/status", text, sizeof(text)) ||
	    probe__parse_caps(text, &effective))
		return 0;
	return effective;
}

bool probe__may_trace(const char *root)
{
	uint64_t effective = probe__effective_caps(root);

	return probe__has_cap(effective, PROBE_CAP_BPF) &&
	       probe__has_cap(effective, PROBE_CAP_PERFMON);
}

void probe__kernel(const char *root, struct probe_result *result)
{
	struct probe_version version;
	char text[256];

	if (!read_text(root, "/proc/sys/kernel/osrelease", text, sizeof(text)) ||
	    probe__parse_version(text, &version)) {
		probe__say(result, "kernel", PROBE_FAIL, "its release cannot be read");
		probe__mend(result, "mount /proc");
		return;
	}
	if (version.major < PROBE_KERNEL_MAJOR ||
	    (version.major == PROBE_KERNEL_MAJOR && version.minor < PROBE_KERNEL_MINOR)) {
		probe__say(result, "kernel", PROBE_FAIL, "%.100s is older than %d.%d", text,
			   PROBE_KERNEL_MAJOR, PROBE_KERNEL_MINOR);
		probe__mend(result, "boot a kernel of release %d.%d or later", PROBE_KERNEL_MAJOR,
			    PROBE_KERNEL_MINOR);
		return;
	}
	probe__say(result, "kernel", PROBE_OK, "%.100s", text);
}

void probe__architecture(const char *machine, struct probe_result *result)
{
	if (!strcmp(machine, "x86_64") || !strcmp(machine, "aarch64")) {
		probe__say(result, "architecture", PROBE_OK, "%s", machine);
		return;
	}
	probe__say(result, "architecture", PROBE_FAIL, "%.64s is not supported", machine);
	probe__mend(result, "use a 64-bit x86 or Arm machine (x86_64, aarch64)");
}

void probe__btf(const char *root, struct probe_result *result)
{
	static const char *const path = "/sys/kernel/btf/vmlinux";
	char text[16];
	long error = host__read_file(root, path, text, sizeof(text));

	if (error == -EFBIG) {
		probe__say(result, "btf", PROBE_OK, "%s", path);
	} else if (error >= 0 || error == -ENOENT) {
		probe__say(result, "btf", PROBE_FAIL,
			   "the kernel's BTF type information is missing (%s)", path);
		probe__mend(result,
			    "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y, and mount /sys");
	} else {
		probe__say(result, "btf", PROBE_FAIL, "%s cannot be read: %s", path,
			   strerror((int)-error));
		probe__mend(result, "make %s readable; it may be hidden in this container", path);
	}
}

void probe__lockdown(const char *root, struct probe_result *result)
{
	enum probe_lockdown level;
	char text[128];

	if (!read_text(root, "/sys/kernel/security/lockdown", text, sizeof(text))) {
		probe__say(result, "lockdown", PROBE_OK,
			   "the kernel has none, or does not show it");
	} else if (probe__parse_lockdown(text, &level)) {
		probe__say(result, "lockdown", PROBE_WARN, "its level is not known: %.64s", text);
		probe__mend(result, "look at /sys/kernel/security/lockdown");
	} else if (level == PROBE_LOCKDOWN_CONFIDENTIALITY) {
		probe__say(
			result, "lockdown", PROBE_FAIL,
			"kernel lockdown is at confidentiality, which forbids BPF to read memory");
		probe__mend(result,
			    "boot without lockdown=confidentiality, or with lockdown=integrity");
	} else {
		probe__say(result, "lockdown", PROBE_OK, "%s",
			   level ? "integrity, which allows recording" : "none");
	}
}

/* "CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE": what of the three is missing; how many. */
static unsigned missing_caps(uint64_t effective, char *text, size_t size)
{
	static const struct {
		enum probe_cap cap;
		const char *name;
	} wanted[] = {
		{PROBE_CAP_BPF, "CAP_BPF"},
		{PROBE_CAP_PERFMON, "CAP_PERFMON"},
		{PROBE_CAP_SYS_PTRACE, "CAP_SYS_PTRACE"},
	};
	const char *names[3];
	unsigned count = 0;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (!probe__has_cap(effective, wanted[i].cap))
			names[count++] = wanted[i].name;
	}
	if (count == 0)
		snprintf(text, size, "none");
	else if (count == 1)
		snprintf(text, size, "%s", names[0]);
	else if (count == 2)
		snprintf(text, size, "%s and %s", names[0], names[1]);
	else
		snprintf(text, size, "%s, %s and %s", names[0], names[1], names[2]);
	return count;
}

void probe__capabilities(const char *root, struct probe_result *result)
{
	uint64_t effective = probe__effective_caps(root);
	char missing[96];

	if (missing_caps(effective, missing, sizeof(missing)) == 0) {
		probe__say(result, "capabilities", PROBE_OK,
			   "CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE%s",
			   probe__has_cap(effective, PROBE_CAP_SYS_ADMIN) ? ", CAP_SYS_ADMIN" : "");
	} else if (probe__has_cap(effective, PROBE_CAP_BPF) &&
		   probe__has_cap(effective, PROBE_CAP_PERFMON)) {
		probe__say(result, "capabilities", PROBE_WARN,
			   "%s is missing: only processes of this user can be recorded", missing);
		probe__mend(result, PROBE_GRANT);
	} else {
		probe__say(result, "capabilities", PROBE_FAIL, "this process lacks %s", missing);
		probe__mend(result, PROBE_GRANT);
	}
}

void probe__user_namespace(const char *root, struct probe_result *result)
{
	unsigned long inside, outside, count;
	char text[256];

	if (!read_text(root, "/proc/self/uid_map", text, sizeof(text)) ||
	    sscanf(text, "%lu %lu %lu", &inside, &outside, &count) != 3 ||
	    (inside == 0 && outside == 0 && count == UINT32_MAX)) {
		probe__say(result, "user-namespace", PROBE_OK, "the first one");
		return;
	}
	probe__say(result, "user-namespace", PROBE_FAIL,
		   "this is a user namespace (a rootless container), whose capabilities do not "
		   "count for BPF");
	probe__mend(result, "run it on the host, or in a container that has the host's users");
}

void probe__paranoid(const char *root, struct probe_result *result)
{
	static const char *const name = "perf-paranoid";
	long value;

	if (!read_number(root, "/proc/sys/kernel/perf_event_paranoid", &value)) {
		probe__say(result, name, PROBE_FAIL, "the kernel has no perf events");
		probe__mend(result,
			    "boot a kernel built with CONFIG_PERF_EVENTS=y, and mount /proc");
	} else if (value < 0 || probe__may_trace(root)) {
		probe__say(result, name, PROBE_OK,
			   "kernel.perf_event_paranoid=%ld, which CAP_PERFMON passes", value);
	} else {
		probe__say(result, name, PROBE_WARN,
			   "kernel.perf_event_paranoid=%ld stops whoever lacks CAP_PERFMON", value);
		probe__mend(result, "grant CAP_PERFMON; lowering kernel.perf_event_paranoid alone "
				    "does not help, for BPF needs it too");
	}
}

void probe__unprivileged_bpf(const char *root, struct probe_result *result)
{
	static const char *const name = "unprivileged-bpf";
	long value;

	/* The file is missing where the kernel has no such switch: then BPF programs of the kind in
	 * use want capabilities anyway. */
	if (!read_number(root, "/proc/sys/kernel/unprivileged_bpf_disabled", &value))
		probe__say(result, name, PROBE_OK, "no such switch");
	else
		probe__say(result, name, PROBE_OK,
			   "kernel.unprivileged_bpf_disabled=%ld, which CAP_BPF passes", value);
}

void probe__jit(const char *root, struct probe_result *result)
{
	long value;

	if (!read_number(root, "/proc/sys/net/core/bpf_jit_enable", &value)) {
		probe__say(result, "bpf-jit", PROBE_OK,
			   "cannot be seen from here; most kernels have it on");
	} else if (value == 0) {
		probe__say(result, "bpf-jit", PROBE_WARN,
			   "off: BPF programs are interpreted, and each tick costs several times "
			   "more");
		probe__mend(result, "sysctl -w net.core.bpf_jit_enable=1");
	} else {
		probe__say(result, "bpf-jit", PROBE_OK, "on (net.core.bpf_jit_enable=%ld)", value);
	}
}

void probe__sample_rate(const char *root, struct probe_result *result)
{
	static const char *const name = "perf-sample-rate";
	long value;

	if (!read_number(root, "/proc/sys/kernel/perf_event_max_sample_rate", &value)) {
		probe__say(result, name, PROBE_OK, "cannot be seen from here");
	} else if (value < TICKS_PER_SECOND_MAX) {
		probe__say(result, name, PROBE_WARN,
			   "kernel.perf_event_max_sample_rate=%ld is below the %d a second that "
			   "997 Hz can reach: ticks get lost",
			   value, TICKS_PER_SECOND_MAX);
		probe__mend(result, "sysctl -w kernel.perf_event_max_sample_rate=100000, or record "
				    "with a smaller -F");
	} else {
		probe__say(result, name, PROBE_OK, "kernel.perf_event_max_sample_rate=%ld", value);
	}
}

void probe__cpu_time(const char *root, struct probe_result *result)
{
	static const char *const name = "perf-cpu-time";
	long value;

	if (!read_number(root, "/proc/sys/kernel/perf_cpu_time_max_percent", &value)) {
		probe__say(result, name, PROBE_OK, "cannot be seen from here");
	} else if (value > 0 && value < 5) {
		probe__say(result, name, PROBE_WARN,
			   "kernel.perf_cpu_time_max_percent=%ld: the kernel may lower the sample "
			   "rate under load",
			   value);
		probe__mend(result, "sysctl -w kernel.perf_cpu_time_max_percent=25");
	} else {
		probe__say(result, name, PROBE_OK, "kernel.perf_cpu_time_max_percent=%ld", value);
	}
}

void probe__clocksource(const char *root, struct probe_result *result)
{
	static const char *const slow[] = {"hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"};
	char text[64];

	if (!read_text(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
		       text, sizeof(text))) {
		probe__say(result, "clocksource", PROBE_OK, "cannot be seen from here");
		return;
	}
	for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++) {
		if (strcmp(text, slow[i]))
			continue;
		probe__say(result, "clocksource", PROBE_WARN,
			   "%s is slow to read, at every tick and context switch", text);
		probe__mend(result, "boot with a better one: see available_clocksource beside it, "
				    "and the kernel log for why tsc was dropped");
		return;
	}
	probe__say(result, "clocksource", PROBE_OK, "%s", text);
}

void probe__virtualization(const char *root, struct probe_result *result)
{
	const char *found = host__virtualization(root);

	if (!found)
		probe__say(result, "virtualization", PROBE_OK, "not known");
	else if (!strcmp(found, "none"))
		probe__say(result, "virtualization", PROBE_OK, "none");
	else
		probe__say(result, "virtualization", PROBE_OK,
			   "%s; time it takes from a thread is reported as stolen", found);
}

void probe__pid_namespace(const char *root, struct probe_result *result)
{
	char path[PATH_MAX], link[64];
	ssize_t length;

	/* Not so where a namespace was made and its own /proc was not mounted. */
	snprintf(path, sizeof(path), "%s/proc/self", root);
	length = readlink(path, link, sizeof(link) - 1);
	if (length > 0) {
		link[length] = '\0';
		if (strtol(link, NULL, 10) != getpid()) {
			probe__say(result, "pid-namespace", PROBE_FAIL,
				   "/proc is of another pid namespace than this process");
			probe__mend(result,
				    "mount -t proc proc /proc (unshare --mount-proc does it)");
			return;
		}
	}
	snprintf(path, sizeof(path), "%s/proc/self/ns/pid", root);
	length = readlink(path, link, sizeof(link) - 1);
	if (length < 0) {
		probe__say(result, "pid-namespace", PROBE_OK, "cannot be seen from here");
		return;
	}
	link[length] = '\0';
	if (!strcmp(link, PROC_FIRST_PID_NAMESPACE)) {
		probe__say(result, "pid-namespace", PROBE_OK, "the machine's first");
		return;
	}
	probe__say(result, "pid-namespace", PROBE_WARN,
		   "%s, a container's: processes outside it cannot be named", link);
	probe__mend(result, "to record others, run it on the host or in a container with the "
			    "host's pid namespace (--pid=host)");
}

void probe__yama(const char *root, struct probe_result *result)
{
	uint64_t effective = probe__effective_caps(root);
	long scope;

	if (!read_number(root, "/proc/sys/kernel/yama/ptrace_scope", &scope) || scope <= 0) {
		probe__say(result, "yama", PROBE_OK, "does not restrict reading other processes");
	} else if (scope >= 3) {
		probe__say(result, "yama", PROBE_FAIL,
			   "kernel.yama.ptrace_scope=%ld forbids everyone to read other processes",
			   scope);
		probe__mend(result, "set kernel.yama.ptrace_scope to 2 or less in sysctl.d and "
				    "boot again: 3 stays until then");
	} else if (probe__has_cap(effective, PROBE_CAP_SYS_PTRACE)) {
		probe__say(result, "yama", PROBE_OK,
			   "kernel.yama.ptrace_scope=%ld, which CAP_SYS_PTRACE passes", scope);
	} else {
		probe__say(
			result, "yama", PROBE_WARN,
			"kernel.yama.ptrace_scope=%ld: only what record starts itself can be read",
			scope);
		probe__mend(result,
			    "grant CAP_SYS_PTRACE, or sysctl -w kernel.yama.ptrace_scope=0");
	}
}

/* The first failed one of these decides, so their order is that in which one would mend them. */
int probe__can_record_under(const char *root, const char *machine, char *reason, size_t size)
{
	static const struct {
		probe_check *check;
		int error;
	} checks[] = {
		{probe__kernel, -ENOSYS},	 {probe__capabilities, -EPERM},
		{probe__user_namespace, -EPERM}, {probe__lockdown, -EPERM},
		{probe__btf, -ENOENT},		 {probe__paranoid, -ENOSYS},
		{probe__pid_namespace, -ENOENT},
	};
	struct probe_result result;

	probe__architecture(machine, &result);
	if (result.status == PROBE_FAIL) {
		snprintf(reason, size, "%s: %s", result.detail, result.remedy);
		return -ENOSYS;
	}
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		checks[i].check(root, &result);
		if (result.status != PROBE_FAIL)
			continue;
		snprintf(reason, size, "%s: %s", result.detail, result.remedy);
		return checks[i].error;
	}
	return 0;
}
