/* SPDX-License-Identifier: MIT */
/*
 * accounts - the coarse table while it is worked on.
 */
#ifndef TICKSNICK_ACCOUNTS_H
#define TICKSNICK_ACCOUNTS_H

#include "saturate.h"
#include "spans.h"

/* A coarse label. Its row has no name yet. */
struct account {
	struct profile_coarse row;
	const char *name;
	struct account_pair *pairs;
	size_t pair_count;
	u128 weight; /* of the pairs */
	uint64_t wait_ns;
	uint64_t stale_weight;
};

/* A fine label inside of it; the row has no names yet. */
struct account_pair {
	struct profile_pair row;
	const char *fine; /* NULL: in no fine label */
	uint64_t weight, wait_ns;
};

struct accounts {
	const struct spans_input *input;
	struct account *at;
	size_t count;
	struct account_pair *pairs; /* of all accounts */
	size_t pair_count;
	u128 weight; /* of all time */
	/* Idle fine labels left out. */
	uint64_t outside_weight, outside_ns, stale_weight, stale_ns;
	uint64_t hits, stale_hits; /* with a coarse label, its execution going on or over */
};

/*
 * From sums: ratios, percentiles, intervals, order, flags and warnings, into the profile as
 * spans__compute says. Takes the histograms over. 0 or -ENOMEM.
 */
int accounts__conclude(struct accounts *accounts, struct profile *profile);

/* What they own, not themselves. */
void accounts__free(struct accounts *accounts);

/* The warnings that follow. 0 or -ENOMEM. profile->totals are there, those of the accounts
 * included. */
int accounts__warn(const struct accounts *accounts, struct profile *profile);

/* What warnings and flags go by; all_ns: labelled and unlabelled thread-time. */
bool account__is_small(const struct account *account, double cost_ns, double all_ns);
bool account__is_serialised(const struct account *account);
bool accounts__is_stale(const struct accounts *accounts, const struct account *account);

#endif
