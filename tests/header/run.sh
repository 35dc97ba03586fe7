#!/bin/bash
# SPDX-License-Identifier: MIT
# The header's own tests, all within the process that uses it: run.sh BUILD_DIR
# Prints one line per check, then "N passed, N failed". A missing compiler is skipped loudly, and a
# failure where CI=true.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=${1:?usage: run.sh BUILD_DIR}
mkdir -p "$build" && build=$(cd "$build" && pwd) || exit 1
. "$here/lib.sh"

warn="-Wall -Wextra -Wshadow -Wundef -Werror -I$top/include"
strict="$warn -pedantic -Wno-error=cpp"
c_warn="-Wstrict-prototypes -Wmissing-prototypes"
units="main test_labels test_scopes test_threads test_pairs test_fork"
units="$units test_coarse test_mounts test_contexts test_durations"
check_libs=$(pkg-config --libs check) || check_libs="-lcheck -lsubunit -lm -lrt -lpthread"

# unit_tests CC CXX FLAGS..: builds the tests, C and C++ in one program, and runs them.
unit_tests() {
	local cc=$1 cxx=$2 unit objects="" program="$build/tests-$1"
	shift 2
	for unit in $units; do
		"$cc" -std=gnu11 -g "$@" $warn -c "$here/$unit.c" -o "$program-$unit.o" || return 1
		objects="$objects $program-$unit.o"
	done
	"$cxx" -std=c++17 -g "$@" $warn -c "$here/throwing.cc" -o "$program-throwing.o" || return 1
	"$cxx" -g "$@" $objects "$program-throwing.o" -o "$program" $check_libs || return 1
	CK_VERBOSITY=normal "$program"
}

no_memory() {
	"$1" -std=gnu11 -O2 $warn "$here/no_memory.c" -o "$build/no_memory-$1" && "$build/no_memory-$1"
}

# compiles COMPILER STANDARD LANGUAGE: in every mode, without a warning.
compiles() {
	local compiler=$1 standard=$2 language=$3 flags
	for flags in -O0 -O2 "-O2 -fPIC" "-O0 -DTICKSNICK_DISABLE" "-O2 -DTICKSNICK_DISABLE"; do
		"$compiler" -std="$standard" $strict $flags $([ "$language" = c ] && echo "$c_warn") \
			-x "$language" -c "$here/every_call.c" -o "$build/every_call-$compiler.o" || return 1
	done
}

# disabled COMPILER LANGUAGE: the object is as if the header had not been there.
disabled() {
	local object="$build/disabled-$1.o" level
	for level in -O0 -O2; do
		"$1" $level -DTICKSNICK_DISABLE $warn -x "$2" -c "$here/every_call.c" -o "$object" || return 1
		if nm "$object" | grep -i 'tsn_\|ticksnick' || readelf -SW "$object" | grep -i 'ticksnick\|_array'; then
			echo "$level: something is left"
			return 1
		fi
	done
	# What remains is the unit's own: its function, its thread, and the call that makes it.
	if nm "$object" | grep -v ' T .*every_call\| [tT] .*new_thread\| U pthread_create$\| U __stack_chk_fail$'; then
		echo "these are left"
		return 1
	fi
}

# wrong_type COMPILER LANGUAGE: labels of one kind are not taken for the other.
wrong_type() {
	local wrong log="$build/wrong_type-$1.log"
	for wrong in 0 1 2 3 4 5 6 7; do
		if "$1" $warn -x "$2" -DWRONG=$wrong -fsyntax-only "$here/wrong_type.c" 2>"$log"; then
			[ $wrong -eq 0 ] || { echo "compiles with WRONG=$wrong"; return 1; }
		elif [ $wrong -eq 0 ]; then
			cat "$log"
			return 1
		fi
	done
}

# runs_alone COMPILER SOURCE FLAGS..: a program that checks itself.
runs_alone() {
	local compiler=$1 source=$2 program
	program="$build/$(basename "${source%.*}")-$compiler"
	shift 2
	"$compiler" $warn "$@" "$source" -o "$program" -lpthread && "$program"
}

# no_libpthread COMPILER: a program that creates no thread does not ask for it.
no_libpthread() {
	local object="$build/no_libpthread-$1.o" level
	for level in -O0 -O2; do
		"$1" $level $warn -c "$here/wrong_type.c" -o "$object" || return 1
		if nm -u "$object" | grep -w 'pthread_create\|malloc\|free'; then
			echo "$level: needs what only tsn_pthread_create() may"
			return 1
		fi
	done
}

# labels_elsewhere COMPILER: an executable that only carries the contexts of a library's labels.
labels_elsewhere() {
	local source=$here/labels_elsewhere.c library="$build/liblabelled-$1.so" program="$build/labels_elsewhere-$1"
	"$1" -O2 -fPIC -shared $warn -DLIBRARY "$source" -o "$library" &&
		"$1" -O2 $warn "$source" "$library" "-Wl,-rpath,$build" -o "$program" -lpthread && "$program"
}

example="$top/docs/examples/job_queue.c"
for pair in gcc:g++ clang:clang++; do
	cc=${pair%:*} cxx=${pair#*:}
	check_with "$cxx" "unit tests, $cc -O2" unit_tests "$cc" "$cxx" -O2
	check_with "$cc" "no memory, $cc" no_memory "$cc"
	check_with "$cc" "disabled, $cc" disabled "$cc" c
	check_with "$cxx" "disabled, $cxx" disabled "$cxx" c++
	check_with "$cc" "wrong kinds do not compile, $cc" wrong_type "$cc" c
	check_with "$cxx" "wrong kinds do not compile, $cxx" wrong_type "$cxx" c++
	check_with "$cc" "no dependence on threads, $cc" no_libpthread "$cc"
	check_with "$cxx" "coroutine, $cxx" runs_alone "$cxx" "$here/coroutine.cc" -std=c++20 -O2
	check_with "$cxx" "coroutine, $cxx -O0" runs_alone "$cxx" "$here/coroutine.cc" -std=c++20
	check_with "$cc" "labels elsewhere, $cc" labels_elsewhere "$cc"
	check_with "$cc" "job_queue, $cc" runs_alone "$cc" "$example" -std=gnu11 -O2
	check_with "$cc" "job_queue disabled, $cc" runs_alone "$cc" "$example" -std=c11 -DTICKSNICK_DISABLE
	for standard in c11 gnu11; do
		check_with "$cc" "no warning, $cc -std=$standard" compiles "$cc" $standard c
	done
	for standard in c++11 c++17 gnu++20; do
		check_with "$cxx" "no warning, $cxx -std=$standard" compiles "$cxx" $standard c++
	done
done
check_with musl-gcc "no memory, musl-gcc" no_memory musl-gcc
check_with musl-gcc "no warning, musl-gcc -std=c11" compiles musl-gcc c11 c
summary
