/* SPDX-License-Identifier: MIT */
/*
 * collect_spans - what a session that has stopped saw of coarse labels, as spans__compute() takes
 * it.
 */
#ifndef TICKSNICK_COLLECT_SPANS_H
#define TICKSNICK_COLLECT_SPANS_H

#include "label_names.h"
#include "session.h"
#include "spans.h"

/*
 * Makes labels and cells of *input; the rest is untouched. Names are the session's or of names, so
 * both must outlive it. 0 or -ENOMEM; either way collect_spans__free() is needed.
 */
int collect_spans__fill(const struct session *session, struct label_names *names,
			struct spans_input *input);
void collect_spans__free(struct spans_input *input); /* labels and cells */

#endif
