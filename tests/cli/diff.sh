# SPDX-License-Identifier: MIT
# ticksnick diff: golden output in every format, exit codes, states that have no number, hostile names, bad input.
. "$(dirname "$0")/lib.sh"

DATA=$TOP/tests/data/diff
SAME=$TOP/tests/data/server.json
PYTHON=/usr/bin/python3

diff_of_samples() {
	cp "$DATA/base.json" "$DATA/new.json" . # warnings have their names
	LC_ALL=C.UTF-8 COLUMNS=100 run "$TICKSNICK" diff "$@" base.json new.json
}

shows_what_changed_worst_first() {
	diff_of_samples -f "$1"
	assert_exit 1
	assert_empty "$ERR"
	assert_same "$DATA/expected.$2" "$OUT"
}

fits_any_terminal() {
	LC_ALL=C.UTF-8 COLUMNS=$1 run "$TICKSNICK" diff "$DATA/base.json" "$DATA/new.json"
	assert_exit 1
	[ "$(LC_ALL=C.UTF-8 wc -L <"$OUT")" -le "$1" ] ||
		fail "a line is wider than $1 columns"
	assert_contains "slower"
}

a_report_against_itself_is_no_regression() {
	for format in text markdown json junit github; do
		run "$TICKSNICK" diff -f $format "$1" "$1"
		assert_exit 0
		! grep -q '^::error' "$OUT" || fail "an error in $format"
		assert_not_contains "<failure"
	done
	again "$1" >again.json
	run "$TICKSNICK" diff --threshold 0 --base "$1" again.json --new again.json "$1"
	assert_exit 0
}

# again FILE: what it holds, as another recording.
again() {
	sed 's/"start_unix_ns": [0-9]*/"start_unix_ns": 1/' "$1"
}

refuses_a_recording_twice_on_a_side() {
	"$TICKSNICK" report -f json -o copy.json "$SAME"
	again "$SAME" >again.json
	"$TICKSNICK" merge -o merged.json again.json "$SAME"
	for twice in copy.json merged.json; do
		run "$TICKSNICK" diff --base "$SAME" again.json --new "$SAME" $twice
		assert_exit 2
		assert_empty "$OUT"
		assert_one_error_line
		assert_err_contains "ticksnick diff: cannot compare $twice: it holds the same recording as $SAME"
	done
	run "$TICKSNICK" diff --base "$SAME" again.json --new "$SAME" again.json
	assert_exit 0
}

the_exit_says_what_was_asked_for() {
	local expected=$1
	shift
	run "$TICKSNICK" diff "$@"
	assert_exit "$expected"
	assert_empty "$ERR"
}

# json.loads accepts NaN and Infinity, unless it is told not to.
json_has_neither_nan_nor_infinity() {
	diff_of_samples -f json
	"$PYTHON" - "$OUT" <<'END' || fail "not strict JSON, or a state is wrong"
import json, sys

def refuse(text):
    raise ValueError(text)

text = open(sys.argv[1], encoding="utf-8").read()
diff = json.loads(text, parse_constant=refuse)
states = {row["label"]: (row["state"], row["verdict"]) for row in diff["fine"]}
expected = {
    "added": ("added", "none"), "removed": ("removed", "none"), "uncalled": ("uncalled", "none"),
    "called now": ("uncalled-base", "none"), "called no more": ("uncalled-new", "none"),
    "unseen": ("unsampled", "none"), "born hot": ("unsampled-base", "slower"),
    "cooled": ("unsampled-new", "faster"), "wait for work": ("idle", "none"), "parse": ("compared", "slower"),
}
for label, state in expected.items():
    if states[label] != state:
        sys.exit(f"{label}: {states[label]}")
row = next(row for row in diff["fine"] if row["label"] == "born hot")["per_call"]
sys.exit("change" in row or row["open"] != ["change", "change_hi"])
END
}

