#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the tests of the command line: every tests/cli/*.sh but lib.sh and this one, or those named.
# usage: tests/cli/run.sh BUILD [FILE..]
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: tests/cli/run.sh BUILD [FILE..]}" && pwd) || exit 1
shift
[ $# -gt 0 ] || set -- "$here"/*.sh

passed=0 failed=0 skipped=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
for file in "$@"; do
	name=$(basename "$file" .sh)
	case $name in lib | run) continue ;; esac
	timeout 240 bash "$file" "$build" >"$log" 2>&1 </dev/null
	status=$?
	counts=$(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?$/\1 \2 \4/p' "$log" | tail -n 1)
	sed -E "/^[0-9]+ passed, [0-9]+ failed/d; s/^(ok  |FAIL|SKIP) /\1 $name: /" "$log"
	if [ -z "$counts" ]; then
		echo "FAIL $name: printed no count (exit status $status)"
		failed=$((failed + 1))
		continue
	fi
	read -r p f s <<<"$counts"
	if [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; then
		echo "FAIL $name: exit status $status"
		f=1
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + ${s:-0}))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
