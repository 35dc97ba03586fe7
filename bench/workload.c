// SPDX-License-Identifier: MIT
#include "workload.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "burn.h"
#include "operations.h" /* one workload at a time uses them */
#include "random.h"
#include "stopwatch.h"

#define TRIALS CALIBRATION_TRIALS_MAX

enum phase { WORK, PAUSE, MEASURE, END };

struct worker {
	struct workload *workload;
	pthread_t thread;
	uint64_t roots[CATALOGUE_OPERATIONS]; /* calls from outside of any operation */
	uint64_t state, random;
	uint8_t cycle[CATALOGUE_CYCLE];
	double self_ns[CATALOGUE_OPERATIONS], scatter;
};

struct workload {
	unsigned threads;
	uint16_t mix[CATALOGUE_OPERATIONS]; /* roots of one cycle */
	atomic_int phase;
	pthread_barrier_t barrier; /* all workers, and who directs them */
	struct worker workers[];
};

/* One cycle, in an order of its own: the shuffled roots from anywhere on, in steps of any odd
 * number, so that no two cycles are alike and the timer cannot keep step with them. */
static void run_cycle(struct worker *worker)
{
	const uint64_t order = random__next(&worker->random);
	const uint32_t stride = (uint32_t)(order >> 32) | 1;

	worker->state = operation_cycle(worker->cycle, (uint32_t)order, stride, worker->state);
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++)
		worker->roots[id] += worker->workload->mix[id];
}

static void work(struct worker *worker)
{
	while (atomic_load_explicit(&worker->workload->phase, memory_order_relaxed) == WORK)
		run_cycle(worker);
}

static void *worker_main(void *argument)
{
	struct worker *worker = argument;
	struct workload *workload = worker->workload;

	for (;;) {
		pthread_barrier_wait(&workload->barrier);
		switch (atomic_load(&workload->phase)) {
		case WORK:
			work(worker);
			break;
		case MEASURE:
			worker->scatter =
				calibration__measure(operation_iterations, CATALOGUE_OPERATIONS,
						     TRIALS, worker->self_ns, &worker->state);
			break;
		case END:
			return NULL;
		default:
			break;
		}
		pthread_barrier_wait(&workload->barrier);
	}
}

static void die(const char *what)
{
	fprintf(stderr, "ticksnick-bench: cannot %s\n", what);
	exit(1);
}

struct workload *workload__start(const struct calibration *calibration,
				 const struct workload_config *config)
{
	struct workload *workload =
		calloc(1, sizeof(*workload) + config->threads * sizeof(workload->workers[0]));

	if (!workload)
		die("find memory");
	workload->threads = config->threads;
	if (operation_prepare(calibration->iterations) != 0)
		die("register a label");
	if (config->alone)
		workload->mix[config->only] = CATALOGUE_CYCLE;
	else if (config->varied)
		catalogue__vary(config->seed, workload->mix);
	else
		catalogue__roots(workload->mix);
	atomic_init(&workload->phase, WORK);
	pthread_barrier_init(&workload->barrier, NULL, config->threads + 1);
	for (unsigned i = 0; i < config->threads; i++) {
		struct worker *worker = &workload->workers[i];

		worker->workload = workload;
		worker->random = random__seed(config->seed * WORKLOAD_THREADS_MAX + i);
		worker->state = random__seed(i);
		catalogue__shuffle(config->seed * WORKLOAD_THREADS_MAX + i, workload->mix,
				   worker->cycle);
		if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0)
			die("start a thread");
	}
	pthread_barrier_wait(&workload->barrier);
	return workload;
}

/* Lets the workers do one phase from begin to end. */
static void direct(struct workload *workload, enum phase phase)
{
	atomic_store(&workload->phase, phase);
	pthread_barrier_wait(&workload->barrier);
	if (phase != END)
		pthread_barrier_wait(&workload->barrier);
}

double workload__cpu_ns(const struct workload *workload)
{
	double cpu_ns = 0;
	clockid_t clock;

	for (unsigned i = 0; i < workload->threads; i++) {
		if (pthread_getcpuclockid(workload->workers[i].thread, &clock) != 0)
			die("find the clock of a thread");
		cpu_ns += (double)stopwatch__read(clock);
	}
	return cpu_ns;
}

void workload__pause(struct workload *workload)
{
	atomic_store(&workload->phase, PAUSE);
	pthread_barrier_wait(&workload->barrier);
}

void workload__calls(const struct workload *workload, unsigned thread,
		     uint64_t calls[CATALOGUE_OPERATIONS])
{
	catalogue__calls(workload->workers[thread].roots, calls);
}

void workload__measure(struct workload *workload,
		       double self_ns[WORKLOAD_THREADS_MAX][CATALOGUE_OPERATIONS], double *scatter)
{
	double least = INFINITY, tried;

	for (int k = 0; k < CALIBRATION_ATTEMPTS && least > CALIBRATION_SCATTER_MAX; k++) {
		direct(workload, MEASURE);
		tried = 0;
		for (unsigned i = 0; i < workload->threads; i++)
			tried = fmax(tried, workload->workers[i].scatter);
		for (unsigned i = 0; i < workload->threads && tried < least; i++)
			memcpy(self_ns[i], workload->workers[i].self_ns, sizeof(self_ns[i]));
		least = fmin(least, tried);
	}
	*scatter = fmax(*scatter, least);
}

void workload__free(struct workload *workload)
{
	if (!workload)
		return;
	direct(workload, END);
	for (unsigned i = 0; i < workload->threads; i++)
		pthread_join(workload->workers[i].thread, NULL);
	pthread_barrier_destroy(&workload->barrier);
	free(workload);
}
