// SPDX-License-Identifier: MIT
/* The report for people: head, table of labels, what the table rests on, coarse labels, threads,
 * warnings, legend. docs/output.md explains it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "page.h"
#include "render.h"
#include "render_coarse.h"
#include "render_fine.h"
#include "render_threads.h"
#include "units.h"
#include "utf8.h"

#define TARGETS_SHOWN 3
#define CODES_SHOWN   32
#define SHOWN_OF_CODE 4
#define PATH_COLUMNS  48

static const char *ending(const char *ended_by)
{
	static const struct {
		const char *name, *words;
	} endings[] = {
		{"duration", "its time was up"},
		{"target", "its target ended"},
		{"signal", "a signal ended it"},
		{"violation", "a label violation ended it"},
		{"merged", "they ended for different reasons"},
	};
	size_t i;

	for (i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (ended_by && strcmp(endings[i].name, ended_by) == 0)
			return endings[i].words;
	return "ended for a reason not known here";
}

/* A path cut to a length that leaves room for more; the caller frees it. */
static char *path_text(struct page *page, const char *path)
{
	char *printable = page__printable(page, path), *fitted = NULL;

	if (printable)
		fitted = utf8__fit(printable, PATH_COLUMNS, page->unicode);
	if (!fitted)
		page->error = -ENOMEM;
	free(printable);
	return fitted;
}

/* "server (pid 4242, /usr/sbin/server), ... and 2 more"; the caller frees it. */
static char *targets_text(struct page *page, const struct profile *profile)
{
	char *text = NULL, *comm, *exe;
	size_t length, i;
	FILE *out = open_memstream(&text, &length);

	if (!out) {
		page->error = -ENOMEM;
		return NULL;
	}
	for (i = 0; i < profile->target_count && i < TARGETS_SHOWN; i++) {
		const struct profile_target *target = &profile->target[i];

		comm = page__printable(page, target->comm);
		exe = path_text(page, target->exe);
		fprintf(out, "%s%s (pid %d%s%s)", i ? ", " : "", comm ? comm : "", target->pid,
			exe && *exe ? ", " : "", exe ? exe : "");
		free(comm);
		free(exe);
	}
	if (profile->target_count > TARGETS_SHOWN)
		fprintf(out, " and %zu more", profile->target_count - TARGETS_SHOWN);
	if (profile->target_count == 0)
		fputs("no process", out);
	if (fclose(out)) {
		page->error = -ENOMEM;
		free(text);
		return NULL;
	}
	return text;
}

static void write_recorded(struct page *page, const struct profile *profile)
{
	const struct profile_session *session = &profile->session;
	char time[UNITS_SIZE], hits[UNITS_SIZE], hertz[UNITS_SIZE],
		merged[64] = "", *targets = targets_text(page, profile);

	if (!targets)
		return;
	snprintf(hertz, sizeof(hertz), isnan(session->frequency_hz) ? "an unknown rate" : "%.4g Hz",
		 session->frequency_hz);
	if (profile->source_count)
		snprintf(merged, sizeof(merged),
			 "merged from %zu recording%s: ", profile->source_count,
			 profile->source_count == 1 ? "" : "s");
	page__write(page, PAGE_BOLD, "recorded", "%s%s for %s at %s: %s hits; %s%s%s", merged,
		    targets, units__time(time, (double)session->duration_ns), hertz,
		    units__grouped(hits, profile->totals.hits), ending(session->ended_by),
		    session->follow_children ? "; children followed" : "",
		    session->strict ? "" : "; not strict");
	free(targets);
}

