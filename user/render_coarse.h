/* SPDX-License-Identifier: MIT */
/*
 * render_coarse - the text report's tables of coarse labels: how long executions took, what they
 * are made of, and what was in none of them. Nothing where there is no coarse label.
 */
#ifndef TICKSNICK_RENDER_COARSE_H
#define TICKSNICK_RENDER_COARSE_H

#include "grid.h"
#include "page.h"
#include "profile.h"

struct render_coarse {
	const struct profile *profile;
	struct page *page;
	size_t seen;		     /* of the labels: those of which there is something to show */
	size_t parted, parted_shown; /* of them: with pairs, and with those shown */
	struct grid *table, *inside; /* NULL: no coarse label */
};

/* Lays the tables out for the page. 0 or -ENOMEM, and then there is nothing to free. */
int render_coarse__new(struct render_coarse *coarse, const struct profile *profile,
		       struct page *page);
void render_coarse__free(struct render_coarse *coarse);

/* Each writes its part to the page; errors are noted in page->error. */
void render_coarse__write(const struct render_coarse *coarse);
void render_coarse__write_legend(const struct render_coarse *coarse);

#endif
