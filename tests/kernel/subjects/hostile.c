// SPDX-License-Identifier: MIT
/*
 * hostile MODE: publishes nonsense, or makes what it publishes hard to read, as MODE says; see the
 * table of modes at the end. Prints "ready 1" when it does, and goes on for 20 s. Modes that wait
 * first begin 0.3 s after that.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "fuse.h"
#include "subject.h"

#define PAGE	       4096u
#define LATER_US       300000
#define DURATIONS_MANY 5000
#define LIFE_NS	       20000000000u
#define FAMILY	       20
#define KERNEL_AT      0xffff888000000000u

TSN_FINE(work, "work");
TSN_COARSE(request, "request");

static struct tsn_process *const process = &tsn_process_descriptor;

static struct tsn_label *label_at(uint32_t id)
{
	return (struct tsn_label *)process->labels + id;
}

static void work_once(void)
{
	TSN_SCOPE(request);
	TSN_SCOPE(work);

	subject_spin_until(subject_now() + 1000000);
}

static void die(const char *what)
{
	perror(what);
	_exit(1);
}

/* ---- numbers ---- */

static void counts_huge(void)
{
	process->slots_used = process->labels_count = UINT32_MAX;
}

static void lengths_huge(void)
{
	process->slots = process->labels = process->retired = 1ULL << 63;
}

static void coarse_huge(void)
{
	process->contexts_max = process->contexts_used = UINT32_MAX;
	process->durations = KERNEL_AT;
}

static void tables_full(void)
{
	process->slots_used = process->slots_max;
	process->labels_count = process->labels_max;
	process->contexts_used = process->contexts_max;
	process->durations_used = process->durations_max;
}

static void tables_overlap(void)
{
	process->labels = process->retired = process->contexts = process->durations =
		process->slots;
}

static void tls_in_the_kernel(void)
{
	process->tls_offset = (int64_t)(KERNEL_AT - (uint64_t)__builtin_thread_pointer());
}

static void slot_in_the_kernel(void)
{
	uint64_t *pointer = (void *)((char *)__builtin_thread_pointer() + process->tls_offset);

	*pointer = KERNEL_AT;
}

static void leader_is_itself(void)
{
	process->leader = (uintptr_t)process;
	process->state = TSN_STATE_FOLLOWER;
}

static void calls_go_back(void)
{
	uint64_t *retired = (void *)process->retired;

	usleep(LATER_US);
	retired[work.id] = UINT64_MAX;
	process->calls_lost = UINT64_MAX;
	usleep(LATER_US / 4);
	retired[work.id] = 0;
	process->calls_lost = 0;
	process->violations[TSN_VIOLATION_ABANDONED] =
		(struct tsn_violation){.count = UINT64_MAX, .label = UINT32_MAX};
}

/* ---- names ---- */

static void names_escape(void)
{
	strcpy(label_at(work.id)->name, "\033[2J\033]0;x\007\r\n\t\x7f\xc2\x9b");
	prctl(PR_SET_NAME, "\033[31m\r\007");
}

static void names_without_end(void)
{
	memset(label_at(work.id)->name, 'A', TSN_NAME_SIZE);
	memset(label_at(request.id)->name, 0xff, TSN_NAME_SIZE);
}

static void kinds_and_families(void)
{
	label_at(work.id)->kind = 77;
	label_at(request.id)->base = UINT32_MAX;
	label_at(request.id)->arity = UINT32_MAX;
}

/* ---- executions ---- */

static void contexts_cycle(void)
{
	struct tsn_context *contexts = (void *)process->contexts;
	uint32_t i, k;

	process->contexts_used = process->contexts_max;
	for (i = 1; i < process->contexts_max; i++) {
		contexts[i].generation = 1;
		contexts[i].state = i % 5;
		contexts[i].depth = i % 3 ? TSN_CHAIN_MAX : UINT32_MAX;
		contexts[i].parent = i % 2 ? i : i - 1;
		contexts[i].opened = i % 2 ? UINT64_MAX : 1;
		for (k = 0; k < TSN_CHAIN_MAX; k++)
			contexts[i].chain[k] = k % 2 ? UINT16_MAX : (uint16_t)request.id;
	}
}

