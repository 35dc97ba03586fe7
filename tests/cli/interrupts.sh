# SPDX-License-Identifier: MIT
# ticksnick record when it is disturbed: signals at any moment, outputs that take nothing, limits, locales, CPUs that
# go and come back, and another recorder beside it.
. "$(dirname "$0")/lib.sh"

SUBJECTS=$BUILD/tests/subjects
DATA=$TOP/tests/data
SYSTEM_PYTHON=/usr/bin/python3

# Until the recorder $1 has its timers: the session begins a few ms later.
wait_for_recording() {
	for _ in $(seq 300); do
		[ -d "/proc/$1" ] || fail "the recorder has ended"
		find "/proc/$1/fd" -lname '*perf_event*' 2>/dev/null | grep -q . && return
		sleep 0.05
	done
	fail "the recorder does not record"
}

# assert_report FILE END: whole, and ended in that way.
assert_report() {
	$SYSTEM_PYTHON - "$1" "$2" <<'END' || fail "$1 is no whole report that ended by $2"
import json, sys
report = json.load(open(sys.argv[1]))
assert report["session"]["ended_by"] == sys.argv[2], report["session"]
assert report["warnings"] is not None and report["threads"], report
END
}

# assert_files NAME..: just these are here, beside those of the tests themselves; nothing temporary.
assert_files() {
	local found
	found=$(find . -mindepth 1 ! -name out ! -name err ! -name log ! -name started -printf "%P\n" | sort | xargs)
	assert_equal "$found" "$*" "files"
}

# ---- signals ----

