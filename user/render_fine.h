/* SPDX-License-Identifier: MIT */
/*
 * render_fine - the text report's table of fine labels, the lines that say what it rests on, and
 * its legend.
 */
#ifndef TICKSNICK_RENDER_FINE_H
#define TICKSNICK_RENDER_FINE_H

#include "grid.h"
#include "page.h"
#include "profile.h"
#include "ranks.h"

struct render_fine {
	const struct profile *profile;
	struct page *page;
	const struct profile_fine **rows; /* ranked ones, then idle ones, then those that were never
					     seen: called, not called */
	size_t ranked, idle, called, uncalled;
	struct rank *ranks; /* of the ranked */
	struct grid *grid;
	int decimals; /* the most that any share has */
};

/* Lays the table out for the page. 0 or -ENOMEM, and then there is nothing to free. */
int render_fine__new(struct render_fine *fine, const struct profile *profile, struct page *page);
void render_fine__free(struct render_fine *fine);

/* Each writes its part to the page; errors are noted in page->error. */
void render_fine__write_table(const struct render_fine *fine);
void render_fine__write_basis(const struct render_fine *fine); /* denominator, bound, verdict */
void render_fine__write_legend(const struct render_fine *fine);

#endif
