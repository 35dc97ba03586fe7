// SPDX-License-Identifier: MIT
#include "render_diff.h"

#include <string.h>

static const struct render_diff_format *const formats[] = {
	&render_diff_text,  &render_diff_markdown, &render_diff_json,
	&render_diff_junit, &render_diff_github,
};

const struct render_diff_format *render_diff__find(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}
