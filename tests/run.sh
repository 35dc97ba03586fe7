#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the test suites one after the other, shows what they print, says again what failed, and ends with one
# line that sums them up: "N passed, N failed", with ", N skipped" when something was skipped.
#
# usage: tests/run.sh BUILD [SUITE..]		suites: unit header matrix kernel cli fuzz style (default: all of them)
#
# A suite that exits non-zero without naming a failure, or that prints no count, counts as one
# failure. Without root whatever
# loads BPF is skipped; with CI=true every skip is a failure.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:?usage: tests/run.sh BUILD [SUITE..]}" && pwd) || exit 1
shift
cd "$top" || exit 1
[ $# -gt 0 ] || set -- unit header matrix kernel cli fuzz style
suites=${TESTS_SUITE_DIR:-}
# Of a unit test, s: a machine may have other things to do. A test that hangs still ends.
export CK_DEFAULT_TIMEOUT=${CK_DEFAULT_TIMEOUT:-60}

passed=0 failed=0 skipped=0
log=$(mktemp) || exit 1
failures=$(mktemp) || exit 1
trap 'rm -f "$log" "$failures"' EXIT

suite_command() {
	case $1 in
	unit) echo "$build/tests/run-unit" ;;
	header) echo "bash tests/header/run.sh $build/tests/header" ;;
	matrix) echo "bash tests/header/matrix.sh $build/tests/header $build/ticksnick" ;;
	kernel) echo "$build/tests/run-kernel" ;;
	cli) echo "bash tests/cli/run.sh $build" ;;
	fuzz) echo "bash tests/fuzz/run.sh $build" ;;
	style) echo "bash scripts/style" ;;
	*) return 1 ;;
	esac
}

needs_root() {
	[ "$1" = kernel ] || [ "$1" = matrix ]
}

# The counts a suite printed, as "passed failed skipped": its last plain line, else the sum of
# check's lines. A suite that runs
# several programs sums them up in a plain line of its own.
counts_of() {
	awk '
	match($0, /^[0-9]+%: Checks: [0-9]+, Failures: [0-9]+, Errors: [0-9]+/) {
		split($0, n, /[^0-9]+/)
		passed += n[2] - n[3] - n[4]; failed += n[3] + n[4]; found = 1
	}
	/^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ {
		plain = ($1 + 0) " " ($3 + 0) " " ($5 + 0)
	}
	END { if (plain) print plain; else if (found) print passed + 0, failed + 0, 0 }' "$1"
}

# What a suite printed of its failures, each with the indented lines below it: a long log may be cut from its front.
failures_of() {
	awk -v suite="$1" '
	/^FAIL / || /^[^ ]+:[0-9]+:[FE]:/ { shown = 1; print suite ": " $0; next }
	shown && /^[ \t]/ && shown++ <= 20 { print; next }
	{ shown = 0 }' "$2"
}

run_suite() {
	local suite=$1 command status counts p f s start=$SECONDS
	command=$(suite_command "$suite") || {
		echo "tests: no such suite: $suite" >&2
		exit 2
	}
	[ -z "$suites" ] || command="bash $suites/$suite"
	echo "== $suite"
	if needs_root "$suite" && [ "$(id -u)" -ne 0 ]; then
		echo "SKIP $suite: NOT RUN, it loads BPF and that needs root; run: sudo make check"
		skipped=$((skipped + 1))
		return
	fi
	# The counts are left out of what is shown, so that the last line is the only one of its form.
	$command </dev/null 2>&1 | tee "$log" |
		grep -vE '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$|^[0-9]+%: Checks: '
	status=${PIPESTATUS[0]}
	counts=$(counts_of "$log")
	if [ -z "$counts" ]; then
		echo "FAIL $suite: printed no count (exit status $status)" | tee -a "$log"
		counts="0 1 0"
	fi
	read -r p f s <<<"$counts"
	if [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; then
		echo "FAIL $suite: exit status $status, though no test failed" | tee -a "$log"
		f=1
	fi
	if [ $((p + f + s)) -eq 0 ]; then
		echo "FAIL $suite: ran no test" | tee -a "$log"
		f=1
	fi
	failures_of "$suite" "$log" >>"$failures"
	echo "-- $suite: passed $p, failed $f, skipped $s, in $((SECONDS - start)) s"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

for suite in "$@"; do
	run_suite "$suite"
done

if [ "$skipped" -gt 0 ] && [ "${CI:-}" = true ]; then
	echo "tests: $skipped skipped, which in CI is a failure"
	failed=$((failed + skipped))
	skipped=0
fi
if [ -s "$failures" ]; then
	echo "== failures"
	cat "$failures"
fi
line="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || line="$line, $skipped skipped"
echo "$line"
[ "$failed" -eq 0 ]
