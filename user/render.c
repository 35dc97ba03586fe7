// SPDX-License-Identifier: MIT
#include "render.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const struct render_format *const formats[] = {&render_text, &render_json, &render_csv,
						      &render_csv_coarse, &render_csv_pairs};

const struct render_format *render__find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

static bool wants_colour(void)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

/* 0: COLUMNS says nothing usable. */
static unsigned columns_by_environment(void)
{
	const char *text = getenv("COLUMNS");
	unsigned long columns;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return 0;
	columns = strtoul(text, &end, 10);
	return *end || columns > 100000 ? 0 : (unsigned)columns;
}

struct render_options render__options_for(FILE *out)
{
	struct render_options options = {0};
	struct winsize size = {0};
	int fd = fileno(out);

	if (fd >= 0 && isatty(fd)) {
		options.colour = wants_colour();
		if (ioctl(fd, TIOCGWINSZ, &size) == 0)
			options.columns = size.ws_col;
	}
	if (!options.columns)
		options.columns = columns_by_environment();
	if (!options.columns)
		options.columns = RENDER_COLUMNS_MAX;
	return options;
}

int render__plain_numbers(struct render_numbers *numbers)
{
	locale_t copy = duplocale(uselocale((locale_t)0));

	if (!copy)
		return -ENOMEM;
	numbers->plain = newlocale(LC_NUMERIC_MASK, "C", copy);
	if (!numbers->plain) {
		freelocale(copy);
		return -ENOMEM;
	}
	numbers->before = uselocale(numbers->plain);
	return 0;
}

void render__restore_numbers(struct render_numbers *numbers)
{
	uselocale(numbers->before);
	freelocale(numbers->plain);
}
