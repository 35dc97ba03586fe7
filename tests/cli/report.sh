# SPDX-License-Identifier: MIT
# ticksnick report: golden output, formats, exit codes, and output files that fail.
. "$(dirname "$0")/lib.sh"

DATA=$TOP/tests/data

shows_a_report_as_wide_as_the_terminal() {
	LC_ALL=C.UTF-8 COLUMNS=$2 run "$TICKSNICK" report "$DATA/$1.json"
	assert_exit 0
	assert_empty "$ERR"
	assert_same "$DATA/$1.$2.txt" "$OUT"
}

shows_ascii_in_the_c_locale() {
	LC_ALL=C COLUMNS=80 run "$TICKSNICK" report "$DATA/nasty.json"
	assert_exit 0
	assert_same "$DATA/nasty.ascii.txt" "$OUT"
}

json_reads_and_writes_back_to_the_same_bytes() {
	run "$TICKSNICK" report -f json "$DATA/$1.json"
	assert_exit 0
	assert_same "$DATA/$1.json" "$OUT"
}

reads_standard_input() {
	run sh -c '"$1" report --format=json - <"$2"' sh "$TICKSNICK" "$DATA/server.json"
	assert_exit 0
	assert_same "$DATA/server.json" "$OUT"
}

csv_has_a_row_per_label_and_runs_no_formula() {
	run "$TICKSNICK" report -f "$1" "$DATA/nasty.json"
	assert_exit 0
	assert_same "$DATA/$2" "$OUT"
	! grep -qE '^[=+@-]' "$OUT" || fail "a cell begins like a formula"
}

works_by_its_linked_name() {
	LC_ALL=C.UTF-8 COLUMNS=80 run "$BUILD/ticksnick-report" "$DATA/server.json"
	assert_exit 0
	assert_same "$DATA/server.80.txt" "$OUT"
}

refuses_wrong_arguments() {
	run "$TICKSNICK" report "$@"
	assert_exit 2
	assert_empty "$OUT"
	assert_err_contains "ticksnick report: "
}

helps() {
	run "$TICKSNICK" report --help
	assert_exit 0
	assert_contains "Usage: ticksnick report"
}

refuses_what_is_no_report() {
	printf '%b' "$1" >input
	run "$TICKSNICK" report input
	assert_exit 2
	assert_empty "$OUT"
	assert_one_error_line
	assert_err_contains "ticksnick report: cannot read input: $2"
	! grep -q "$(printf '\033')" "$ERR" || fail "an escape sequence reached the terminal"
}

refuses_a_schema_number_it_does_not_know() {
	sed 's|ticksnick.report/1|ticksnick.report/2|' "$DATA/server.json" >newer.json
	run "$TICKSNICK" report newer.json
	assert_exit 2
	assert_one_error_line
	assert_err_contains 'schema "ticksnick.report/2" is not known here'
}

ignores_keys_it_does_not_know() {
	sed 's|^  "tool": {|  "future": [{"a": null}], "tool": {"builder": 3,|' "$DATA/server.json" >newer.json
	run "$TICKSNICK" report -f json newer.json
	assert_exit 0
	assert_same "$DATA/server.json" "$OUT"
}

says_why_a_file_cannot_be_read() {
	run "$TICKSNICK" report missing.json
	assert_exit 2
	assert_one_error_line
	assert_err_contains "ticksnick report: cannot read missing.json: No such file or directory"
	run "$TICKSNICK" report /dev/zero
	assert_exit 2
	assert_err_contains "larger than"
}

writes_a_file_whole() {
	(umask 022 && "$TICKSNICK" report -f json -o copy.json "$DATA/server.json") || fail "exit status $?"
	assert_same "$DATA/server.json" copy.json
	assert_equal "$(stat -c %a copy.json)" 644 "mode"
	assert_equal "$(ls -A | grep -c tmp)" 0 "temporary files"
}

a_file_has_neither_colour_nor_the_width_of_a_terminal() {
	LC_ALL=C.UTF-8 COLUMNS=50 run "$TICKSNICK" report -o copy.txt "$DATA/server.json"
	assert_exit 0
	assert_empty "$OUT"
	assert_same "$DATA/server.100.txt" copy.txt
}

says_when_a_device_is_full() {
	run "$TICKSNICK" report -o /dev/full "$DATA/server.json"
	assert_exit 6
	assert_one_error_line
	assert_err_contains "ticksnick report: cannot write /dev/full: No space left on device"
	run sh -c '"$1" report "$2" >/dev/full' sh "$TICKSNICK" "$DATA/server.json"
	assert_exit 6
	assert_one_error_line
	assert_err_contains "cannot write standard output: No space left on device"
}

