// SPDX-License-Identifier: MIT
#include "engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/membarrier.h>

#include "ids.h"
#include "proc.h"
#include "rlimits.h"
#include "ticksnick.skel.h"
#include "timer.h"

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t engine__now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t engine__taken(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* libbpf's own words are kept back: what a user can do about a failure stands in our sentence. */
static int quiet(enum libbpf_print_level level, const char *format, va_list arguments)
{
	if (getenv("TICKSNICK_DEBUG") && level <= LIBBPF_INFO)
		return vfprintf(stderr, format, arguments);
	return 0;
}

static void explain(int err, const char *step, char error[ENGINE_ERROR_SIZE])
{
	if (err == -EPERM || err == -EACCES)
		snprintf(error, ENGINE_ERROR_SIZE,
			 "cannot %s the BPF programs: %s: run as root, or grant CAP_BPF, "
			 "CAP_PERFMON and "
			 "CAP_SYS_PTRACE",
			 step, strerror(-err));
	else if (rlimits__few_files()) /* libbpf has other words for it */
		snprintf(error, ENGINE_ERROR_SIZE,
			 "cannot %s the BPF programs: only %lu files may be open: raise the limit "
			 "(ulimit -Hn 4096)",
			 step, rlimits__few_files());
	else if (access("/sys/kernel/btf/vmlinux", R_OK))
		snprintf(error, ENGINE_ERROR_SIZE,
			 "cannot %s the BPF programs: this kernel has no BTF "
			 "(/sys/kernel/btf/vmlinux): "
			 "use a kernel built with CONFIG_DEBUG_INFO_BTF=y",
			 step);
	else
		snprintf(error, ENGINE_ERROR_SIZE,
			 "cannot %s the BPF programs: %s: run \"ticksnick doctor\" to see what is "
			 "missing",
			 step, strerror(-err));
}

/* *memory: the map's values, shared with the programs. */
static int map_share(struct bpf_map *map, void *memory)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);
	void *at = mmap(NULL, (bytes + page - 1) / page * page, PROT_READ | PROT_WRITE, MAP_SHARED,
			bpf_map__fd(map), 0);

	if (at == MAP_FAILED)
		return -errno;
	/* A child that reads, and cannot be ended, must not keep the map. */
	madvise(at, (bytes + page - 1) / page * page, MADV_DONTFORK);
	*(void **)memory = at;
	return 0;
}

static void map_unshare(struct bpf_map *map, void *memory)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);

	if (memory)
		munmap(memory, (bytes + page - 1) / page * page);
}

static int maps_share(struct engine *engine)
{
	struct ticksnick_bpf *programs = engine->programs;
	int err;

	engine->control = &programs->bss->control;
	err = map_share(programs->maps.cpus, &engine->cpus);
	if (!err)
		err = map_share(programs->maps.targets, &engine->targets);
	if (!err)
		err = map_share(programs->maps.presence, &engine->presence);
	if (!err)
		err = map_share(programs->maps.final_calls, &engine->final_calls);
	if (!err)
		err = map_share(programs->maps.pieces, &engine->pieces);
	engine->cells_fd = bpf_map__fd(programs->maps.cells);
	engine->threads_fd = bpf_map__fd(programs->maps.threads);
	engine->exited_fd = bpf_map__fd(programs->maps.exited);
	engine->replaced_fd = bpf_map__fd(programs->maps.replaced);
	engine->free_targets_fd = bpf_map__fd(programs->maps.free_targets);
	return err;
}

/* Room for the targets of a session that follows children. */
static int maps_enlarge(struct ticksnick_bpf *programs)
{
	const struct {
		struct bpf_map *map;
		uint32_t entries;
	} sizes[] = {
		{programs->maps.targets, TSN_FOLLOWED_MAX},
		{programs->maps.target_index, 4 * TSN_FOLLOWED_MAX},
		{programs->maps.presence, TSN_FOLLOWED_MAX * TSN_LABELS_MAX},
		{programs->maps.final_calls, TSN_FOLLOWED_MAX * TSN_LABELS_MAX},
	};
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && !err; i++)
		err = bpf_map__set_max_entries(sizes[i].map, sizes[i].entries);
	return err;
}

