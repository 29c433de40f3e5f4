#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the search of the model of shared reserves: with its rule nobody waits for ever, and without
# it somebody does.
# Test: default 120
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib.sh
. "$here/../lib.sh"

CC=${CC:-cc}
begin_test reserve
command -v spin >"$tmp/spin" || skip "there is no spin; install it"

# search RULE: what the search says, in $tmp/out.
search() {
    cd "$tmp"
    spin -DRULE="$1" -a "$here/reserve.pml" >out 2>&1
    # shellcheck disable=SC2086 # a command with arguments
    $CC -O2 -DSAFETY -DCOLLAPSE -DMEMLIM=1024 -o pan pan.c >out 2>&1
    ./pan -m100000 >out 2>&1
}

search 1
grep -q 'errors: 0' "$tmp/out" || not_ok "somebody waits for ever" "$tmp/out"
! grep -q 'Search not completed' "$tmp/out" || not_ok "the search did not end" "$tmp/out"
states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$tmp/out")
search 0
grep -q 'invalid end state' "$tmp/out" || not_ok "without the rule the search finds nothing" "$tmp/out"
echo "ok reserve: $states states, and nobody waits for ever"
