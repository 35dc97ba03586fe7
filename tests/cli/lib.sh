# SPDX-License-Identifier: MIT
# Helpers for the tests of the command line. A test file sources this and calls test_case:
#
#	. "$(dirname "$0")/lib.sh"
#	refuses_a_bad_pid() {
#		run "$TICKSNICK" doctor -p 33abc
#		assert_exit 2
#		assert_err_contains "33abc"
#	}
#	test_case refuses_a_bad_pid
#
# Every test runs in a subshell, in a fresh directory, and ends at its first failed assertion. Its
# name says the property it
# shows. Variables: BUILD (absolute), TICKSNICK (the program), TOP (the source tree); after run:
# STATUS, OUT and ERR (files).
# The closing line "N passed, N failed, N skipped" is printed when the file ends. Call as: bash
# tests/cli/FILE.sh [BUILD]

set -u
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$(cd "${1:-${BUILD:-$TOP/build}}" && pwd) || exit 1
TICKSNICK=$BUILD/ticksnick
LIB_TMP=$(mktemp -d "${TMPDIR:-/tmp}/ticksnick-cli.XXXXXX") || exit 1
chmod 755 "$LIB_TMP"
LIB_PASSED=0
LIB_FAILED=0
LIB_SKIPPED=0
LIB_MAIN=$BASHPID
LIB_SKIP_STATUS=77
OUT=$LIB_TMP/out
ERR=$LIB_TMP/err
STATUS=0
export LC_ALL=C NO_COLOR=1 TERM=dumb
unset COLUMNS

lib__finish() {
	local status=$?
	[ "$BASHPID" = "$LIB_MAIN" ] || return 0
	rm -rf "$LIB_TMP"
	# A file that stopped by itself halfway is a failure, however many of its tests had passed.
	if [ "$status" -ne 0 ]; then
		echo "FAIL the test file itself ended with status $status"
		LIB_FAILED=$((LIB_FAILED + 1))
	fi
	echo "$LIB_PASSED passed, $LIB_FAILED failed, $LIB_SKIPPED skipped"
	[ "$LIB_FAILED" -eq 0 ] || exit 1
}
trap lib__finish EXIT

# test_case FUNCTION [ARG..]: runs one test, named after the function and its arguments.
test_case() {
	local name="$*" status dir
	dir=$(mktemp -d "$LIB_TMP/case.XXXXXX")
	chmod 755 "$dir"
	(
		trap - EXIT
		cd "$dir" || exit 1
		OUT=$dir/out
		ERR=$dir/err
		"$@"
	) >"$dir/log" 2>&1 </dev/null
	status=$?
	case $status in
	0)
		LIB_PASSED=$((LIB_PASSED + 1))
		echo "ok   $name"
		;;
	"$LIB_SKIP_STATUS")
		LIB_SKIPPED=$((LIB_SKIPPED + 1))
		echo "SKIP $name: $(tail -n 1 "$dir/log")"
		;;
	*)
		LIB_FAILED=$((LIB_FAILED + 1))
		echo "FAIL $name"
		sed 's/^/     /' "$dir/log"
		;;
	esac
}

# run CMD ARG..: stdout to $OUT, stderr to $ERR, the exit status to $STATUS; at most 60 s.
run() {
	RUN="$*"
	timeout -k 5 60 "$@" >"$OUT" 2>"$ERR"
	STATUS=$?
}

# fail TEXT: ends the test and shows what the last command printed.
fail() {
	echo "$*"
	if [ -n "${RUN:-}" ]; then
		echo "after: $RUN (exit status $STATUS)"
		sed 's/^/  stdout: /' "$OUT" | head -n 40
		sed 's/^/  stderr: /' "$ERR" | head -n 40
	fi
	exit 1
}

skip() {
	echo "$*"
	exit "$LIB_SKIP_STATUS"
}

# Without root a test that records cannot say anything. The runner turns skips into failures in CI.
need_root() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
}

need_program() {
	command -v "$1" >/dev/null 2>&1 || skip "needs the program $1"
}

