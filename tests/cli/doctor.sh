# SPDX-License-Identifier: MIT
# ticksnick doctor: what it says, and its exit codes.
. "$(dirname "$0")/lib.sh"

# A program with one label and a second thread, which prints its own id and that of the thread.
labelled_program() {
	cat >labelled.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <ticksnick/ticksnick.h>
TSN_FINE(nap, "nap");
static void *sleeper(void *unused)
{
	TSN_SCOPE(nap);
	printf("%d %ld\n", (int)getpid(), (long)syscall(SYS_gettid));
	fflush(stdout);
	pause();
	return unused;
}
int main(void)
{
	pthread_t thread;
	return pthread_create(&thread, NULL, sleeper, NULL) || pthread_join(thread, NULL);
}
END
	"${CC:-cc}" -I"$TOP/include" -o labelled labelled.c -pthread || fail "the labelled program does not compile"
}

every_check_is_one_line_with_a_word_and_what_is_not_ok_has_a_remedy() {
	run "$TICKSNICK" doctor
	! grep -vE '^(ok  |warn|fail)  [a-z-]+ +[^ ]|^ +-> [^ ]|^recording can' "$OUT" || fail "a line of another form"
	awk '/^(warn|fail)/ { want++ } /^ +-> / { have++ } END { exit want != have }' "$OUT" ||
		fail "a remedy is missing"
	for check in kernel architecture btf lockdown capabilities user-namespace yama perf-paranoid unprivileged-bpf \
		bpf-jit perf-sample-rate perf-cpu-time clocksource virtualization pid-namespace open-files \
		locked-memory perf-event bpf-syscall; do
		assert_matches "^(ok  |warn|fail)  $check "
	done
	assert_empty "$ERR"
}

root_can_record_here() {
	need_root
	run "$TICKSNICK" doctor
	assert_exit 0
	assert_matches '^ok    bpf-load '
	assert_matches '^recording can work'
}

the_link_is_the_command() {
	run "$BUILD/ticksnick-doctor"
	assert_matches '^ok    kernel '
}

without_privilege_it_names_the_capabilities() {
	run_as_nobody "$TICKSNICK" doctor
	assert_exit 4
	assert_matches '^fail  capabilities +this process lacks CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE$'
	assert_contains 'setcap cap_bpf,cap_perfmon,cap_sys_ptrace=ep'
	assert_matches '^recording cannot work'
}

without_btf_it_names_the_kernel_option() {
	need_root
	mkdir empty
	unshare -m true 2>/dev/null || skip "cannot make a mount namespace"
	run unshare -m sh -c 'mount --bind empty /sys/kernel/btf && exec "$0" doctor' "$TICKSNICK"
	assert_exit 4
	assert_matches '^fail  btf '
	assert_contains 'CONFIG_DEBUG_INFO_BTF=y'
}

refuses_as_a_process_id() {
	run "$TICKSNICK" doctor -p "$1"
	assert_exit 2
	assert_err_contains "'$1'"
	assert_one_error_line
	assert_empty "$OUT"
}

refuses_arguments_and_unknown_options() {
	run "$TICKSNICK" doctor stray
	assert_exit 2
	assert_err_contains stray
	run "$TICKSNICK" doctor --no-such-option
	assert_exit 2
	run "$TICKSNICK" doctor -p
	assert_exit 2
}

help_names_the_option() {
	run "$TICKSNICK" doctor --help
	assert_exit 0
	assert_contains '--pid=PID'
}

no_such_process_is_5() {
	need_root
	# The kernel's limit, which is itself never given.
	run "$TICKSNICK" doctor -p 4194304
	assert_exit 5
	assert_matches '^fail  process .*4194304'
}

an_ended_process_is_5() {
	need_root
	sh -c 'sleep 0.1 & echo $! >zombie; exec sleep 60' &
	PID=$!
	trap 'kill -KILL $PID' EXIT
	sleep 0.6
	run "$TICKSNICK" doctor --pid="$(cat zombie)"
	assert_exit 5
	assert_matches '^fail  '
}

a_process_without_a_slot_is_5() {
	need_root
	start sleep 60
	run "$TICKSNICK" doctor -p "$PID"
	assert_exit 5
	assert_matches "^ok    process +$PID, sleep$"
	assert_matches '^fail  its-slot +it has no ticksnick slot'
	assert_contains 'TSN_SCOPE'
}

a_labelled_process_can_be_recorded() {
	need_root
	labelled_program
	start ./labelled
	wait_for_started
	run "$TICKSNICK" doctor -p "$PID"
	assert_exit 0
	assert_matches "^ok    process +$PID, labelled$"
	assert_matches '^ok    its-threads +2$'
	assert_matches '^ok    its-memory +can be read$'
	assert_matches '^ok    its-slot +1 label registered$'
}

a_thread_is_resolved_to_its_process() {
	need_root
	labelled_program
	start ./labelled
	wait_for_started
	read -r _ tid <started
	run "$TICKSNICK" doctor -p "$tid"
	assert_exit 0
	assert_matches "^ok    process +$PID, labelled \($tid is one of its threads\)$"
}

anothers_process_takes_cap_sys_ptrace() {
	need_root
	need_program setpriv
	start setpriv --reuid=65534 --regid=65534 --clear-groups sleep 60
	sleep 0.3
	run setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace "$TICKSNICK" doctor -p "$PID"
	assert_exit 4
	assert_matches '^warn  capabilities +CAP_SYS_PTRACE is missing'
	assert_matches '^fail  its-memory '
	assert_contains 'CAP_SYS_PTRACE'
}

output_that_cannot_be_written_is_6() {
	[ -e /dev/full ] || skip "there is no /dev/full"
	timeout 60 "$TICKSNICK" doctor >/dev/full 2>"$ERR"
	STATUS=$?
	assert_exit 6
	assert_err_contains 'No space left'
}

test_case every_check_is_one_line_with_a_word_and_what_is_not_ok_has_a_remedy
test_case root_can_record_here
test_case the_link_is_the_command
test_case without_privilege_it_names_the_capabilities
test_case without_btf_it_names_the_kernel_option
for pid in 33abc 0 -1 4294967296 99999999999999999999 +5 5.0 0x10 '' ' 5' 1,2; do
	test_case refuses_as_a_process_id "$pid"
done
test_case refuses_arguments_and_unknown_options
test_case help_names_the_option
test_case no_such_process_is_5
test_case an_ended_process_is_5
test_case a_process_without_a_slot_is_5
test_case a_labelled_process_can_be_recorded
test_case a_thread_is_resolved_to_its_process
test_case anothers_process_takes_cap_sys_ptrace
test_case output_that_cannot_be_written_is_6
