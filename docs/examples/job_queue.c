// SPDX-License-Identifier: MIT
/*
 * job_queue.c - work that is handed to other threads, and still belongs to the request that asked
 * for it: capture the context where a job is submitted, mount it where the job runs.
 *
 *	cc -O2 -I include docs/examples/job_queue.c -o job_queue -lpthread
 *	sudo ticksnick-record -- ./job_queue 5		# five seconds of it
 *
 * Without an argument it serves a few requests and checks what it shows.
 */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <ticksnick/ticksnick.h>

#define WORKERS	     3
#define JOBS	     8 /* of one request */
#define JOB_MAX	     (4 * JOBS)
#define REQUESTS_MIN 20

TSN_COARSE(op_request, "request"); /* from the first job submitted to the last one done */
TSN_FINE(op_submit, "submit");	   /* what threads do in it ... */
TSN_FINE(op_compress, "compress"); /* ... whichever thread does it */
TSN_FINE(op_await, "awaitJobs");   /* part of the request's time, and no work */
TSN_IDLE(op_wait, "waitForJob");   /* a worker that has nothing to do is in no request */

struct request {
	unsigned jobs_left;
	uint32_t sum;
	tsn_context_t context; /* what its jobs are expected to run in */
};

struct job {
	struct request *request;
	uint32_t input;
	tsn_context_t context; /* of whoever submitted it */
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct job jobs[JOB_MAX]; /* a ring */
	unsigned head, count;
	int closed;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void queue_put(struct request *request, uint32_t input)
{
	TSN_SCOPE(op_submit);
	struct job job = {request, input, tsn_capture()};

	pthread_mutex_lock(&queue.lock);
	while (queue.count == JOB_MAX)
		pthread_cond_wait(&queue.changed, &queue.lock);
	queue.jobs[(queue.head + queue.count++) % JOB_MAX] = job;
	pthread_cond_broadcast(&queue.changed);
	pthread_mutex_unlock(&queue.lock);
}

/* The next job; 0: there will be none. */
static int queue_take(struct job *job)
{
	TSN_SCOPE(op_wait);

	pthread_mutex_lock(&queue.lock);
	while (!queue.count && !queue.closed)
		pthread_cond_wait(&queue.changed, &queue.lock);
	if (!queue.count) {
		pthread_mutex_unlock(&queue.lock);
		return 0;
	}
	*job = queue.jobs[queue.head];
	queue.head = (queue.head + 1) % JOB_MAX;
	queue.count--;
	pthread_cond_broadcast(&queue.changed);
	pthread_mutex_unlock(&queue.lock);
	return 1;
}

static uint32_t compress(uint32_t input)
{
	TSN_SCOPE(op_compress);
	int i;

	TSN_KEEP(input); /* the work must not begin before its label ... */
	for (i = 0; i < 20000; i++)
		input = (input ^ input >> 15) * 2246822519u;
	TSN_KEEP(input); /* ... nor end after it */
	return input;
}

static void job_run(const struct job *job)
{
	TSN_WITH_CONTEXT(job->context); /* from here to the end of the block */
	uint32_t output;

	assert(tsn_capture().context == job->request->context.context);
	output = compress(job->input);
	pthread_mutex_lock(&queue.lock);
	job->request->sum += output;
	job->request->jobs_left--;
	pthread_cond_broadcast(&queue.changed);
	pthread_mutex_unlock(&queue.lock);
}

static void *worker_main(void *unused)
{
	struct job job;

	while (queue_take(&job)) {
		job_run(&job);
		assert(tsn_capture().context == 0);
	}
	return unused;
}

static void request_await(struct request *request)
{
	TSN_SCOPE(op_await);

	pthread_mutex_lock(&queue.lock);
	while (request->jobs_left)
		pthread_cond_wait(&queue.changed, &queue.lock);
	pthread_mutex_unlock(&queue.lock);
}

static uint32_t request_serve(uint32_t number)
{
	TSN_SCOPE(op_request);
	struct request request = {JOBS, 0, tsn_capture()};
	uint32_t i;

	for (i = 0; i < JOBS; i++)
		queue_put(&request, number * JOBS + i);
	/* Jobs that outlived this block would be reported as stale. */
	request_await(&request);
	return request.sum;
}

/* What a request's jobs add up to, without a queue. */
static uint32_t expected(uint32_t number)
{
	uint32_t i, sum = 0;

	for (i = 0; i < JOBS; i++)
		sum += compress(number * JOBS + i);
	return sum;
}

int main(int argc, char **argv)
{
	const time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 0);
	pthread_t workers[WORKERS];
	uint32_t number;
	int i;

	for (i = 0; i < WORKERS; i++) {
		if (pthread_create(&workers[i], NULL, worker_main, NULL)) {
			perror("job_queue: pthread_create");
			return 1;
		}
	}
	for (number = 0; number < REQUESTS_MIN || time(NULL) < end; number++) {
		if (request_serve(number) != expected(number)) {
			fprintf(stderr, "job_queue: request %u went wrong\n", number);
			return 1;
		}
	}
	pthread_mutex_lock(&queue.lock);
	queue.closed = 1;
	pthread_cond_broadcast(&queue.changed);
	pthread_mutex_unlock(&queue.lock);
	for (i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	/* A point where this thread is in no label. */
	if (tsn_expect_balanced()) {
		fprintf(stderr, "job_queue: a label is still open\n");
		return 1;
	}
	printf("%u requests of %d jobs\n", number, JOBS);
	return 0;
}
