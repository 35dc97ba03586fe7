# SPDX-License-Identifier: MIT
# ticksnick merge: what it reads, refuses and writes; what a thousand reports cost. What it computes is in tests/unit.
. "$(dirname "$0")/lib.sh"

DATA=$TOP/tests/data
PYTHON=/usr/bin/python3
REPORTS=1000
REPORT_THREADS=40
THREADS_MAX=4096 # that a merged report has rows of
CPU_MS_MAX=2000
MEMORY_KIB_MAX=$((100 * 1024))

# repeat DIGIT FILE: the sample, as recorded a few ns earlier.
repeat() {
	sed "s/\(\"start_unix_ns\": [0-9]*\)[0-9],/\1$1,/" "$DATA/server.json" >"$2"
	! cmp -s "$DATA/server.json" "$2" || fail "the edit changed nothing"
}

repeats_make_one_report_that_is_shown_as_such() {
	repeat 1 a.json
	repeat 2 b.json
	run "$TICKSNICK" merge a.json b.json -o merged.json
	assert_exit 0
	assert_empty "$OUT"
	assert_empty "$ERR"
	run "$TICKSNICK" report merged.json
	assert_exit 0
	assert_contains "merged from 2 recordings: "
	for format in csv csv-coarse csv-pairs; do
		run "$TICKSNICK" report -f $format merged.json
		assert_exit 0
		[ "$(head -n 1 "$OUT")" = "$("$TICKSNICK" report -f $format a.json | head -n 1)" ] ||
			fail "merging changed the columns of $format"
	done
}

hits_add_up_and_shares_stay() {
	repeat 1 a.json
	repeat 2 b.json
	run "$TICKSNICK" merge a.json b.json -o merged.json
	assert_exit 0
	run "$PYTHON" -c 'import json, sys
one, two = (json.load(open(name)) for name in sys.argv[1:])
assert two["totals"]["hits"] == 2 * one["totals"]["hits"]
assert two["session"]["duration_ns"] == 2 * one["session"]["duration_ns"]
assert len(two["threads"]) == 2 * len(one["threads"])
by = lambda row: row["label"]
for a, b in zip(sorted(one["fine"], key=by), sorted(two["fine"], key=by)):
    assert a["label"] == b["label"] and b["calls"] == 2 * a["calls"], a["label"]
    assert abs(a.get("share", 0) - b.get("share", 0)) < 1e-3, a["label"]
for a, b in zip(sorted(one["coarse"], key=by), sorted(two["coarse"], key=by)):
    assert b["executions"] == 2 * a["executions"] and b.get("max_ns") == a.get("max_ns"), a["label"]' \
		a.json merged.json
	assert_exit 0
}

order_and_grouping_do_not_matter() {
	local i
	for i in 1 2 3 4; do
		repeat $i $i.json
	done
	run "$TICKSNICK" merge 1.json 2.json 3.json 4.json -o flat.json
	assert_exit 0
	run "$TICKSNICK" merge 4.json 2.json -o pair.json
	assert_exit 0
	run sh -c '"$1" merge 3.json pair.json | "$1" merge - 1.json -o tree.json' sh "$TICKSNICK"
	assert_exit 0
	assert_same flat.json tree.json
}

a_merged_report_is_as_the_schema_says() {
	need_validator
	repeat 1 a.json
	run "$TICKSNICK" merge a.json "$DATA/empty.json" -o merged.json
	assert_exit 0
	check_schema "$TOP/docs/report.schema.json" merged.json complete
}

# refused FILE REASON: one sentence that names the file; what was there is kept.
refused() {
	echo precious >merged.json
	run "$TICKSNICK" merge a.json "$1" -o merged.json
	assert_exit 2
	assert_one_error_line
	assert_err_contains "$1: $2"
	[ "$(cat merged.json)" = precious ] || fail "merged.json was changed"
}

refuses_a_recording_twice_unless_asked_for() {
	repeat 1 a.json
	repeat 2 b.json
	run "$TICKSNICK" merge a.json b.json -o both.json
	assert_exit 0
	"$TICKSNICK" report -f json -o again.json a.json
	refused again.json "it holds the same recording as a.json"
	refused both.json "it holds the same recording as a.json"
	run "$TICKSNICK" merge --allow-same a.json both.json -o merged.json
	assert_exit 0
	assert_contains merged_twice merged.json
}

refuses_what_it_cannot_merge() {
	repeat 1 a.json
	sed 's|ticksnick.report/1|ticksnick.report/2|' "$DATA/server.json" >newer.json
	echo '{"label": 1}' >other.json
	head -c 3000 "$DATA/server.json" >cut.json
	sed 's/"hits": 78265/"hits": 5/' "$DATA/server.json" >wrong.json
	refused newer.json 'schema "ticksnick.report/2" is not known here'
	refused other.json 'not a report'
	refused cut.json 'not JSON'
	refused nowhere.json 'No such file'
	refused wrong.json 'it contradicts itself: fine'
	refused . 'Is a directory'
}

