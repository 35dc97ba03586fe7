# SPDX-License-Identifier: MIT
# ticksnick record and processes in containers: namespaces, another root, a CPU quota, and names of any bytes.
. "$(dirname "$0")/lib.sh"

SUBJECTS=$BUILD/tests/subjects
SYSTEM_PYTHON=/usr/bin/python3

# For a new pid namespace, which ends with the unshare that made it.
BOX=(unshare --mount --pid --fork --kill-child --mount-proc)

# started_child: the process that $PID, an unshare, has forked. Its id is in CHILD.
started_child() {
	CHILD=$(pgrep -P "$PID") || fail "there is no child"
}

# build_id_of FILE
build_id_of() {
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

# Whether $OUT is a report of process $1, which runs the program $2 known as $3: its own threads (in the file tids),
# names and labels.
assert_sleepers() {
	$SYSTEM_PYTHON - "$OUT" "$1" "$(build_id_of "$2")" "$3" <<'END' || fail "not the report of the process"
import json, sys
report, pid, build_id, exe = json.load(open(sys.argv[1])), int(sys.argv[2]), sys.argv[3], sys.argv[4]
target, = report["target"]
assert (target["pid"], target["exe"], target["build_id"]) == (pid, exe, build_id), target
assert {t["pid"] for t in report["threads"]} == {pid}, report["threads"]
assert sorted(t["tid"] for t in report["threads"]) == sorted(map(int, open("tids"))), report["threads"]
rows, duration = {f["label"]: f for f in report["fine"]}, report["session"]["duration_ns"]
assert sorted(rows) == ["asleep", "spin"], sorted(rows)
assert abs(rows["asleep"]["blocked_ns"] - 8 * duration) < 1e7, rows["asleep"]
assert rows["spin"]["hits"] > 0 and 0.7 * duration < rows["spin"]["thread_time_ns"] < 1.01 * duration, rows["spin"]
assert not any(report["losses"][what] for what in ("slot_foreign", "thread_untracked")), report["losses"]
END
}

a_container_is_recorded_from_outside() {
	start "${BOX[@]}" --user --map-root-user "$SUBJECTS/sleepers"
	wait_for_started
	started_child
	run "$TICKSNICK" record -p "$CHILD" -d 0.3 -f json
	ls "/proc/$CHILD/task" >tids
	assert_exit 0
	assert_sleepers "$CHILD" "$SUBJECTS/sleepers" "$SUBJECTS/sleepers"
	assert_equal "$(cat /proc/"$CHILD"/comm)" sleepers "who is recorded"
}

# copy_with_libraries PROGRAM ROOT PATH: so that it runs there.
copy_with_libraries() {
	mkdir -p "$2/$(dirname "$3")"
	cp "$1" "$2/$3"
	ldd "$1" | grep -o '/[^ )]*' | while read -r library; do
		mkdir -p "$2/$(dirname "$library")"
		cp -L "$library" "$2/$library"
	done
}

# At the path where the target has its program the host has another one.
a_program_in_another_root_is_not_taken_for_the_hosts() {
	cp "$SUBJECTS/calls" decoy
	case $1 in
	chroot)
		copy_with_libraries "$SUBJECTS/sleepers" root "$PWD/decoy"
		start chroot root "$PWD/decoy"
		exe=$PWD/root$PWD/decoy
		;;
	mount)
		# Expands in the shell that is started.
		# shellcheck disable=SC2016
		start unshare -m sh -c 'mount --bind "$1" "$2" && exec "$2"' sh "$SUBJECTS/sleepers" "$PWD/decoy"
		exe=$PWD/decoy
		;;
	esac
	wait_for_started
	run "$TICKSNICK" record -p "$PID" -d 0.3 -f json
	ls "/proc/$PID/task" >tids
	assert_exit 0
	assert_sleepers "$PID" "$SUBJECTS/sleepers" "$exe"
	[ "$(build_id_of decoy)" != "$(build_id_of "$SUBJECTS/sleepers")" ] || fail "both programs are the same"
}

