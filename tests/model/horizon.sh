#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the search of the model of horizons: ranks that look at each side's chunks in flight do not wait for each other,
# and those that look at both sides' together do.
# Test: quick 60
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib.sh
. "$here/../lib.sh"

CC=${CC:-cc}
begin_test horizon
command -v spin >"$tmp/spin" || skip "there is no spin; install it"

# search RULE PAUSE: what the search says, in $tmp/out.
search() {
    cd "$tmp"
    spin -DRULE="$1" -DPAUSE="$2" -a "$here/horizon.pml" >out 2>&1
    # shellcheck disable=SC2086 # a command with arguments
    $CC -O2 -DSAFETY -DCOLLAPSE -DMEMLIM=1024 -o pan pan.c >out 2>&1
    ./pan -m100000 >out 2>&1
}

for pause in 1 2 3 100; do
    search 1 "$pause"
    grep -q 'errors: 0' "$tmp/out" || not_ok "somebody waits for ever, with $pause results from look to look" "$tmp/out"
    ! grep -q 'Search not completed' "$tmp/out" || not_ok "the search did not end" "$tmp/out"
done
states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$tmp/out")
search 0 3
grep -q 'invalid end state' "$tmp/out" || not_ok "with the other rule the search finds nothing" "$tmp/out"
echo "ok horizon: $states states, and nobody waits for ever"