json_is_as_the_schema_says() {
	need_validator
	diff_of_samples -f json -o written.json
	check_schema "$TOP/docs/diff.schema.json" written.json complete
	sed '0,/"verdict": "slower"/s//"verdict": "perhaps"/' written.json >wrong.json
	! cmp -s written.json wrong.json || fail "the edit changed nothing"
	run "$PYTHON" -c 'import json, sys, jsonschema
schema, diff = (json.load(open(name)) for name in sys.argv[1:])
sys.exit(3 if list(jsonschema.Draft202012Validator(schema).iter_errors(diff)) else 0)' \
		"$TOP/docs/diff.schema.json" wrong.json
	assert_exit 3
}

junit_is_well_formed_xml() {
	diff_of_samples -f junit
	"$PYTHON" - "$OUT" <<'END' || fail "not XML, or its counts are wrong"
import sys
import xml.etree.ElementTree as tree

suite = tree.parse(sys.argv[1]).getroot()[0]
counts = {key: len(suite.findall("testcase" + path)) for key, path in
          (("tests", ""), ("failures", "/failure"), ("skipped", "/skipped"))}
sys.exit(any(int(suite.get(key)) != count for key, count in counts.items()) or counts["failures"] < 3)
END
}

# A label or a kernel's name that holds line ends and commands stays one line, and no command.
github_runs_nothing_that_a_name_says() {
	diff_of_samples -f github
	assert_equal "$(grep -cvE '^::(error|warning|notice) title=[^:]*::' "$OUT")" 0 "lines that are no annotation"
	assert_equal "$(grep -c '^::error' "$OUT")" 6 "errors"
	assert_not_contains "$(printf '\033')"
}

# with_names NAME..: the samples as b.json and n.json, with fine labels of these names; the last is a kernel's, too.
with_names() {
	"$PYTHON" - "$DATA" "$@" <<'END'
import json, sys
for name, to in (("base", "b"), ("new", "n")):
    report = json.load(open(sys.argv[1] + "/" + name + ".json"))
    for row, label in zip(report["fine"], sys.argv[2:]):
        row["label"] = label
    report["host"]["kernel"] = to + " " + sys.argv[-1]
    json.dump(report, open(to + ".json", "w"))
END
}

formats_for_programs_are_utf8_in_any_locale() {
	with_names "größe→名前" "$(printf 'a\302\205b')" "$(printf 'a\357\277\276b')"
	for format in markdown json junit github; do
		LC_ALL=C run "$TICKSNICK" diff -f $format -o plain b.json n.json
		assert_exit 1
		assert_contains "größe→名前" plain
		"$PYTHON" -c 'import sys, xml.dom.minidom as xml
text = open("plain", "rb").read().decode("utf-8")
sys.argv[1] == "junit" and xml.parseString(text)' $format || fail "not what $format is"
	done
	LC_ALL=C run "$TICKSNICK" diff b.json n.json
	LC_ALL=C grep -q '[^ -~]' "$OUT" && fail "the text is not ASCII"
	return 0
}

# A runner looks for "::" at the start of a line, behind blanks, and for "##[" anywhere.
text_in_a_log_runs_nothing_that_a_name_says() {
	local long
	long=$(printf 'x%.0s' $(seq 85))
	with_names '::error::a' ' ::set-env name=x::b' 'c ##[error]d' '##vso[task.complete]' 'std::sort' \
		"$long::error::$long::warning::$long ::error::e"
	for columns in 30 60 90 100; do
		COLUMNS=$columns run "$TICKSNICK" diff b.json n.json
		assert_exit 1
		! grep -E '^ *::|##\[|##vso' "$OUT" || fail "a command at $columns columns"
	done
	assert_contains '\x3a:error::a'
	assert_contains 'std::sort'
}

markdown_runs_nothing_that_a_name_says() {
	diff_of_samples -f markdown
	assert_not_contains "<b>"
	assert_not_contains "@me"
	assert_not_contains "$(printf '\033')"
	assert_equal "$(grep '^|' "$OUT" | sed 's/[^|]//g' | sort -u)" "||||||||||" "cells of a row"
}

