// SPDX-License-Identifier: MIT
#include "workload.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "burn.h"
#include "numbers.h"
#include "random.h"

#define TRIALS	 51
#define BATCH_NS 100000

enum phase { WORK, PAUSE, MEASURE, END };

struct operation {
	uint32_t label;
	uint32_t iterations;
	const struct operation *children[CATALOGUE_CHILDREN];
	int child_count;
};

struct worker {
	struct workload *workload;
	pthread_t thread;
	uint64_t roots[CATALOGUE_OPERATIONS]; /* calls from outside of any operation */
	uint64_t state, random;
	double cpu_ns; /* at work */
	uint8_t cycle[CATALOGUE_CYCLE];
	double self_ns[CATALOGUE_OPERATIONS], scatter;
};

struct workload {
	struct operation operations[CATALOGUE_OPERATIONS];
	uint32_t iterations[CATALOGUE_OPERATIONS];
	unsigned threads;
	atomic_int phase;
	pthread_barrier_t barrier; /* all workers, and who directs them */
	struct worker workers[];
};

static __attribute__((noinline)) uint64_t run(const struct operation *operation, uint64_t state)
{
	TSN_SCOPE((tsn_fine_t){.id = operation->label});
	state = burn(state, operation->iterations);
	for (int i = 0; i < operation->child_count; i++)
		state = run(operation->children[i], state);
	return state;
}

/* One cycle, in an order of its own: the shuffled roots from anywhere on, in steps of any odd
 * number, so that no two cycles are alike and the timer cannot keep step with them. */
static void run_cycle(struct worker *worker)
{
	const struct operation *operations = worker->workload->operations;
	const uint64_t order = random__next(&worker->random);
	const uint32_t stride = (uint32_t)(order >> 32) | 1;
	uint32_t at = (uint32_t)order;

	for (int i = 0; i < CATALOGUE_CYCLE; i++, at += stride)
		worker->state =
			run(&operations[worker->cycle[at % CATALOGUE_CYCLE]], worker->state);
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++)
		worker->roots[id] += catalogue[id].roots;
}

static void work(struct worker *worker)
{
	const double begin = burn__cpu_ns();

	while (atomic_load_explicit(&worker->workload->phase, memory_order_relaxed) == WORK)
		run_cycle(worker);
	worker->cpu_ns += burn__cpu_ns() - begin;
}

static void measure(struct worker *worker)
{
	static const double quartiles[] = {0.25, 0.75};
	double trials[CATALOGUE_OPERATIONS][TRIALS], range[2];

	worker->scatter = 0;
	for (int trial = 0; trial < TRIALS; trial++)
		for (int id = 0; id < CATALOGUE_OPERATIONS; id++)
			trials[id][trial] = calibration__batch(worker->workload->iterations[id],
							       BATCH_NS, &worker->state);
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++) {
		worker->self_ns[id] = numbers__median(trials[id], TRIALS);
		for (int i = 0; i < 2; i++)
			range[i] = numbers__quantile(trials[id], TRIALS, quartiles[i]);
		worker->scatter =
			fmax(worker->scatter, (range[1] - range[0]) / worker->self_ns[id]);
	}
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
			measure(worker);
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

static void prepare_operations(struct workload *workload, const struct calibration *calibration)
{
	for (int id = 0; id < CATALOGUE_OPERATIONS; id++) {
		struct operation *operation = &workload->operations[id];
		const tsn_fine_t label = tsn_register_fine(catalogue[id].name);

		if (!label.id)
			die("register a label");
		operation->label = label.id;
		operation->iterations = workload->iterations[id] = calibration->iterations[id];
		for (int i = 0; i < CATALOGUE_CHILDREN && catalogue[id].children[i] >= 0; i++)
			operation->children[operation->child_count++] =
				&workload->operations[catalogue[id].children[i]];
	}
}

struct workload *workload__start(const struct calibration *calibration,
				 const struct workload_config *config)
{
	struct workload *workload =
		calloc(1, sizeof(*workload) + config->threads * sizeof(workload->workers[0]));

	if (!workload)
		die("find memory");
	workload->threads = config->threads;
	prepare_operations(workload, calibration);
	atomic_init(&workload->phase, WORK);
	pthread_barrier_init(&workload->barrier, NULL, config->threads + 1);
	for (unsigned i = 0; i < config->threads; i++) {
		struct worker *worker = &workload->workers[i];

		worker->workload = workload;
		worker->random = random__seed(config->seed * WORKLOAD_THREADS_MAX + i);
		worker->state = random__seed(i);
		catalogue__shuffle(config->seed * WORKLOAD_THREADS_MAX + i, worker->cycle);
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

double workload__pause(struct workload *workload)
{
	double cpu_ns = 0;

	atomic_store(&workload->phase, PAUSE);
	pthread_barrier_wait(&workload->barrier);
	for (unsigned i = 0; i < workload->threads; i++)
		cpu_ns += workload->workers[i].cpu_ns;
	return cpu_ns;
}

void workload__calls(const struct workload *workload, unsigned thread,
		     uint64_t calls[CATALOGUE_OPERATIONS])
{
	catalogue__calls(workload->workers[thread].roots, calls);
}

void workload__measure(struct workload *workload,
		       double self_ns[WORKLOAD_THREADS_MAX][CATALOGUE_OPERATIONS], double *scatter)
{
	direct(workload, MEASURE);
	for (unsigned i = 0; i < workload->threads; i++) {
		for (int id = 0; id < CATALOGUE_OPERATIONS; id++)
			self_ns[i][id] = workload->workers[i].self_ns[id];
		*scatter = fmax(*scatter, workload->workers[i].scatter);
	}
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
