# SPDX-License-Identifier: MIT
# ticksnick record: exit codes, one sentence for each thing that is wrong, and files that appear whole.
. "$(dirname "$0")/lib.sh"

SUBJECTS=$BUILD/tests/subjects

one_sentence() {
	[ "$(wc -l <"$ERR")" -eq 1 ] || fail "not one line on standard error"
	assert_empty "$OUT"
}

refuses_what_is_no_process_id() {
	run "$TICKSNICK" record -p "$1"
	assert_exit 2
	assert_err_contains "'$1' is not a process id"
	assert_empty "$OUT"
}

says_that_a_process_is_dead() {
	true &
	wait $!
	run "$TICKSNICK" record -p $!
	assert_exit 5
	assert_err_contains "there is no process $!"
	one_sentence
}

says_that_a_process_has_no_slot() {
	start sleep 60
	run "$TICKSNICK" record -p "$PID" -d 1
	assert_exit 5
	assert_err_contains "process $PID (sleep) has no ticksnick slot"
	one_sentence
}

says_that_a_command_has_no_slot() {
	run "$TICKSNICK" record -- true
	assert_exit 5
	assert_err_contains "true has no ticksnick slot"
	one_sentence
}

says_that_a_command_did_not_come_to_its_slot() {
	run "$TICKSNICK" record -d 0.1 "$@" -- sleep 60
	assert_exit 5
	assert_err_contains "as far as"
	assert_err_contains "in the session's time"
	one_sentence
}

says_that_a_command_cannot_be_run() {
	run "$TICKSNICK" record -- ./no-such-program
	assert_exit 2
	assert_err_contains "cannot run ./no-such-program: No such file or directory"
	one_sentence
}

refuses_an_output_that_cannot_be_written_before_it_records() {
	run "$TICKSNICK" record -o no/such/directory.json -- "$SUBJECTS/calls" 20
	assert_exit 6
	assert_err_contains "cannot write no/such/directory.json: No such file or directory"
	one_sentence
}

refuses_nonsense() {
	run "$TICKSNICK" record "$@"
	assert_exit 2
	assert_empty "$OUT"
}

needs_privilege_and_says_which() {
	run_as_nobody "$TICKSNICK" record -p $$
	assert_exit 4
	assert_err_contains CAP_BPF
	one_sentence
}

needs_btf_and_says_so() {
	need_program unshare
	mkdir empty
	run unshare -m sh -c 'mount --bind empty /sys/kernel/btf && exec "$@"' \
		sh "$TICKSNICK" record -- "$SUBJECTS/calls"
	assert_exit 4
	assert_err_contains BTF
	one_sentence
}

# as_nobody_with CAPABILITIES CMD ARG..: as an ordinary user with just these.
as_nobody_with() {
	need_program setpriv
	local caps=$1
	shift
	cp "$TICKSNICK" "$LIB_TMP/ticksnick"
	chmod 755 "$LIB_TMP/ticksnick"
	run setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="-all,$caps" --ambient-caps="-all,$caps" \
		"$LIB_TMP/ticksnick" "$@"
}

needs_just_three_capabilities() {
	start "$SUBJECTS/sleepers"
	wait_for_started
	as_nobody_with +bpf,+perfmon,+sys_ptrace record -p "$PID" -d 0.2
	assert_exit 0
	assert_contains asleep
	# A virtual CPU that its host stops has no timer, whatever the recorder may do.
	assert_matches '^losses +(nothing was lost|[0-9]+ ticks? missed while the target ran)$'
}

names_the_capability_that_is_missing() {
	start "$SUBJECTS/sleepers"
	wait_for_started
	as_nobody_with "$1" record -p "$PID" -d 0.2
	assert_exit 4
	assert_err_contains "$2"
	one_sentence
}

resolves_a_thread_to_its_process_with_a_note() {
	start "$SUBJECTS/sleepers"
	wait_for_started
	thread=$(ls /proc/"$PID"/task | grep -vx "$PID" | head -n 1)
	run "$TICKSNICK" record -p "$thread" -d 0.2
	assert_exit 0
	assert_err_contains "$thread is a thread of process $PID"
	assert_contains "thread_id_resolved"
	assert_contains "asleep"
}

records_several_processes_together() {
	"$SUBJECTS/sleepers" >one &
	first=$!
	"$SUBJECTS/sleepers" >two &
	second=$!
	trap 'kill -KILL $first $second 2>/dev/null' EXIT
	sleep 0.5
	run "$TICKSNICK" record -p "$first,$second,$first" -d 0.5 -f json
	assert_exit 0
	/usr/bin/python3 - "$OUT" "$first" "$second" <<'END' || fail "not both processes"
import json, sys
report = json.load(open(sys.argv[1]))
assert [t["pid"] for t in report["target"]] == [int(sys.argv[2]), int(sys.argv[3])], report["target"]
rows = {f["label"]: f for f in report["fine"]}
assert sorted(rows) == ["asleep", "spin"], sorted(rows)
assert len(report["threads"]) == 18, len(report["threads"])
assert abs(rows["asleep"]["thread_time_ns"] - 16 * report["session"]["duration_ns"]) < 1e7, rows["asleep"]
END
}

