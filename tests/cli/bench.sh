# SPDX-License-Identifier: MIT
# ticksnick-bench: its words, its exit codes, and that its modes can be run. What they measure is not for a test: other
# work on the machine moves it.
. "$(dirname "$0")/lib.sh"

BENCH=$BUILD/ticksnick-bench
MODES="run verify small sweep estimators hook cost active lockstep leakcheck lock coarse violate fanout diff all"

# json EXPRESSION: whether it holds of the outcome on stdout, which is o.
json() {
	/usr/bin/python3 -c 'import json, sys
with open(sys.argv[1]) as f: o = json.load(f)
sys.exit(0 if eval(sys.argv[2]) else 1)' "$OUT" "$1" || fail "does not hold: $1"
}

refuses_an_unknown_mode() {
	run "$BENCH" ponder
	assert_exit 2
	assert_one_error_line
	assert_err_contains "there is no mode 'ponder'"
	assert_empty "$OUT"
}

# An option, then what it refuses.
refuses_a_bad_number() {
	run "$BENCH" run "$1" "$2"
	assert_exit 2
	assert_err_matches "^ticksnick-bench: '$2' is not a (whole )?number"
	assert_not_contains "Options" "$ERR"
	assert_empty "$OUT"
}

refuses_two_modes() {
	run "$BENCH" hook lock
	assert_exit 2
	assert_err_contains "one mode at a time, not also 'lock'"
}

help_names_every_mode() {
	run "$BENCH" --help
	assert_exit 0
	for mode in $MODES; do
		assert_matches "^  $mode +[a-z]"
	done
	listed=$(sed -n '/^Modes:/,/^$/p' "$OUT" | grep -cE '^  [a-z]')
	assert_equal "$listed" "$(echo "$MODES" | wc -w)" "modes listed"
}

# Passed or not: the machine may be busy. But the exit status is what the outcome says.
run_as_json_has_the_mode_whether_it_passed_and_its_gates() {
	need_root
	run "$BENCH" run --seconds 1 --json
	[ "$STATUS" -le 1 ] || fail "exit status is $STATUS"
	json 'o["mode"] == "run" and o["passed"] in (True, False)'
	json 'len(o["gates"]) >= 8 and all(g["name"] and g["relation"] in ("at most", "at least")
		and isinstance(g["limit"], float) and g["passed"] in (True, False) for g in o["gates"])'
	json 'all(g["passed"] == (g["value"] <= g["limit"] if g["relation"] == "at most" else g["value"] >= g["limit"])
		for g in o["gates"] if "value" in g)'
	json 'len(o["operations"]) == 20 and abs(sum(r["measured"] for r in o["operations"]) - 1) < 1e-6'
	json "o['passed'] == ($STATUS == 0)"
}

leakcheck_passes() {
	need_root
	run "$BENCH" leakcheck --brief
	assert_exit 0
	assert_matches '^ok   leak: exit status is 3 '
	assert_matches '^ok   mismatch: a warning names the label '
	assert_matches '^ok   balanced: exit status is 0 '
	assert_not_contains "FAIL"
}

# A recorder that does not record is no recorder: the mode says what happened, and fails.
a_recorder_that_fails_breaks_the_mode() {
	run "$BENCH" leakcheck --brief --recorder ./missing
	assert_exit 1
	assert_matches '^BROKEN: cannot start ./missing: No such file'
}

test_case refuses_an_unknown_mode
test_case refuses_a_bad_number --seconds 0
test_case refuses_a_bad_number --seconds 1x
test_case refuses_a_bad_number --threads 1.5
test_case refuses_a_bad_number --threads 65
test_case refuses_a_bad_number --runs -1
test_case refuses_a_bad_number --seed nan
test_case refuses_a_bad_number --frequency ''
test_case refuses_two_modes
test_case help_names_every_mode
test_case run_as_json_has_the_mode_whether_it_passed_and_its_gates
test_case leakcheck_passes
test_case a_recorder_that_fails_breaks_the_mode
