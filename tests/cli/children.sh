# SPDX-License-Identifier: MIT
# ticksnick record --follow-children: what a user sees of it.
. "$(dirname "$0")/lib.sh"

SUBJECTS=$BUILD/tests/subjects

the_option_is_in_the_help_and_the_manual() {
	run "$TICKSNICK" record --help
	assert_exit 0
	assert_contains "--follow-children"
	assert_contains 'follow\-children' "$TOP/docs/ticksnick-record.1"
	assert_contains "unlabelled_left_out" "$TOP/docs/output.md"
}

a_shell_around_a_labelled_program_is_left_out() {
	run "$TICKSNICK" record --follow-children -o report.json -- sh -c "'$SUBJECTS/calls' 0.1; '$SUBJECTS/calls' 0.1"
	assert_exit 0
	assert_contains "children followed"
	assert_contains "[unlabelled_left_out] 1 process without labels was left out; the latest was sh"
	/usr/bin/python3 - report.json <<'END' || fail "not both programs, or not all of them"
import json, sys
report = json.load(open(sys.argv[1]))
assert report["session"]["follow_children"] is True
assert [t["comm"] for t in report["target"]] == ["calls", "calls"], report["target"]
assert all(t["exe"].endswith("/calls") for t in report["target"]), report["target"]
assert {t["pid"] for t in report["threads"]} == {t["pid"] for t in report["target"]}, report["threads"]
rows = {f["label"]: f for f in report["fine"]}
lost = report["losses"]["calls_unread"] + report["losses"]["processes_unread"]
assert rows["counted"]["calls"] == 46 or lost, (rows, report["losses"])
END
}

a_wrapper_that_execs_is_left_out_silently() {
	run "$TICKSNICK" record --follow-children -- env nice "$SUBJECTS/calls" 0.1
	assert_exit 0
	assert_contains "calls (pid"
	assert_not_contains unlabelled_left_out
	assert_not_contains image_replaced
}

children_in_a_container_have_its_ids() {
	run unshare --mount --pid --fork --kill-child --mount-proc \
		"$TICKSNICK" record --follow-children -o report.json -- "$SUBJECTS/forks" short 5
	assert_exit 0
	/usr/bin/python3 - report.json <<'END' || fail "other ids, or not all processes"
import json, sys
report = json.load(open(sys.argv[1]))
pids = [t["pid"] for t in report["target"]]
# Of eight processes in there one is the recorder, and one its child that reads for it.
assert pids[0] == 2 and sorted(set(pids)) == pids and len(pids) == 6 and pids[-1] <= 8, report["target"]
assert {(t["pid"], t["tid"]) for t in report["threads"]} == {(i, i) for i in pids}, report["threads"]
END
}

without_the_option_the_shell_has_no_slot() {
	run "$TICKSNICK" record -- sh -c "'$SUBJECTS/calls' 0.1; true"
	assert_exit 5
	assert_err_contains "--follow-children"
	assert_one_error_line
}

# limited FILES: twenty children at once, of a recorder that may have so many open.
limited() {
	run bash -c 'ulimit -n "$1"; shift; exec "$@"' bash "$1" "$TICKSNICK" record --follow-children -o report.json \
		-- sh -c 'for i in $(seq 20); do "$1" 1.5 & done; wait' sh "$SUBJECTS/calls"
	assert_exit 0
}

children_that_cannot_be_watched_are_counted() {
	limited 1000
	assert_contains '"processes_untracked": 0,' report.json
	assert_not_contains "processes not followed"
	# Two for each CPU, some forty besides, and those of the children.
	limited $((56 + 2 * $(nproc --all)))
	assert_matches '"processes_untracked": [1-9]' report.json
	assert_contains "processes not followed"
}

says_that_nobody_had_labels() {
	run "$TICKSNICK" record --follow-children -- sh -c 'sleep 0.1; sleep 0.1'
	assert_exit 5
	assert_err_contains "neither sh nor what it has started has a ticksnick slot"
	assert_empty "$OUT"
	assert_one_error_line
}

a_process_without_labels_may_have_labelled_children() {
	start sh -c "echo 1; sleep 1; '$SUBJECTS/calls' 0.1; true"
	wait_for_started
	run "$TICKSNICK" record --follow-children -p "$PID"
	assert_exit 0
	assert_contains "calls (pid"
	assert_contains "target ended"
}

