// SPDX-License-Identifier: MIT
#include "timer.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#define SILENT_TICKS 4 /* a timer that misses so many in a row may be one that has died */

struct timer_cpu {
	struct bpf_link *link; /* NULL: it is offline, or its timer has died */
	int fd;
	uint64_t period_ns, changed_ns;
};

struct timer {
	struct tsn_cpu *cpus;
	struct bpf_program *program;
	double mean_ns;
	uint64_t random;
	uint64_t expected;
	int count; /* CPUs, online or not */
	struct timer_cpu cpu[];
};

static double random_unit(uint64_t *state)
{
	/* xorshift64*; Vigna 2016. */
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (double)((*state * 0x2545F4914F6CDD1DULL) >> 11) / 9007199254740992.0;
}

static int event_open(int cpu, uint64_t period_ns)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* ---- CPUs come and go; the events of one that goes are dead even when it has come back ---- */

/* By CPU. False: the kernel does not say, and then all are taken to be online. */
static bool online_read(bool online[TSN_CPUS_MAX])
{
	FILE *file = fopen("/sys/devices/system/cpu/online", "re");
	unsigned first, last;
	int n, next;

	if (!file)
		return false;
	memset(online, 0, TSN_CPUS_MAX * sizeof(*online));
	do {
		n = fscanf(file, "%u-%u", &first, &last);
		if (n == 1)
			last = first;
		for (; n >= 1 && first <= last && first < TSN_CPUS_MAX; first++)
			online[first] = true;
		next = fgetc(file);
	} while (n >= 1 && next == ',');
	fclose(file);
	return true;
}

static void online_look(bool online[TSN_CPUS_MAX])
{
	if (!online_read(online))
		memset(online, 1, TSN_CPUS_MAX * sizeof(*online));
}

/* 0 or a negative errno. */
static int cpu_start(struct timer *timer, int index)
{
	struct timer_cpu *cpu = &timer->cpu[index];
	int fd = event_open(index, cpu->period_ns);

	if (fd < 0)
		return -errno;
	cpu->link = bpf_program__attach_perf_event(timer->program, fd);
	if (!cpu->link) {
		int err = -errno;

		close(fd);
		return err;
	}
	cpu->fd = fd;
	return 0;
}

static void cpu_stop(struct timer_cpu *cpu)
{
	bpf_link__destroy(cpu->link); /* closes the event as well */
	cpu->link = NULL;
}

int timer__new(struct bpf_program *program, struct tsn_cpu *cpus, double frequency_hz,
	       struct timer **started)
{
	int possible = libbpf_num_possible_cpus(), i, err = 0;
	bool online[TSN_CPUS_MAX];
	struct timer *timer;

	if (possible < 0)
		return possible;
	if (possible > TSN_CPUS_MAX)
		possible = TSN_CPUS_MAX;
	timer = calloc(1, sizeof(*timer) + possible * sizeof(timer->cpu[0]));
	if (!timer)
		return -ENOMEM;
	timer->cpus = cpus;
	timer->program = program;
	timer->mean_ns = 1e9 / frequency_hz;
	timer->count = possible;
	if (getrandom(&timer->random, sizeof(timer->random), 0) != sizeof(timer->random))
		timer->random = (uint64_t)getpid();
	timer->random |= 1;
	online_look(online);
	for (i = 0; i < possible && !err; i++) {
		timer->cpu[i].period_ns = (uint64_t)timer->mean_ns;
		/* Of those offline too, so that what runs there one day is seen to miss ticks. */
		cpus[i].period_ns = timer->cpu[i].period_ns;
		if (!online[i])
			continue;
		err = cpu_start(timer, i);
		if (err == -ENODEV) /* went offline meanwhile */
			err = 0;
	}
	if (err) {
		timer__free(timer);
		return err;
	}
	*started = timer;
	return 0;
}

void timer__free(struct timer *timer)
{
	int i;

	if (!timer)
		return;
	for (i = 0; i < timer->count; i++)
		cpu_stop(&timer->cpu[i]);
	free(timer);
}

/* Ticks that should have come on a CPU since its period was redrawn. Of one that has gone offline:
 * up to its latest. */
static uint64_t ticks_of(const struct timer *timer, int index, bool online, uint64_t now_ns)
{
	const struct timer_cpu *cpu = &timer->cpu[index];
	uint64_t until = online ? now_ns : timer->cpus[index].tick_ns + cpu->period_ns / 2;

	/* Each redraw starts the countdown anew, so a slice holds whole periods only. */
	return cpu->link && cpu->changed_ns && until > cpu->changed_ns
		       ? (until - cpu->changed_ns) / cpu->period_ns
		       : 0;
}

/* A CPU that went and came back between two looks has a timer that never fires again. */
static bool is_silent(const struct timer *timer, int index, uint64_t now_ns)
{
	const struct timer_cpu *cpu = &timer->cpu[index];

	return cpu->changed_ns && timer->cpus[index].tick_ns < cpu->changed_ns &&
	       now_ns > cpu->changed_ns + SILENT_TICKS * cpu->period_ns;
}

void timer__redraw(struct timer *timer, uint64_t now_ns)
{
	bool online[TSN_CPUS_MAX];
	int i;

	online_look(online);
	for (i = 0; i < timer->count; i++) {
		struct timer_cpu *cpu = &timer->cpu[i];
		double factor = 1 + TIMER_SPREAD * (2 * random_unit(&timer->random) - 1);
		uint64_t period = (uint64_t)(timer->mean_ns * factor);

		timer->expected += ticks_of(timer, i, online[i], now_ns);
		if (cpu->link && (!online[i] || is_silent(timer, i, now_ns)))
			cpu_stop(cpu);
		cpu->period_ns = period;
		cpu->changed_ns = now_ns;
		timer->cpus[i].period_ns = period;
		timer->cpus[i].changed_ns = now_ns;
		if (cpu->link)
			ioctl(cpu->fd, PERF_EVENT_IOC_PERIOD, &period);
		else if (online[i])
			cpu_start(timer, i); /* if it fails, the next redraw tries again */
	}
}

uint64_t timer__expected(const struct timer *timer, uint64_t now_ns)
{
	uint64_t expected = timer->expected;
	bool online[TSN_CPUS_MAX];
	int i;

	online_look(online);
	for (i = 0; i < timer->count; i++)
		expected += ticks_of(timer, i, online[i], now_ns);
	return expected;
}

double timer__rate_max(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	double rate = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%lf", &rate) != 1)
		rate = 0;
	fclose(file);
	return rate;
}
