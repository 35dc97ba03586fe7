#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds the subject in every way that an application may be built, runs it, and looks for the note:
#	matrix.sh BUILD_DIR [RECORDER]
# With RECORDER (build/ticksnick) each variant is also recorded, and must show its labels and
# exactly 23 calls. Prints one line
# per variant, then "N passed, N failed". A missing compiler is skipped loudly, and a failure where CI=true.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=${1:?usage: matrix.sh BUILD_DIR [RECORDER]}
recorder=${2:+$(realpath "$2")}
mkdir -p "$build" && build=$(cd "$build" && pwd) || exit 1
. "$here/lib.sh"

warn="-Wall -Wextra -Wshadow -Werror -I$top/include -I$here"
c_sources="$here/subject.c $here/subject_parts.c"
names=()
declare -A compiler_of builder_of flags_of expect_of

# variant NAME COMPILER BUILDER EXPECTED FLAGS..: EXPECTED is the subject's last line.
variant() {
	local name=$1
	names+=("$name")
	compiler_of[$name]=$2
	builder_of[$name]=$3
	expect_of[$name]=$4
	shift 4
	flags_of[$name]="$*"
}

# Builders: COMPILER FLAGS.., in a directory of the variant's own; they write ./subject and, if it
# needs arguments, ./args.
c_program() {
	"$@" $warn $c_sources -o subject
}

cxx_program() {
	"$@" $warn -x c++ $c_sources -o subject
}

stripped_program() {
	c_program "$@" && strip subject
}

# C and C++ units in one module. The C unit includes the system's own headers for what ours declares by itself.
mixed_program() {
	local compiler=$1
	shift
	"$compiler" "$@" $warn -D_GNU_SOURCE -include link.h -include dlfcn.h -include unistd.h \
		-include sys/mman.h -include time.h -c "$here/subject_parts.c" &&
		"${compiler/%gcc/g++}" "$@" $warn -std=c++17 -x c++ -c "$here/subject.c" &&
		"${compiler/%gcc/g++}" "$@" subject.o subject_parts.o -o subject
}

library() {
	local output=$1
	shift
	"$@" -shared -fPIC $warn -o "$output"
}

# Two shared objects with labels, and an executable with one.
program_with_libraries() {
	library libbig.so "$@" -DPART_BIG "$here/subject_parts.c" &&
		library libsmall.so "$@" -DPART_SMALL "$here/subject_parts.c" &&
		"$@" $warn -DPART_COUNTED $c_sources -o subject -L. -lbig -lsmall "-Wl,-rpath,$PWD"
}

# An executable without a label, and three plugins with.
host() {
	library plugin1.so "$@" -DSUBJECT_PLUGIN $c_sources &&
		cp plugin1.so plugin2.so && cp plugin1.so plugin3.so &&
		"$@" $warn "$here/host.c" -o subject && echo "$PWD/plugin"{1..3}.so >args
}

# More labelled modules than TSN_MODULES_MAX.
many_modules() {
	local n
	library plugin1.so "$@" "$here/subject_parts.c" || return 1
	for n in {2..23}; do
		cp plugin1.so plugin$n.so
	done
	"$@" $warn "$here/many_modules.c" -o subject && echo "$PWD/plugin"{1..23}.so >args
}

