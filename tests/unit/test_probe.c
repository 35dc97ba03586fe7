// SPDX-License-Identifier: MIT
/* Machines other than this one are laid out as trees of files in a fresh directory. */
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "host.h"
#include "probe.h"
#include "suites.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define CAPS_ALL	"CapEff:\t000001ffffffffff\n"
#define CAPS_NONE	"CapEff:\t0000000000000000\n"
#define CAPS_TRACE	"CapEff:\t000000c000000000\n" /* BPF and PERFMON */
#define CAPS_TRACE_READ "CapEff:\t000000c000080000\n" /* and SYS_PTRACE */
#define CAPS_ADMIN	"CapEff:\t0000000000200000\n"
#define CAPS_ADMIN_READ "CapEff:\t0000000000280000\n"

static char root[64];

static void make_root(void)
{
	strcpy(root, "/tmp/ticksnick-probe.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
	(void)status;
	(void)kind;
	(void)at;
	return remove(path);
}

static void remove_root(void)
{
	ck_assert_int_eq(nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* Lays a file into the tree, with the directories above it. */
static void put(const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *slash = strchr(full + strlen(root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		ck_assert(!mkdir(full, 0755) || errno == EEXIST);
		*slash = '/';
	}
	file = fopen(full, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

static void put_link(const char *path, const char *to)
{
	char full[PATH_MAX];

	put(path, "");
	snprintf(full, sizeof(full), "%s%s", root, path);
	ck_assert_int_eq(unlink(full), 0);
	ck_assert_int_eq(symlink(to, full), 0);
}

/* A machine on which everything is as it should be. */
static void put_good_machine(void)
{
	put("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
	put("/proc/self/status", "Name:\tx\nCapPrm:\t0000000000000000\n" CAPS_ALL);
	put("/proc/self/uid_map", "         0          0 4294967295\n");
	put("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
	put("/sys/kernel/btf/vmlinux", "more than sixteen bytes of types");
	put("/proc/sys/kernel/perf_event_paranoid", "2\n");
}

/* --- parsers --- */

static const struct {
	const char *release;
	int error;
	unsigned major, minor;
} releases[] = {
	{"5.15.0-91-generic", 0, 5, 15},
	{"6.18.44-fc-v782", 0, 6, 18},
	{"5.15", 0, 5, 15},
	{"0.1", 0, 0, 1},
	{"6.12-rc1", 0, 6, 12},
	{"10.0+", 0, 10, 0},
	{"", -EINVAL, 77, 77},
	{"5", -EINVAL, 77, 77},
	{"5.", -EINVAL, 77, 77},
	{".15", -EINVAL, 77, 77},
	{"-5.15", -EINVAL, 77, 77},
	{" 5.15", -EINVAL, 77, 77},
	{"5.x", -EINVAL, 77, 77},
	{"linux", -EINVAL, 77, 77},
	{"5.99999999999", -EINVAL, 77, 77},
};

START_TEST(version_is_the_first_two_numbers)
{
	struct probe_version version = {77, 77};

	ck_assert_int_eq(probe__parse_version(releases[_i].release, &version), releases[_i].error);
	ck_assert_uint_eq(version.major, releases[_i].major);
	ck_assert_uint_eq(version.minor, releases[_i].minor);
}
END_TEST

static const struct {
	const char *status;
	int error;
	uint64_t effective;
} statuses[] = {
	{"CapEff:\t000001ffffffffff\n", 0, 0x1ffffffffff},
	{"CapInh:\t0000000000000001\nCapPrm:\t0000000000000002\nCapEff:\t0000000000000004\n"
	 "CapBnd:\t0000000000000008\n",
	 0, 4},
	{"CapEff:\t0000000000000000", 0, 0},
	{"CapEff:\tffffffffffffffff\n", 0, UINT64_MAX},
	{"CapEff: c000000000\n", 0, UINT64_C(0xc000000000)},
	{"", -EINVAL, 77},
	{"CapPrm:\t000001ffffffffff\n", -EINVAL, 77},
	{"CapEff:\t\n", -EINVAL, 77},
	{"CapEff:\txyz\n", -EINVAL, 77},
	{"CapEff:\t12 34\n", -EINVAL, 77},
	{"CapEff:\t1ffffffffffffffff\n", -EINVAL, 77},
	{"CapEff:\t-1\n", -EINVAL, 77},
	/* A process may name itself so; a name stands on the first line, in the middle of it. */
	{"Name:\tCapEff:\t000001ffffffffff\n", -EINVAL, 77},
};

START_TEST(caps_are_those_of_the_effective_set)
{
	uint64_t effective = 77;

	ck_assert_int_eq(probe__parse_caps(statuses[_i].status, &effective), statuses[_i].error);
	ck_assert_uint_eq(effective, statuses[_i].effective);
}
END_TEST

static const struct {
	const char *text;
	int error;
	enum probe_lockdown level;
} lockdowns[] = {
	{"[none] integrity confidentiality\n", 0, PROBE_LOCKDOWN_NONE},
	{"none [integrity] confidentiality\n", 0, PROBE_LOCKDOWN_INTEGRITY},
	{"none integrity [confidentiality]\n", 0, PROBE_LOCKDOWN_CONFIDENTIALITY},
	{"none [integrity]", 0, PROBE_LOCKDOWN_INTEGRITY},
	{"none integrity confidentiality", -EINVAL, PROBE_LOCKDOWN_INTEGRITY},
	{"[everything]", -EINVAL, PROBE_LOCKDOWN_INTEGRITY},
	{"", -EINVAL, PROBE_LOCKDOWN_INTEGRITY},
};

START_TEST(lockdown_is_the_word_in_brackets)
{
	enum probe_lockdown level = PROBE_LOCKDOWN_INTEGRITY;

	ck_assert_int_eq(probe__parse_lockdown(lockdowns[_i].text, &level), lockdowns[_i].error);
	ck_assert_int_eq(level, lockdowns[_i].level);
}
END_TEST

static const struct {
	const char *text;
	int error;
	long value;
} numbers[] = {
	{"0\n", 0, 0},	      {"-1\n", 0, -1},	      {"100000\n", 0, 100000},
	{"4", 0, 4},	      {"", -EINVAL, 77},      {"\n", -EINVAL, 77},
	{"x\n", -EINVAL, 77}, {"1 2\n", -EINVAL, 77}, {"99999999999999999999\n", -EINVAL, 77},
};

START_TEST(number_is_the_whole_text)
{
	long value = 77;

	ck_assert_int_eq(probe__parse_number(numbers[_i].text, &value), numbers[_i].error);
	ck_assert_int_eq(value, numbers[_i].value);
}
END_TEST

static const struct {
	const char *list;
	unsigned count;
} cpu_lists[] = {
	{"0", 1},   {"0-1\n", 2}, {"0-3,5", 5}, {"0,2,4-7\n", 6}, {"0-4095", 4096},
	{"", 0},    {"\n", 0},	  {"x", 0},	{"3-1", 0},	  {"0-", 0},
	{"0-x", 0}, {"0 1", 0},	  {"-1", 0},	{"0,,1", 0},	  {"0-99999999999", 0},
};

START_TEST(cpus_of_a_list_are_counted)
{
	ck_assert_uint_eq(host__count_cpus(cpu_lists[_i].list), cpu_lists[_i].count);
}
END_TEST

START_TEST(admin_stands_for_bpf_and_perfmon_but_not_for_ptrace)
{
	const uint64_t admin = UINT64_C(1) << PROBE_CAP_SYS_ADMIN;

	ck_assert(probe__has_cap(admin, PROBE_CAP_BPF));
	ck_assert(probe__has_cap(admin, PROBE_CAP_PERFMON));
	ck_assert(!probe__has_cap(admin, PROBE_CAP_SYS_PTRACE));
	ck_assert(!probe__has_cap(~(UINT64_C(1) << PROBE_CAP_SYS_PTRACE), PROBE_CAP_SYS_PTRACE));
	ck_assert(!probe__has_cap(UINT64_C(1) << PROBE_CAP_PERFMON, PROBE_CAP_BPF));
	ck_assert(!probe__has_cap(0, PROBE_CAP_SYS_ADMIN));
}
END_TEST

/* --- single checks --- */

static const struct {
	probe_check *check;
	const char *path, *text; /* NULL: no such file */
	const char *caps;	 /* NULL: all of them */
	enum probe_status status;
	const char *detail, *remedy; /* parts of them; NULL: none asked for */
} files[] = {
	{probe__kernel, "/proc/sys/kernel/osrelease", "5.15.0\n", NULL, PROBE_OK, "5.15.0", NULL},
	{probe__kernel, "/proc/sys/kernel/osrelease", "5.14.99\n", NULL, PROBE_FAIL,
	 "5.14.99 is older", "5.15 or later"},
	{probe__kernel, "/proc/sys/kernel/osrelease", "4.19.0\n", NULL, PROBE_FAIL, "4.19.0",
	 "5.15"},
	{probe__kernel, "/proc/sys/kernel/osrelease", "6.0.0\n", NULL, PROBE_OK, "6.0.0", NULL},
	{probe__kernel, "/proc/sys/kernel/osrelease", NULL, NULL, PROBE_FAIL, "cannot be read",
	 "/proc"},
	{probe__btf, "/sys/kernel/btf/vmlinux", "\x9f\xeb 16 bytes and more", NULL, PROBE_OK, "btf",
	 NULL},
	{probe__btf, "/sys/kernel/btf/vmlinux", NULL, NULL, PROBE_FAIL,
	 "BTF type information is missing", "CONFIG_DEBUG_INFO_BTF=y"},
	{probe__btf, "/sys/kernel/btf/vmlinux", "", NULL, PROBE_FAIL, "missing",
	 "CONFIG_DEBUG_INFO_BTF=y"},
	{probe__lockdown, "/sys/kernel/security/lockdown", NULL, NULL, PROBE_OK, "none", NULL},
	{probe__lockdown, "/sys/kernel/security/lockdown", "[none] integrity confidentiality\n",
	 NULL, PROBE_OK, "none", NULL},
	{probe__lockdown, "/sys/kernel/security/lockdown", "none [integrity] confidentiality\n",
	 NULL, PROBE_OK, "integrity", NULL},
	{probe__lockdown, "/sys/kernel/security/lockdown", "none integrity [confidentiality]\n",
	 NULL, PROBE_FAIL, "lockdown", "lockdown=integrity"},
	{probe__lockdown, "/sys/kernel/security/lockdown", "[total]\n", NULL, PROBE_WARN, "[total]",
	 NULL},
	{probe__capabilities, NULL, NULL, CAPS_ALL, PROBE_OK, "CAP_SYS_ADMIN", NULL},
	{probe__capabilities, NULL, NULL, CAPS_TRACE_READ, PROBE_OK, "CAP_BPF", NULL},
	{probe__capabilities, NULL, NULL, CAPS_ADMIN_READ, PROBE_OK, "CAP_BPF", NULL},
	{probe__capabilities, NULL, NULL, CAPS_TRACE, PROBE_WARN, "CAP_SYS_PTRACE is missing",
	 "sudo"},
	{probe__capabilities, NULL, NULL, CAPS_ADMIN, PROBE_WARN, "CAP_SYS_PTRACE is missing",
	 "setcap"},
	{probe__capabilities, NULL, NULL, CAPS_NONE, PROBE_FAIL,
	 "lacks CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE", "sudo"},
	{probe__capabilities, NULL, NULL, "CapEff:\t0000008000080000\n", PROBE_FAIL,
	 "lacks CAP_PERFMON", "setcap"},
	{probe__capabilities, NULL, NULL, "CapEff:\t0000004000080000\n", PROBE_FAIL,
	 "lacks CAP_BPF", "setcap"},
	{probe__capabilities, NULL, NULL, "nonsense\n", PROBE_FAIL, "lacks CAP_BPF", "setcap"},
	{probe__user_namespace, "/proc/self/uid_map", "0 0 4294967295\n", NULL, PROBE_OK, "first",
	 NULL},
	{probe__user_namespace, "/proc/self/uid_map", NULL, NULL, PROBE_OK, NULL, NULL},
	{probe__user_namespace, "/proc/self/uid_map", "0 1000 1\n", NULL, PROBE_FAIL,
	 "user namespace", "on the host"},
	{probe__user_namespace, "/proc/self/uid_map", "0 100000 65536\n", NULL, PROBE_FAIL,
	 "user namespace", NULL},
	{probe__paranoid, "/proc/sys/kernel/perf_event_paranoid", "4\n", CAPS_TRACE, PROBE_OK,
	 "paranoid=4", NULL},
	{probe__paranoid, "/proc/sys/kernel/perf_event_paranoid", "2\n", CAPS_NONE, PROBE_WARN,
	 "paranoid=2", "CAP_PERFMON"},
	{probe__paranoid, "/proc/sys/kernel/perf_event_paranoid", "-1\n", CAPS_NONE, PROBE_OK,
	 "paranoid=-1", NULL},
	{probe__paranoid, "/proc/sys/kernel/perf_event_paranoid", NULL, NULL, PROBE_FAIL,
	 "no perf events", "CONFIG_PERF_EVENTS"},
	{probe__unprivileged_bpf, "/proc/sys/kernel/unprivileged_bpf_disabled", "2\n", NULL,
	 PROBE_OK, "disabled=2", NULL},
	{probe__unprivileged_bpf, "/proc/sys/kernel/unprivileged_bpf_disabled", NULL, NULL,
	 PROBE_OK, NULL, NULL},
	{probe__jit, "/proc/sys/net/core/bpf_jit_enable", "1\n", NULL, PROBE_OK, "on", NULL},
	{probe__jit, "/proc/sys/net/core/bpf_jit_enable", "0\n", NULL, PROBE_WARN, "off",
	 "net.core.bpf_jit_enable=1"},
	{probe__jit, "/proc/sys/net/core/bpf_jit_enable", NULL, NULL, PROBE_OK, NULL, NULL},
	{probe__sample_rate, "/proc/sys/kernel/perf_event_max_sample_rate", "100000\n", NULL,
	 PROBE_OK, "100000", NULL},
	{probe__sample_rate, "/proc/sys/kernel/perf_event_max_sample_rate", "1330\n", NULL,
	 PROBE_OK, "1330", NULL},
	{probe__sample_rate, "/proc/sys/kernel/perf_event_max_sample_rate", "1329\n", NULL,
	 PROBE_WARN, "997 Hz", "max_sample_rate=100000"},
	{probe__cpu_time, "/proc/sys/kernel/perf_cpu_time_max_percent", "25\n", NULL, PROBE_OK,
	 "25", NULL},
	{probe__cpu_time, "/proc/sys/kernel/perf_cpu_time_max_percent", "0\n", NULL, PROBE_OK, "0",
	 NULL},
	{probe__cpu_time, "/proc/sys/kernel/perf_cpu_time_max_percent", "1\n", NULL, PROBE_WARN,
	 "=1", "=25"},
	{probe__clocksource, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
	 "tsc\n", NULL, PROBE_OK, "tsc", NULL},
	{probe__clocksource, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
	 "hpet\n", NULL, PROBE_WARN, "hpet", "available_clocksource"},
	{probe__yama, "/proc/sys/kernel/yama/ptrace_scope", NULL, CAPS_NONE, PROBE_OK, NULL, NULL},
	{probe__yama, "/proc/sys/kernel/yama/ptrace_scope", "0\n", CAPS_NONE, PROBE_OK, NULL, NULL},
	{probe__yama, "/proc/sys/kernel/yama/ptrace_scope", "1\n", CAPS_ALL, PROBE_OK, "=1", NULL},
	{probe__yama, "/proc/sys/kernel/yama/ptrace_scope", "1\n", CAPS_TRACE, PROBE_WARN, "=1",
	 "ptrace_scope=0"},
	{probe__yama, "/proc/sys/kernel/yama/ptrace_scope", "3\n", CAPS_ALL, PROBE_FAIL, "=3",
	 "boot again"},
};

START_TEST(check_judges_the_file_and_names_the_remedy)
{
	struct probe_result result;

	put("/proc/self/status", files[_i].caps ? files[_i].caps : CAPS_ALL);
	if (files[_i].text)
		put(files[_i].path, files[_i].text);
	files[_i].check(root, &result);
	ck_assert_int_eq(result.status, files[_i].status);
	ck_assert_ptr_nonnull(result.name);
	ck_assert_uint_gt(strlen(result.detail), 0);
	ck_assert_uint_lt(strlen(result.detail), sizeof(result.detail) - 1);
	ck_assert_uint_lt(strlen(result.remedy), sizeof(result.remedy) - 1);
	ck_assert_int_eq(result.remedy[0] != '\0', result.status != PROBE_OK);
	if (files[_i].detail)
		ck_assert_msg(strstr(result.detail, files[_i].detail), "detail: %s", result.detail);
	if (files[_i].remedy)
		ck_assert_msg(strstr(result.remedy, files[_i].remedy), "remedy: %s", result.remedy);
}
END_TEST

START_TEST(a_proc_of_another_pid_namespace_is_refused)
{
	struct probe_result result;
	char own[32];

	put_link("/proc/self", "4194305");
	probe__pid_namespace(root, &result);
	ck_assert_int_eq(result.status, PROBE_FAIL);
	ck_assert_ptr_nonnull(strstr(result.remedy, "mount -t proc"));
	snprintf(own, sizeof(own), "%d", getpid());
	put_link("/proc/self", own);
	probe__pid_namespace(root, &result);
	ck_assert_int_eq(result.status, PROBE_OK);
}
END_TEST

START_TEST(pid_namespace_of_a_container_is_a_warning)
{
	struct probe_result result;

	put_link("/proc/self/ns/pid", "pid:[4026531836]");
	probe__pid_namespace(root, &result);
	ck_assert_int_eq(result.status, PROBE_OK);
	put_link("/proc/self/ns/pid", "pid:[4026532999]");
	probe__pid_namespace(root, &result);
	ck_assert_int_eq(result.status, PROBE_WARN);
	ck_assert_ptr_nonnull(strstr(result.remedy, "--pid=host"));
}
END_TEST

static const struct {
	const char *machine;
	enum probe_status status;
} machines[] = {
	{"x86_64", PROBE_OK},	 {"aarch64", PROBE_OK}, {"i686", PROBE_FAIL},
	{"riscv64", PROBE_FAIL}, {"", PROBE_FAIL},
};

START_TEST(architecture_is_64_bit_x86_or_arm)
{
	struct probe_result result;

	probe__architecture(machines[_i].machine, &result);
	ck_assert_int_eq(result.status, machines[_i].status);
}
END_TEST

/* --- may this process record --- */

static const struct {
	const char *path,
		*text; /* what differs from the good machine; text NULL: the file is missing */
	int error;
	const char *reason[3]; /* parts of the reason */
} recordings[] = {
	{NULL, NULL, 0, {NULL}},
	{"/proc/self/status", CAPS_ADMIN, 0, {NULL}},
	/* Processes of the same user can be recorded without CAP_SYS_PTRACE. */
	{"/proc/self/status", CAPS_TRACE, 0, {NULL}},
	{"/proc/self/status",
	 CAPS_NONE,
	 -EPERM,
	 {"CAP_BPF", "CAP_PERFMON and CAP_SYS_PTRACE", "sudo"}},
	{"/sys/kernel/btf/vmlinux", NULL, -ENOENT, {"BTF", "CONFIG_DEBUG_INFO_BTF=y", NULL}},
	{"/proc/sys/kernel/osrelease", "5.10.0-28-amd64\n", -ENOSYS, {"5.10.0", "5.15", NULL}},
	{"/sys/kernel/security/lockdown",
	 "none integrity [confidentiality]\n",
	 -EPERM,
	 {"confidentiality", "lockdown=integrity", NULL}},
	{"/proc/self/uid_map", "0 1000 1\n", -EPERM, {"user namespace", "host", NULL}},
	{"/proc/sys/kernel/perf_event_paranoid",
	 NULL,
	 -ENOSYS,
	 {"perf events", "CONFIG_PERF_EVENTS", NULL}},
	{"/proc/sys/kernel/perf_event_paranoid", "3\n", 0, {NULL}},
};

START_TEST(recording_is_refused_with_what_is_missing_and_the_remedy)
{
	char reason[512] = "untouched", full[PATH_MAX];

	put_good_machine();
	if (recordings[_i].text) {
		put(recordings[_i].path, recordings[_i].text);
	} else if (recordings[_i].path) {
		snprintf(full, sizeof(full), "%s%s", root, recordings[_i].path);
		ck_assert_int_eq(unlink(full), 0);
	}
	ck_assert_int_eq(probe__can_record_under(root, "x86_64", reason, sizeof(reason)),
			 recordings[_i].error);
	if (!recordings[_i].error)
		ck_assert_str_eq(reason, "untouched");
	for (size_t i = 0; i < COUNT(recordings[_i].reason) && recordings[_i].reason[i]; i++)
		ck_assert_msg(strstr(reason, recordings[_i].reason[i]), "reason: %s", reason);
	ck_assert_ptr_null(strchr(reason, '\n'));
}
END_TEST

START_TEST(recording_is_refused_on_other_architectures)
{
	char reason[512];

	put_good_machine();
	ck_assert_int_eq(probe__can_record_under(root, "s390x", reason, sizeof(reason)), -ENOSYS);
	ck_assert_ptr_nonnull(strstr(reason, "s390x"));
}
END_TEST

START_TEST(reason_is_cut_to_its_size)
{
	char reason[8] = "xxxxxxx";

	put_good_machine();
	put("/proc/self/status", CAPS_NONE);
	ck_assert_int_eq(probe__can_record_under(root, "x86_64", reason, 4), -EPERM);
	ck_assert_uint_eq(strlen(reason), 3);
	ck_assert_int_eq(reason[4], 'x');
}
END_TEST

START_TEST(own_memory_can_be_read_and_that_of_nobody_cannot)
{
	struct probe_result result;
	char reason[512];
	pid_t child;

	ck_assert_int_eq(probe__can_read(getpid(), reason, sizeof(reason)), 0);
	child = fork();
	if (child == 0)
		_exit(0);
	/* A zombie first, gone after it is waited for. */
	ck_assert_int_eq(waitid(P_PID, (id_t)child, NULL, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(probe__memory(child, &result), -ESRCH);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	ck_assert_int_eq(probe__can_read(child, reason, sizeof(reason)), -ESRCH);
	ck_assert_ptr_nonnull(strstr(reason, "has ended"));
}
END_TEST

/* --- host --- */

static const struct {
	const char *flags; /* NULL: not an x86 */
	const char *path, *text;
	const char *found; /* NULL: not known */
} hosts[] = {
	{"fpu vme", NULL, NULL, "none"},
	{"fpu vme", "/sys/class/dmi/id/sys_vendor", "QEMU\n", "none"},
	{"fpu hypervisor vme", NULL, NULL, "vm"},
	{"fpu hypervisor", NULL, NULL, "vm"},
	{"fpu nohypervisor", NULL, NULL, "none"},
	{"hypervisor", "/sys/devices/system/clocksource/clocksource0/available_clocksource",
	 "kvm-clock tsc acpi_pm\n", "kvm"},
	{"hypervisor", "/sys/hypervisor/type", "xen\n", "xen"},
	{"hypervisor", "/sys/class/dmi/id/product_name", "VMware Virtual Platform\n", "vmware"},
	{"hypervisor", "/sys/class/dmi/id/product_name", "Virtual Machine\n", "hyperv"},
	{"hypervisor", "/sys/class/dmi/id/sys_vendor", "Amazon EC2\n", "amazon"},
	{NULL, NULL, NULL, NULL},
	{NULL, "/sys/class/dmi/id/product_name", "PowerEdge\n", "none"},
	{NULL, "/sys/class/dmi/id/product_name", "c7g.metal\n", "none"},
	{NULL, "/proc/device-tree/hypervisor/compatible", "linux,kvm", "kvm"},
	{NULL, "/proc/device-tree/compatible", "linux,dummy-virt", "qemu"},
};

START_TEST(virtualization_is_told_by_the_hypervisors_signs)
{
	char cpuinfo[256];
	const char *found;

	if (hosts[_i].flags)
		snprintf(cpuinfo, sizeof(cpuinfo),
			 "processor\t: 0\nflags\t\t: %s\n\nprocessor\t: 1\n", hosts[_i].flags);
	else
		snprintf(cpuinfo, sizeof(cpuinfo), "processor\t: 0\nFeatures\t: fp asimd\n");
	put("/proc/cpuinfo", cpuinfo);
	if (hosts[_i].path)
		put(hosts[_i].path, hosts[_i].text);
	found = host__virtualization(root);
	if (hosts[_i].found)
		ck_assert_str_eq(found, hosts[_i].found);
	else
		ck_assert_ptr_null(found);
}
END_TEST

static void free_host(struct profile_host *host)
{
	free(host->kernel);
	free(host->machine);
	free(host->cpu_model);
	free(host->virtualization);
}

static const struct {
	const char *cpuinfo, *model; /* model NULL: not known */
} models[] = {
	{"processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7B13\nflags\t\t: fpu\n",
	 "AMD EPYC 7B13"},
	{"processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n", "Arm Neoverse-N1"},
	{"CPU implementer\t: 0x99\nCPU part\t: 0x123\n", "implementer 0x99 part 0x123"},
	{"processor\t: 0\nmodel name\t:\n", NULL},
	{"", NULL},
};

START_TEST(host_is_read_from_the_tree)
{
	struct profile_host host;

	put("/proc/sys/kernel/osrelease", "5.15.0-test\n");
	put("/proc/cpuinfo", models[_i].cpuinfo);
	put("/sys/devices/system/cpu/online", "0-2,7\n");
	ck_assert_int_eq(host__read(root, &host), 0);
	ck_assert_str_eq(host.kernel, "5.15.0-test");
	ck_assert_uint_eq(host.cpus, 4);
	if (models[_i].model)
		ck_assert_str_eq(host.cpu_model, models[_i].model);
	else
		ck_assert_ptr_null(host.cpu_model);
	free_host(&host);
}
END_TEST

START_TEST(host_of_an_empty_tree_has_one_cpu_and_no_guesses)
{
	struct profile_host host;

	ck_assert_int_eq(host__read(root, &host), 0);
	ck_assert_uint_eq(host.cpus, 1);
	ck_assert_ptr_null(host.cpu_model);
	ck_assert_ptr_null(host.virtualization);
	ck_assert_ptr_nonnull(host.kernel);
	free_host(&host);
}
END_TEST

START_TEST(file_is_read_up_to_the_size_and_without_its_newline)
{
	char text[5] = "";

	put("/a/file", "abcd\n");
	ck_assert_int_eq(host__read_file(root, "/a/file", text, sizeof(text)), -EFBIG);
	ck_assert_str_eq(text, "abcd");
	put("/a/file", "abc\n");
	ck_assert_int_eq(host__read_file(root, "/a/file", text, sizeof(text)), 3);
	ck_assert_str_eq(text, "abc");
	put("/a/file", "");
	ck_assert_int_eq(host__read_file(root, "/a/file", text, sizeof(text)), 0);
	ck_assert_str_eq(text, "");
	ck_assert_int_eq(host__read_file(root, "/a/none", text, sizeof(text)), -ENOENT);
	ck_assert_int_eq(host__read_file(root, "/a", text, sizeof(text)), -EISDIR);
}
END_TEST

Suite *probe_suite(void)
{
	Suite *suite = suite_create("probe");
	TCase *parsers = tcase_create("parsers");
	TCase *trees = tcase_create("trees");

	tcase_add_loop_test(parsers, version_is_the_first_two_numbers, 0, COUNT(releases));
	tcase_add_loop_test(parsers, caps_are_those_of_the_effective_set, 0, COUNT(statuses));
	tcase_add_loop_test(parsers, lockdown_is_the_word_in_brackets, 0, COUNT(lockdowns));
	tcase_add_loop_test(parsers, number_is_the_whole_text, 0, COUNT(numbers));
	tcase_add_loop_test(parsers, cpus_of_a_list_are_counted, 0, COUNT(cpu_lists));
	tcase_add_test(parsers, admin_stands_for_bpf_and_perfmon_but_not_for_ptrace);
	tcase_add_loop_test(parsers, architecture_is_64_bit_x86_or_arm, 0, COUNT(machines));
	tcase_add_test(parsers, own_memory_can_be_read_and_that_of_nobody_cannot);
	suite_add_tcase(suite, parsers);

	tcase_add_checked_fixture(trees, make_root, remove_root);
	tcase_add_loop_test(trees, check_judges_the_file_and_names_the_remedy, 0, COUNT(files));
	tcase_add_test(trees, a_proc_of_another_pid_namespace_is_refused);
	tcase_add_test(trees, pid_namespace_of_a_container_is_a_warning);
	tcase_add_loop_test(trees, recording_is_refused_with_what_is_missing_and_the_remedy, 0,
			    COUNT(recordings));
	tcase_add_test(trees, recording_is_refused_on_other_architectures);
	tcase_add_test(trees, reason_is_cut_to_its_size);
	tcase_add_loop_test(trees, virtualization_is_told_by_the_hypervisors_signs, 0,
			    COUNT(hosts));
	tcase_add_loop_test(trees, host_is_read_from_the_tree, 0, COUNT(models));
	tcase_add_test(trees, host_of_an_empty_tree_has_one_cpu_and_no_guesses);
	tcase_add_test(trees, file_is_read_up_to_the_size_and_without_its_newline);
	suite_add_tcase(suite, trees);
	return suite;
}