static void durations_lie(void)
{
	struct tsn_durations *blocks = (void *)process->durations;
	uint32_t i, k;

	process->durations_used = 64;
	for (i = 0; i < 64; i++) {
		blocks[i].label = i % 2 ? request.id : UINT32_MAX;
		blocks[i].count = blocks[i].sum = UINT64_MAX;
		for (k = 0; k < TSN_DURATION_MAXIMA; k++)
			blocks[i].maxima[k] =
				(struct tsn_duration_maximum){UINT64_MAX, UINT64_MAX - k};
		for (k = 0; k < TSN_DURATION_BUCKETS; k++)
			blocks[i].buckets[k] = UINT64_MAX;
	}
}

/* ---- memory that comes and goes ---- */

static void *flip(void *unused)
{
	struct tsn_process sound = *process;
	unsigned state = 1;

	(void)unused;
	for (;;) {
		uint32_t *word = (uint32_t *)process + rand_r(&state) % (sizeof(sound) / 4);

		__atomic_store_n(word, (uint32_t)rand_r(&state) << (rand_r(&state) % 20),
				 __ATOMIC_RELAXED);
		if (rand_r(&state) % 4)
			memcpy(process, &sound, sizeof(sound));
	}
	return NULL;
}

static void descriptor_flips(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, flip, NULL))
		die("pthread_create");
}

static uint64_t slots_bytes(void)
{
	return (uint64_t)process->slots_max * process->slot_stride / PAGE * PAGE;
}

static void slots_unmap(void)
{
	usleep(LATER_US);
	munmap((void *)process->slots, slots_bytes());
}

static void durations_unmap_later(void)
{
	usleep(LATER_US);
	munmap((void *)process->durations, PAGE);
}

/* More blocks than the kernel looks at where a process ends, and not more than there may be. */
static void durations_end(void)
{
	usleep(LATER_US);
	process->durations_used = DURATIONS_MANY;
	_exit(0);
}

static void slots_protect(void)
{
	usleep(LATER_US);
	mprotect((void *)process->slots, slots_bytes(), PROT_NONE);
}

static void slots_drop(void)
{
	usleep(LATER_US);
	madvise((void *)process->slots, slots_bytes(), MADV_DONTNEED);
}

/* Whoever touches the slots waits; from now on. Returns the descriptor of who could answer. */
static int slots_withhold(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.range = {process->slots, slots_bytes()},
					.mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range))
		die("userfaultfd");
	madvise((void *)process->slots, slots_bytes(), MADV_DONTNEED);
	return fd;
}

static void faults_unanswered(void)
{
	slots_withhold();
}

static void faults_unanswered_later(void)
{
	usleep(LATER_US);
	slots_withhold();
}

/* Children, each of which has slots of its own that it withholds. */
static void family_withholds(void)
{
	pid_t parent = getpid();
	int i;

	usleep(4 * LATER_US);
	for (i = 0; i < FAMILY; i++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(0);
		work_once();
		slots_withhold();
		for (;;)
			pause();
	}
}

static void *answer_slowly(void *context)
{
	int fd = (int)(intptr_t)context;
	struct uffd_msg message;

	while (read(fd, &message, sizeof(message)) == sizeof(message)) {
		struct uffdio_zeropage page = {
			.range = {message.arg.pagefault.address / PAGE * PAGE, PAGE}};

		usleep(50000);
		ioctl(fd, UFFDIO_ZEROPAGE, &page);
	}
	return NULL;
}

static void faults_answered_slowly(void)
{
	pthread_t thread;

	process->slots_used = process->slots_max;
	if (pthread_create(&thread, NULL, answer_slowly, (void *)(intptr_t)slots_withhold()))
		die("pthread_create");
}

/* ---- mappings that cannot be looked at ---- */

/* Holds the lock of the address space, waiting for what was written to this page to be taken. */
static void *mappings_hold(void *page)
{
	mmap(page, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	return NULL;
}

static void mappings_withhold(void)
{
	int fd = fuse_file();
	pthread_t thread;
	volatile char *page;

	if (fd < 0)
		die("a file system in user space");
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		die("mmap");
	*page = 1;
	if (pthread_create(&thread, NULL, mappings_hold, (void *)page))
		die("pthread_create");
	usleep(20000);
}

static void mappings_withhold_later(void)
{
	usleep(LATER_US);
	mappings_withhold();
}

/* ---- modules ---- */

/* A file of that size with an ELF header, one segment and notes up to its end. */
static int module_file(uint64_t size)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segments[2];
		Elf64_Nhdr note;
		char owner[12];
		int64_t offset;
	} start = {
		.header = {.e_phoff = sizeof(Elf64_Ehdr),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 2},
		.segments = {{.p_type = PT_LOAD, .p_memsz = size},
			     {.p_type = PT_NOTE,
			      .p_vaddr = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr),
			      .p_memsz = size,
			      .p_align = 4}},
		.note = {.n_namesz = sizeof(TSN_NOTE_OWNER), .n_descsz = 8, .n_type = 1},
		.owner = TSN_NOTE_OWNER,
		.offset = -64,
	};
	int fd = memfd_create("module", MFD_CLOEXEC);

	memcpy(start.header.e_ident, ELFMAG, SELFMAG);
	start.header.e_ident[EI_CLASS] = ELFCLASS64;
	if (fd < 0 || ftruncate(fd, (off_t)size) ||
	    pwrite(fd, &start, sizeof(start), 0) != sizeof(start))
		die("memfd_create");
	return fd;
}