# GitHub's limit is 65,536 characters; a warning's text may be of combining characters, which take no columns.
markdown_fits_a_comment_whatever_the_names() {
	"$PYTHON" - "$DATA" <<'END'
import json, sys
for name in ("base", "new"):
    report = json.load(open(sys.argv[1] + "/" + name + ".json"))
    for k in range(300):
        report["fine"].append(dict(report["fine"][-1], label="%03d" % k + "|" * 60, idle=False, calls=5))
    for key in ("kernel", "machine", "cpu_model", "virtualization"):
        report["host"][key] = name[0] + "\u0301" * 4000 + "|" * 400
    json.dump(report, open(name + ".json", "w"))
END
	LC_ALL=$1 run "$TICKSNICK" diff -f markdown base.json new.json
	assert_exit 1
	[ "$(wc -c <"$OUT")" -le 65536 ] || fail "$(wc -c <"$OUT") bytes"
	[ "$(grep -c '^| <code>' "$OUT")" -ge 60 ] || fail "only $(grep -c '^| <code>' "$OUT") rows"
	assert_matches '^and [0-9]+ more, which the other formats have$'
	assert_equal "$(tail -n 1 "$OUT" | grep -c '</sub>$')" 1 "ends"
}

warns_of_reports_that_are_hard_to_compare() {
	sed 's|"cpus": [0-9]*|"cpus": 64|' "$SAME" >other.json
	run "$TICKSNICK" diff "$SAME" other.json
	assert_exit 0
	assert_contains "[cpu_count]"
}

