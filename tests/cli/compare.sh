# SPDX-License-Identifier: MIT
# scripts/compare: two builds recorded by turns, and compared.
. "$(dirname "$0")/lib.sh"

COMPARE=$(cd "$(dirname "$0")/../.." && pwd)/scripts/compare
STEADY=$BUILD/bench/steady
export TICKSNICK

finds_what_has_become_much_slower() {
	need_root
	mkdir kept
	touch kept/base-5.json kept/new-12.json kept/base-x.json kept/new-1-2.json kept/mine.json
	run "$COMPARE" -n 4 -d 0.7 -w 0 -o kept "'$STEADY' 0" "'$STEADY' 300"
	assert_exit 1
	assert_matches '^most .*slower'
	ls kept >names
	printf '%s.json\n' base-1 base-2 base-3 base-4 base-x mine new-1-2 new-1 new-2 new-3 new-4 >wanted
	assert_same wanted names
}

an_unchanged_program_passes() {
	need_root
	run "$COMPARE" -n 2 -d 0.3 -w 0.1 "'$STEADY'" "'$STEADY'" -- --threshold 30 -f json -o here.json
	assert_exit 0
	assert_contains '"cannot-say"' here.json
	assert_empty "$OUT"
	assert_empty "$ERR"
}

# refuses REGEX ARG..
refuses() {
	local wanted=$1
	shift
	run "$COMPARE" "$@"
	assert_exit 2
	assert_err_matches "$wanted"
	assert_empty "$OUT"
}

# Before it has recorded anything.
knows_the_options_of_diff_first() {
	printf '#!/bin/sh\n[ "$1" != record ] || touch recorded\nexec "%s" "$@"\n' "$TICKSNICK" >fake
	chmod 755 fake
	TICKSNICK=./fake run "$COMPARE" -n 1 -d 0.1 -w 0 -o kept one two -- "$@"
	assert_exit 2
	assert_err_contains "ticksnick diff: "
	assert_no_file recorded
	assert_no_file kept
}

an_interrupt_leaves_reports_alone() {
	printf '#!/bin/sh\n[ "$1" != record ] || { touch recording; exec sleep 5; }\n' >fake
	chmod 755 fake
	need_program pkill
	mkdir kept
	touch kept/mine.json
	TICKSNICK=./fake "$COMPARE" -n 1 -w 0 -o kept one two &
	local pid=$!
	timeout 20 sh -c 'until [ -e recording ]; do sleep 0.05; done' || fail "nothing is recorded"
	assert_file kept/log
	kill -TERM "$pid"
	pkill -P "$pid"
	wait "$pid"
	assert_equal $? 143 "exit status"
	assert_no_file kept/log
	assert_file kept/mine.json
}

says_what_cannot_be_recorded() {
	need_root
	run "$COMPARE" -d 0.2 -w 0 "'$STEADY'" "sleep 1"
	assert_exit 2
	assert_err_matches "^compare: 'sleep 1' could not be recorded: .*ticksnick slot"
	assert_empty "$OUT"
}

# As of sudo without a password: its 1 is none of ticksnick diff.
what_cannot_run_ticksnick_is_no_regression() {
	TICKSNICK=false run "$COMPARE" -n 1 -d 0.1 -w 0 one two
	assert_exit 2
	assert_err_contains "compare: cannot run 'false'"
	printf '#!/bin/sh\n[ "$1" != record ]\n' >sudo
	chmod 755 sudo
	TICKSNICK=./sudo run "$COMPARE" -n 1 -d 0.1 -w 0 one two
	assert_exit 2
	assert_err_contains "compare: 'one' could not be recorded"
}

passes_options_on_to_the_recorder() {
	printf '#!/bin/sh\necho "$@" >>words\n' >fake
	chmod 755 fake
	TICKSNICK=./fake run "$COMPARE" -n 1 -d 1 -w 0 -F 99 -r '--follow-children --no-strict' -o kept one two
	assert_exit 0
	assert_contains "record -q -d 1 -F 99 --follow-children --no-strict -o kept/base-1.json -- sh -c exec one" words
}

a_command_that_fails_is_not_compared() {
	need_root
	run "$COMPARE" -n 1 -d 5 -w 0 -r --follow-children \
		"sh -c \"'$BUILD/tests/subjects/calls' 0.1; exit 3\"" "'$STEADY'"
	assert_exit 2
	assert_err_matches 'failed: sh exited with status 3$'
	assert_empty "$OUT"
}

# The one of docs/ci.md, twice, with shorter recordings and from here.
the_workflow_of_the_guide_works() {
	need_root
	need_program git
	mkdir bin project
	printf '#!/bin/sh\nexec "$@"\n' >bin/sudo
	printf '#!/bin/sh\nexec "%s" "$@"\n' "$TICKSNICK" >bin/ticksnick
	chmod 755 bin/*
	sed -n '/^```sh/,/^```$/p' "$TOP/docs/ci.md" | sed -e '/^```/d' -e "s|^compare=.*|compare='$COMPARE'|" \
		-e 's/-n 5 -d 5/-n 1 -d 0.3 -w 0/' >workflow
	grep -q 'n 1 -d' workflow || fail "the guide's workflow is another one"
	cd project || fail "no project"
	printf 'bench-program:\n\tcp %s $@\n' "$STEADY" >Makefile
	git init -q
	git add Makefile
	git -c user.name=one -c user.email=one@example.org commit -qm one
	git update-ref refs/remotes/origin/main HEAD
	unset TICKSNICK MAKEFLAGS MFLAGS MAKELEVEL
	for _ in first second; do
		PATH=$PWD/../bin:$PATH run sh ../workflow
		[ "$STATUS" -le 1 ] || fail "the workflow failed"
		assert_contains "**ticksnick diff:**" comment.md
		assert_file reports/new-1.json
		rm comment.md
	done
}

test_case refuses 'which two commands' one
test_case refuses 'not a number of repeats' -n 0 one two
test_case refuses 'come -- and the options' one two three
test_case finds_what_has_become_much_slower
test_case an_unchanged_program_passes
test_case knows_the_options_of_diff_first --threshold x
test_case knows_the_options_of_diff_first --no-such-option
test_case knows_the_options_of_diff_first base.json
test_case an_interrupt_leaves_reports_alone
test_case says_what_cannot_be_recorded
test_case what_cannot_run_ticksnick_is_no_regression
test_case passes_options_on_to_the_recorder
test_case a_command_that_fails_is_not_compared
test_case the_workflow_of_the_guide_works
