/* SPDX-License-Identifier: MIT */
/*
 * probe - what this machine and this process's privileges allow, check by check, with the remedy
 * for what they do not.
 *
 * A check that reads files takes the root they are under ("" for the machine itself), so that tests
 * can lay out another machine in a directory. Checks return nothing: the result is the answer, also
 * where a file is missing or malformed.
 */
#ifndef TICKSNICK_PROBE_H
#define TICKSNICK_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum probe_status {
	PROBE_OK,
	PROBE_WARN, /* recording works, with a limit that the detail names */
	PROBE_FAIL, /* recording cannot work */
};

struct probe_result {
	const char *name; /* static: stable, for machines */
	enum probe_status status;
	char detail[256];
	char remedy[256]; /* empty where the status is PROBE_OK */
};

/* Remedy for a missing capability. */
#define PROBE_GRANT                                                 \
	"run it with sudo, or grant the program its capabilities: " \
	"setcap cap_bpf,cap_perfmon,cap_sys_ptrace=ep PROGRAM"

/* Fill a result: the first begins it anew, the second adds the remedy; printf-style, too long a
 * text is cut. */
void probe__say(struct probe_result *result, const char *name, enum probe_status status,
		const char *format, ...) __attribute__((format(printf, 4, 5)));
void probe__mend(struct probe_result *result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The oldest kernel that has all the BPF features in use. */
#define PROBE_KERNEL_MAJOR 5
#define PROBE_KERNEL_MINOR 15

/* Bits of a capability set; stand here because old headers lack the newer two. */
enum probe_cap {
	PROBE_CAP_SYS_PTRACE = 19,
	PROBE_CAP_SYS_ADMIN = 21,
	PROBE_CAP_PERFMON = 38,
	PROBE_CAP_BPF = 39,
};

enum probe_lockdown {
	PROBE_LOCKDOWN_NONE,
	PROBE_LOCKDOWN_INTEGRITY,
	PROBE_LOCKDOWN_CONFIDENTIALITY,
};

struct probe_version {
	unsigned major, minor;
};

/* Parsers, pure; 0, or -EINVAL with the output untouched. */

/* "5.15.0-91-generic" -> 5.15. */
int probe__parse_version(const char *release, struct probe_version *version);

/* The effective set from the text of /proc/PID/status ("CapEff:\t000001ffffffffff"). */
int probe__parse_caps(const char *status, uint64_t *effective);

/* The text of /sys/kernel/security/lockdown: "none [integrity] confidentiality". */
int probe__parse_lockdown(const char *text, enum probe_lockdown *level);

/* One integer and a newline, as files of /proc/sys hold. */
int probe__parse_number(const char *text, long *value);

/* Whether the set holds this capability or, for BPF and PERFMON, CAP_SYS_ADMIN, which the kernel
 * takes in their stead. */
bool probe__has_cap(uint64_t effective, enum probe_cap cap);

/* This process's effective set; the empty one where it cannot be read, for then the kernel has the
 * last word. */
uint64_t probe__effective_caps(const char *root);

/* Whether that holds CAP_BPF and CAP_PERFMON, or what stands for them. */
bool probe__may_trace(const char *root);

/* Checks of the machine, by files. */
typedef void probe_check(const char *root, struct probe_result *result);
probe_check probe__kernel, probe__btf, probe__lockdown, probe__capabilities, probe__paranoid,
	probe__unprivileged_bpf, probe__jit, probe__sample_rate, probe__cpu_time,
	probe__clocksource, probe__virtualization, probe__pid_namespace, probe__user_namespace,
	probe__yama;

/* machine as in uname -m. */
void probe__architecture(const char *machine, struct probe_result *result);

/* Checks that ask the kernel itself. */
void probe__bpf_syscall(struct probe_result *result);
void probe__perf_event(struct probe_result *result);
void probe__open_files(struct probe_result *result);
void probe__locked_memory(struct probe_result *result);

/*
 * Whether this process may record here at all: 0, or a negative errno (-ENOSYS: the machine cannot,
 * -EPERM: it may not, -ENOENT: no BTF) and one clause in reason that names what is missing and the
 * remedy. The first looks at files only.
 */
int probe__can_record_under(const char *root, const char *machine, char *reason, size_t size);
int probe__can_record(char *reason, size_t size);

/*
 * Whether the memory of a process can be read: 0; -ESRCH: there is none (or it is a zombie, which
 * has no memory); -EPERM. The first fills a result, the second, if it cannot, writes the same as
 * one clause, which names the capability or the sysctl.
 */
int probe__memory(pid_t pid, struct probe_result *result);
int probe__can_read(pid_t pid, char *reason, size_t size);

#endif