ids_are_those_of_the_recorders_own_container() {
	cat >inside.sh <<'END'
"$2/sleepers" >started &
pid=$!
until [ -s started ]; do sleep 0.02; done
"$1" record -p "$pid" -d 0.3 -f json && ls "/proc/$pid/task" >tids && echo "$pid" >pid
END
	run "${BOX[@]}" sh inside.sh "$TICKSNICK" "$SUBJECTS"
	assert_exit 0
	assert_matches '^[0-9]{1,2}$' pid
	assert_sleepers "$(cat pid)" "$SUBJECTS/sleepers" "$SUBJECTS/sleepers"
}

# The threads come into being while it is recorded; the subject says by which id and for how long one of them ran.
so_are_those_of_threads_that_begin_later() {
	run "${BOX[@]}" "$TICKSNICK" record -o report.json -- "$SUBJECTS/burner" 0.5
	assert_exit 0
	$SYSTEM_PYTHON - report.json "$OUT" <<'END' || fail "not the subject's own figures"
import json, sys
report, truth = json.load(open(sys.argv[1])), {}
for line in open(sys.argv[2]):
    if line.startswith(("tid ", "cpu_ns ")):
        truth[line.split()[0]] = int(line.split()[1])
target, = report["target"]
assert target["pid"] < 100 and truth["tid"] < 100, (target, truth)
row, = [t for t in report["threads"] if t["tid"] == truth["tid"]]
assert row["pid"] == target["pid"] and row["hits"] > 0, row
assert abs(row["running_ns"] - truth["cpu_ns"]) < 0.03 * truth["cpu_ns"] + 1e6, (row, truth)
END
}

a_process_outside_of_the_container_cannot_be_seen() {
	start "$SUBJECTS/sleepers"
	wait_for_started
	run "${BOX[@]}" "$TICKSNICK" record -p "$PID" -d 1
	assert_exit 5
	assert_one_error_line
	assert_err_contains "there is no process $PID in this pid namespace, a container's"
}

proc_of_another_container_is_refused() {
	start "$SUBJECTS/sleepers"
	wait_for_started
	run unshare --pid --fork --kill-child "$TICKSNICK" record -p "$PID" -d 1
	assert_exit 4
	assert_one_error_line
	assert_err_contains "/proc is of another pid namespace than this process"
}

# ---- a CPU quota ----

# cgroup_make: a group of its own in the hierarchy that has the cpu controller, mounted here. Its directory in GROUP.
cgroup_make() {
	mkdir hierarchy
	if mount -t cgroup2 none hierarchy 2>/dev/null; then
		if grep -qw cpu hierarchy/cgroup.controllers; then
			grep -qw cpu hierarchy/cgroup.subtree_control || echo +cpu >hierarchy/cgroup.subtree_control
			version=2
		else
			umount hierarchy
		fi
	fi
	if [ "${version:-}" != 2 ]; then
		mount -t cgroup -o cpu none hierarchy 2>/dev/null ||
			skip "neither cgroup v2 nor v1 has a cpu controller here"
		version=1
	fi
	GROUP=$PWD/hierarchy/ticksnick-test-$$-$BASHPID
	trap 'cgroup_remove' EXIT
	mkdir "$GROUP" || fail "cannot make a cgroup"
}

cgroup_remove() {
	for _ in $(seq 100); do
		rmdir "$GROUP" 2>/dev/null && break
		sleep 0.05
	done
	umount hierarchy
}

cgroup_throttle() {
	if [ "$version" = 2 ]; then
		echo "20000 100000" >"$GROUP/cpu.max"
	else
		echo 100000 >"$GROUP/cpu.cfs_period_us" && echo 20000 >"$GROUP/cpu.cfs_quota_us"
	fi || skip "the cpu controller knows no quota here"
}

cgroup_throttled_ns() {
	sed -nE 's/^throttled_usec ([0-9]+)$/\1000/p; s/^throttled_time ([0-9]+)$/\1/p' "$GROUP/cpu.stat"
}

