/* SPDX-License-Identifier: MIT */
/*
 * render_threads - the text report's table of threads.
 */
#ifndef TICKSNICK_RENDER_THREADS_H
#define TICKSNICK_RENDER_THREADS_H

#include "page.h"
#include "profile.h"

/* The threads with the most thread-time, and a line for the others; errors are noted in
 * page->error. */
void render_threads__write(struct page *page, const struct profile *profile);

#endif
