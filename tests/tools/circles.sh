#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that no source files need each other in a circle, by the object files of the build.
# Test: quick 60
set -eu

# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

begin_test circles
"$PYTHON" "$here/circles.py" "$BUILD" >"$tmp/log" 2>&1 || not_ok "source files" "$tmp/log"
# it finds what is wrong: in a folder of three files, two that call each other
mkdir -p "$tmp/tree/room"
echo 'int b(void); int a(void); int a(void) { return b(); }' >"$tmp/tree/a.c"
echo 'int a(void); int c(void); int b(void); int b(void) { return a() + c(); }' >"$tmp/tree/b.c"
echo 'int c(void); int c(void) { return 0; }' >"$tmp/tree/c.c"
for name in a b c; do
    ${CC:-cc} -c -o "$tmp/tree/room/program-$name.o" "$tmp/tree/$name.c" 2>"$tmp/log" || not_ok "compiling" "$tmp/log"
done
! "$PYTHON" "$here/circles.py" "$tmp/tree" >"$tmp/wrong" 2>&1 || not_ok "it finds nothing" "$tmp/wrong"
[ "$(cat "$tmp/wrong")" = "files that need each other in a circle: room/a.c room/b.c" ] \
    || not_ok "it does not find room/a.c and room/b.c" "$tmp/wrong"
echo "ok circles: $("$PYTHON" "$here/circles.py" "$BUILD")"