reports_of_many_kernels_make_one_that_can_be_read() {
	"$PYTHON" - "$DATA/server.json" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
for n in range(300):
    report["host"]["kernel"] = "6.%03d-" % n + "x" * 100
    json.dump(report, open("%03d.json" % n, "w"))
END
	run "$TICKSNICK" merge -o half.json [01]*.json
	assert_exit 0
	run "$TICKSNICK" merge -o merged.json half.json 2*.json
	assert_exit 0
	run "$TICKSNICK" merge -o flat.json [0-9]*.json
	assert_exit 0
	assert_same flat.json merged.json
	run "$TICKSNICK" report -f json merged.json
	assert_exit 0
	assert_matches '"kernel": "6.000-x.* and [0-9]+ more"'
}

# Memory that is not enough is no bad input.
says_when_memory_is_not_enough() {
	local limit=$((64 * 1024))
	(ulimit -v $limit && "$TICKSNICK" --version) >/dev/null 2>&1 || skip "cannot run in 64 MiB (as with sanitizers)"
	"$PYTHON" -c 'import sys
text = open(sys.argv[1]).read()
print(text.replace("{", "{\"more\": [" + "1," * 10000000 + "1],", 1))' "$DATA/server.json" >large.json
	for command in "merge large.json" "report large.json" "diff large.json large.json"; do
		# shellcheck disable=SC2086 # words
		run sh -c 'ulimit -v "$1"; shift; exec "$@"' sh $limit "$TICKSNICK" $command
		assert_exit 6
		assert_one_error_line
		assert_err_contains "cannot read large.json: Cannot allocate memory"
	done
}

refuses_wrong_arguments() {
	run "$TICKSNICK" merge "$@"
	assert_exit 2
	assert_empty "$OUT"
	assert_err_contains "ticksnick merge: "
}

writes_over_one_of_its_reports() {
	repeat 1 a.json
	repeat 2 b.json
	run "$TICKSNICK" merge a.json b.json -o a.json
	assert_exit 0
	assert_contains '"sources"' a.json
}

says_when_the_output_cannot_be_written() {
	repeat 1 a.json
	run "$TICKSNICK" merge a.json -o nowhere/merged.json
	assert_exit 6
	assert_one_error_line
	[ -c /dev/full ] || skip "needs /dev/full"
	run "$TICKSNICK" merge a.json -o /dev/full
	assert_exit 6
}

helps() {
	run "$TICKSNICK" merge --help
	assert_exit 0
	assert_contains "Usage: ticksnick merge"
	run "$BUILD/ticksnick-merge" --help
	assert_exit 0
}

# What is counted is CPU time, which others on the machine do not take; the least of three, for caches they do.
a_thousand_reports_take_under_two_seconds_and_100_MiB() {
	need_no_sanitizer "takes more of both"
	"$PYTHON" - "$DATA/server.json" "$REPORTS" "$REPORT_THREADS" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
thread = report["threads"][0]
report["threads"] = [dict(thread, tid=1000 + k) for k in range(int(sys.argv[3]))]
text = json.dumps(report, indent=2)
start = str(report["session"]["start_unix_ns"])
for n in range(int(sys.argv[2])):
    open("%04d.json" % n, "w").write(text.replace(start, str(int(start) + n), 1))
END
	run "$PYTHON" - "$TICKSNICK" <<'END'
import glob, os, subprocess, sys
names = sorted(glob.glob("[0-9]*.json"))
times = []
for turn in range(3):
    child = subprocess.Popen([sys.argv[1], "merge", "-o", "merged"] + names)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit("merge failed")
    times.append(1000 * (usage.ru_utime + usage.ru_stime))
print("%.0f %d" % (min(times), usage.ru_maxrss))
END
	assert_exit 0
	read -r cpu_ms memory_kib <"$OUT"
	echo "$REPORTS reports: $cpu_ms ms of CPU, $memory_kib KiB"
	[ "$cpu_ms" -lt $CPU_MS_MAX ] || fail "took $cpu_ms ms of CPU"
	[ "$memory_kib" -lt $MEMORY_KIB_MAX ] || fail "took $memory_kib KiB"
	"$PYTHON" -c 'import json, sys
merged = json.load(open("merged"))
assert len(merged["threads"]) == int(sys.argv[1])
assert merged["losses"]["threads_folded"] == int(sys.argv[2])' \
		"$THREADS_MAX" $((REPORTS * REPORT_THREADS - THREADS_MAX)) || fail "threads are missing"
	run "$TICKSNICK" report merged
	assert_exit 0
}

test_case repeats_make_one_report_that_is_shown_as_such
test_case hits_add_up_and_shares_stay
test_case order_and_grouping_do_not_matter
test_case a_merged_report_is_as_the_schema_says
test_case refuses_a_recording_twice_unless_asked_for
test_case refuses_what_it_cannot_merge
test_case reports_of_many_kernels_make_one_that_can_be_read
test_case says_when_memory_is_not_enough
test_case refuses_wrong_arguments
test_case refuses_wrong_arguments --no-such-option a.json
test_case refuses_wrong_arguments nowhere.json
test_case writes_over_one_of_its_reports
test_case says_when_the_output_cannot_be_written
test_case helps
test_case a_thousand_reports_take_under_two_seconds_and_100_MiB
