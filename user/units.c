// SPDX-License-Identifier: MIT
#include "units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Decimals that make three significant digits of a value that is at least 1. */
static int decimals(double value)
{
	return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

/* The least value with so many decimals that is not below; the small term is for what is one. */
static double rounded_up(double value, int digits)
{
	const double scale = pow(10, digits);

	return ceil(value * scale - 1e-7) / scale;
}

static const char *write_time(char buffer[UNITS_SIZE], double ns, bool up)
{
	static const struct {
		double ns, below; /* below: of what rounds to the next unit; half more rounds up */
		const char *name;
	} units[] = {
		{1, 999.5, "ns"},   {1e3, 999.5, "us"},	     {1e6, 999.5, "ms"},
		{1e9, 9999.5, "s"}, {3600e9, INFINITY, "h"},
	};
	size_t i = 0;

	if (isnan(ns))
		return strcpy(buffer, "-");
	if (ns == 0)
		return strcpy(buffer, "0");
	while (ns / units[i].ns >= units[i].below - (up ? 0.5 - 1e-7 : 0) &&
	       units[i].below < INFINITY)
		i++;
	ns /= units[i].ns;
	if (up)
		ns = rounded_up(ns, decimals(ns));
	snprintf(buffer, UNITS_SIZE, "%.*f %s", decimals(ns), ns, units[i].name);
	return buffer;
}

const char *units__time(char buffer[UNITS_SIZE], double ns)
{
	return write_time(buffer, ns, false);
}

const char *units__time_limit(char buffer[UNITS_SIZE], double ns)
{
	return write_time(buffer, ns, true);
}

const char *units__grouped(char buffer[UNITS_SIZE], uint64_t count)
{
	char digits[UNITS_SIZE], *out = buffer;
	int length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);

	for (int i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return buffer;
}

const char *units__short(char buffer[UNITS_SIZE], uint64_t count)
{
	static const char prefixes[] = "kMGTPE";
	double value = (double)count / 1e3;
	size_t i = 0;

	if (count < 100000) {
		snprintf(buffer, UNITS_SIZE, "%llu", (unsigned long long)count);
		return buffer;
	}
	for (; value >= 999.5 && prefixes[i + 1]; i++)
		value /= 1e3;
	snprintf(buffer, UNITS_SIZE, "%.*f%c", decimals(value), value, prefixes[i]);
	return buffer;
}

const char *units__real(char buffer[UNITS_SIZE], double value)
{
	if (isnan(value))
		return strcpy(buffer, "-");
	snprintf(buffer, UNITS_SIZE, value < 1e6 ? "%.*f" : "%.*e",
		 value < 1e6 ? decimals(value) : 1, value);
	return buffer;
}

const char *units__percent(char buffer[UNITS_SIZE], uint64_t part, uint64_t whole)
{
	double percent = whole ? 100.0 * (double)part / (double)whole : NAN;

	if (isnan(percent))
		return strcpy(buffer, "-");
	if (part > 0 && percent < 0.5)
		return strcpy(buffer, "<1");
	/* "100" is for all of it: 99.7 is 99 here, so that what is left can be seen to be there */
	if (part < whole && percent >= 99.5)
		percent = 99;
	snprintf(buffer, UNITS_SIZE, percent < 1e6 ? "%.0f" : "%.1e", percent);
	return buffer;
}

const char *units__part(char buffer[UNITS_SIZE], double part)
{
	if (isnan(part))
		return strcpy(buffer, "n/a");
	/* the small term is for products such as 0.57 x 1000 = 569.9999 */
	snprintf(buffer, UNITS_SIZE, "%.1f%%", floor(part * 1000 + 1e-7) / 10);
	return buffer;
}