/* Opens and loads; with_calls: including the programs that need a newer kernel. */
static int programs_try(struct engine *engine, bool with_calls, char error[ENGINE_ERROR_SIZE])
{
	int possible = libbpf_num_possible_cpus(), err;

	engine->programs = ticksnick_bpf__open();
	if (!engine->programs) {
		err = -errno;
		explain(err, "open", error);
		return err;
	}
	engine->programs->rodata->cpu_count =
		possible > 0 && possible < TSN_CPUS_MAX ? (uint32_t)possible : TSN_CPUS_MAX;
	engine->programs->rodata->follow_children = engine->follow;
	bpf_program__set_autoload(engine->programs->progs.on_exit_calls, with_calls);
	bpf_program__set_autoload(engine->programs->progs.on_id, !proc__in_first_namespace());
	bpf_program__set_autoload(
		engine->programs->progs.on_prepare_exec,
		with_calls && engine->follow &&
			libbpf_find_vmlinux_btf_id("sched_prepare_exec", BPF_TRACE_RAW_TP) > 0);
	err = engine->follow ? maps_enlarge(engine->programs) : 0;
	if (!err)
		err = ticksnick_bpf__load(engine->programs);
	if (err) {
		explain(err, "load", error);
		ticksnick_bpf__destroy(engine->programs);
		engine->programs = NULL;
	}
	return err;
}

static int programs_load(struct engine *engine, char error[ENGINE_ERROR_SIZE])
{
	int err;

	libbpf_set_print(quiet);
	rlimits__raise();
	err = programs_try(engine, true, error);
	engine->final_calls_work = !err;
	if (err && err != -EPERM)
		err = programs_try(engine, false, error);
	return err;
}

int engine__new(bool follow, struct engine **created, char error[ENGINE_ERROR_SIZE])
{
	struct engine *engine = calloc(1, sizeof(*engine));
	int err;

	if (!engine) {
		snprintf(error, ENGINE_ERROR_SIZE, "out of memory");
		return -ENOMEM;
	}
	engine->follow = follow;
	engine->target_max = follow ? TSN_FOLLOWED_MAX : TSN_TARGETS_MAX;
	err = programs_load(engine, error);
	if (!err) {
		err = maps_share(engine);
		if (!err) {
			engine->control->stop_ns = 1; /* inert until engine__start */
			err = ticksnick_bpf__attach(engine->programs);
		}
		if (err)
			explain(err, "attach", error);
	}
	if (err) {
		engine__free(engine);
		return err;
	}
	*created = engine;
	return 0;
}

void engine__free(struct engine *engine)
{
	if (!engine)
		return;
	timer__free(engine->timer);
	if (engine->programs) {
		map_unshare(engine->programs->maps.cpus, engine->cpus);
		map_unshare(engine->programs->maps.targets, engine->targets);
		map_unshare(engine->programs->maps.presence, engine->presence);
		map_unshare(engine->programs->maps.final_calls, engine->final_calls);
		map_unshare(engine->programs->maps.pieces, engine->pieces);
		ticksnick_bpf__destroy(engine->programs);
	}
	free(engine);
}

int engine__probe(char error[ENGINE_ERROR_SIZE])
{
	struct engine *engine = calloc(1, sizeof(*engine));
	int err;

	if (!engine) {
		snprintf(error, ENGINE_ERROR_SIZE, "out of memory");
		return -ENOMEM;
	}
	err = programs_load(engine, error);
	engine__free(engine);
	return err;
}

int engine__ids(const struct engine *engine, struct ids *ids)
{
	return ids__read(engine->programs->links.on_id, ids);
}

