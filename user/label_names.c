// SPDX-License-Identifier: MIT
#include "label_names.h"

#include <stdio.h>

const char *label_names__get(struct label_names *names, const struct table *table, uint32_t id)
{
	if (!id)
		return NULL;
	if (id < table->label_count)
		return table->labels[id].name;
	snprintf(names->unread[id], sizeof(names->unread[id]), "#%u", id);
	return names->unread[id];
}