ends_a_strict_session_at_a_violation_and_names_the_label() {
	cat >leaky.c <<'END'
#include <unistd.h>
#include <ticksnick/ticksnick.h>
TSN_FINE(leaky, "leakyOperation");
int main(void)
{
	usleep(300000);
	tsn_enter(leaky);
	if (!tsn_expect_balanced())
		return 1;
	usleep(1000000);
	return 0;
}
END
	"${CC:-cc}" -I"$TOP/include" -o leaky leaky.c || fail "the leaky program does not compile"
	run "$TICKSNICK" record -o report.json -- ./leaky
	assert_exit 3
	assert_contains leakyOperation
	assert_contains violation_leak
	grep -q '"ended_by": *"violation"' report.json || fail "ended_by is not violation"
	run "$TICKSNICK" record --no-strict -- ./leaky
	assert_exit 0
	assert_contains violation_leak
}

says_what_was_refused_and_who_was_left_out() {
	cat >odd.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
#include <ticksnick/ticksnick.h>
TSN_FINE(twice, "twice");
TSN_IDLE(refused, "twice");
int main(void)
{
	usleep(100000);
	if (!fork())
		_exit(0);
	wait(NULL);
	usleep(200000);
	return 0;
}
END
	"${CC:-cc}" -I"$TOP/include" -o odd odd.c || fail "the odd program does not compile"
	run "$TICKSNICK" record -- ./odd
	assert_exit 0
	assert_contains "[label_refused] 1 time a registration was refused"
	assert_matches "[[]children_left_out[]] process [0-9]+ forked 1 times"
}

a_command_that_fails_is_said_so() {
	run "$TICKSNICK" record --follow-children -f json -- sh -c "'$SUBJECTS/calls' 0.1; $1"
	assert_exit 0
	if [ -z "$2" ]; then
		! grep -q command_failed "$OUT" || fail "it did not fail"
		return
	fi
	assert_contains '"code": "command_failed"'
	assert_contains "\"text\": \"$2"
}

a_slow_timer_ticks_all_the_same() {
	run "$TICKSNICK" record -F 5 -d 3 -f json -- "$SUBJECTS/spinners" 5
	assert_exit 0
	/usr/bin/python3 - "$OUT" <<'END' || fail "hardly a tick"
import json, sys
assert json.load(open(sys.argv[1]))["session"]["ticks_delivered"] >= 8
END
}

for pid in 33abc 0 -1 4294967296 1,,2 1, 12345678901234567890; do
	test_case refuses_what_is_no_process_id "$pid"
done
test_case refuses_nonsense
test_case refuses_nonsense -F 0 -p 1
test_case refuses_nonsense -F nan -p 1
test_case refuses_nonsense -d -5 -p 1
test_case refuses_nonsense -d 1x -p 1
test_case refuses_nonsense -f xml -p 1
test_case refuses_nonsense -p 1 -- true
test_case needs_privilege_and_says_which
if [ "$(id -u)" -eq 0 ]; then
	test_case needs_btf_and_says_so
	test_case says_that_a_process_is_dead
	test_case says_that_a_process_has_no_slot
	test_case says_that_a_command_has_no_slot
	test_case says_that_a_command_did_not_come_to_its_slot
	test_case says_that_a_command_did_not_come_to_its_slot --follow-children
	test_case says_that_a_command_cannot_be_run
	test_case refuses_an_output_that_cannot_be_written_before_it_records
	test_case needs_just_three_capabilities
	test_case names_the_capability_that_is_missing +perfmon,+sys_ptrace CAP_BPF
	test_case names_the_capability_that_is_missing +bpf,+sys_ptrace CAP_PERFMON
	test_case names_the_capability_that_is_missing +bpf,+perfmon CAP_SYS_PTRACE
	test_case resolves_a_thread_to_its_process_with_a_note
	test_case records_several_processes_together
	test_case ends_a_strict_session_at_a_violation_and_names_the_label
	test_case says_what_was_refused_and_who_was_left_out
	test_case a_command_that_fails_is_said_so "exit 3" 'sh exited with status 3'
	# Expands in the shell that is started.
	# shellcheck disable=SC2016
	test_case a_command_that_fails_is_said_so 'kill -ILL $$' 'sh was ended by signal 4 '
	test_case a_command_that_fails_is_said_so ':' ''
	test_case a_slow_timer_ticks_all_the_same
fi