# A file size limit stands for a full disk: the file there before stays whole.
keeps_the_previous_report_when_writing_fails() {
	echo previous >report.json
	run sh -c 'trap "" XFSZ; ulimit -f 1; exec "$1" report -f json -o report.json "$2"' \
		sh "$TICKSNICK" "$DATA/server.json"
	assert_exit 6
	assert_err_contains "cannot write report.json: File too large"
	assert_equal "$(cat report.json)" previous "report"
	assert_equal "$(ls -A | grep -c tmp)" 0 "temporary files"
}

says_when_standard_output_is_closed() {
	run sh -c '"$1" report "$2" >&-' sh "$TICKSNICK" "$DATA/server.json"
	assert_exit 6
	assert_err_contains "cannot write standard output"
}

says_when_a_directory_is_not_there() {
	run "$TICKSNICK" report -o none/report.txt "$DATA/server.json"
	assert_exit 6
	assert_one_error_line
	run "$TICKSNICK" report -o . "$DATA/server.json"
	assert_exit 6
	assert_err_contains "Is a directory"
}

is_quiet_when_its_reader_leaves() {
	mkfifo pipe
	sleep 0.2 <pipe &
	run sh -c 'exec 3>pipe; sleep 0.5; "$1" report "$2" >&3' sh "$TICKSNICK" "$DATA/server.json"
	wait
	assert_exit 0
	assert_empty "$ERR"
}

writes_to_dev_stdout_without_replacing_it() {
	run sh -c '{ echo before; "$1" report -f json -o /dev/stdout "$2"; } >all' sh "$TICKSNICK" "$DATA/server.json"
	assert_exit 0
	assert_equal "$(head -n 1 all)" before "what was written before"
	tail -n +2 all >rest
	assert_same "$DATA/server.json" rest
	[ -L /dev/stdout ] || fail "/dev/stdout was replaced"
}

a_link_is_replaced_and_its_target_kept() {
	echo precious >target
	ln -s target link.json
	run "$TICKSNICK" report -f json -o link.json "$DATA/server.json"
	assert_exit 0
	assert_equal "$(cat target)" precious "target"
	[ ! -L link.json ] || fail "the link is still there"
}

uses_colour_only_on_a_terminal_that_wants_it() {
	need_program script
	TERM=xterm NO_COLOR='' run script -qec "stty cols 60; '$TICKSNICK' report '$DATA/server.json'" /dev/null
	assert_contains "$(printf '\033[1m')"
	TERM=xterm NO_COLOR=1 run script -qec "'$TICKSNICK' report '$DATA/server.json'" /dev/null
	assert_not_contains "$(printf '\033')"
	TERM=dumb NO_COLOR='' run script -qec "'$TICKSNICK' report '$DATA/server.json'" /dev/null
	assert_not_contains "$(printf '\033')"
}

for sample in server nasty empty; do
	for columns in 100 80 60; do
		test_case shows_a_report_as_wide_as_the_terminal $sample $columns
	done
	test_case json_reads_and_writes_back_to_the_same_bytes $sample
done
test_case shows_ascii_in_the_c_locale
test_case reads_standard_input
test_case csv_has_a_row_per_label_and_runs_no_formula csv nasty.csv
test_case csv_has_a_row_per_label_and_runs_no_formula csv-coarse nasty.coarse.csv
test_case csv_has_a_row_per_label_and_runs_no_formula csv-pairs nasty.pairs.csv
test_case works_by_its_linked_name
test_case refuses_wrong_arguments
test_case refuses_wrong_arguments -f xml "$DATA/server.json"
test_case refuses_wrong_arguments "$DATA/server.json" "$DATA/server.json"
test_case refuses_wrong_arguments --no-such-option "$DATA/server.json"
test_case helps
test_case refuses_what_is_no_report '' 'not JSON: line 1'
test_case refuses_what_is_no_report '\033[31m' 'not JSON: line 1'
test_case refuses_what_is_no_report '{"a":1}' 'not a report: schema is not "ticksnick.report/..."'
test_case refuses_what_is_no_report '{"schema":"ticksnick.report/1"}' 'not a report: tool is missing'
test_case refuses_a_schema_number_it_does_not_know
test_case ignores_keys_it_does_not_know
test_case says_why_a_file_cannot_be_read
test_case writes_a_file_whole
test_case a_file_has_neither_colour_nor_the_width_of_a_terminal
test_case says_when_a_device_is_full
test_case keeps_the_previous_report_when_writing_fails
test_case says_when_standard_output_is_closed
test_case says_when_a_directory_is_not_there
test_case is_quiet_when_its_reader_leaves
test_case writes_to_dev_stdout_without_replacing_it
test_case a_link_is_replaced_and_its_target_kept
test_case uses_colour_only_on_a_terminal_that_wants_it
