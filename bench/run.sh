#!/bin/bash
# SPDX-License-Identifier: MIT
# What recording costs, in one table. Alternates the variants within one run and reports medians
# and ratios of pairs, so that a
# machine whose speed drifts does not matter much. Needs root, and perf (linux-perf).
#
# usage: bench/run.sh BUILD [PAIRS] [SESSION_SECONDS]
set -u
build=${1:?usage: bench/run.sh BUILD [PAIRS] [SESSION_SECONDS]}
pairs=${2:-7}
session=${3:-60}
recorder=$build/ticksnick
work=$(mktemp -d) || exit 1
failed=0
children=
trap 'for p in $children; do kill "$p" 2>/dev/null; done; rm -rf "$work"' EXIT

perf=$(command -v perf) || { echo "bench: perf is missing; scripts/deps bench installs it" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || { echo "bench: recording needs root" >&2; exit 4; }

# one PROGRAM WATCHER...: starts PROGRAM, then WATCHER with its pid appended, lets PROGRAM work,
# prints what it measured.
one() {
	local program=$1 target watcher= value
	shift
	rm -f "$work/in" "$work/out"
	mkfifo "$work/in" "$work/out"
	# shellcheck disable=SC2086
	$program <"$work/in" >"$work/out" &
	target=$!
	children=$target
	exec 8>"$work/in" 9<"$work/out"
	if [ $# -gt 0 ]; then
		"$@" "$target" >/dev/null 2>"$work/err" &
		watcher=$!
		children="$target $watcher"
		sleep 1.5
		kill -0 "$watcher" 2>/dev/null || { cat "$work/err" >&2; echo "bench: $1 ended early" >&2; }
	fi
	echo >&8
	read -r value <&9
	exec 8>&- 9<&-
	if [ -n "$watcher" ]; then
		kill -INT "$watcher" 2>/dev/null
		wait "$watcher"
	fi
	wait "$target"
	children=
	echo "$value"
}

median() {
	sort -g "$1" | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# ratios A B: median of A[i] / B[i], and the smallest and greatest.
ratios() {
	paste "$1" "$2" | awk '{ print $1 / $2 }' | sort -g |
		awk '{ v[NR] = $1 } END { m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2;
			printf "%.4f (%.4f..%.4f)", m, v[1], v[NR] }'
}

# slowdown NAME PROGRAM: the target alone, recorded at 1 kHz, and under perf record -F 999, in turn.
slowdown() {
	local name=$1 program=$2 i
	rm -f "$work/alone" "$work/ours" "$work/perf"
	for i in $(seq "$pairs"); do
		one "$program" >>"$work/alone"
		one "$program" "$recorder" record -q -F 999 -p >>"$work/ours"
		one "$program" "$perf" record -q -e cpu-clock -F 999 -o "$work/perf.data" -p >>"$work/perf"
	done
	echo "$name, $pairs times each, in turn: medians $(median "$work/alone") ns alone," \
		"$(median "$work/ours") recorded, $(median "$work/perf") under perf"
	echo "  recorded / alone   $(ratios "$work/ours" "$work/alone")"
	echo "  perf / alone       $(ratios "$work/perf" "$work/alone")"
	echo "  recorded / perf    $(ratios "$work/ours" "$work/perf")"
}

echo "== the label"
"$build/bench/hook" || failed=1

echo "== a target that computes on two threads, slowed down by"
slowdown "fixed work" "$build/bench/fixed 20"

echo "== a target that switches all the time, slowed down by"
slowdown "one context switch" "$build/bench/switches 100"

echo "== the recorder itself, in a session of $session s"
"$build/bench/demo" >/dev/null &
children=$!
sleep 0.5
/usr/bin/time -f '%U %S %M' -o "$work/time" "$recorder" record -q -d "$session" -o "$work/report.json" -p "$children"
for _ in 1 2 3 4 5; do
	begin=$(date +%s%N)
	"$recorder" record -q -d 0.1 -o "$work/short.json" -p "$children"
	start=$(awk -F '[:,]' '/"start_unix_ns"/ { print $2 + 0 }' CONVFMT=%.0f OFMT=%.0f "$work/short.json")
	echo $(((start - begin) / 1000000)) >>"$work/start"
done
kill "$children"
wait "$children" 2>/dev/null
children=
echo "from the command to the first look $(median "$work/start") ms (limit 300 ms)"
awk -v s="$session" '{ cpu = ($1 + $2) / s * 100; mib = $3 / 1024
	printf "CPU %.2f s user + %.2f s system, loading included = %.2f%% of one core (aim 0.3%%: %s)\n",
		$1, $2, cpu, (cpu > 0.3 ? "missed" : "met")
	printf "memory %.1f MiB resident at most (limit 32 MiB)\n", mib
	exit mib > 32 }' "$work/time" || failed=1
exit $failed
