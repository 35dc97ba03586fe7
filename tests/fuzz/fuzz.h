/* SPDX-License-Identifier: MIT */
/*
 * fuzz - what the fuzz targets share. A target is one file fuzz_NAME.c with LLVMFuzzerTestOneInput,
 * which builds something valid, changes it as the input says, and asserts more than that nothing
 * crashes.
 */
#ifndef TICKSNICK_TESTS_FUZZ_H
#define TICKSNICK_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"
#include "remote.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define fuzz_assert(condition)                                                            \
	do {                                                                              \
		if (!(condition)) {                                                       \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, \
				#condition);                                              \
			abort();                                                          \
		}                                                                         \
	} while (0)

/* ---- the input, taken from its front; zeros when it is used up ---- */

struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

static inline void fuzz_take(struct fuzz_input *input, void *to, size_t size)
{
	size_t n = size < input->left ? size : input->left;

	memset(to, 0, size);
	memcpy(to, input->at, n);
	input->at += n;
	input->left -= n;
}

static inline uint64_t fuzz_number(struct fuzz_input *input, size_t bytes)
{
	uint64_t value = 0;

	fuzz_take(input, &value, bytes);
	return value;
}

/* ---- memory that somebody else controls ---- */

/* At most so many bytes are given out; then reading does not end, as it would for the recorder. */
#define FUZZ_BYTES_MAX (16u << 20)

/* element_count elements of element_size bytes; there are bytes for the first element_kept ones,
 * which the others repeat. */
struct fuzz_region {
	uint64_t address;
	uint64_t element_size, element_count, element_kept;
	uint8_t *bytes;
	int gone;
};

struct fuzz_memory {
	struct fuzz_region *regions;
	size_t count;
	uint64_t reads, bytes_asked; /* since last set to 0 */
	uint64_t bytes_left;
	void (*before)(uint64_t address); /* called before each read; NULL: nothing */
};

struct remote fuzz_remote(struct fuzz_memory *memory);

/* ---- what is written of a profile ---- */

/*
 * Renders it in every format and asserts that no name can move a cursor, that all is valid UTF-8,
 * and that the JSON, read again, gives the same JSON. The report must be readable.
 */
void fuzz_show(const struct profile *profile);

#endif
