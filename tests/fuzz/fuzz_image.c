// SPDX-License-Identifier: MIT
/*
 * The notes of a module: a valid one, over which the input lays bytes. Records of it: offset (2
 * bytes), length (1 byte, modulo 32), bytes. An input that begins with ELF's magic is a module as
 * it is.
 */
#include <elf.h>

#include <ticksnick/slot.h>

#include "fuzz.h"
#include "image.h"

#define BASE	    0x400000u
#define MODULE_SIZE 0x2000
#define NOTES_AT    0x200
#define READS_MAX   (2 + 128)
#define BYTES_MAX   (sizeof(Elf64_Ehdr) + 128 * sizeof(Elf64_Phdr) + (1 << 16))

static uint8_t module[MODULE_SIZE];

static size_t note_put(size_t at, const char *owner, uint32_t type, const void *data, uint32_t size)
{
	Elf64_Nhdr header = {(uint32_t)strlen(owner) + 1, size, type};

	memcpy(module + at, &header, sizeof(header));
	at += sizeof(header);
	memcpy(module + at, owner, header.n_namesz);
	at += (header.n_namesz + 3) / 4 * 4;
	memcpy(module + at, data, size);
	return at + (size + 3) / 4 * 4;
}

static void module_build(void)
{
	int64_t offset = 0x5000;
	size_t end;
	Elf64_Ehdr header = {
		.e_phoff = sizeof(header), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 3};
	Elf64_Phdr segments[3] = {
		{.p_type = PT_LOAD, .p_vaddr = 0x1000, .p_memsz = MODULE_SIZE},
		{.p_type = PT_NOTE, .p_vaddr = 0x1000 + NOTES_AT, .p_align = 4},
		{.p_type = PT_NOTE, .p_vaddr = 0x1000 + NOTES_AT, .p_align = 8},
	};

	memset(module, 0, sizeof(module));
	end = note_put(NOTES_AT, "GNU", NT_GNU_BUILD_ID, "0123456789abcdefghij", 20);
	end = note_put(end, TSN_NOTE_OWNER, TSN_NOTE_TYPE, &offset, sizeof(offset));
	segments[1].p_memsz = segments[2].p_memsz = end - NOTES_AT;
	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	memcpy(module, &header, sizeof(header));
	memcpy(module + sizeof(header), segments, sizeof(segments));
}

static void module_change(struct fuzz_input input)
{
	while (input.left) {
		size_t at = fuzz_number(&input, 2) % MODULE_SIZE, n = fuzz_number(&input, 1) % 32;

		n = n < MODULE_SIZE - at ? n : MODULE_SIZE - at;
		n = n < input.left ? n : input.left;
		fuzz_take(&input, module + at, n);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_region region = {.address = BASE,
				     .element_size = MODULE_SIZE,
				     .element_count = 40,
				     .element_kept = 1,
				     .bytes = module};
	struct fuzz_memory memory = {.regions = &region, .count = 1};
	struct remote remote = fuzz_remote(&memory);
	uint64_t descriptor = 7;
	char hex[129];
	int err;

	module_build();
	if (size >= SELFMAG && !memcmp(data, ELFMAG, SELFMAG))
		memcpy(module, data, size < MODULE_SIZE ? size : MODULE_SIZE);
	else
		module_change((struct fuzz_input){data, size});

	err = image__find_descriptor(&remote, BASE, &descriptor);
	fuzz_assert(!err || descriptor == 7);
	fuzz_assert(memory.reads <= READS_MAX && memory.bytes_asked <= BYTES_MAX);
	if (!size)
		fuzz_assert(!err);

	memory.reads = memory.bytes_asked = 0;
	memset(hex, '?', sizeof(hex));
	err = image__build_id(&remote, BASE, hex);
	fuzz_assert(memory.reads <= READS_MAX && memory.bytes_asked <= BYTES_MAX);
	if (!err) {
		fuzz_assert(memchr(hex, 0, sizeof(hex)));
		fuzz_assert(*hex && strspn(hex, "0123456789abcdef") == strlen(hex));
	}
	return 0;
}
