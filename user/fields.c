// SPDX-License-Identifier: MIT
#include "fields.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define FIELDS(array)               \
	{                           \
		array, COUNT(array) \
	}

/* clang-format off */
#define ROW(member, kind) {#member, FIELD_##kind, offsetof(struct STRUCTURE, member)}

static const struct field tool[] = {
	{"version", FIELD_STRING, offsetof(struct profile, tool_version)},
	{"abi", FIELD_UNSIGNED, offsetof(struct profile, tool_abi)},
};

#define STRUCTURE profile_host
static const struct field host[] = {
	ROW(kernel, STRING), ROW(machine, STRING), ROW(cpus, UNSIGNED), ROW(cpu_model, OPTIONAL_STRING),
	ROW(virtualization, OPTIONAL_STRING),
};

#undef STRUCTURE
#define STRUCTURE profile_target
static const struct field target[] = {
	ROW(pid, INT), ROW(comm, STRING), ROW(exe, OPTIONAL_STRING), ROW(build_id, OPTIONAL_STRING),
};

#undef STRUCTURE
#define STRUCTURE profile_session
static const struct field session[] = {
	ROW(start_unix_ns, U64), ROW(duration_ns, U64), ROW(frequency_hz, REAL), ROW(ticks_expected, U64),
	ROW(ticks_delivered, U64), ROW(glances, U64), ROW(windows, U64), ROW(ended_by, STRING), ROW(strict, BOOL),
	ROW(follow_children, LATER_BOOL), ROW(pace_runs, SUM), ROW(pace_ns, SUM),
};

#undef STRUCTURE
#define STRUCTURE profile_overhead
static const struct field overhead[] = {
	ROW(ticks, U64), ROW(tick_ns, U64), ROW(switches, U64), ROW(switch_ns, U64), ROW(kernel_ns, U64),
	ROW(fraction, REAL), ROW(tick_total_ns, SUM), ROW(switch_total_ns, SUM),
};

#undef STRUCTURE
#define STRUCTURE profile_totals
static const struct field totals[] = {
	ROW(thread_time_ns, U64), ROW(running_ns, U64), ROW(stolen_ns, U64), ROW(runnable_ns, U64),
	ROW(blocked_ns, U64), ROW(io_ns, U64), ROW(labelled_ns, U64), ROW(unlabelled_ns, U64), ROW(idle_ns, U64),
	ROW(hits, U64), ROW(coverage, SHARE), ROW(coverage_running, SHARE), ROW(bound, SHARE),
	ROW(outside_ns, LATER), ROW(stale_ns, LATER), ROW(weight_squares, SUM), ROW(window_squares, SUM),
	ROW(window_products, SUM), ROW(window_all_squares, SUM), ROW(lost_hits, SUM), ROW(lost_wait_ns, SUM),
	ROW(coarse_hits, SUM), ROW(report_squares, SUM),
};

#undef STRUCTURE
#define STRUCTURE profile_thread
static const struct field threads[] = {
	ROW(pid, INT), ROW(tid, INT), ROW(comm, STRING), ROW(lifetime_ns, U64), ROW(running_ns, U64),
	ROW(runnable_ns, U64), ROW(blocked_ns, U64), ROW(io_ns, U64), ROW(hits, U64),
};

#undef STRUCTURE
#define STRUCTURE profile_fine
static const struct field fine[] = {
	ROW(label, STRING), ROW(idle, BOOL), ROW(hits, U64), ROW(hits_user, U64), ROW(hits_kernel, U64),
	ROW(running_ns, U64), ROW(runnable_ns, U64), ROW(blocked_ns, U64), ROW(io_ns, U64),
	ROW(thread_time_ns, U64), ROW(share, SHARE), ROW(share_lo, SHARE), ROW(share_hi, SHARE),
	ROW(cpu_share, SHARE), ROW(calls, U64), ROW(per_call_ns, ROUNDED), ROW(elapsed_ns, U64),
	ROW(in_flight, REAL), ROW(flags, FLAGS), ROW(window_squares, SUM), ROW(window_products, SUM),
	ROW(long_hits, SUM), ROW(glances, SUM), ROW(glances_shared, SUM), ROW(callers, SUM), ROW(reports, SUM),
	ROW(report_squares, SUM), ROW(report_products, SUM),
};

