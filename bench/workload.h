/* SPDX-License-Identifier: MIT */
/*
 * workload - threads that run the catalogue's operations until they are told to stop, and then
 * measure what each of them took.
 */
#ifndef TICKSNICK_BENCH_WORKLOAD_H
#define TICKSNICK_BENCH_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "calibration.h"
#include "catalogue.h"

#define WORKLOAD_THREADS_MAX 64

struct workload_config {
	unsigned threads; /* 1 .. WORKLOAD_THREADS_MAX */
	uint64_t seed;	  /* of the order of the roots */
	bool varied;	  /* other proportions of them than the catalogue's, by the seed */
	bool alone;	  /* nothing but calls of one operation that calls none: only */
	int only;
};

struct workload;

/* Returns when all threads are at work. Exits the program where it cannot start them. */
struct workload *workload__start(const struct calibration *calibration,
				 const struct workload_config *config);

/* CPU time of all threads until now, ns. */
double workload__cpu_ns(const struct workload *workload);

/* Ends the work; the threads wait from then on. */
void workload__pause(struct workload *workload);

/* Calls of each operation that a thread made, exact; the workload is paused. */
void workload__calls(const struct workload *workload, unsigned thread,
		     uint64_t calls[CATALOGUE_OPERATIONS]);

/* ns per call of each operation by itself, as that thread measures it while all the others measure
 * too: medians of batches, operations taking turns. *scatter is raised to the worst scatter seen.
 * The workload is paused. */
void workload__measure(struct workload *workload,
		       double self_ns[WORKLOAD_THREADS_MAX][CATALOGUE_OPERATIONS], double *scatter);

/* Ends the threads; NULL is fine. */
void workload__free(struct workload *workload);

#endif
