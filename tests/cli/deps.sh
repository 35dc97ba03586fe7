# SPDX-License-Identifier: MIT
# scripts/deps, with package managers that only write down how they were called, and tests/run.sh.
. "$(dirname "$0")/lib.sh"

# Other systems, and an apt whose "install" brings the compiler that CLANG names. APT_FAILS: how
# often install fails first.
fake_system() {
	mkdir bin
	echo 'ID=debian' >debian
	printf 'ID=ubuntu\nID_LIKE=debian\n' >ubuntu
	echo 'ID=fedora' >fedora
	printf 'ID="rocky"\nID_LIKE="rhel centos fedora"\n' >rocky
	echo 'ID=gentoo' >gentoo
	cat >bin/apt-get <<END
#!/bin/sh
echo "apt-get \$*" >>"$PWD/calls"
case "\$*" in
*update*) touch "$PWD/updated" ;;
*install*)
	if [ -e "$PWD/fail_once" ]; then
		rm "$PWD/fail_once"
		exit 100
	fi
	[ -e "$PWD/brings_nothing" ] && exit 0
	printf '#!/bin/sh\necho bpf\n' >"$PWD/bin/my-clang"
	chmod +x "$PWD/bin/my-clang"
	;;
esac
END
	cat >bin/apt-cache <<END
#!/bin/sh
if [ -e "$PWD/lists_missing" ] && [ ! -e "$PWD/updated" ]; then exit 0; fi
[ "\$2" = bpftool ] && [ -e "$PWD/no_bpftool" ] && exit 0
echo "  Candidate: 1.0"
END
	printf '#!/bin/sh\necho "dnf $*" >>"%s/calls"\n' "$PWD" >bin/dnf
	chmod +x bin/*
	cp "$TOP/scripts/deps" deps
	touch calls
	export PATH="$PWD/bin:$PATH" CLANG=my-clang DEPS_OS_RELEASE="$PWD/debian"
}

says_nothing_when_all_is_there() {
	run "$TOP/scripts/deps" build test
	assert_exit 0
	assert_empty "$OUT"
	assert_empty "$ERR"
}

check_names_what_is_missing_and_installs_nothing() {
	fake_system
	run ./deps --check build
	assert_exit 1
	assert_err_contains 'clang 14 or later'
	assert_err_contains 'apt-get install -y --no-install-recommends clang'
	assert_not_contains jansson "$ERR"
	assert_empty calls
}

a_missing_header_counts() {
	fake_system
	printf '#!/bin/sh\nexec cc -nostdinc "$@"\n' >bin/blind-cc
	chmod +x bin/blind-cc
	CC=blind-cc run ./deps --check build
	assert_exit 1
	assert_err_contains 'libbpf-dev libdw-dev libelf-dev libjansson-dev zlib1g-dev'
}

root_installs_what_is_missing_and_no_more() {
	need_root
	fake_system
	run ./deps build
	assert_exit 0
	assert_contains 'deps: installing clang'
	assert_contains 'deps: all there now'
	assert_equal "$(grep -c . calls)" 1 "calls of apt-get"
	assert_matches 'install -y --no-install-recommends clang$' calls
	run ./deps build
	assert_exit 0
	assert_empty "$OUT"
	assert_equal "$(grep -c . calls)" 1 "calls of apt-get"
}

missing_lists_are_updated_first() {
	need_root
	fake_system
	touch lists_missing
	run ./deps build
	assert_exit 0
	assert_matches 'update' calls
	assert_equal "$(sed -n '1s/.*update.*/update/p' calls)" update "first call"
}

a_failed_installation_is_tried_again_with_new_lists() {
	need_root
	fake_system
	touch fail_once
	run ./deps build
	assert_exit 0
	assert_equal "$(grep -oE 'update|install ' calls | tr -d '\n ')" installupdateinstall "calls"
}

what_is_still_missing_afterwards_is_a_failure() {
	need_root
	fake_system
	touch brings_nothing
	run ./deps build
	assert_exit 1
	assert_err_contains 'still missing'
}

without_root_it_prints_the_command() {
	need_root
	fake_system
	chmod 666 calls
	run_as_nobody ./deps build
	assert_exit 1
	assert_err_contains 'sudo apt-get update && sudo apt-get install -y --no-install-recommends clang'
	assert_empty calls
}

fedora_has_names_of_its_own() {
	fake_system
	printf '#!/bin/sh\nexec cc -nostdinc "$@"\n' >bin/blind-cc
	chmod +x bin/blind-cc
	CC=blind-cc DEPS_OS_RELEASE="$PWD/$1" run ./deps --check build
	assert_exit 1
	assert_err_contains 'dnf install -y --setopt=install_weak_deps=False clang elfutils-devel elfutils-libelf-devel'
	assert_err_contains 'jansson-devel'
	assert_not_contains apt-get "$ERR"
}

# Where there is no package bpftool, Ubuntu has it in those of the kernel's tools.
ubuntu_has_bpftool_in_the_kernels_tools() {
	fake_system
	touch no_bpftool
	printf '#!/bin/sh\nexit 2\n' >bin/bpftool
	chmod +x bin/bpftool
	[ -z "$(ls /usr/lib/linux-tools/*/bpftool 2>/dev/null)" ] || return 0
	DEPS_OS_RELEASE="$PWD/ubuntu" run ./deps --check build
	assert_exit 1
	assert_err_contains "clang linux-tools-$(uname -r) linux-tools-common"
}

