/* SPDX-License-Identifier: MIT */
/*
 * host - the machine a session ran on, as reports name it.
 */
#ifndef TICKSNICK_HOST_H
#define TICKSNICK_HOST_H

#include "profile.h"

/*
 * Fills *host from the files under root ("" for this machine itself). What cannot be found stays
 * NULL, cpus at least 1. The strings are the caller's (profile__free frees those of a profile). 0
 * or -ENOMEM, and then nothing was filled in.
 */
int host__read(const char *root, struct profile_host *host);

/*
 * How many CPUs a list such as "0-3,5" names (/sys/devices/system/cpu/online); 0: malformed.
 */
unsigned host__count_cpus(const char *list);

/*
 * What hosts this machine: "none" or "kvm", "xen", "vmware" ...; "vm" for a hypervisor that does
 * not say which; NULL: not known.
 */
const char *host__virtualization(const char *root);

/*
 * Reads a small file under root into text as a string without trailing newlines. Its length, or a
 * negative errno; -EFBIG where it does not fit, and then text holds what does.
 */
long host__read_file(const char *root, const char *path, char *text, size_t size);

#endif
