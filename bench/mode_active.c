// SPDX-License-Identifier: MIT
/*
 * active: the twenty operations at work while other threads are parked, in an idle label, in a fine
 * one and in none. Those who wait must not move the shares of those who run.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <ticksnick/ticksnick.h>

#include "bench.h"
#include "outcome.h"
#include "trial.h"

#define SECONDS_BRIEF	    4
#define SECONDS_FULL	    20
#define FREQUENCY_HZ	    997
#define PARKED		    4 /* threads of each kind */
#define OUTSIDE_MAX	    1 /* of 20 rows: all hold at once in 19 of 20 sessions */
#define PARKED_ERROR_MAX_PC 0.5

TSN_IDLE(label_idle, "active.parkedIdle");
TSN_FINE(label_fine, "active.parkedInside");

enum kind { KIND_IDLE, KIND_FINE, KIND_NONE, KINDS };

struct lot {
	pthread_mutex_t mutex;
	pthread_cond_t condition;
	bool over;
	pthread_barrier_t parked;
};

struct parked {
	pthread_t thread;
	pid_t tid;
	enum kind kind;
	struct lot *lot;
};

static void park(struct lot *lot)
{
	pthread_barrier_wait(&lot->parked);
	pthread_mutex_lock(&lot->mutex);
	while (!lot->over)
		pthread_cond_wait(&lot->condition, &lot->mutex);
	pthread_mutex_unlock(&lot->mutex);
}

static void *parked_main(void *argument)
{
	struct parked *parked = argument;
	const tsn_fine_t labels[KINDS] = {[KIND_IDLE] = label_idle, [KIND_FINE] = label_fine};

	parked->tid = gettid();
	TSN_SCOPE(labels[parked->kind]);
	park(parked->lot);
	return NULL;
}

static void lot_fill(struct lot *lot, struct parked parked[KINDS * PARKED])
{
	pthread_mutex_init(&lot->mutex, NULL);
	pthread_cond_init(&lot->condition, NULL);
	pthread_barrier_init(&lot->parked, NULL, KINDS * PARKED + 1);
	lot->over = false;
	for (int i = 0; i < KINDS * PARKED; i++) {
		parked[i] = (struct parked){.kind = i / PARKED, .lot = lot};
		if (pthread_create(&parked[i].thread, NULL, parked_main, &parked[i]))
			exit(1);
	}
	pthread_barrier_wait(&lot->parked);
}

static void lot_empty(struct lot *lot, struct parked parked[KINDS * PARKED])
{
	pthread_mutex_lock(&lot->mutex);
	lot->over = true;
	pthread_cond_broadcast(&lot->condition);
	pthread_mutex_unlock(&lot->mutex);
	for (int i = 0; i < KINDS * PARKED; i++)
		pthread_join(parked[i].thread, NULL);
	pthread_barrier_destroy(&lot->parked);
	pthread_cond_destroy(&lot->condition);
	pthread_mutex_destroy(&lot->mutex);
}

/* Blocked time of all threads of that kind, by their own rows. */
static double blocked_ns(const struct parked parked[KINDS * PARKED], enum kind kind,
			 const struct profile *profile)
{
	double sum = 0;

	for (size_t row = 0; row < profile->thread_count; row++)
		for (int i = 0; i < PARKED; i++)
			if (profile->threads[row].tid == parked[(int)kind * PARKED + i].tid)
				sum += (double)profile->threads[row].blocked_ns;
	return sum;
}

static double off_pc(double value, double due)
{
	return 100 * fabs(value / due - 1);
}

static int judge_parked(const struct parked parked[KINDS * PARKED],
			const struct recording *recording, struct outcome *outcome)
{
	const struct profile *profile = recording->profile;
	const struct profile_fine *idle = recording__fine(recording, "active.parkedIdle");
	const struct profile_fine *fine = recording__fine(recording, "active.parkedInside");
	const double due = PARKED * (double)profile->session.duration_ns;
	double shares = 0;

	if (!idle || !fine)
		return -ENOENT;
	for (size_t i = 0; i < profile->fine_count; i++)
		if (!profile->fine[i].idle && !isnan(profile->fine[i].share))
			shares += profile->fine[i].share;
	outcome__gate(outcome, "parked in an idle label: blocked, off by",
		      off_pc((double)idle->blocked_ns, due), GATE_AT_MOST, PARKED_ERROR_MAX_PC,
		      "%");
	outcome__gate(outcome, "parked in a fine label: blocked, off by",
		      off_pc((double)fine->blocked_ns, due), GATE_AT_MOST, PARKED_ERROR_MAX_PC,
		      "%");
	outcome__gate(outcome, "parked in no label: blocked, off by",
		      off_pc(blocked_ns(parked, KIND_NONE, profile), due), GATE_AT_MOST,
		      PARKED_ERROR_MAX_PC, "%");
	outcome__gate(outcome, "idle time in the totals, off by",
		      off_pc((double)profile->totals.idle_ns, due), GATE_AT_MOST,
		      PARKED_ERROR_MAX_PC, "%");
	outcome__gate(outcome, "the idle label has no share", isnan(idle->share), GATE_AT_LEAST, 1,
		      "");
	outcome__gate(outcome, "shares of the others, off 1 by", fabs(shares - 1), GATE_AT_MOST,
		      1e-6, "");
	return 0;
}

static void judge_running(const struct comparison *comparison, struct outcome *outcome)
{
	outcome__figure(outcome, "running: farthest from the truth", comparison->worst_pp, "pp");
	outcome__gate(outcome, "running: rows outside their bound",
		      CATALOGUE_OPERATIONS - comparison->inside, GATE_AT_MOST, OUTSIDE_MAX, "");
	outcome__gate(outcome, "running: top ten in the order of the truth",
		      comparison->top_ten_in_order, GATE_AT_LEAST, 1, "");
}

int mode_active(const struct bench_options *options, struct outcome *outcome)
{
	const struct workload_config config = {.threads = bench__threads(options),
					       .seed = options->seed};
	const double seconds = bench__seconds(options, SECONDS_BRIEF, SECONDS_FULL);
	const double frequency = bench__frequency(options, FREQUENCY_HZ);
	struct parked parked[KINDS * PARKED];
	struct calibration calibration;
	struct trial trial;
	struct lot lot;
	int err;

	calibration__run(&calibration);
	lot_fill(&lot, parked);
	err = trial__run(options, outcome, &calibration, &config, frequency, seconds, &trial);
	lot_empty(&lot, parked);
	if (err)
		return err;
	truth__judge(&trial.truth, outcome);
	truth__print(&trial.truth, &trial.comparison, outcome);
	judge_running(&trial.comparison, outcome);
	err = judge_parked(parked, &trial.recording, outcome);
	if (err)
		outcome__broken(outcome, "the report lacks a label");
	trial__free(&trial);
	return err;
}