another_system_gets_the_upstream_names() {
	fake_system
	DEPS_OS_RELEASE="$PWD/$1" run ./deps build
	assert_exit 1
	assert_err_contains 'clang 14 or later, with the BPF target (LLVM)'
	assert_err_contains 'neither Debian, Ubuntu nor Fedora'
	assert_empty calls
}

an_unknown_group_is_refused() {
	run "$TOP/scripts/deps" everything
	assert_exit 1
	assert_contains usage
}

a_plain_build_says_what_is_missing_and_stops() {
	fake_system
	unset MAKEFLAGS MFLAGS MAKELEVEL
	cp -r "$TOP/Makefile" "$TOP/scripts" "$TOP/bpf" "$TOP/user" "$TOP/include" "$TOP/bench" .
	run make CLANG=my-clang
	assert_exit 2
	assert_err_contains 'clang 14 or later'
	assert_err_contains '"make deps" installs it'
	assert_not_contains 'error:' "$ERR"
}

# --- the runner of all suites ---

suite() {
	mkdir -p suites
	cat >"suites/$1"
}

run_suites() {
	TESTS_SUITE_DIR="$PWD/suites" CI="${CI_VALUE:-}" run "$TOP/tests/run.sh" "$BUILD" "$@"
}

the_runner_sums_up_all_suites() {
	echo 'echo "100%: Checks: 12, Failures: 0, Errors: 0"' | suite unit
	echo 'echo hello; echo "3 passed, 0 failed"' | suite cli
	run_suites unit cli
	assert_exit 0
	assert_contains hello
	assert_equal "$(tail -n 1 "$OUT")" "15 passed, 0 failed" "closing line"
	assert_equal "$(grep -cE '^[0-9]+ passed, [0-9]+ failed|^[0-9]+%: Checks' "$OUT")" 1 "lines with counts"
}

# Programs that a suite runs print counts too; its own line is their sum already.
the_runner_counts_nothing_twice() {
	echo 'echo "100%: Checks: 12, Failures: 0, Errors: 0"; echo "5 passed, 0 failed"; echo "17 passed, 0 failed"' |
		suite header
	run_suites header
	assert_exit 0
	assert_equal "$(tail -n 1 "$OUT")" "17 passed, 0 failed" "closing line"
}

the_runner_counts_failures() {
	echo 'echo "70%: Checks: 10, Failures: 1, Errors: 2"; exit 1' | suite unit
	echo 'echo "3 passed, 0 failed"' | suite cli
	run_suites unit cli
	assert_exit 1
	assert_equal "$(tail -n 1 "$OUT")" "10 passed, 3 failed" "closing line"
}

# What failed is named once more at the end, with what was said below it, and nothing else is.
the_runner_repeats_failures_at_the_end() {
	suite unit <<-'END'
		echo "tests/t.c:7:F:core:adds:0: 1 is not 2"
		echo "ok   other"
		echo "50%: Checks: 2, Failures: 1, Errors: 0"
	END
	suite cli <<-'END'
		echo "FAIL name"
		echo "     wanted 3"
		echo "ok   more"
		echo "     not this"
		echo "1 passed, 1 failed"
		exit 1
	END
	run_suites unit cli
	assert_exit 1
	sed -n '/^== failures/,$p' "$OUT" >end
	printf '%s\n' '== failures' 'unit: tests/t.c:7:F:core:adds:0: 1 is not 2' 'cli: FAIL name' '     wanted 3' \
		'2 passed, 2 failed' >wanted
	assert_same wanted end
}

# A suite that says nothing, dies after its count, or runs no test has not passed.
the_runner_distrusts() {
	echo "$1" | suite unit
	run_suites unit
	assert_exit 1
	assert_matches '^[0-9]+ passed, 1 failed$'
}

a_skip_fails_in_ci_alone() {
	echo 'echo "3 passed, 0 failed, 2 skipped"' | suite cli
	run_suites cli
	assert_exit 0
	assert_equal "$(tail -n 1 "$OUT")" "3 passed, 0 failed, 2 skipped" "closing line"
	CI_VALUE=true
	run_suites cli
	assert_exit 1
	assert_equal "$(tail -n 1 "$OUT")" "3 passed, 2 failed" "closing line"
}

test_case says_nothing_when_all_is_there
test_case check_names_what_is_missing_and_installs_nothing
test_case a_missing_header_counts
test_case root_installs_what_is_missing_and_no_more
test_case missing_lists_are_updated_first
test_case a_failed_installation_is_tried_again_with_new_lists
test_case what_is_still_missing_afterwards_is_a_failure
test_case without_root_it_prints_the_command
test_case fedora_has_names_of_its_own fedora
test_case fedora_has_names_of_its_own rocky
test_case ubuntu_has_bpftool_in_the_kernels_tools
test_case another_system_gets_the_upstream_names gentoo
test_case another_system_gets_the_upstream_names no-such-file
test_case an_unknown_group_is_refused
test_case a_plain_build_says_what_is_missing_and_stops
test_case the_runner_sums_up_all_suites
test_case the_runner_counts_nothing_twice
test_case the_runner_counts_failures
test_case the_runner_repeats_failures_at_the_end
test_case the_runner_distrusts 'echo hello'
test_case the_runner_distrusts 'echo "3 passed, 0 failed"; exit 9'
test_case the_runner_distrusts 'echo "0 passed, 0 failed"'
test_case the_runner_distrusts 'echo "100%: Checks: 3, Failures: 0, Errors: 0"; kill -SEGV $$'
test_case a_skip_fails_in_ci_alone
