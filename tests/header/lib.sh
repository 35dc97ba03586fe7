# SPDX-License-Identifier: MIT
# lib.sh - counts checks. Sourced by run.sh and matrix.sh.

passed=0
failed=0
skipped=0

# check NAME COMMAND..: one line; what the command wrote is shown if it fails.
check() {
	local name=$1 log
	shift
	if log=$("$@" 2>&1); then
		echo "ok   $name"
		passed=$((passed + 1))
	else
		echo "FAIL $name"
		printf '%s\n' "$log" | sed 's/^/     /'
		failed=$((failed + 1))
	fi
}

# check_with PROGRAM NAME COMMAND..: the same if there is such a program.
check_with() {
	local program=$1 name=$2
	shift 2
	if command -v "$program" >/dev/null; then
		check "$name" "$@"
	elif [ "${CI:-}" = true ]; then
		echo "FAIL $name: no $program"
		failed=$((failed + 1))
	else
		echo "SKIP $name: no $program"
		skipped=$((skipped + 1))
	fi
}

# The last line, and the exit status.
summary() {
	[ "$skipped" -eq 0 ] || echo "$skipped SKIPPED"
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
}