goes_on_until_the_last_child_has_ended() {
	run "$TICKSNICK" record --follow-children -f json -- sh -c "'$SUBJECTS/calls' 0.7 & exit 0"
	assert_exit 0
	/usr/bin/python3 - "$OUT" <<'END' || fail "it ended with the shell"
import json, sys
text = open(sys.argv[1]).read()
report = json.loads(text[text.index("{"):])
assert report["session"]["ended_by"] == "target"
assert report["session"]["duration_ns"] > 700e6, report["session"]
END
}

stops_at_its_time_while_children_go_on() {
	run "$TICKSNICK" record --follow-children -d 0.4 -o report.json -- sh -c "'$SUBJECTS/calls' 3; true"
	assert_exit 0
	assert_matches '"ended_by": *"duration"' report.json
	assert_contains "calls (pid"
}

# The recorder is stopped until a child's id is that of somebody who lives longer than all of them.
a_stranger_with_the_id_of_a_child_is_not_followed() {
	[ -w /proc/sys/kernel/ns_last_pid ] || skip "the next process id cannot be chosen here"
	# shellcheck disable=SC2016
	printf '%s\n' '"$1" 1 & for i in $(seq 200); do [ -e go ] || sleep 0.05; done' \
		'sh -c '\''echo $$ >child.new; mv child.new child'\'' ; wait' >command
	RUN="" /usr/bin/python3 - "$TICKSNICK" "$SUBJECTS/calls" <<'END'
import os, signal, subprocess, sys, time
def until(true):
    end = time.monotonic() + 15
    while not true():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.005)
recorder = subprocess.Popen([sys.argv[1], "record", "--follow-children", "-q", "-o", "report.json", "--",
                             "sh", "./command", sys.argv[2]])
def opened(name):
    try:
        return os.readlink(f"/proc/{recorder.pid}/fd/{name}")
    except OSError:
        return ""
until(lambda: any("perf_event" in opened(name) for name in os.listdir(f"/proc/{recorder.pid}/fd")))
time.sleep(0.2)
recorder.send_signal(signal.SIGSTOP)
open("go", "w").close()
until(lambda: os.path.exists("child"))
child = int(open("child").read())
until(lambda: not os.path.exists(f"/proc/{child}"))
stranger = 0
for _ in range(50):
    open("/proc/sys/kernel/ns_last_pid", "w").write(str(child - 1))
    stranger = os.fork()
    if not stranger:
        time.sleep(20)
        os._exit(0)
    if stranger == child:
        break
    os.kill(stranger, signal.SIGKILL)
    os.waitpid(stranger, 0)
try:
    if stranger == child:
        recorder.send_signal(signal.SIGCONT)
        recorder.wait(timeout=10)
    else:
        recorder.kill()
        sys.exit(3)
except subprocess.TimeoutExpired:
    recorder.kill()
    sys.exit("the recorder waits for the stranger")
finally:
    if stranger == child:
        os.kill(stranger, signal.SIGKILL)
END
	case $? in
	0) ;;
	3) skip "NOT CHECKED: the id was not to be had" ;;
	*) fail "a stranger was followed" ;;
	esac
}

a_fork_bomb_is_survived_and_counted() {
	run "$TICKSNICK" record --follow-children -o report.json -q -- "$SUBJECTS/forks" bomb 600
	assert_exit 0
	/usr/bin/python3 - report.json <<'END' || fail "processes are neither there nor lost"
import json, sys
report = json.load(open(sys.argv[1]))
losses = report["losses"]
seen = len(report["target"]) + losses["processes_folded"]
lost = losses["processes_untracked"] + losses["processes_unread"]
assert seen + lost == 601, (seen, losses)
END
}

test_case the_option_is_in_the_help_and_the_manual
if [ "$(id -u)" -eq 0 ]; then
	test_case a_shell_around_a_labelled_program_is_left_out
	test_case a_wrapper_that_execs_is_left_out_silently
	test_case children_in_a_container_have_its_ids
	test_case without_the_option_the_shell_has_no_slot
	test_case children_that_cannot_be_watched_are_counted
	test_case says_that_nobody_had_labels
	test_case a_process_without_labels_may_have_labelled_children
	test_case goes_on_until_the_last_child_has_ended
	test_case stops_at_its_time_while_children_go_on
	test_case a_stranger_with_the_id_of_a_child_is_not_followed
	test_case a_fork_bomb_is_survived_and_counted
fi
