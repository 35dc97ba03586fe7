/* SPDX-License-Identifier: MIT */
/*
 * image - finds the ELF notes of the modules that a process has mapped, in its memory, so it works
 * when the files are gone, replaced or in another mount namespace. Trusts nothing it reads: every
 * offset and size is bounded.
 */
#ifndef TICKSNICK_IMAGE_H
#define TICKSNICK_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "remote.h"

/*
 * Looks through the notes of the module at base. 0; -ENOENT if it is no ELF module of 64 bits or
 * has no such note; -EPERM if the process may not be read, -ESRCH if it has ended, -ETIMEDOUT if it
 * takes too long. If the note stands there several times the first one counts.
 */

/* *descriptor: address of the module's struct tsn_process. */
int image__find_descriptor(const struct remote *remote, uint64_t base, uint64_t *descriptor);

/* The GNU build id as lower-case hex. */
int image__build_id(const struct remote *remote, uint64_t base, char hex[129]);

#endif
