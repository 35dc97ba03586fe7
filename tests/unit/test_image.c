// SPDX-License-Identifier: MIT
/* ELF notes in somebody else's memory, right and wrong. */
#include <check.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include <ticksnick/slot.h>

#include "image.h"
#include "memory.h"
#include "suites.h"

#define BASE	    0x400000u
#define NOTE_OFFSET 0x200

/* A module of one page: header, two segments, one note. */
static struct {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	char gap[NOTE_OFFSET - sizeof(Elf64_Ehdr) - 2 * sizeof(Elf64_Phdr)];
	Elf64_Nhdr foreign; /* another owner's note comes first */
	char foreign_owner[4];
	uint32_t foreign_data;
	Elf64_Nhdr note;
	char owner[12];
	int64_t offset;
	char rest[0x1000 - NOTE_OFFSET - 2 * sizeof(Elf64_Nhdr) - 28];
} __attribute__((packed)) module;

static struct memory memory;
static struct remote remote;
static uint64_t descriptor;

static void setup(void)
{
	memset(&module, 0, sizeof(module));
	memset(&memory, 0, sizeof(memory));
	memcpy(module.header.e_ident, ELFMAG, SELFMAG);
	module.header.e_ident[EI_CLASS] = ELFCLASS64;
	module.header.e_phoff = sizeof(Elf64_Ehdr);
	module.header.e_phentsize = sizeof(Elf64_Phdr);
	module.header.e_phnum = 2;
	module.segments[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = 0x1000, .p_memsz = 0x1000};
	module.segments[1] = (Elf64_Phdr){.p_type = PT_NOTE,
					  .p_vaddr = 0x1000 + NOTE_OFFSET,
					  .p_memsz = 2 * sizeof(Elf64_Nhdr) + 28,
					  .p_align = 4};
	module.foreign = (Elf64_Nhdr){.n_namesz = 4, .n_descsz = 4, .n_type = TSN_NOTE_TYPE};
	memcpy(module.foreign_owner, "GNU", 4);
	module.note = (Elf64_Nhdr){.n_namesz = 10, .n_descsz = 8, .n_type = TSN_NOTE_TYPE};
	memcpy(module.owner, "ticksnick", 10);
	module.offset = 0x5000;
	memory_map(&memory, BASE, &module, sizeof(module));
	remote = memory_remote(&memory);
	descriptor = 7;
}

START_TEST(the_note_leads_to_the_descriptor)
{
	uint64_t at = BASE + NOTE_OFFSET + 2 * sizeof(Elf64_Nhdr) + 20;

	ck_assert_int_eq(image__find_descriptor(&remote, BASE, &descriptor), 0);
	ck_assert_uint_eq(descriptor, at + 0x5000);
	module.offset = -16;
	ck_assert_int_eq(image__find_descriptor(&remote, BASE, &descriptor), 0);
	ck_assert_uint_eq(descriptor, at - 16);
}
END_TEST

static const struct {
	const char *name;
	size_t offset, size;
	uint64_t value;
} lies[] = {
#define AT(field) offsetof(__typeof__(module), field), sizeof(module.field)
	{"no ELF", AT(header.e_ident[0]), 0},
	{"32 bits", AT(header.e_ident[EI_CLASS]), ELFCLASS32},
	{"no segments", AT(header.e_phnum), 0},
	{"too many segments", AT(header.e_phnum), 0xffff},
	{"segments of another size", AT(header.e_phentsize), 32},
	{"segments elsewhere", AT(header.e_phoff), 0x100000},
	{"segments at the end of all memory", AT(header.e_phoff), UINT64_MAX - BASE},
	{"no first segment", AT(segments[0].p_type), PT_NULL},
	{"notes elsewhere", AT(segments[1].p_vaddr), UINT64_MAX},
	{"notes beyond the module", AT(segments[1].p_memsz), UINT64_MAX},
	{"no room for a note", AT(segments[1].p_memsz), 4},
	{"a name longer than all notes", AT(foreign.n_namesz), UINT32_MAX},
	{"a descriptor longer than all notes", AT(foreign.n_descsz), UINT32_MAX},
	{"a note cut short", AT(segments[1].p_memsz), 2 * sizeof(Elf64_Nhdr) + 27},
	{"another owner", AT(owner[0]), 'T'},
	{"another type", AT(note.n_type), 2},
	{"an owner without its NUL", AT(note.n_namesz), 9},
	{"a descriptor of another size", AT(note.n_descsz), 4},
};

START_TEST(a_module_that_lies_has_no_note)
{
	memcpy((char *)&module + lies[_i].offset, &lies[_i].value, lies[_i].size);
	ck_assert_msg(image__find_descriptor(&remote, BASE, &descriptor) == -ENOENT, "%s",
		      lies[_i].name);
	ck_assert_uint_eq(descriptor, 7);
}
END_TEST

START_TEST(the_build_id_is_hexadecimal)
{
	char hex[129] = "";

	module.foreign.n_type = NT_GNU_BUILD_ID;
	module.foreign_data = 0x0badf00d;
	ck_assert_int_eq(image__build_id(&remote, BASE, hex), 0);
	ck_assert_str_eq(hex, "0df0ad0b");
}
END_TEST

Suite *image_suite(void)
{
	Suite *suite = suite_create("image");
	TCase *tcase = tcase_create("notes");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, the_note_leads_to_the_descriptor);
	tcase_add_loop_test(tcase, a_module_that_lies_has_no_note, 0,
			    sizeof(lies) / sizeof(lies[0]));
	tcase_add_test(tcase, the_build_id_is_hexadecimal);
	suite_add_tcase(suite, tcase);
	return suite;
}