int engine__watch(struct engine *engine, pid_t pid, uint32_t index)
{
	struct ids ids;
	uint64_t *place, entry;
	uint32_t key;
	int err = engine__ids(engine, &ids);

	if (err)
		return err;
	key = ids__find(&ids, pid);
	if (ids.at && ids.count)
		engine->control->level = ids.at[0].level;
	ids__free(&ids);
	if (!key)
		return -ESRCH;
	place = &engine->control->watched[key % TSN_WATCHED];
	entry = *place;
	engine->targets[index].tgid = key;
	err = bpf_map_update_elem(bpf_map__fd(engine->programs->maps.target_index), &key, &index,
				  BPF_ANY);
	if (err)
		return -errno;
	entry = !entry || entry >> 32 == key ? tsn_watched_entry(key, index) : TSN_WATCHED_CROWDED;
	__atomic_store_n(place, entry, __ATOMIC_SEQ_CST);
	return 0;
}

/* As the programs' target_find(). TSN_FOLLOWED_MAX: nowhere. */
static uint32_t place_of(const struct engine *engine, uint32_t tgid)
{
	uint64_t entry =
		__atomic_load_n(&engine->control->watched[tgid % TSN_WATCHED], __ATOMIC_SEQ_CST);
	uint32_t place;

	if (entry != TSN_WATCHED_CROWDED)
		return tgid && entry >> 32 == tgid ? (uint32_t)entry : TSN_FOLLOWED_MAX;
	if (bpf_map_lookup_elem(bpf_map__fd(engine->programs->maps.target_index), &tgid, &place))
		return TSN_FOLLOWED_MAX;
	return place;
}

bool engine__holds(const struct engine *engine, uint32_t index)
{
	uint32_t place = place_of(engine, engine->targets[index].tgid), i;
	const struct tsn_target *later;

	/* From the image that runs back to that one, if it began by exec. */
	for (i = 0; i < engine->target_max && place < engine->target_max; i++) {
		if (place == index)
			return true;
		later = &engine->targets[place];
		if (later->forked || later->from >= engine->target_max ||
		    engine->targets[later->from].serial != later->from_serial)
			return false;
		place = later->from;
	}
	return false;
}

static void unwatch(struct engine *engine, uint32_t tgid, uint32_t index)
{
	int fd = bpf_map__fd(engine->programs->maps.target_index);
	uint64_t entry = tsn_watched_entry(tgid, index);
	uint32_t there;

	/* The process's next image, or another process with this id, may stand there already. */
	__atomic_compare_exchange_n(&engine->control->watched[tgid % TSN_WATCHED], &entry, 0, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	if (!bpf_map_lookup_elem(fd, &tgid, &there) && there == index)
		bpf_map_delete_elem(fd, &tgid);
}

void engine__release(struct engine *engine, uint32_t index)
{
	struct tsn_target *target = &engine->targets[index];
	size_t first = (size_t)index * TSN_LABELS_MAX;

	if (target->tgid)
		unwatch(engine, target->tgid, index);
	memset(&engine->presence[first], 0, TSN_LABELS_MAX * sizeof(engine->presence[0]));
	memset(&engine->final_calls[first], 0, TSN_LABELS_MAX * sizeof(engine->final_calls[0]));
	memset(target, 0, sizeof(*target));
	bpf_map_update_elem(engine->free_targets_fd, NULL, &index, BPF_ANY);
}

int engine__start(struct engine *engine, uint64_t start_ns, double frequency_hz)
{
	__atomic_store_n(&engine->control->start_ns, start_ns, __ATOMIC_SEQ_CST);
	__atomic_store_n(&engine->control->stop_ns, 0, __ATOMIC_SEQ_CST);
	return timer__new(engine->programs->progs.on_tick, engine->cpus, frequency_hz,
			  &engine->timer);
}

void engine__stop(struct engine *engine, uint64_t stop_ns)
{
	struct timespec moment = {0, 1000000};

	__atomic_store_n(&engine->control->stop_ns, stop_ns, __ATOMIC_SEQ_CST);
	/* A program that had looked before cannot be preempted, but its CPU may be taken from a
	 * virtual machine: each CPU has to be seen outside of it. Not to be had where CPUs run
	 * without a tick (nohz_full); there it has run for microseconds. */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		nanosleep(&moment, NULL);
}
