#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the fuzz targets: each replays its corpus, and then looks for new inputs, two targets at a time.
#
# usage: tests/fuzz/run.sh BUILD [SECONDS]	(SECONDS for all together, from start to end; default: 40)
#
# An input that breaks a target is left in BUILD/fuzz, and the command that repeats it is printed. With
# FUZZ_KEEP=yes the inputs that reached something new are left in BUILD/fuzz/new/TARGET.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$(cd "${1:?usage: tests/fuzz/run.sh BUILD [SECONDS]}" && pwd)/fuzz || exit 1
seconds=${2:-${FUZZ_SECONDS:-40}}
export UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1

results=$(mktemp -d) || exit 1
trap 'rm -rf "$results"' EXIT

targets=()
for source in tests/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	targets+=("${name#fuzz_}")
done
rounds=$(((${#targets[@]} + 1) / 2))
each=$((seconds / rounds))
[ "$each" -gt 0 ] || each=1

# report NAME LOG STATUS COMMAND: one line, and of a failure what was printed and how to repeat it.
report() {
	local name=$1 log=$2 status=$3 command=$4 input
	if [ "$status" -eq 0 ]; then
		echo "ok   $name"
		return
	fi
	echo "FAIL $name"
	input=$(sed -n 's/.*Test unit written to //p' "$log" | head -n 1)
	grep -vE '^(#[0-9]+\s+(NEW|REDUCE|pulse|RELOAD|INITED)|INFO:)' "$log" | head -n 40 | sed 's/^/     /'
	echo "     repeat it with: ${command}${input:+ $input}"
}

run_target() {
	local name=$1 program=$build/fuzz_$1 corpus=tests/fuzz/corpus/$1 found=$build/new/$1 status limits
	limits=(-timeout=20 -rss_limit_mb=600 -malloc_limit_mb=256)
	"$program" "${limits[@]}" "$corpus"/* >"$results/replay" 2>&1
	status=$?
	report "$name: its corpus" "$results/replay" $status "$program $corpus/*"
	[ "$status" -eq 0 ] || return
	rm -rf "$found"
	mkdir -p "$found"
	"$program" "${limits[@]}" -max_total_time="$each" -max_len=8192 -artifact_prefix="$build/$name-" \
		-print_final_stats=1 "$found" "$corpus" >"$results/search.$name" 2>&1
	status=$?
	report "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$results/search.$name") inputs in $each s" \
		"$results/search.$name" $status "$program"
	[ "${FUZZ_KEEP:-}" = yes ] || rm -rf "$found"
}

for ((i = 0; i < ${#targets[@]}; i += 2)); do
	for target in "${targets[@]:i:2}"; do
		(
			results=$results/$target
			mkdir "$results"
			run_target "$target" >"$results/log"
		) &
	done
	wait
done
cat "$results"/*/log
passed=$(cat "$results"/*/log | grep -c '^ok ')
failed=$(cat "$results"/*/log | grep -c '^FAIL ')
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