#undef STRUCTURE
#define STRUCTURE profile_coarse
static const struct field coarse[] = {
	ROW(label, STRING), ROW(executions, U64), ROW(sum_ns, U64), ROW(mean_ns, MEASURED), ROW(p50_ns, MEASURED),
	ROW(p90_ns, MEASURED), ROW(p99_ns, MEASURED), ROW(max_ns, MEASURED), ROW(open_start, U64), ROW(open_end, U64),
	ROW(span_ns, U64), ROW(hits, U64), ROW(running_ns, U64), ROW(runnable_ns, U64), ROW(blocked_ns, U64),
	ROW(io_ns, U64), ROW(thread_time_ns, U64), ROW(stale_hits, U64), ROW(stale_ns, U64), ROW(inside, REAL),
	ROW(working, REAL), ROW(busy_per_exec_ns, ROUNDED), ROW(flags, FLAGS), ROW(histogram, HISTOGRAM),
	ROW(open_end_ns, SUM), ROW(callers, SUM), ROW(readings, SUM), ROW(readings_shared, SUM), ROW(reports, SUM),
};
_Static_assert(offsetof(struct profile_coarse, histogram_count) ==
	       offsetof(struct profile_coarse, histogram) + sizeof(struct profile_bucket *),
	       "a histogram's count follows it");

#undef STRUCTURE
#define STRUCTURE profile_pair
static const struct field pairs[] = {
	ROW(coarse, STRING), ROW(fine, OPTIONAL_STRING), ROW(hits, U64), ROW(running_ns, U64), ROW(runnable_ns, U64),
	ROW(blocked_ns, U64), ROW(io_ns, U64), ROW(thread_time_ns, U64), ROW(part, SHARE), ROW(part_lo, SHARE),
	ROW(part_hi, SHARE),
};

#undef STRUCTURE
#define STRUCTURE profile_warning
static const struct field warnings[] = {
	ROW(code, STRING), ROW(label, OPTIONAL_STRING), ROW(text, STRING),
};

#undef STRUCTURE
#define STRUCTURE profile_source
static const struct field sources[] = {
	ROW(start_unix_ns, U64), ROW(duration_ns, U64), ROW(id, STRING), ROW(frequency_hz, REAL), ROW(ended_by, STRING),
	ROW(strict, BOOL), ROW(follow_children, BOOL), ROW(windowed, BOOL), ROW(version, STRING), ROW(abi, UNSIGNED),
	ROW(kernel, STRING), ROW(machine, STRING), ROW(cpus, UNSIGNED), ROW(cpu_model, OPTIONAL_STRING),
	ROW(virtualization, OPTIONAL_STRING),
};

#define SECTION(member) {#member, offsetof(struct profile, member), FIELDS(member)}
#define ARRAY(member, counter, type) \
	{#member, offsetof(struct profile, member), \
	 offsetof(struct profile, counter), sizeof(struct type), FIELDS(member), false}

const struct fields_section fields_tool = {"tool", 0, FIELDS(tool)};
const struct fields_section fields_host = SECTION(host);
const struct fields_section fields_session = SECTION(session);
const struct fields_section fields_overhead = SECTION(overhead);
const struct fields_section fields_totals = SECTION(totals);
const struct fields_array fields_target = ARRAY(target, target_count, profile_target);
const struct fields_array fields_threads = ARRAY(threads, thread_count, profile_thread);
const struct fields_array fields_fine = ARRAY(fine, fine_count, profile_fine);
const struct fields_array fields_coarse = ARRAY(coarse, coarse_count, profile_coarse);
const struct fields_array fields_pairs = ARRAY(pairs, pair_count, profile_pair);
const struct fields_array fields_warnings = ARRAY(warnings, warning_count, profile_warning);
const struct fields_array fields_sources = {
	"sources", offsetof(struct profile, sources), offsetof(struct profile, source_count),
	sizeof(struct profile_source), FIELDS(sources), true};
/* clang-format on */

int64_t fields__rounded(double value)
{
	if (!(value > 0))
		return 0;
	return value < 0x1p63 - 1024 ? (int64_t)(value + 0.5) : INT64_MAX;
}

double fields__share(double value)
{
	return value < 0 ? 0 : value > 1 ? 1 : value;
}
