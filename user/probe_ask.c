// SPDX-License-Identifier: MIT
/* The checks of probe that ask the kernel itself. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>

#include "mappings.h"
#include "probe.h"
#include "proc.h"
#include "reader.h"

/* Beside one tick per CPU: programs, links, maps, the target's files. */
#define OPEN_FILES_BASE 128

void probe__bpf_syscall(struct probe_result *result)
{
	union bpf_attr attr;
	int map, error;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = 4;
	attr.value_size = 8;
	attr.max_entries = 1;
	map = (int)syscall(__NR_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	if (map >= 0) {
		close(map);
		probe__say(result, "bpf-syscall", PROBE_OK, "usable");
		return;
	}
	error = errno;
	probe__say(result, "bpf-syscall", PROBE_FAIL, "bpf() is refused: %s", strerror(error));
	if (error == ENOSYS)
		probe__mend(result, "boot a kernel built with CONFIG_BPF_SYSCALL=y");
	else if (probe__may_trace(""))
		probe__mend(result,
			    "a container's seccomp filter or a security module may forbid it: "
			    "allow bpf(), or run on the host");
	else
		probe__mend(result, PROBE_GRANT);
}

void probe__perf_event(struct probe_result *result)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000,
		.disabled = 1,
	};
	int event, error;

	event = (int)syscall(__NR_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (event >= 0) {
		close(event);
		probe__say(result, "perf-event", PROBE_OK, "cpu-clock opens on CPU 0");
		return;
	}
	error = errno;
	probe__say(result, "perf-event", PROBE_FAIL,
		   "perf_event_open() of cpu-clock is refused: %s", strerror(error));
	if (error == ENOSYS || error == ENOENT)
		probe__mend(result, "boot a kernel built with CONFIG_PERF_EVENTS=y");
	else if (probe__may_trace(""))
		probe__mend(result,
			    "a container's seccomp filter or a security module may forbid it: "
			    "allow perf_event_open(), or run on the host");
	else
		probe__mend(result, PROBE_GRANT);
}

void probe__open_files(struct probe_result *result)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), needed = OPEN_FILES_BASE + (cpus > 0 ? cpus : 1);
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_max == RLIM_INFINITY ||
	    limit.rlim_max >= (rlim_t)needed) {
		probe__say(result, "open-files", PROBE_OK, "enough for %ld", needed);
		return;
	}
	probe__say(result, "open-files", PROBE_WARN,
		   "the hard limit of open files is %" PRIuMAX ", and recording may need %ld",
		   (uintmax_t)limit.rlim_max, needed);
	probe__mend(result, "ulimit -Hn %ld", needed);
}

void probe__locked_memory(struct probe_result *result)
{
	struct rlimit limit;

	/* Since 5.11 BPF maps are charged to the memory cgroup. */
	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		probe__say(result, "locked-memory", PROBE_OK, "unlimited");
	else
		probe__say(result, "locked-memory", PROBE_OK,
			   "limit %" PRIuMAX " KiB, which BPF does not count against",
			   (uintmax_t)limit.rlim_cur / 1024);
}

int probe__can_record(char *reason, size_t size)
{
	struct probe_result result;
	struct utsname names;
	int error;

	if (uname(&names))
		return -errno;
	error = probe__can_record_under("", names.machine, reason, size);
	if (error)
		return error;
	probe__bpf_syscall(&result);
	if (result.status != PROBE_FAIL)
		probe__perf_event(&result);
	if (result.status != PROBE_FAIL)
		return 0;
	snprintf(reason, size, "%s: %s", result.detail, result.remedy);
	return -EPERM;
}

/* Reads a byte of a process's memory. 0 or a negative errno; -ESRCH: it has ended or has none. */
static int memory_try(pid_t pid)
{
	struct reader *reader = reader__new(pid, NULL);
	struct mappings mappings;
	int error = -ENOMEM;
	char byte;

	if (reader)
		error = reader__mappings(reader, &mappings);
	if (!error && !mappings.readable)
		error = -ESRCH;
	if (!error)
		error = reader__gather(reader, mappings.readable, 1, 1, 1, &byte);
	reader__free(reader);
	return error;
}

int probe__memory(pid_t pid, struct probe_result *result)
{
	static const char *const name = "its-memory";
	struct probe_result yama;
	int error = memory_try(pid);

	if (!error) {
		probe__say(result, name, PROBE_OK, "can be read");
		return 0;
	}
	if (error == -ESRCH) {
		probe__say(result, name, PROBE_FAIL,
			   "process %d has ended or has no memory (a zombie or a kernel thread)",
			   pid);
		probe__mend(result, "look up the right process with pgrep or ps");
		return -ESRCH;
	}
	probe__say(result, name, PROBE_FAIL, "the memory of process %d cannot be read: %s", pid,
		   strerror(-error));
	probe__yama("", &yama);
	if (error != -EPERM && error != -EACCES)
		probe__mend(result, "see whether it still runs, and try again");
	else if (yama.status != PROBE_OK)
		probe__mend(result, "%s (%s)", yama.remedy, yama.detail);
	else if (!probe__has_cap(probe__effective_caps(""), PROBE_CAP_SYS_PTRACE))
		probe__mend(result, "this takes CAP_SYS_PTRACE: " PROBE_GRANT);
	else
		probe__mend(result,
			    "a security module or a container may forbid it: run on the host");
	return error == -EACCES ? -EPERM : error;
}

int probe__can_read(pid_t pid, char *reason, size_t size)
{
	struct probe_result result;
	int error = probe__memory(pid, &result);

	if (error)
		snprintf(reason, size, "%s: %s", result.detail, result.remedy);
	return error;
}
