#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that folders, tools and benchmarks include only what the tables in doc/architecture.md allow, that the
# maps of folders are complete, and that documents link to, and name, what is there.
# Test: quick 60
set -eu

# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

begin_test arrows
"$PYTHON" "$here/arrows.py" "$REPO" >"$tmp/log" 2>&1 || not_ok "folders, maps and links" "$tmp/log"
# it finds what is wrong
mkdir -p "$tmp/tree/doc"
cp -r "$REPO/base" "$REPO/net" "$tmp/tree/"
cp "$REPO"/*.md "$tmp/tree/"
cp "$REPO"/doc/*.md "$tmp/tree/doc/"
echo '#include "net/socket.h"' >>"$tmp/tree/base/text.c"
echo '[nothing](doc/nowhere.md) [no part](doc/architecture.md#no-such-part)' >>"$tmp/tree/README.md"
# shellcheck disable=SC2016 # no command
echo 'Copy `base/nowhere.c`.' >>"$tmp/tree/doc/testing.md"
mkdir "$tmp/tree/unknown"
echo 'int unknown;' >"$tmp/tree/unknown/unknown.c"
mkdir -p "$tmp/tree/tools/strange"
printf '#include "base/text.h"\n#include "net/socket.h"\n#include "ucx_backend/wakeup.h"\n' >"$tmp/tree/tools/looks.c"
echo 'int strange;' >"$tmp/tree/tools/strange/strange.c"
sed -i 's,^\(| `protocol/` .*\)| `base/` |,\1| `base/` `control/` |,' "$tmp/tree/doc/architecture.md"
! "$PYTHON" "$here/arrows.py" "$tmp/tree" >"$tmp/wrong" 2>&1 || not_ok "it finds nothing" "$tmp/wrong"
for what in 'base/text.c includes net/socket.h' 'README.md: there is no doc/nowhere.md' \
    'CONTRIBUTING.md: there is no client/client.h' 'doc/testing.md: there is no base/nowhere.c' \
    'README.md: doc/architecture.md has no #no-such-part' \
    'unknown/ is not in README.md' 'unknown/ is not in the table of' \
    'tools/looks.c includes ucx_backend/wakeup.h, which is no door' 'tools/strange/ is not in the table of tools' \
    'the table allows multicast/transport/verbs.h to tools/, which nothing there includes' \
    'the table has a circle among control/ protocol/'; do
    grep -q -F "$what" "$tmp/wrong" || not_ok "it does not say: $what" "$tmp/wrong"
done
echo "ok arrows: $(tail -n 1 "$tmp/log")"