# Each recorder has a directory of its own; a shell would start it with SIGINT ignored. Before it has come to take
# signals one ends it as it does any program, with nothing written.
an_interrupt_at_any_moment_leaves_a_whole_report_or_none() {
	start "$SUBJECTS/sleepers"
	wait_for_started
	RUN="" $SYSTEM_PYTHON - "$TICKSNICK" "$PID" <<'END' || fail "half a report, or none where there should be one"
import json, os, signal, subprocess, sys, threading, time
failed, done = [], []
def interrupted(delay):
    name = f"{delay:03}"
    os.mkdir(name)
    recorder = subprocess.Popen([sys.argv[1], "record", "-o", name + "/report.json", "-p", sys.argv[2]],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    time.sleep(delay / 1000)
    recorder.send_signal(signal.SIGINT)
    try:
        out, err = recorder.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        recorder.kill()
        failed.append((name, "does not end"))
        return
    files = os.listdir(name)
    if recorder.returncode == -signal.SIGINT:
        good = not files and not out
    else:
        good = recorder.returncode == 0 and files == ["report.json"] and out.startswith(b"recorded ") and not err
        json.load(open(name + "/report.json"))
        done.append(name)
    if not good:
        failed.append((name, recorder.returncode, files, out, err))
for first in range(0, 400, 100):
    threads = [threading.Thread(target=interrupted, args=[delay]) for delay in range(first, first + 100, 25)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
assert not failed, failed
assert done
END
}

# Each signal twice, on a recorder of its own.
a_signal_ends_it_with_a_report_and_a_second_one_takes_nothing_away() {
	local recorders=() signal
	start "$SUBJECTS/sleepers"
	wait_for_started
	for signal in "$@"; do
		echo previous >"$signal.json"
		"$TICKSNICK" record -o "$signal.json" -p "$PID" >"$signal.out" 2>&1 &
		recorders+=($!)
	done
	for recorder in "${recorders[@]}"; do
		wait_for_recording "$recorder"
	done
	sleep 0.1
	for i in 1 2; do
		for n in "${!recorders[@]}"; do
			signal=$((n + 1))
			kill "-${!signal}" "${recorders[n]}" 2>/dev/null
		done
		[ $i = 2 ] || sleep 0.05
	done
	for n in "${!recorders[@]}"; do
		signal=$((n + 1))
		signal=${!signal}
		wait "${recorders[n]}" || fail "exit status $? after $signal"
		assert_contains asleep "$signal.out"
		assert_report "$signal.json" signal
		rm "$signal.json" "$signal.out"
	done
	assert_files
}

a_hangup_that_is_ignored_stays_so() {
	start "$SUBJECTS/sleepers"
	wait_for_started
	(trap '' HUP && exec "$TICKSNICK" record -d 0.6 -q -o report.json -p "$PID" >"$OUT" 2>"$ERR") &
	recorder=$!
	wait_for_recording $recorder
	kill -HUP $recorder
	wait "$recorder"
	STATUS=$? RUN="record under nohup"
	assert_exit 0
	assert_report report.json duration
}

one_who_is_killed_leaves_nothing() {
	start "$SUBJECTS/sleepers"
	wait_for_started
	echo previous >report.json
	"$TICKSNICK" record -q -o report.json -p "$PID" &
	recorder=$!
	wait_for_recording $recorder
	kill -KILL "$recorder"
	wait "$recorder" 2>/dev/null
	assert_equal "$(cat report.json)" previous "the report"
	assert_files report.json
}

# ---- outputs ----

FORMATS=(text json csv csv-coarse csv-pairs)

a_reader_that_has_had_enough_is_no_failure() {
	start "$SUBJECTS/sleepers"
	wait_for_started
	for format in "${FORMATS[@]}"; do
		{
			"$TICKSNICK" record -f "$format" -- "$SUBJECTS/calls" 0.1 2>&3
			echo $? >"$format.status"
		} 3>"$format.err" | head -n 1 >"$format.out" &
	done
	# This one has had enough before it begins.
	{
		"$TICKSNICK" record -d 0.3 -f json -p "$PID" 2>&3
		echo $? >none.status
	} 3>none.err | true >none.out &
	jobs=$(jobs -p | grep -vx "$PID")
	# shellcheck disable=SC2086 # several
	wait $jobs
	for format in "${FORMATS[@]}" none; do
		assert_equal "$(cat "$format.status")" 0 "exit status of $format"
		assert_empty "$format.err"
		[ "$(wc -l <"$format.out")" -le 1 ] || fail "more than one line"
	done
}

# assert_refused FORMAT STATUS NAME: what a command that could not write left in FORMAT.err.
assert_refused() {
	assert_equal "$2" 6 "exit status of $1"
	assert_equal "$(wc -l <"$1.err")" 1 "lines of $1"
	assert_contains "cannot write $3: No space left on device" "$1.err"
}

a_full_device_is_named_in_one_sentence_for_every_format() {
	for format in "${FORMATS[@]}"; do
		(
			timeout 60 "$TICKSNICK" record -f "$format" -- "$SUBJECTS/calls" 0.1 >/dev/full 2>"$format.err"
			echo $? >"$format.status"
		) &
	done
	wait
	for format in "${FORMATS[@]}"; do
		assert_refused "$format" "$(cat "$format.status")" "standard output"
		"$TICKSNICK" report -f "$format" "$DATA/server.json" >/dev/full 2>"$format.err"
		assert_refused "$format" $? "standard output"
		"$TICKSNICK" report -f "$format" -o /dev/full "$DATA/server.json" 2>"$format.err"
		assert_refused "$format" $? /dev/full
	done
}

# small_disk: a filesystem of 16 KiB, full, with a report from before, in "disk".
small_disk() {
	mkdir disk
	mount -t tmpfs -o size=16k,nr_inodes=16 none disk || skip "cannot mount a tmpfs"
	trap 'umount disk' EXIT
	echo previous >disk/report
	dd if=/dev/zero of=disk/filler bs=1k count=64 2>/dev/null
}

a_full_disk_keeps_the_previous_report() {
	small_disk
	run "$TICKSNICK" record -q -o disk/report -- "$SUBJECTS/calls" 0.1
	assert_exit 6
	assert_one_error_line
	assert_err_contains "cannot write disk/report: No space left on device"
	for format in "${FORMATS[@]}"; do
		run "$TICKSNICK" report -f "$format" -o disk/report "$DATA/server.json"
		assert_exit 6
		assert_one_error_line
		assert_err_contains "cannot write disk/report: No space left on device"
	done
	assert_equal "$(cat disk/report)" previous "the report"
	assert_equal "$(find disk -type f | sort | tr '\n' ' ')" "disk/filler disk/report " "files"
}

# Nothing is started either: the command would have left a mark.
a_path_that_cannot_be_written_fails_before_anything_runs() {
	mkdir frozen
	mount -t tmpfs -o ro none frozen || skip "cannot mount a tmpfs"
	trap 'umount frozen' EXIT
	run "$TICKSNICK" record -o frozen/report.json -- touch mark
	assert_exit 6
	assert_one_error_line
	assert_err_contains "cannot write frozen/report.json: Read-only file system"
	run_as_nobody "$TICKSNICK" record -o report.json -- touch mark
	assert_exit 6
	assert_one_error_line
	assert_err_contains "cannot write report.json: Permission denied"
	assert_no_file mark
}

# Without /proc a file cannot be given a name later.
a_file_is_replaced_where_it_needs_a_name_from_the_beginning() {
	need_no_sanitizer "needs /proc"
	echo previous >report.json
	# Expands in the shell that is started.
	# shellcheck disable=SC2016
	run unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh \
		"$TICKSNICK" report -f json -o report.json "$DATA/server.json"
	assert_exit 0
	assert_same report.json "$DATA/server.json"
	assert_files report.json
}

links_and_descriptors_are_treated_as_report_does() {
	echo precious >precious
	ln -s precious link.json
	{
		echo before
		"$TICKSNICK" record -q -o /dev/stdout -- "$SUBJECTS/calls" 0.1
	} >"$OUT" 2>"$ERR" || fail "exit status $?"
	assert_equal "$(head -n 1 "$OUT")" before "what was there before"
	tail -n +3 "$OUT" >rest # the subject's own line is first
	assert_report rest target
	run "$TICKSNICK" record -q -o link.json -- "$SUBJECTS/calls" 0.1
	assert_exit 0
	[ ! -L link.json ] || fail "the link is still there"
	assert_report link.json target
	assert_equal "$(cat precious)" precious "what the link led to"
}

a_fifo_takes_the_report() {
	mkfifo fifo
	cat fifo >copy.json &
	run "$TICKSNICK" record -q -o fifo -- "$SUBJECTS/calls" 0.1
	wait
	assert_exit 0
	assert_report copy.json target
	[ -p fifo ] || fail "the fifo was replaced"
}

# While it waits for a reader, and while the reader does not read.
a_signal_ends_what_nobody_reads() {
	mkfifo fifo
	start "$SUBJECTS/sleepers"
	wait_for_started
	env --default-signal=INT "$TICKSNICK" record -q -o fifo -p "$PID" &
	recorder=$!
	sleep 0.3
	kill -INT $recorder
	wait $recorder
	assert_equal $? 130 "exit status"
	sh -c 'exec sleep 30' <fifo &
	reader=$!
	trap 'kill -KILL $PID $reader 2>/dev/null' EXIT
	# The pipe is full before the report comes to it.
	(
		exec 3>fifo
		timeout 0.2 dd if=/dev/zero bs=4k >&3 2>/dev/null
		exec "$TICKSNICK" record -f json -o report.json -p "$PID" >&3 2>"$ERR"
	) &
	recorder=$!
	wait_for_recording $recorder
	kill -INT $recorder
	for _ in $(seq 100); do
		[ ! -s report.json ] || break
		sleep 0.05
	done
	sleep 0.1
	kill -INT $recorder
	wait $recorder
	# shellcheck disable=SC2034 # for assert_exit
	STATUS=$? RUN="record into a pipe that is not read"
	assert_exit 6
	assert_err_contains "cannot write standard output: Interrupted system call"
	assert_report report.json signal
}

# ---- two at once ----

# 3 threads of 50,000 calls, once there is something to read.
two_recorders_count_the_same_calls_exactly() {
	cat >counted.c <<'END'
#include <pthread.h>
#include <unistd.h>
#include <ticksnick/ticksnick.h>
TSN_FINE(counted, "counted");
static void *work(void *argument)
{
	for (int i = 0; i < 50000; i++) {
		TSN_SCOPE(counted);
		for (volatile int k = 0; k < 200; k++)
			;
	}
	return argument;
}
int main(void)
{
	pthread_t threads[3];
	char byte;

	if (write(1, "ready\n", 6) != 6 || read(0, &byte, 1) != 1)
		return 1;
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
	"${CC:-cc}" -O1 -I"$TOP/include" -o counted counted.c -lpthread || fail "the program does not compile"
	mkfifo go
	sleep 30 >go &
	holder=$!
	./counted <go >started &
	PID=$!
	trap 'kill -KILL $PID $holder 2>/dev/null' EXIT
	wait_for_started
	"$TICKSNICK" record -q -o one.json -p "$PID" 2>"$ERR" &
	one=$!
	"$TICKSNICK" record -q -o two.json -p "$PID" 2>"$ERR" &
	two=$!
	wait_for_recording $one
	wait_for_recording $two
	sleep 0.2
	echo >go
	wait $one || fail "the first recorder failed"
	wait $two || fail "the second recorder failed"
	$SYSTEM_PYTHON - one.json two.json <<'END' || fail "not the calls there were"
import json, sys
for path in sys.argv[1:]:
    report = json.load(open(path))
    row, = report["fine"]
    assert row["calls"] == 150000 and row["hits"] > 0, row
    assert report["session"]["ended_by"] == "target", report["session"]
    for thread in report["threads"]:
        parts = [thread[state + "_ns"] for state in ("running", "runnable", "blocked", "io")]
        assert sum(parts) == thread["lifetime_ns"], thread
END
}

# ---- CPUs that go and come back ----

# The last CPU, which is brought back whatever happens.
cpu_take() {
	CPU=$(($(getconf _NPROCESSORS_CONF) - 1))
	SWITCH=/sys/devices/system/cpu/cpu$CPU/online
	if [ "$CPU" -eq 0 ] || [ ! -w "$SWITCH" ]; then
		skip "no CPU here can be taken offline"
	fi
	trap 'echo 1 >$SWITCH; kill -KILL $PID 2>/dev/null' EXIT
	trap 'exit 1' TERM INT HUP
	echo 0 >"$SWITCH" || skip "CPU $CPU cannot be taken offline"
}

# One session sees the CPU go and come back, the other one only come.
a_cpu_that_comes_back_is_sampled_again() {
	start "$SUBJECTS/sleepers"
	wait_for_started
	"$TICKSNICK" record -q -o one.json -p "$PID" 2>"$ERR" &
	one=$!
	wait_for_recording $one
	cpu_take
	"$TICKSNICK" record -q -o two.json -p "$PID" 2>"$ERR" &
	two=$!
	wait_for_recording $two
	sleep 0.3
	echo 1 >"$SWITCH"
	taskset -pc "$CPU" "$PID" >/dev/null || fail "cannot move the spinner"
	sleep 0.9
	kill -INT $one $two
	wait $one || fail "the first recorder failed"
	wait $two || fail "the second recorder failed"
	$SYSTEM_PYTHON - one.json two.json "$PID" "$(getconf _NPROCESSORS_CONF)" <<'END' || fail "ticks are missing"
import json, sys
pid, cpus = int(sys.argv[3]), int(sys.argv[4])
for path in sys.argv[1:3]:
    report = json.load(open(path))
    session, losses = report["session"], report["losses"]
    all_cpus = cpus * session["duration_ns"] * 1e-9 * session["frequency_hz"]
    assert session["ticks_expected"] < all_cpus * (1 - 0.1 / cpus), (session, all_cpus)
    assert 0.8 * session["ticks_expected"] < session["ticks_delivered"] < 1.2 * session["ticks_expected"], session
    spinner, = [t for t in report["threads"] if t["tid"] == pid]
    ticks = spinner["running_ns"] * 1e-9 * session["frequency_hz"]
    assert spinner["hits"] > 0.6 * ticks, (spinner, ticks)
    for thread in report["threads"]:
        parts = [thread[state + "_ns"] for state in ("running", "runnable", "blocked", "io")]
        assert sum(parts) == thread["lifetime_ns"], thread
END
}

# ---- limits and locales ----

a_rate_above_the_limit_is_lowered_with_a_warning() {
	start "$SUBJECTS/sleepers"
	wait_for_started
	run "$TICKSNICK" record -F 1e9 -d 0.2 -p "$PID"
	assert_exit 0
	assert_err_contains "1000000000 Hz is too fast, using 10000 Hz"
	assert_contains frequency_clamped
	echo 300 >limit
	# Expands in the shell that is started.
	# shellcheck disable=SC2016
	run unshare -m sh -c 'mount --bind limit /proc/sys/kernel/perf_event_max_sample_rate && exec "$@"' sh \
		"$TICKSNICK" record -F 997 -o report.json -d 0.2 -p "$PID"
	assert_exit 0
	assert_err_contains "997 Hz is too fast, using 300 Hz (kernel.perf_event_max_sample_rate)"
	assert_contains "997 Hz was asked for, 300 Hz is the most that is allowed"
	grep -q '"frequency_hz": 300.0' report.json || fail "the rate in effect is not in the report"
}

few_open_files_are_enough_where_more_may_be_had() {
	# Expands in the shell that is started.
	# shellcheck disable=SC2016
	run bash -c 'ulimit -Sn 16; ulimit -l 0; exec "$@"' bash \
		"$TICKSNICK" record -q -- sh -c 'ulimit -Sn; ulimit -l; exec "$1" 0.1' sh "$SUBJECTS/calls"
	assert_exit 0
	assert_empty "$ERR"
	assert_equal "$(head -n 2 "$OUT" | tr '\n' ' ')" "16 0 " "limits of the command"
	# shellcheck disable=SC2016
	run bash -c 'ulimit -n 16; exec "$@"' bash "$TICKSNICK" record -- "$SUBJECTS/calls" 0.1
	assert_exit 4
	assert_one_error_line
	assert_err_contains "only 16 files may be open: raise the limit (ulimit -Hn 4096)"
}

# A locale whose numbers have commas, made here.
numbers_have_points_in_every_locale() {
	need_program localedef
	localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 2>/dev/null
	start "$SUBJECTS/sleepers"
	wait_for_started
	export LOCPATH=$PWD LC_ALL=de_DE.UTF-8
	assert_equal "$(/usr/bin/printf %.1f 1)" 1,0 "a number of the locale"
	run "$TICKSNICK" record -d 0.5 -F 997.5 -f json -p "$PID"
	assert_exit 0
	assert_report "$OUT" duration
	assert_contains '"frequency_hz": 997.5'
	run "$TICKSNICK" record -d 0,2 -p "$PID"
	assert_exit 2
	COLUMNS=80 run "$TICKSNICK" report "$DATA/server.json"
	assert_same "$DATA/server.80.txt" "$OUT"
	run "$TICKSNICK" report -f csv "$DATA/nasty.json"
	assert_same "$DATA/nasty.csv" "$OUT"
	run "$TICKSNICK" report -f json "$DATA/server.json"
	assert_same "$DATA/server.json" "$OUT"
}

if [ "$(id -u)" -eq 0 ]; then
	test_case an_interrupt_at_any_moment_leaves_a_whole_report_or_none
	test_case a_signal_ends_it_with_a_report_and_a_second_one_takes_nothing_away INT TERM HUP
	test_case a_hangup_that_is_ignored_stays_so
	test_case one_who_is_killed_leaves_nothing
	test_case a_reader_that_has_had_enough_is_no_failure
	test_case a_full_device_is_named_in_one_sentence_for_every_format
	test_case a_full_disk_keeps_the_previous_report
	test_case a_path_that_cannot_be_written_fails_before_anything_runs
	test_case a_file_is_replaced_where_it_needs_a_name_from_the_beginning
	test_case links_and_descriptors_are_treated_as_report_does
	test_case a_fifo_takes_the_report
	test_case a_signal_ends_what_nobody_reads
	test_case two_recorders_count_the_same_calls_exactly
	test_case a_cpu_that_comes_back_is_sampled_again
	test_case a_rate_above_the_limit_is_lowered_with_a_warning
	test_case few_open_files_are_enough_where_more_may_be_had
	test_case numbers_have_points_in_every_locale
fi