static void write_host(struct page *page, const struct profile *profile)
{
	time_t start = (time_t)(profile->session.start_unix_ns / 1000000000u);
	char date[40] = "", *kernel, *machine, *model, *virtualization, *version;
	const struct profile_host *host = &profile->host;
	struct tm tm;

	if (gmtime_r(&start, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &tm);
	kernel = page__printable(page, host->kernel);
	machine = page__printable(page, host->machine);
	model = page__printable(page, host->cpu_model);
	virtualization = page__printable(page, host->virtualization);
	version = page__printable(page, profile->tool_version);
	if (kernel && machine && model && virtualization && version)
		page__write(page, PAGE_BOLD, "on", "%s; Linux %s %s, %u %s%s%s%s%s; ticksnick%s%s",
			    date, kernel, machine, host->cpus, host->cpus == 1 ? "CPU" : "CPUs",
			    *model ? ", " : "", model,
			    *virtualization && strcmp(virtualization, "none") != 0 ? ", " : "",
			    strcmp(virtualization, "none") != 0 ? virtualization : "",
			    *version ? " " : "", version);
	free(kernel);
	free(machine);
	free(model);
	free(virtualization);
	free(version);
}

static void write_coverage(struct page *page, const struct profile_totals *totals)
{
	char all[UNITS_SIZE], running[UNITS_SIZE], unlabelled[UNITS_SIZE], idle[UNITS_SIZE];

	page__write(page, PAGE_BOLD, "coverage",
		    "%s of thread-time and %s of running time is labelled, idle aside; %s in no "
		    "label, %s in idle labels",
		    units__part(all, totals->coverage),
		    units__part(running, totals->coverage_running),
		    units__time(unlabelled, (double)totals->unlabelled_ns),
		    units__time(idle, (double)totals->idle_ns));
}

static void write_states(struct page *page, const struct profile_totals *totals)
{
	uint64_t all = totals->thread_time_ns;
	char time[UNITS_SIZE], run[UNITS_SIZE], ready[UNITS_SIZE], blocked[UNITS_SIZE],
		io[UNITS_SIZE];
	char stolen[UNITS_SIZE];

	if (!all) {
		page__write(page, PAGE_BOLD, "states", "no thread-time was measured");
		return;
	}
	page__write(page, PAGE_BOLD, "states",
		    "%s thread-time = %s%% running + %s%% runnable + %s%% blocked + %s%% io%s%s%s",
		    units__time(time, (double)all), units__percent(run, totals->running_ns, all),
		    units__percent(ready, totals->runnable_ns, all),
		    units__percent(blocked, totals->blocked_ns, all),
		    units__percent(io, totals->io_ns, all), totals->stolen_ns ? "; " : "",
		    totals->stolen_ns ? units__time(stolen, (double)totals->stolen_ns) : "",
		    totals->stolen_ns ? " of the running time was stolen" : "");
}

static uint64_t loss_at(const struct profile_losses *losses, size_t i)
{
	uint64_t count;

	memcpy(&count, (const char *)losses + profile_loss_fields[i].offset, sizeof(count));
	return count;
}

/* The counters that are not zero, of those that mean a missing observation or of the others; NULL:
 * none. The caller frees it. */
static char *losses_text(struct page *page, const struct profile_losses *losses, bool missing)
{
	char count[UNITS_SIZE], *text = NULL;
	size_t length, i;
	FILE *out = open_memstream(&text, &length);

	if (!out) {
		page->error = -ENOMEM;
		return NULL;
	}
	for (i = 0; i < profile_loss_field_count; i++) {
		if (!loss_at(losses, i) || profile_loss_fields[i].missing != missing)
			continue;
		fprintf(out, "%s%s %s", ftell(out) > 0 ? "; " : "",
			units__grouped(count, loss_at(losses, i)), profile_loss_fields[i].meaning);
	}
	if (fclose(out))
		page->error = -ENOMEM;
	if (!page->error && length)
		return text;
	free(text);
	return NULL;
}

static void write_losses(struct page *page, const struct profile_losses *losses)
{
	char *missing = losses_text(page, losses, true), *others = losses_text(page, losses, false);

	page__write(page, missing ? PAGE_WARNING : PAGE_BOLD, "losses", "%s",
		    missing ? missing : "nothing was lost");
	if (others)
		page__write(page, PAGE_BOLD, "not lost", "%s", others);
	free(missing);
	free(others);
}

static void write_overhead(struct page *page, const struct profile_overhead *overhead)
{
	char tick[UNITS_SIZE], each[UNITS_SIZE], ticks[UNITS_SIZE], switches[UNITS_SIZE],
		total[UNITS_SIZE];
	char fraction[UNITS_SIZE];

	if (!overhead->ticks && !overhead->switches) {
		page__write(page, PAGE_BOLD, "overhead", "not measured");
		return;
	}
	if (isnan(overhead->fraction))
		strcpy(fraction, "n/a");
	else
		snprintf(fraction, sizeof(fraction), "%.2g%%", overhead->fraction * 100);
	page__write(page, PAGE_BOLD, "overhead",
		    "%s in BPF programs, %s of the running time: %s ticks of %s, %s switches of "
		    "%s; without the timer "
		    "interrupts and the labels' own instructions",
		    units__time(total, (double)overhead->kernel_ns), fraction,
		    units__grouped(ticks, overhead->ticks),
		    units__time(tick, (double)overhead->tick_ns),
		    units__grouped(switches, overhead->switches),
		    units__time(each, (double)overhead->switch_ns));
}

static void write_warning(struct page *page, const struct profile_warning *warning)
{
	char *text = page__printable(page, warning->text),
	     *code = page__printable(page, warning->code);
	char *label = page__printable(page, warning->label);
	bool named = text && label && (!*label || strstr(text, label));

	if (text && code && label)
		page__write(page, PAGE_WARNING, "warning", "[%s] %s%s%s", code, named ? "" : label,
			    named ? "" : ": ", text);
	free(text);
	free(code);
	free(label);
}

/* Twenty labels with the same fault are one piece of news: of each code the first few are shown. */
static void write_warnings(struct page *page, const struct profile *profile)
{
	struct {
		const char *code;
		size_t count;
	} codes[CODES_SHOWN];
	size_t known = 0, shown = 0, i, k;

	if (profile->warning_count)
		fputc('\n', page->out);
	for (i = 0; i < profile->warning_count; i++) {
		const struct profile_warning *warning = &profile->warnings[i];

		for (k = 0; k < known && strcmp(codes[k].code, warning->code) != 0; k++)
			;
		if (k == CODES_SHOWN)
			continue;
		if (k == known) {
			codes[known].code = warning->code;
			codes[known++].count = 0;
		}
		if (codes[k].count++ >= SHOWN_OF_CODE)
			continue;
		write_warning(page, warning);
		shown++;
	}
	if (shown < profile->warning_count)
		page__write(page, PAGE_WARNING, "warning",
			    "and %zu more of these kinds; the JSON report has all",
			    profile->warning_count - shown);
}

static void write_page(struct page *page, const struct profile *profile)
{
	struct render_fine fine;
	struct render_coarse coarse;

	page->error = render_fine__new(&fine, profile, page);
	if (page->error)
		return;
	page->error = render_coarse__new(&coarse, profile, page);
	if (page->error) {
		render_fine__free(&fine);
		return;
	}
	write_recorded(page, profile);
	write_host(page, profile);
	fputc('\n', page->out);
	render_fine__write_table(&fine);
	fputc('\n', page->out);
	render_fine__write_basis(&fine);
	render_coarse__write(&coarse);
	write_coverage(page, &profile->totals);
	write_states(page, &profile->totals);
	write_losses(page, &profile->losses);
	write_overhead(page, &profile->overhead);
	render_threads__write(page, profile);
	write_warnings(page, profile);
	render_fine__write_legend(&fine);
	render_coarse__write_legend(&coarse);
	render_coarse__free(&coarse);
	render_fine__free(&fine);
}

static int write_text(const struct profile *profile, const struct render_options *options,
		      FILE *out)
{
	struct page page = page__new(options, out);
	struct render_numbers numbers;
	int error = render__plain_numbers(&numbers);

	if (error)
		return error;
	write_page(&page, profile);
	render__restore_numbers(&numbers);
	return page.error ? page.error : ferror(out) ? -EIO : 0;
}

const struct render_format render_text = {"text", write_text};