/* Below the program and its libraries, so that they are looked at first. */
static void module_map(int fd, uint64_t address, uint64_t size)
{
	if (mmap((void *)address, size, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0) ==
	    MAP_FAILED)
		die("mmap");
}

static void modules_many(void)
{
	int fd = module_file(PAGE);
	uint64_t i;

	for (i = 0; i < 1000; i++)
		module_map(fd, 0x10000000 + i * PAGE, PAGE);
}

static void module_of_gigabytes(void)
{
	module_map(module_file(8ULL << 30), 0x10000000, 8ULL << 30);
}

/* ---- modes ---- */

static void sound(void)
{
}

static const struct {
	const char *name;
	void (*begin)(void);
	int labels; /* whether it labels its work from then on */
} modes[] = {
	{"sound", sound, 1},
	{"counts-huge", counts_huge, 1},
	{"lengths-huge", lengths_huge, 0},
	{"coarse-huge", coarse_huge, 0},
	{"tables-full", tables_full, 1},
	{"tables-overlap", tables_overlap, 0},
	{"tls-in-the-kernel", tls_in_the_kernel, 1},
	{"slot-in-the-kernel", slot_in_the_kernel, 0},
	{"leader-is-itself", leader_is_itself, 0},
	{"calls-go-back", calls_go_back, 1},
	{"names-escape", names_escape, 1},
	{"names-without-end", names_without_end, 1},
	{"kinds-and-families", kinds_and_families, 1},
	{"contexts-cycle", contexts_cycle, 0},
	{"durations-lie", durations_lie, 0},
	{"descriptor-flips", descriptor_flips, 0},
	{"slots-unmap", slots_unmap, 0},
	{"durations-unmap-later", durations_unmap_later, 0},
	{"durations-end-later", durations_end, 0},
	{"slots-protect", slots_protect, 0},
	{"slots-drop", slots_drop, 0},
	{"faults-unanswered", faults_unanswered, 0},
	{"faults-unanswered-later", faults_unanswered_later, 0},
	{"faults-answered-slowly", faults_answered_slowly, 0},
	{"family-withholds-later", family_withholds, 1},
	{"mappings-withheld", mappings_withhold, 0},
	{"mappings-withheld-later", mappings_withhold_later, 0},
	{"modules-many", modules_many, 1},
	{"module-of-gigabytes", module_of_gigabytes, 1},
};

/* A thread that works all along, and in labels before the mode begins, which the main thread begins
 * meanwhile. */
static volatile int begun;

static void *worker(void *context)
{
	int labels = *(const int *)context, n = 0;

	for (;;) {
		/* What touches its slot after it is gone would end the process, not the recorder.
		 */
		if (labels || !begun)
			work_once();
		else
			subject_spin_until(subject_now() + 1000000);
		if (++n % 2)
			usleep(1000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t end;
	size_t i;
	pthread_t thread;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (argc > 1 && !strcmp(argv[1], modes[i].name))
			break;
	if (i == sizeof(modes) / sizeof(modes[0])) {
		fprintf(stderr, "usage: hostile MODE\n");
		return 2;
	}
	work_once();
	if (pthread_create(&thread, NULL, worker, (void *)&modes[i].labels))
		die("pthread_create");
	usleep(20000);
	begun = 1;
	usleep(10000);
	if (strstr(argv[1], "later") || !strncmp(argv[1], "slots-", 6) ||
	    !strcmp(argv[1], "calls-go-back")) {
		printf("ready 1\n");
		fflush(stdout);
	}
	modes[i].begin();
	printf("ready 1\n");
	fflush(stdout);
	for (end = subject_now() + LIFE_NS; subject_now() < end; usleep(2000))
		subject_spin_until(subject_now() + 500000);
	_exit(0);
}
