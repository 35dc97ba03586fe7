// SPDX-License-Identifier: MIT
#include "stopwatch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"

void stopwatch__init(struct stopwatch *stopwatch, size_t laps_max)
{
	const size_t size = laps_max * sizeof(*stopwatch->laps);

	stopwatch->laps = malloc(size);
	if (!stopwatch->laps) {
		fputs("ticksnick-bench: out of memory\n", stderr);
		exit(1);
	}
	memset(stopwatch->laps, 0xff, size); /* not zero: that could be left to page faults */
	stopwatch->max = laps_max;
	stopwatch->count = 0;
}

void stopwatch__free(struct stopwatch *stopwatch)
{
	free(stopwatch->laps);
	stopwatch->laps = NULL;
}

int stopwatch__cut(const struct stopwatch *stopwatch, const struct profile *profile,
		   struct stopwatch_sum *sum)
{
	const uint64_t from = profile->session.start_unix_ns;
	const uint64_t to = from + profile->session.duration_ns;

	if (stopwatch->count == stopwatch->max && stopwatch->max > 0 &&
	    stopwatch->laps[stopwatch->max - 1].end_ns < to)
		return -ENOSPC;
	for (size_t i = 0; i < stopwatch->count; i++) {
		const struct stopwatch_lap *lap = &stopwatch->laps[i];
		const uint64_t begin = lap->begin_ns > from ? lap->begin_ns : from;
		const uint64_t end = lap->end_ns < to ? lap->end_ns : to;
		double part;

		if (end <= begin)
			continue;
		part = (double)(end - begin) / (double)(lap->end_ns - lap->begin_ns);
		sum->wall_ns += (double)(end - begin);
		sum->cpu_ns += part * (double)lap->cpu_ns;
		sum->laps += part;
	}
	return 0;
}
