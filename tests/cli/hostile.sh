# SPDX-License-Identifier: MIT
# Recording a process that lies, or that makes its memory hard to read: the recorder ends in time, stays
# small, writes a sound report, and says what it could not believe.
. "$(dirname "$0")/lib.sh"

HOSTILE=$BUILD/tests/subjects/hostile
SECONDS_ASKED=0.4
SECONDS_MORE=2
KIB_MORE=65536

# measured CMD ARG..: as run, and what it took: ELAPSED_MS, and PEAK_KIB of it and its children.
measured() {
	RUN="$*"
	/usr/bin/python3 - "$@" >"$OUT" 2>"$ERR" <<'END'
import resource, subprocess, sys, time
start = time.monotonic()
try:
    status = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, timeout=30).returncode
except subprocess.TimeoutExpired:
    status = 124
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
open("measured", "w").write("%d %d\n" % ((time.monotonic() - start) * 1000, peak))
sys.exit(status)
END
	STATUS=$?
	read -r ELAPSED_MS PEAK_KIB <measured
}

# What a sound subject takes, for comparison.
normal() {
	start "$HOSTILE" sound
	wait_for_started
	measured "$TICKSNICK" record -p "$PID" -d $SECONDS_ASKED
	assert_exit 0
	echo "$PEAK_KIB" >"$LIB_TMP/normal"
}

is_bounded() {
	local normal
	normal=$(cat "$LIB_TMP/normal")
	awk -v took="$ELAPSED_MS" -v asked=$SECONDS_ASKED -v more=$SECONDS_MORE \
		'BEGIN { exit took > (asked + more) * 1000 }' || fail "it took $ELAPSED_MS ms"
	[ "$PEAK_KIB" -le $((normal + KIB_MORE)) ] || fail "it took $PEAK_KIB KiB, a sound subject $normal"
}

# Nothing that a terminal would obey.
is_plain() {
	! LC_ALL=C grep -q "[^[:print:]]" "$1" || fail "$1 holds what is not plain text"
}

# endures MODE STATUS [REGEX]: the exit status, and what the report says, or standard error where there is none.
# STATUS either: 0, or 5 with what REGEX says, as the recorder finds the descriptor sound or not.
endures() {
	need_root
	start "$HOSTILE" "$1"
	wait_for_started
	measured "$TICKSNICK" record -p "$PID" -d $SECONDS_ASKED --no-strict -o report.json
	[ "$2" = either ] && [ "$STATUS" -eq 0 ] && set -- "$1" 0
	[ "$2" = either ] && set -- "$1" 5 "$3"
	assert_exit "$2"
	is_bounded
	is_plain "$OUT"
	is_plain "$ERR"
	if [ "$2" -ne 0 ]; then
		assert_one_error_line
		assert_err_matches "$3"
		return
	fi
	run "$TICKSNICK" report report.json -f csv
	assert_exit 0
	cp report.json "$OUT"
	[ -z "${3:-}" ] || assert_matches "$3" report.json
	kill -0 "$PID" || fail "the subject has ended"
}

# With a page that nobody provides, and its owner asked for it as this program may be asked.
need_userfaultfd() {
	"$HOSTILE" faults-unanswered >/dev/null 2>userfaultfd &
	sleep 0.3
	kill -KILL $! 2>/dev/null
	[ ! -s userfaultfd ] || skip "$(cat userfaultfd)"
}

endures_faults() {
	need_root
	need_userfaultfd
	endures "$@"
}

# Its mappings cannot be read either: whoever tries waits. No process list here, which would.
endures_mappings() {
	need_root
	{ [ -c /dev/fuse ] && unshare -m true; } || skip "no file system in user space can be mounted here"
	endures "$@"
}

# The doctor reads it, too.
the_doctor_ends_in_time() {
	need_root
	need_userfaultfd
	start "$HOSTILE" faults-unanswered
	wait_for_started
	measured "$TICKSNICK" doctor -p "$PID"
	is_bounded
}

test_case normal
test_case endures counts-huge 5 'another ABI'
test_case endures lengths-huge 5 'another ABI'
test_case endures leader-is-itself 5 'another ABI'
test_case endures coarse-huge 0 '"coarse_distrusted"'
test_case endures tables-full 0
test_case endures tables-overlap 0
test_case endures tls-in-the-kernel 0 '"slot_unreadable": [1-9]'
test_case endures slot-in-the-kernel 0 '"slot_foreign": [1-9]'
test_case endures calls-go-back 0
test_case endures names-escape 0
test_case endures names-without-end 0 '"label_distrusted"'
test_case endures kinds-and-families 0 '"label_distrusted"'
test_case endures contexts-cycle 0
test_case endures durations-lie 0
test_case endures descriptor-flips either 'another ABI'
test_case endures slots-unmap 0 '"memory_unread": [1-9]'
test_case endures slots-protect 0 '"memory_unread": [1-9]'
test_case endures slots-drop 0
test_case endures_faults faults-unanswered 0 '"memory_unread": [1-9]'
test_case endures_faults faults-unanswered-later 0 '"memory_unread": [1-9]'
test_case endures_faults faults-answered-slowly 0 '"memory_unread": [1-9]'
test_case endures_mappings mappings-withheld 5 'does not end'
test_case endures_mappings mappings-withheld-later either 'does not end'
test_case endures modules-many 0
test_case endures module-of-gigabytes 0
test_case the_doctor_ends_in_time
