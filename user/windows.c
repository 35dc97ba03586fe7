/* SPDX-License-Identifier: MIT */
#include "windows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(WINDOWS_MAX % 2 == 0, "windows are merged in pairs");

struct windows {
	double (*rows)[WINDOWS_MAX]; /* zeros beyond the window under way */
	size_t row_count, row_capacity;
	size_t stride;	 /* slices of a complete window */
	size_t complete; /* windows 0 .. complete - 1; the one under way is next */
	size_t pending;	 /* slices in the window under way, less than stride */
};

struct windows *windows__new(void)
{
	struct windows *windows = calloc(1, sizeof(*windows));

	if (windows)
		windows->stride = 1;
	return windows;
}

void windows__free(struct windows *windows)
{
	if (!windows)
		return;
	free(windows->rows);
	free(windows);
}

static int reserve_rows(struct windows *windows, size_t rows)
{
	size_t capacity = windows->row_capacity ? windows->row_capacity : 16;
	double(*grown)[WINDOWS_MAX];

	if (rows > PTRDIFF_MAX / sizeof(*grown) / 2)
		return -ENOMEM;
	while (capacity < rows)
		capacity *= 2;
	if (capacity > windows->row_capacity && rows > 0) {
		grown = reallocarray(windows->rows, capacity, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		windows->rows = grown;
		windows->row_capacity = capacity;
	}
	if (rows > windows->row_count) {
		memset(windows->rows[windows->row_count], 0,
		       (rows - windows->row_count) * sizeof(*windows->rows));
		windows->row_count = rows;
	}
	return 0;
}

/* Only when all windows are complete: no slice is under way. */
static void merge_pairs(struct windows *windows)
{
	for (size_t row = 0; row < windows->row_count; row++) {
		double *weights = windows->rows[row];

		for (size_t k = 0; k < WINDOWS_MAX / 2; k++)
			weights[k] = weights[2 * k] + weights[2 * k + 1];
		memset(weights + WINDOWS_MAX / 2, 0, WINDOWS_MAX / 2 * sizeof(*weights));
	}
	windows->complete = WINDOWS_MAX / 2;
	windows->stride *= 2;
}

int windows__add(struct windows *windows, const double *weights, size_t rows)
{
	int err = reserve_rows(windows, rows);

	if (err)
		return err;
	if (windows->complete == WINDOWS_MAX)
		merge_pairs(windows);
	for (size_t row = 0; row < rows; row++)
		windows->rows[row][windows->complete] += weights[row];
	if (++windows->pending == windows->stride) {
		windows->complete++;
		windows->pending = 0;
	}
	return 0;
}

size_t windows__stride(const struct windows *windows)
{
	return windows->stride;
}

size_t windows__left(const struct windows *windows)
{
	return windows->complete == WINDOWS_MAX ? windows->stride * 2
						: windows->stride - windows->pending;
}

/* Whether the window under way is long enough to stand alone. */
static bool pending_counts(const struct windows *windows)
{
	return windows->pending > 0 && windows->pending >= windows->stride - windows->pending;
}

size_t windows__count(const struct windows *windows)
{
	return windows->complete + pending_counts(windows);
}

size_t windows__rows(const struct windows *windows)
{
	return windows->row_count;
}

void windows__row(const struct windows *windows, size_t row, double *out)
{
	const size_t count = windows__count(windows);

	if (count == 0)
		return;
	if (row >= windows->row_count) {
		memset(out, 0, count * sizeof(*out));
		return;
	}
	memcpy(out, windows->rows[row], count * sizeof(*out));
	if (windows->pending > 0 && !pending_counts(windows))
		out[count - 1] += windows->rows[row][windows->complete];
}