# The subject never sleeps, and is alone in its group from its first instruction to its last.
time_above_a_quota_is_runnable_and_never_blocked() {
	cgroup_make
	cgroup_throttle
	# Expands in the shell that is started.
	# shellcheck disable=SC2016
	run "$TICKSNICK" record -f json -q -o report.json -- \
		sh -c 'echo $$ >"$1/cgroup.procs" && exec "$2" 1.2' sh "$GROUP" "$SUBJECTS/square"
	assert_exit 0
	$SYSTEM_PYTHON - report.json "$(cgroup_throttled_ns)" <<'END' || fail "not what the group's own account says"
import json, sys
report, throttled = json.load(open(sys.argv[1])), int(sys.argv[2])
on, off = (next(f for f in report["fine"] if f["label"] == label) for label in ("on", "off"))
sums = {state: on[state] + off[state] for state in ("running_ns", "runnable_ns", "blocked_ns", "io_ns")}
time = sum(sums.values())
assert throttled > 4e8, throttled
assert sums["runnable_ns"] > throttled - 5e7, (sums, throttled)
assert sums["running_ns"] < 0.35 * time, sums
assert sums["blocked_ns"] + sums["io_ns"] < 0.01 * time, sums
for row in report["threads"]:
    parts = row["running_ns"] + row["runnable_ns"] + row["blocked_ns"] + row["io_ns"]
    assert parts == row["lifetime_ns"], row
END
}

# ---- names ----

NAMES=("two words" "a) R 1 (b" $'new\nline\ttab' $'\xff\xfebytes\xc3' $'\xe2\x82\xac) S' '")}],[{"' '=1+1,"x"' ' ')

names_of_any_bytes_leave_the_reports_whole() {
	trap 'kill -KILL "${pids[@]}" 2>/dev/null' EXIT
	pids=()
	for name in "${NAMES[@]}"; do
		"$SUBJECTS/named" "$name" "${name}t" >>started &
		pids+=($!)
	done
	for _ in $(seq 100); do
		[ "$(wc -l <started)" -lt ${#NAMES[@]} ] || break
		sleep 0.05
	done
	list=$(printf ',%s' "${pids[@]}")
	run "$TICKSNICK" record -p "${list#,}" -d 0.3 -o report.json
	assert_exit 0
	assert_empty "$ERR"
	run_formats
	printf '%s\0' "${NAMES[@]}" >names
	$SYSTEM_PYTHON - "${pids[@]}" <<'END' || fail "not the names, or not in one piece"
import csv, json, re, sys
def shown(name):
    name = name[:15]
    return name.decode("utf-8", "surrogateescape").encode("utf-8", "surrogateescape") \
        .decode("utf-8", "backslashreplace")
names = open("names", "rb").read().split(b"\0")[:-1]
report = json.loads(open("report.json", "rb").read().decode("utf-8"))
pids = list(map(int, sys.argv[1:]))
assert [(t["pid"], t["comm"]) for t in report["target"]] == [(p, shown(n)) for p, n in zip(pids, names)], \
    report["target"]
threads = {(t["pid"], t["comm"]): t for t in report["threads"]}
for pid, name in zip(pids, names):
    for comm in (shown(name), shown(name + b"t")):
        row = threads[(pid, comm)]
        assert row["blocked_ns"] == row["lifetime_ns"] > 0, row
row, = report["fine"]
assert row["label"] == "asleep" and row["io_ns"] == row["runnable_ns"] == 0, row
for path in ("text", "printed"):
    text = open(path, "rb").read()
    assert not re.search(rb"[^\n -~]", text), (path, text)
    table = text.split(b"\n\nthread ")[1].split(b"\n...")[0].split(b"\n")
    assert len(table) == 9, table      # its head, and the eight that are shown
    for line in table[1:]:
        assert re.search(rb" 0 +0 +100 +0 +0$", line), line
with open("csv", encoding="utf-8", newline="") as file:
    rows = list(csv.reader(file))
assert len(rows) == 2 and len(rows[0]) == len(rows[1]), rows
END
}

# The report in each format; what record itself printed in "printed".
run_formats() {
	cp "$OUT" printed
	for format in text csv json; do
		run "$TICKSNICK" report -f $format -o $format report.json
		assert_exit 0
	done
	assert_same report.json json
}

if [ "$(id -u)" -eq 0 ]; then
	test_case a_container_is_recorded_from_outside
	test_case a_program_in_another_root_is_not_taken_for_the_hosts chroot
	test_case a_program_in_another_root_is_not_taken_for_the_hosts mount
	test_case ids_are_those_of_the_recorders_own_container
	test_case so_are_those_of_threads_that_begin_later
	test_case a_process_outside_of_the_container_cannot_be_seen
	test_case proc_of_another_container_is_refused
	test_case time_above_a_quota_is_runnable_and_never_blocked
	test_case names_of_any_bytes_leave_the_reports_whole
fi
