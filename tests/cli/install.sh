# SPDX-License-Identifier: MIT
# make install and uninstall.
. "$(dirname "$0")/lib.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL

install_into() {
	run make -C "$TOP" BUILD="$BUILD" PREFIX=/opt/tsn DESTDIR="$PWD/root" "$@"
	assert_exit 0
}

installs_what_users_and_applications_need() {
	install_into install
	for name in ticksnick ticksnick-record ticksnick-report ticksnick-merge ticksnick-diff ticksnick-doctor; do
		[ -x "root/opt/tsn/bin/$name" ] || fail "bin/$name is not there"
		assert_file "root/opt/tsn/share/man/man1/$name.1"
	done
	assert_equal "$(readlink root/opt/tsn/bin/ticksnick-record)" ticksnick "link"
	assert_file root/opt/tsn/include/ticksnick/ticksnick.h
	assert_file root/opt/tsn/include/ticksnick/slot.h
	assert_no_file root/opt/tsn/include/ticksnick/cells.h
	[ -x root/opt/tsn/share/doc/ticksnick/scripts/compare ] || fail "compare cannot be run"
}

installed_documents_link_to_what_is_there() {
	install_into install
	cd root/opt/tsn/share/doc/ticksnick || fail "no documents"
	grep -roE '\]\([^)#:]*\)' --include='*.md' . | sed -E 's/^(.*):\]\((.*)\)$/\1 \2/' >"$OUT"
	[ "$(wc -l <"$OUT")" -ge 19 ] || fail "found $(wc -l <"$OUT") links only"
	while read -r page link; do
		assert_file "$(dirname "$page")/$link"
	done <"$OUT"
}

an_application_builds_with_pkg_config() {
	install_into install
	export PKG_CONFIG_PATH="$PWD/root/opt/tsn/share/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$PWD/root"
	cat >app.c <<'END'
#include <ticksnick/ticksnick.h>
TSN_FINE(work, "work");
int main(void) { TSN_SCOPE(work); return 0; }
END
	# shellcheck disable=SC2046 # flags
	run "${CC:-cc}" -Wall -Werror $(pkg-config --cflags ticksnick) -o app app.c $(pkg-config --libs ticksnick)
	assert_exit 0
	run ./app
	assert_exit 0
	assert_equal "$(pkg-config --modversion ticksnick)" "$(sed -n 's/^VERSION := //p' "$TOP/Makefile")" "version"
}

uninstall_leaves_nothing() {
	install_into install
	install_into uninstall
	assert_equal "$(find root ! -type d | wc -l)" 0 "files left"
	assert_no_file root/opt/tsn/include/ticksnick
	assert_no_file root/opt/tsn/share/doc/ticksnick
}

test_case installs_what_users_and_applications_need
test_case installed_documents_link_to_what_is_there
test_case an_application_builds_with_pkg_config
test_case uninstall_leaves_nothing
