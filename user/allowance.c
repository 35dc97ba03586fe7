// SPDX-License-Identifier: MIT
#include "allowance.h"

#include <stdlib.h>

struct allowance {
	uint64_t shares;
	uint64_t left_ns, counted_ns; /* what was left when last counted, and when that was */
	bool refused;		      /* until it is whole again */
	bool hurried, ended;
};

struct allowance *allowance__new(uint64_t now_ns)
{
	struct allowance *allowance = calloc(1, sizeof(*allowance));

	if (!allowance)
		return NULL;
	allowance->shares = 1;
	allowance->left_ns = ALLOWANCE_NS;
	allowance->counted_ns = now_ns;
	return allowance;
}

struct allowance *allowance__share(struct allowance *allowance)
{
	allowance->shares++;
	return allowance;
}

void allowance__free(struct allowance *allowance)
{
	if (allowance && !--allowance->shares)
		free(allowance);
}

/* What has come back since the last count. */
static void refill(struct allowance *allowance, uint64_t now_ns)
{
	if (!allowance->hurried)
		allowance->left_ns += (now_ns - allowance->counted_ns) / ALLOWANCE_REFILL;
	if (allowance->left_ns >= ALLOWANCE_NS) {
		allowance->left_ns = ALLOWANCE_NS;
		allowance->refused = false;
	}
	allowance->counted_ns = now_ns;
}

uint64_t allowance__left(struct allowance *allowance, uint64_t now_ns)
{
	refill(allowance, now_ns);
	return allowance->refused || allowance->ended ? 0 : allowance->left_ns;
}

void allowance__use(struct allowance *allowance, uint64_t now_ns, uint64_t waited_ns)
{
	refill(allowance, now_ns);
	if (waited_ns >= allowance->left_ns)
		allowance__exhaust(allowance, now_ns);
	else
		allowance->left_ns -= waited_ns;
}

void allowance__exhaust(struct allowance *allowance, uint64_t now_ns)
{
	allowance->left_ns = 0;
	allowance->counted_ns = now_ns;
	allowance->refused = true;
}

void allowance__hurry(struct allowance *allowance, uint64_t now_ns)
{
	if (allowance->hurried)
		return;
	refill(allowance, now_ns);
	allowance->hurried = true;
	if (allowance->left_ns > ALLOWANCE_HURRY_NS)
		allowance->left_ns = ALLOWANCE_HURRY_NS;
}

void allowance__end(struct allowance *allowance)
{
	allowance->ended = true;
}
