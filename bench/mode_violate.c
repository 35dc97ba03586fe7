// SPDX-License-Identifier: MIT
/* violate: a coarse label on an operation that is too small for two clock readings must be warned
 * about, and one on a longer operation must not. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ticksnick/ticksnick.h>

#include "bench.h"
#include "burn.h"
#include "calibration.h"
#include "outcome.h"
#include "recorder.h"

#define SECONDS_BRIEF 1
#define SECONDS_FULL  5
#define FREQUENCY_HZ  997
#define SMALL	      7 /* of the catalogue: 400 ns */
#define LARGE_CALLS   500

TSN_COARSE(label_small, "violate.small");
TSN_COARSE(label_large, "violate.large");

static atomic_bool over;
static uint32_t iterations;

/* Half of the time in each. */
static void *worker_main(void *argument)
{
	uint64_t state = 1;

	while (!atomic_load_explicit(&over, memory_order_relaxed)) {
		for (int i = 0; i < LARGE_CALLS; i++) {
			TSN_SCOPE(label_small);
			state = burn(state, iterations);
		}
		TSN_SCOPE(label_large);
		state = burn(state, iterations * LARGE_CALLS);
	}
	TSN_KEEP(state);
	return argument;
}

static bool warned(const struct profile *profile, const char *label)
{
	for (size_t i = 0; i < profile->warning_count; i++)
		if (strcmp(profile->warnings[i].code, "coarse_small") == 0 &&
		    profile->warnings[i].label && strcmp(profile->warnings[i].label, label) == 0)
			return true;
	return false;
}

int mode_violate(const struct bench_options *options, struct outcome *outcome)
{
	const double seconds = bench__seconds(options, SECONDS_BRIEF, SECONDS_FULL);
	struct recording recording = {0};
	struct calibration calibration;
	pthread_t thread;
	int err;

	calibration__run(&calibration);
	iterations = calibration.iterations[SMALL];
	atomic_store(&over, false);
	if (pthread_create(&thread, NULL, worker_main, NULL))
		return -EAGAIN;
	err = recorder__record(options, outcome, getpid(), bench__frequency(options, FREQUENCY_HZ),
			       seconds, NULL, &recording);
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	if (err)
		return err;
	outcome__gate(outcome, "400 ns: warned about", warned(recording.profile, "violate.small"),
		      GATE_AT_LEAST, 1, "");
	outcome__gate(outcome, "200 us: warned about", warned(recording.profile, "violate.large"),
		      GATE_AT_MOST, 0, "");
	recording__free(&recording);
	return 0;
}