# need_no_sanitizer WHAT: a build with sanitizers takes more time and memory, and cannot do without /proc.
need_no_sanitizer() {
	! ldd "$TICKSNICK" | grep -q libasan || skip "built with a sanitizer, which $1"
}

# run_as_nobody CMD ARG..: as run, but as an ordinary user without any privilege. $TICKSNICK is run
# from a copy, for that user
# may not be able to reach the build directory.
run_as_nobody() {
	need_root
	need_program setpriv
	if [ "$1" = "$TICKSNICK" ]; then
		cp "$TICKSNICK" "$LIB_TMP/ticksnick"
		chmod 755 "$LIB_TMP/ticksnick"
		shift
		set -- "$LIB_TMP/ticksnick" "$@"
	fi
	run setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"
}

# start CMD ARG..: in the background until the test ends; its id in PID, what it prints in the file "started".
start() {
	"$@" >started 2>/dev/null &
	PID=$!
	trap 'kill -KILL $PID 2>/dev/null' EXIT
}

# Until what was started has printed something.
wait_for_started() {
	for _ in $(seq 100); do
		[ -s started ] && return
		sleep 0.05
	done
	fail "the program did not start"
}

assert_exit() {
	[ "$STATUS" -eq "$1" ] || fail "exit status is $STATUS, expected $1"
}

# assert_contains TEXT [FILE]: a fixed string, in stdout unless a file is named.
assert_contains() {
	grep -qF -- "$1" "${2:-$OUT}" || fail "${2:-stdout} does not contain: $1"
}

assert_not_contains() {
	! grep -qF -- "$1" "${2:-$OUT}" || fail "${2:-stdout} contains: $1"
}

# assert_matches REGEX [FILE]: an extended regular expression that some line matches.
assert_matches() {
	grep -qE -- "$1" "${2:-$OUT}" || fail "${2:-stdout} has no line that matches: $1"
}

assert_err_contains() {
	assert_contains "$1" "$ERR"
}

assert_err_matches() {
	assert_matches "$1" "$ERR"
}

# One sentence that says what to do, and nothing after it: no usage screen, no second complaint.
assert_one_error_line() {
	[ "$(wc -l <"$ERR")" -eq 1 ] || fail "stderr has $(wc -l <"$ERR") lines, expected one"
}

assert_empty() {
	[ ! -s "$1" ] || fail "$1 is not empty"
}

assert_equal() {
	[ "$1" = "$2" ] || fail "${3:-values differ}: got '$1', expected '$2'"
}

assert_file() {
	[ -f "$1" ] || fail "there is no file $1"
}

assert_no_file() {
	[ ! -e "$1" ] || fail "$1 exists"
}

# assert_same FILE FILE: golden output.
assert_same() {
	diff -u "$1" "$2" || fail "$1 and $2 differ"
}

# For check_schema.
need_validator() {
	/usr/bin/python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null && return
	[ "${CI:-}" != true ] || fail "python3-jsonschema (4 or later) is not installed, and in CI it must be"
	skip "NOT RUN: python3-jsonschema (4 or later) is not installed"
}

# check_schema SCHEMA FILE [complete]: valid, and with "complete" every key that is written is described in the schema.
check_schema() {
	run /usr/bin/python3 - "$@" <<'END'
import json, sys
import jsonschema

schema, report = (json.load(open(name)) for name in sys.argv[1:3])
jsonschema.Draft202012Validator.check_schema(schema)
for error in jsonschema.Draft202012Validator(schema).iter_errors(report):
    print("/".join(map(str, error.absolute_path)) + ": " + error.message)

def undescribed(schema, value, path):
    if path and not schema.get("description"):
        print(path + ": no description")
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in schema.get("properties", {}):
                print(path + "/" + key + ": not in the schema")
            else:
                undescribed(schema["properties"][key], item, path + "/" + key)
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for item in value:
            if isinstance(item, dict):
                undescribed(schema["items"], item, path)

if "complete" in sys.argv[3:]:
    undescribed(schema, report, "")
END
	assert_exit 0
	assert_empty "$OUT"
}
