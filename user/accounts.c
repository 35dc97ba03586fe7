// SPDX-License-Identifier: MIT
/* What there is to say of the coarse table; docs/output.md explains it. */
#include "accounts.h"

#include <inttypes.h>
#include <math.h>

#include "units.h"

#define SMALL_COSTS	    20.	 /* of timing an execution, in its mean */
#define SMALL_COSTS_ALL	    100. /* the same where it is all of the time: 1% of everything */
#define SERIALISED_READINGS 25
#define WORTH_TELLING	    0.01

/* The mean duration below which the cost of timing shows. */
static double floor_ns(const struct account *account, double cost_ns, double all_ns)
{
	const double share = all_ns > 0 ? (double)account->row.thread_time_ns / all_ns : 0;

	return cost_ns * fmax(SMALL_COSTS, SMALL_COSTS_ALL * share);
}

static double mean_ns(const struct account *account)
{
	return (double)account->row.sum_ns / (double)account->row.executions;
}

bool account__is_small(const struct account *account, double cost_ns, double all_ns)
{
	return account->row.executions > 0 && mean_ns(account) < floor_ns(account, cost_ns, all_ns);
}

bool account__is_serialised(const struct account *account)
{
	return account->row.callers > 1 && account->row.readings >= SERIALISED_READINGS &&
	       account->row.readings_shared == 0;
}

/* Where no label alone has enough of it, that with the most has all of it to answer for. */
bool accounts__is_stale(const struct accounts *accounts, const struct account *account)
{
	if (!spans__stale_violates(accounts->stale_hits, accounts->hits))
		return false;
	if (spans__stale_violates(account->row.stale_hits, accounts->hits))
		return true;
	for (size_t i = 0; i < accounts->count; i++)
		if (accounts->at[i].row.stale_hits > account->row.stale_hits)
			return false;
	return true;
}

/* Executions still open say little of the others if they are few and have not been for long. */
static bool is_open(const struct account *account)
{
	const struct profile_coarse *row = &account->row;
	const double executions = (double)row->executions + (double)row->open_end;

	return row->open_end > 0 &&
	       ((double)row->open_end >= WORTH_TELLING * executions ||
		(double)row->open_end_ns >= WORTH_TELLING * (double)row->span_ns);
}

static int warn_outside(const struct accounts *accounts, double all_ns, struct profile *profile)
{
	const double outside = all_ns > 0 ? (double)accounts->outside_ns / all_ns : 0;

	if (outside < WORTH_TELLING)
		return 0;
	return profile__warn(profile, "coarse_outside", NULL,
			     "%.1f%% of the time was inside no coarse label: between executions, "
			     "or in threads that did not take their context along (tsn_capture)",
			     floor(1000 * outside) / 10);
}

static int warn_small(const struct account *account, double cost_ns, struct profile *profile)
{
	char mean[UNITS_SIZE], cost[UNITS_SIZE];

	return profile__warn(profile, "coarse_small", account->name,
			     "its executions take %s on average, and timing one costs about %s: "
			     "make it fine (TSN_FINE), or time a greater unit",
			     units__time(mean, mean_ns(account)), units__time(cost, cost_ns));
}

static int warn_open(const struct account *account, struct profile *profile)
{
	const uint64_t n = account->row.open_end;

	return profile__warn(profile, "coarse_open", account->name,
			     "%" PRIu64 " execution%s open when the session ended; the time %s had "
			     "taken by then is in the span, not in the percentiles",
			     n, n == 1 ? " was" : "s were", n == 1 ? "it" : "they");
}

static int warn_stale(const struct account *account, struct profile *profile)
{
	char time[UNITS_SIZE];

	return profile__warn(profile, "coarse_stale", account->name,
			     "work went on under executions that were over: %" PRIu64
			     " hits, %s, which are not in its row; close it later, or drop the "
			     "context sooner",
			     account->row.stale_hits,
			     units__time(time, (double)account->row.stale_ns));
}

static int warn_account(const struct accounts *accounts, const struct account *account,
			double all_ns, struct profile *profile)
{
	const double cost_ns = accounts->input->cost_ns;
	int err = 0;

	if (account__is_small(account, cost_ns, all_ns))
		err = warn_small(account, cost_ns, profile);
	if (!err && account__is_serialised(account))
		err = profile__warn(profile, "coarse_serialised", account->name,
				    "%" PRIu64
				    " threads begin executions of it, but never were two of them "
				    "open at once",
				    account->row.callers);
	if (!err && is_open(account))
		err = warn_open(account, profile);
	if (!err && accounts__is_stale(accounts, account))
		err = warn_stale(account, profile);
	return err;
}

int accounts__warn(const struct accounts *accounts, struct profile *profile)
{
	const double all_ns =
		(double)profile->totals.labelled_ns + (double)profile->totals.unlabelled_ns;
	int err = warn_outside(accounts, all_ns, profile);

	for (size_t i = 0; i < accounts->count && !err; i++)
		err = warn_account(accounts, &accounts->at[i], all_ns, profile);
	return err;
}
