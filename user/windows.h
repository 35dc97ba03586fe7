/* SPDX-License-Identifier: MIT */
/*
 * windows - weighted hits kept apart for consecutive slices of the session, so that the variance of
 * a share can be seen.
 *
 * A fixed number of windows: when they are full, neighbours are merged pairwise and each window
 * from then on covers twice as long, so memory does not grow with time. Rows are dense indices that
 * the caller gives out (row 0: no label).
 */
#ifndef TICKSNICK_WINDOWS_H
#define TICKSNICK_WINDOWS_H

#include <stddef.h>

#define WINDOWS_MAX 64 /* even */

struct windows;

/* NULL: out of memory. */
struct windows *windows__new(void);
void windows__free(struct windows *windows); /* NULL is fine */

/*
 * Adds the newest slice: weights[row] in ns for row < rows; a row seen for the first time was zero
 * before. The slice is added to the window under way, which is complete after windows__stride()
 * slices. Returns 0 or -ENOMEM, and then nothing was added.
 */
int windows__add(struct windows *windows, const double *weights, size_t rows);

/*
 * Slices until the window under way is complete, at least 1. Only the last of them needs weights:
 * what the ones before it hold may be left to it (windows__add with no rows), so that a caller that
 * reads sums need not read each slice's.
 */
size_t windows__left(const struct windows *windows);

size_t windows__stride(const struct windows *windows); /* slices per window now: 1, 2, 4 ... */
size_t
windows__count(const struct windows *windows); /* complete windows, and the one under way if it
						  holds at least half a stride of slices; a shorter
						  rest is merged into the last complete one */
size_t windows__rows(const struct windows *windows);

/* Copies row's weights to out[0 .. windows__count() - 1]; zeros for a row never seen. */
void windows__row(const struct windows *windows, size_t row, double *out);

#endif
