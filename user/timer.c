// SPDX-License-Identifier: MIT
#include "timer.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/libbpf.h>

struct timer_cpu {
	int index;
	int fd;
	struct bpf_link *link;
	uint64_t period_ns, changed_ns;
};

struct timer {
	struct tsn_cpu *cpus;
	double mean_ns;
	uint64_t random;
	uint64_t expected;
	size_t count;
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

static bool cpu_online(int cpu)
{
	char path[64], state = '1';
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	file = fopen(path, "re");
	if (file) {
		if (fread(&state, 1, 1, file) != 1)
			state = '1';
		fclose(file);
	}
	return state == '1';
}

static int cpu_start(struct timer *timer, struct bpf_program *program, int index)
{
	struct timer_cpu *cpu = &timer->cpu[timer->count];

	cpu->index = index;
	cpu->period_ns = (uint64_t)timer->mean_ns;
	cpu->fd = event_open(index, cpu->period_ns);
	if (cpu->fd < 0)
		return -errno;
	timer->cpus[index].period_ns = cpu->period_ns;
	cpu->link = bpf_program__attach_perf_event(program, cpu->fd);
	if (!cpu->link) {
		int err = -errno;

		close(cpu->fd);
		return err;
	}
	timer->count++;
	return 0;
}

int timer__new(struct bpf_program *program, struct tsn_cpu *cpus, double frequency_hz,
	       struct timer **started)
{
	int possible = libbpf_num_possible_cpus(), i, err = 0;
	struct timer *timer;

	if (possible < 0)
		return possible;
	if (possible > TSN_CPUS_MAX)
		possible = TSN_CPUS_MAX;
	timer = calloc(1, sizeof(*timer) + possible * sizeof(timer->cpu[0]));
	if (!timer)
		return -ENOMEM;
	timer->cpus = cpus;
	timer->mean_ns = 1e9 / frequency_hz;
	if (getrandom(&timer->random, sizeof(timer->random), 0) != sizeof(timer->random))
		timer->random = (uint64_t)getpid();
	timer->random |= 1;
	for (i = 0; i < possible && !err; i++) {
		if (!cpu_online(i))
			continue;
		err = cpu_start(timer, program, i);
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
	size_t i;

	if (!timer)
		return;
	for (i = 0; i < timer->count; i++)
		bpf_link__destroy(timer->cpu[i].link); /* closes the event as well */
	free(timer);
}

static uint64_t ticks_of(const struct timer_cpu *cpu, uint64_t now_ns)
{
	/* Each redraw starts the countdown anew, so a slice holds whole periods only. */
	return cpu->changed_ns && now_ns > cpu->changed_ns
		       ? (now_ns - cpu->changed_ns) / cpu->period_ns
		       : 0;
}

void timer__redraw(struct timer *timer, uint64_t now_ns)
{
	size_t i;

	for (i = 0; i < timer->count; i++) {
		struct timer_cpu *cpu = &timer->cpu[i];
		double factor = 1 + TIMER_SPREAD * (2 * random_unit(&timer->random) - 1);
		uint64_t period = (uint64_t)(timer->mean_ns * factor);

		timer->expected += ticks_of(cpu, now_ns);
		timer->cpus[cpu->index].period_ns = period;
		timer->cpus[cpu->index].changed_ns = now_ns;
		ioctl(cpu->fd, PERF_EVENT_IOC_PERIOD, &period);
		cpu->period_ns = period;
		cpu->changed_ns = now_ns;
	}
}

uint64_t timer__expected(const struct timer *timer, uint64_t now_ns)
{
	uint64_t expected = timer->expected;
	size_t i;

	for (i = 0; i < timer->count; i++)
		expected += ticks_of(&timer->cpu[i], now_ns);
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
