// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/utsname.h>

#include "host.h"

#define TEXT_SIZE 8192

long host__read_file(const char *root, const char *path, char *text, size_t size)
{
	char full[PATH_MAX], extra;
	size_t length = 0;
	ssize_t got = 0;
	int file, error = 0;

	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full))
		return -ENAMETOOLONG;
	file = open(full, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return -errno;
	while (length < size - 1) {
		got = read(file, text + length, size - 1 - length);
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	if (got < 0)
		error = -errno;
	else if (length == size - 1 && read(file, &extra, 1) == 1)
		error = -EFBIG;
	close(file);
	while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\0'))
		length--;
	text[length] = '\0';
	return error ? error : (long)length;
}

/* Whether text was read, if only its beginning. */
static bool read_text(const char *root, const char *path, char *text, size_t size)
{
	long length = host__read_file(root, path, text, size);

	return length >= 0 || length == -EFBIG;
}

unsigned host__count_cpus(const char *list)
{
	unsigned count = 0;

	while (*list && *list != '\n') {
		unsigned long first, last;
		char *end;

		if (*list < '0' || *list > '9')
			return 0;
		first = last = strtoul(list, &end, 10);
		if (*end == '-') {
			if (end[1] < '0' || end[1] > '9')
				return 0;
			last = strtoul(end + 1, &end, 10);
		}
		if (last < first || last > INT_MAX / 2 || (*end && *end != ',' && *end != '\n'))
			return 0;
		count += (unsigned)(last - first + 1);
		list = *end == ',' ? end + 1 : end;
	}
	return count;
}

/* The value of a "name : value" line of /proc/cpuinfo; NULL: no such line. */
static char *cpuinfo_value(char *cpuinfo, const char *name, char *value, size_t size)
{
	size_t name_length = strlen(name);

	for (char *line = cpuinfo; line; line = strchr(line, '\n')) {
		size_t length;

		line += *line == '\n';
		if (strncmp(line, name, name_length))
			continue;
		line += name_length;
		line += strspn(line, " \t");
		if (*line != ':')
			continue;
		line += 1 + strspn(line + 1, " \t");
		length = strcspn(line, "\n");
		if (length >= size)
			length = size - 1;
		memcpy(value, line, length);
		value[length] = '\0';
		return value;
	}
	return NULL;
}

/* arm64's /proc/cpuinfo has numbers alone; the names are those of the Arm manuals (MIDR_EL1). */
static const struct {
	unsigned long implementer, part;
	const char *name;
} arm_parts[] = {
	{0x41, 0xd03, "Arm Cortex-A53"},       {0x41, 0xd08, "Arm Cortex-A72"},
	{0x41, 0xd0b, "Arm Cortex-A76"},       {0x41, 0xd0c, "Arm Neoverse-N1"},
	{0x41, 0xd40, "Arm Neoverse-V1"},      {0x41, 0xd49, "Arm Neoverse-N2"},
	{0x41, 0xd4f, "Arm Neoverse-V2"},      {0x61, 0x022, "Apple M1 (Icestorm)"},
	{0x61, 0x023, "Apple M1 (Firestorm)"}, {0xc0, 0xac3, "Ampere-1"},
};

static char *cpu_model(const char *root)
{
	char cpuinfo[TEXT_SIZE], value[256], part[64], name[64];
	unsigned long implementer, number;

	if (!read_text(root, "/proc/cpuinfo", cpuinfo, sizeof(cpuinfo)))
		return NULL;
	if (cpuinfo_value(cpuinfo, "model name", value, sizeof(value)) && value[0])
		return strdup(value);
	if (!cpuinfo_value(cpuinfo, "CPU implementer", value, sizeof(value)) ||
	    !cpuinfo_value(cpuinfo, "CPU part", part, sizeof(part)))
		return NULL;
	implementer = strtoul(value, NULL, 0);
	number = strtoul(part, NULL, 0);
	for (size_t i = 0; i < sizeof(arm_parts) / sizeof(arm_parts[0]); i++) {
		if (arm_parts[i].implementer == implementer && arm_parts[i].part == number)
			return strdup(arm_parts[i].name);
	}
	snprintf(name, sizeof(name), "implementer 0x%lx part 0x%lx", implementer, number);
	return strdup(name);
}

static const struct {
	const char *path, *text, *name;
} hypervisor_signs[] = {
	{"/sys/hypervisor/type", "xen", "xen"},
	{"/sys/devices/system/clocksource/clocksource0/available_clocksource", "kvm-clock", "kvm"},
	{"/sys/devices/system/clocksource/clocksource0/available_clocksource", "hyperv", "hyperv"},
	{"/sys/devices/system/clocksource/clocksource0/available_clocksource", "xen", "xen"},
	{"/sys/class/dmi/id/product_name", "KVM", "kvm"},
	{"/sys/class/dmi/id/product_name", "VMware", "vmware"},
	{"/sys/class/dmi/id/product_name", "VirtualBox", "virtualbox"},
	{"/sys/class/dmi/id/product_name", "Google Compute Engine", "google"},
	{"/sys/class/dmi/id/product_name", "Virtual Machine", "hyperv"},
	{"/sys/class/dmi/id/product_name", "OpenStack", "openstack"},
	{"/sys/class/dmi/id/sys_vendor", "QEMU", "qemu"},
	{"/sys/class/dmi/id/sys_vendor", "Xen", "xen"},
	{"/sys/class/dmi/id/sys_vendor", "Amazon EC2", "amazon"},
	{"/sys/class/dmi/id/sys_vendor", "Parallels", "parallels"},
	{"/proc/device-tree/hypervisor/compatible", "linux,kvm", "kvm"},
	{"/proc/device-tree/hypervisor/compatible", "xen", "xen"},
	{"/proc/device-tree/compatible", "linux,dummy-virt", "qemu"},
};

/* Whether an x86 processor says that it is a virtual one: 1 or 0; -1: not an x86, or not known. */
static int hypervisor_bit(const char *root)
{
	char cpuinfo[TEXT_SIZE], *flags;

	if (!read_text(root, "/proc/cpuinfo", cpuinfo, sizeof(cpuinfo) - 1))
		return -1;
	flags = strstr(cpuinfo, "\nflags\t");
	if (!flags)
		return -1;
	flags[1 + strcspn(flags + 1, "\n")] = '\0';
	strcat(flags, " ");
	return strstr(flags, " hypervisor ") != NULL;
}

const char *host__virtualization(const char *root)
{
	char text[TEXT_SIZE];
	int bit = hypervisor_bit(root);
	bool has_dmi;

	if (bit == 0)
		return "none";
	has_dmi = read_text(root, "/sys/class/dmi/id/product_name", text, sizeof(text));
	/* Amazon's bare machines name themselves so. */
	if (has_dmi && strstr(text, ".metal"))
		return "none";
	for (size_t i = 0; i < sizeof(hypervisor_signs) / sizeof(hypervisor_signs[0]); i++) {
		if (read_text(root, hypervisor_signs[i].path, text, sizeof(text)) &&
		    strstr(text, hypervisor_signs[i].text))
			return hypervisor_signs[i].name;
	}
	if (bit == 1)
		return "vm";
	return has_dmi ? "none" : NULL;
}

int host__read(const char *root, struct profile_host *host)
{
	const char *virtualization = host__virtualization(root);
	struct profile_host found = {.cpus = 0};
	struct utsname names;
	char text[TEXT_SIZE];

	if (uname(&names))
		return -errno;
	if (!read_text(root, "/proc/sys/kernel/osrelease", text, sizeof(text)))
		snprintf(text, sizeof(text), "%s", names.release);
	found.kernel = strdup(text);
	found.machine = strdup(names.machine);
	found.cpu_model = cpu_model(root);
	if (virtualization)
		found.virtualization = strdup(virtualization);
	if (read_text(root, "/sys/devices/system/cpu/online", text, sizeof(text)))
		found.cpus = host__count_cpus(text);
	if (found.cpus == 0)
		found.cpus = 1;
	if (!found.kernel || !found.machine || (virtualization && !found.virtualization)) {
		free(found.kernel);
		free(found.machine);
		free(found.cpu_model);
		free(found.virtualization);
		return -ENOMEM;
	}
	*host = found;
	return 0;
}