# Neither compiler nor linker keeps what nobody seems to use.
sections="-ffunction-sections -fdata-sections -Wl,--gc-sections"
one="tables 1 followers 0 references 0"
variant gcc-O0 gcc c_program "$one" -O0
variant gcc-O3 gcc c_program "$one" -O3
variant gcc-c11-strict gcc c_program "$one" -O2 -std=c11 -pedantic
variant gcc-hidden-no-pie gcc c_program "$one" -O2 -fvisibility=hidden -no-pie -fno-pie
variant gcc-gc-sections gcc c_program "$one" -O2 $sections
variant gcc-gold-gc-sections ld.gold c_program "$one" -O2 $sections -fuse-ld=gold
variant gcc-lto gcc c_program "$one" -O2 -flto $sections
variant gcc-static gcc c_program "$one" -O2 -static
variant gcc-static-pie gcc c_program "$one" -O2 -static-pie -flto $sections
variant gcc-stripped gcc stripped_program "$one" -O2
variant g++-c++17 g++ cxx_program "$one" -O2 -std=c++17 -pedantic
variant gcc-mixed gcc mixed_program "$one" -O2
variant gcc-mixed-lto gcc mixed_program "$one" -O2 -flto $sections
variant gcc-libraries gcc program_with_libraries "tables 1 followers 2 references 0" -O2
variant gcc-libraries-hidden gcc program_with_libraries "tables 1 followers 2 references 0" -O2 $sections -flto
variant gcc-plugins gcc host "tables 1 followers 1 references 1" -O2
variant gcc-many-modules gcc many_modules "many modules" -O2
variant clang-O0 clang c_program "$one" -O0
variant clang-O3 clang c_program "$one" -O3
variant clang-c11-strict clang c_program "$one" -O2 -std=c11 -pedantic
variant clang-gc-sections clang c_program "$one" -O2 $sections
variant clang-lld-lto ld.lld c_program "$one" -O2 -flto -fuse-ld=lld $sections
variant clang-static clang c_program "$one" -O2 -static
variant clang++-c++17 clang++ cxx_program "$one" -O2 -std=c++17 -pedantic
variant clang-plugins clang host "tables 1 followers 1 references 1" -O2
variant musl-dynamic musl-gcc c_program "$one" -O2
variant musl-static musl-gcc c_program "$one" -O2 -static
variant musl-libraries musl-gcc program_with_libraries "tables 1 followers 2 references 0" -O2

build_one() {
	local name=$1 compiler=${compiler_of[$1]}
	case $name in
	gcc-*) compiler=gcc ;;
	clang-*) compiler=clang ;;
	esac
	rm -rf "${build:?}/$name"
	mkdir -p "$build/$name" && cd "$build/$name" || return 1
	"${builder_of[$name]}" "$compiler" ${flags_of[$name]} >build.log 2>&1
	echo $? >status
}

# Two at a time; running comes after, one at a time, as the subject takes both processors.
build_all() {
	local name
	for name in "${names[@]}"; do
		command -v "${compiler_of[$name]}" >/dev/null || continue
		while [ "$(jobs -rp | wc -l)" -ge 2 ]; do
			wait -n
		done
		build_one "$name" &
	done
	wait
}

has_note() {
	readelf -nW "$1" 2>/dev/null | grep -q '^ *ticksnick *0x00000008' || { echo "no note in $1"; return 1; }
}

# reported: labels, exact calls and roughly the shares.
reported() {
	python3 - out.json <<'END'
import json, sys
fine = {row["label"]: row for row in json.load(open(sys.argv[1]))["fine"]}
missing = {"big", "small", "counted"} - fine.keys()
if missing:
	sys.exit(f"not in the report: {missing}")
if fine["counted"]["calls"] != 23:
	sys.exit(f'counted has {fine["counted"]["calls"]} calls')
big, small = fine["big"]["hits"], fine["small"]["hits"]
if not 0.5 < big / max(big + small, 1) < 0.9:
	sys.exit(f"big has {big} hits and small {small}")
END
}

# run_one NAME: builds came before.
run_one() {
	local name=$1 args="" file
	cd "$build/$name" || return 1
	[ "$(cat status)" = 0 ] || { cat build.log; return 1; }
	[ -s build.log ] && { echo "the build was not silent:"; cat build.log; return 1; }
	[ -f args ] && args=$(cat args)
	for file in subject *.so; do
		case $file in
		'*.so') continue ;;
		subject) [ -n "$args" ] && continue ;;
		esac
		has_note "$file" || return 1
	done
	rm -f out.json
	timeout 30 ${recorder:+"$recorder" record -q -o out.json --} ./subject $args >subject.log 2>&1 ||
		{ echo "status $?"; cat subject.log; return 1; }
	grep -qx "counted 23" subject.log && grep -qx "${expect_of[$name]}" subject.log ||
		{ echo "expected: counted 23, ${expect_of[$name]}"; cat subject.log; return 1; }
	[ -z "$recorder" ] || reported
}

build_all
for name in "${names[@]}"; do
	check_with "${compiler_of[$name]}" "$name" run_one "$name"
done
summary
