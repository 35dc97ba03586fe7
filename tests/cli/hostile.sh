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

# Each member of a family may be waited for, but no longer than one alone.
a_family_takes_no_longer_than_one_process() {
	need_root
	need_userfaultfd
	start "$HOSTILE" family-withholds-later
	wait_for_started
	measured "$TICKSNICK" record -p "$PID" --follow-children -d 3 --no-strict -o report.json
	assert_exit 0
	awk -v took="$ELAPSED_MS" 'BEGIN { exit took > 5500 }' || fail "it took $ELAPSED_MS ms"
	assert_matches '"memory_unread": [1-9]' report.json
}

# While it waits, and with its last reading before it.
an_interrupt_is_answered_while_a_family_withholds() {
	need_root
	need_userfaultfd
	start "$HOSTILE" family-withholds-later
	wait_for_started
	RUN="" /usr/bin/python3 - "$TICKSNICK" "$PID" <<'END' || fail "it was late, or left no report"
import json, signal, subprocess, sys, time
recorder = subprocess.Popen([sys.argv[1], "record", "-p", sys.argv[2], "--follow-children", "--no-strict",
                             "-d", "30", "-o", "report.json", "-q"],
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
time.sleep(2.2)
recorder.send_signal(signal.SIGINT)
start = time.monotonic()
try:
    status = recorder.wait(timeout=20)
except subprocess.TimeoutExpired:
    recorder.kill()
    sys.exit("it does not end")
print("%.3f s" % (time.monotonic() - start))
report = json.load(open("report.json"))
assert status == 0 and report["session"]["ended_by"] == "signal", report["session"]
assert report["threads"], report
assert time.monotonic() - start < 2
END
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

# The kernel looks at the durations of a process that ends.
an_end_with_too_many_durations_is_said() {
	need_root
	measured "$TICKSNICK" record -d 20 --no-strict -o report.json -- "$HOSTILE" durations-end-later
	assert_exit 0
	awk -v took="$ELAPSED_MS" 'BEGIN { exit took > 5000 }' || fail "it took $ELAPSED_MS ms"
	assert_contains '"executions_unread"' report.json
	run "$TICKSNICK" report report.json
	assert_exit 0
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
test_case endures durations-unmap-later 0 '"memory_unread": [1-9]'
test_case endures slots-protect 0 '"memory_unread": [1-9]'
test_case endures slots-drop 0
test_case endures_faults faults-unanswered 0 '"memory_unread": [1-9]'
test_case endures_faults faults-unanswered-later 0 '"memory_unread": [1-9]'
test_case endures_faults faults-answered-slowly 0 '"memory_unread": [1-9]'
test_case a_family_takes_no_longer_than_one_process
test_case an_interrupt_is_answered_while_a_family_withholds
test_case endures_mappings mappings-withheld 5 'does not end'
test_case endures_mappings mappings-withheld-later either 'does not end'
test_case endures modules-many 0
test_case endures module-of-gigabytes 0
test_case an_end_with_too_many_durations_is_said
test_case the_doctor_ends_in_time
