// SPDX-License-Identifier: MIT
#include "image.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ticksnick/slot.h>

#define HEADERS_MAX 128	      /* program headers looked at */
#define NOTES_MAX   (1 << 16) /* bytes of the note segments of one module looked at */

struct note_wanted {
	const char *owner;
	uint32_t type;
	size_t size_min, size_max; /* of the descriptor */
};

/* A note's descriptor: where it is and its first bytes. */
struct note_found {
	uint64_t address;
	size_t size;
	unsigned char bytes[64];
};

static size_t aligned(size_t n, size_t align)
{
	return (n + align - 1) / align * align;
}

static int notes_search(const unsigned char *notes, size_t size, size_t align, uint64_t address,
			const struct note_wanted *wanted, struct note_found *found)
{
	size_t owner_size = strlen(wanted->owner) + 1, at = 0;

	while (size - at >= sizeof(Elf64_Nhdr)) {
		size_t name_at = at + sizeof(Elf64_Nhdr), data_at, end;
		Elf64_Nhdr header;

		memcpy(&header, notes + at, sizeof(header));
		if (header.n_namesz > size || header.n_descsz > size)
			return -ENOENT;
		data_at = aligned(name_at + header.n_namesz, align);
		end = data_at + header.n_descsz;
		if (end > size)
			return -ENOENT;
		if (header.n_type == wanted->type && header.n_namesz == owner_size &&
		    !memcmp(notes + name_at, wanted->owner, owner_size) &&
		    header.n_descsz >= wanted->size_min && header.n_descsz <= wanted->size_max) {
			found->address = address + data_at;
			found->size = header.n_descsz;
			memcpy(found->bytes, notes + data_at, header.n_descsz);
			return 0;
		}
		at = aligned(end, align);
		if (at > size)
			return -ENOENT;
	}
	return -ENOENT;
}

/* *left: bytes that may still be looked at. */
static int segment_search(const struct remote *remote, const Elf64_Phdr *segment, uint64_t bias,
			  const struct note_wanted *wanted, size_t *left, struct note_found *found)
{
	size_t size = segment->p_memsz < *left ? segment->p_memsz : *left;
	unsigned char *notes;
	int err;

	if (size < sizeof(Elf64_Nhdr))
		return -ENOENT;
	*left -= size;
	notes = malloc(size);
	if (!notes)
		return -ENOMEM;
	err = remote__read(remote, bias + segment->p_vaddr, notes, size);
	if (!err)
		err = notes_search(notes, size, segment->p_align == 8 ? 8 : 4,
				   bias + segment->p_vaddr, wanted, found);
	free(notes);
	return err;
}

static bool header_fits(const Elf64_Ehdr *header)
{
	return !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum &&
	       header->e_phnum <= HEADERS_MAX;
}

static int note_find(const struct remote *remote, uint64_t base, const struct note_wanted *wanted,
		     struct note_found *found)
{
	Elf64_Phdr segments[HEADERS_MAX];
	Elf64_Ehdr header;
	uint64_t bias = 0;
	bool biased = false;
	size_t left = NOTES_MAX, i;
	int err;

	err = remote__read(remote, base, &header, sizeof(header));
	if (!err && header_fits(&header))
		err = remote__read(remote, base + header.e_phoff, segments,
				   header.e_phnum * sizeof(segments[0]));
	else if (!err)
		err = -ENOENT;
	if (err)
		return err == -EPERM || err == -ESRCH || err == -ETIMEDOUT ? err : -ENOENT;
	for (i = 0; i < header.e_phnum && !biased; i++) {
		if (segments[i].p_type != PT_LOAD || segments[i].p_offset)
			continue;
		bias = base - segments[i].p_vaddr;
		biased = true;
	}
	for (i = 0; i < header.e_phnum && biased; i++) {
		if (segments[i].p_type != PT_NOTE)
			continue;
		err = segment_search(remote, &segments[i], bias, wanted, &left, found);
		if (!err || err == -ETIMEDOUT)
			return err;
	}
	return -ENOENT;
}

int image__find_descriptor(const struct remote *remote, uint64_t base, uint64_t *descriptor)
{
	static const struct note_wanted wanted = {TSN_NOTE_OWNER, TSN_NOTE_TYPE, 8, 8};
	struct note_found found;
	int64_t offset;
	int err = note_find(remote, base, &wanted, &found);

	if (err)
		return err;
	memcpy(&offset, found.bytes, sizeof(offset));
	*descriptor = found.address + (uint64_t)offset;
	return 0;
}

int image__build_id(const struct remote *remote, uint64_t base, char hex[129])
{
	static const struct note_wanted wanted = {ELF_NOTE_GNU, NT_GNU_BUILD_ID, 1, 64};
	struct note_found found;
	int err = note_find(remote, base, &wanted, &found);
	size_t i;

	if (err)
		return err;
	for (i = 0; i < found.size; i++)
		snprintf(hex + 2 * i, 3, "%02x", found.bytes[i]);
	return 0;
}