# with_pace FILE NS: the base, recorded at another moment on CPUs of that pace.
with_pace() {
	began=179609193912${#1}${2}789
	sed "s|\"start_unix_ns\": [0-9]*|\"start_unix_ns\": $began, \"pace_runs\": 10000, \"pace_ns\": ${2}0000|" \
		"$DATA/base.json" >"$1"
}

# Paces of 800 ns +-1%, of the new build 1% more; then of two of each.
says_whether_the_pace_of_the_cpus_is_taken_out() {
	for pace in 792 800 808; do
		with_pace "base-$pace" "$pace"
		with_pace "new-$pace" $((pace + 10))
	done
	run "$TICKSNICK" diff -f json --base base-* --new new-*
	assert_exit 0
	assert_contains '"adjusted": "pace"'
	assert_contains '"pace_ns": 800.0'
	assert_contains '"pace_ns": 810.0'
	assert_contains "took 1.2% longer for the same calculation in the reports of the new build: no more than chance"
	run "$TICKSNICK" diff --base base-* --new new-*
	assert_exit 0
	tr -s ' \n' ' ' <"$OUT" >words
	assert_contains "how fast the CPUs were meanwhile is taken out of times per call and means." words
	run "$TICKSNICK" diff -f json --base base-792 base-800 --new new-800 new-808
	assert_exit 0
	assert_contains '"adjusted": "none"'
	assert_contains "took 2.3% longer for the same calculation in the reports of the new build: as much of a change"
}

each_warning_is_explained() {
	tr -d '\n' <"$TOP/user/compare_warnings.c" |
		grep -oE 'warn(_some)?\([^"]*"[a-z_]+"|\{"[a-z_]+", "[A-Za-z ]+", [a-z_]+_of\}' |
		sed 's/^[^"]*"\([a-z_]*\)".*/\1/' | sort -u >names
	[ "$(wc -l <names)" -ge 11 ] || fail "found $(wc -l <names) codes only"
	while read -r name; do
		grep -q "^| \`$name\` |" "$TOP/docs/diff.md" || fail "docs/diff.md does not explain the warning $name"
	done <names
}

refuses_wrong_arguments() {
	run "$TICKSNICK" diff "$@"
	assert_exit 2
	assert_empty "$OUT"
	assert_err_contains "ticksnick diff: "
}

refuses_what_is_no_report() {
	echo '{"schema": "ticksnick.report/9"}' >newer.json
	for bad in newer.json missing.json /dev/null; do
		run "$TICKSNICK" diff "$SAME" $bad
		assert_exit 2
		assert_empty "$OUT"
		assert_one_error_line
		assert_err_contains "ticksnick diff: cannot read $bad: "
	done
}

says_when_it_cannot_write() {
	run "$TICKSNICK" diff -o /dev/full "$DATA/base.json" "$DATA/new.json"
	assert_exit 6
	assert_one_error_line
	assert_err_contains "cannot write /dev/full: No space left on device"
}

writes_a_file_whole() {
	diff_of_samples -f markdown -o comment.md
	assert_exit 1
	assert_empty "$OUT"
	assert_same "$DATA/expected.md" comment.md
}

helps() {
	run "$BUILD/ticksnick-diff" --help
	assert_exit 0
	assert_contains "Usage: ticksnick diff"
}

test_case shows_what_changed_worst_first text txt
test_case shows_what_changed_worst_first markdown md
test_case shows_what_changed_worst_first json json
test_case shows_what_changed_worst_first junit xml
test_case shows_what_changed_worst_first github github
test_case fits_any_terminal 40
test_case fits_any_terminal 80
test_case a_report_against_itself_is_no_regression "$SAME"
test_case a_report_against_itself_is_no_regression "$TOP/tests/data/nasty.json"
test_case a_report_against_itself_is_no_regression "$TOP/tests/data/empty.json"
test_case a_report_against_itself_is_no_regression "$DATA/base.json"
test_case refuses_a_recording_twice_on_a_side
test_case the_exit_says_what_was_asked_for 1 "$DATA/base.json" "$DATA/new.json"
test_case the_exit_says_what_was_asked_for 1 --base "$DATA/base.json" --new "$DATA/new.json"
test_case the_exit_says_what_was_asked_for 0 --fail-on never "$DATA/base.json" "$DATA/new.json"
test_case the_exit_says_what_was_asked_for 0 "$SAME" "$SAME"
test_case the_exit_says_what_was_asked_for 1 --fail-on cannot-say "$SAME" "$SAME"
test_case the_exit_says_what_was_asked_for 0 "$TOP/tests/data/empty.json" "$SAME"
test_case the_exit_says_what_was_asked_for 0 "$SAME" "$TOP/tests/data/empty.json"
EMPTY=$TOP/tests/data/empty.json
test_case the_exit_says_what_was_asked_for 0 --fail-on cannot-say "$EMPTY" "$EMPTY"
test_case json_has_neither_nan_nor_infinity
test_case json_is_as_the_schema_says
test_case junit_is_well_formed_xml
test_case github_runs_nothing_that_a_name_says
test_case formats_for_programs_are_utf8_in_any_locale
test_case text_in_a_log_runs_nothing_that_a_name_says
test_case markdown_runs_nothing_that_a_name_says
test_case markdown_fits_a_comment_whatever_the_names C
test_case markdown_fits_a_comment_whatever_the_names C.UTF-8
test_case warns_of_reports_that_are_hard_to_compare
test_case says_whether_the_pace_of_the_cpus_is_taken_out
test_case each_warning_is_explained
test_case refuses_wrong_arguments
test_case refuses_wrong_arguments "$SAME"
test_case refuses_wrong_arguments "$SAME" "$SAME" "$SAME"
test_case refuses_wrong_arguments --base "$SAME"
test_case refuses_wrong_arguments "$SAME" --new "$SAME"
test_case refuses_wrong_arguments --base "$SAME" -f json "$SAME" --new "$SAME"
test_case refuses_wrong_arguments --threshold -1 "$SAME" "$SAME"
test_case refuses_wrong_arguments --threshold 3% "$SAME" "$SAME"
test_case refuses_wrong_arguments --threshold nan "$SAME" "$SAME"
test_case refuses_wrong_arguments --fail-on always "$SAME" "$SAME"
test_case refuses_wrong_arguments -f csv "$SAME" "$SAME"
test_case refuses_what_is_no_report
test_case says_when_it_cannot_write
test_case writes_a_file_whole
test_case helps
