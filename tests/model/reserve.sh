#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the search of the model of shared reserves: with its rule nobody waits for ever, and without
# it somebody does.
# Test: default 120
set -eu

here=$(cd "$(dirname "$0")" && pwd)
CC=${CC:-cc}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

command -v spin >"$tmp/spin" || {
    echo "SKIP: model reserve: there is no spin (Debian: spin)"
    exit 77
}

# search RULE: what the search says, in $tmp/out.
search() {
    cd "$tmp"
    spin -DRULE="$1" -a "$here/reserve.pml" >out 2>&1
    "$CC" -O2 -DSAFETY -DCOLLAPSE -DMEMLIM=1024 -o pan pan.c >out 2>&1
    ./pan -m100000 >out 2>&1
}

search 1
grep -q 'errors: 0' "$tmp/out" || {
    echo "not ok model reserve: somebody waits for ever"
    cat "$tmp/out"
    exit 1
}
if grep -q 'Search not completed' "$tmp/out"; then
    echo "not ok model reserve: the search did not end"
    exit 1
fi
states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$tmp/out")
search 0
grep -q 'invalid end state' "$tmp/out" || {
    echo "not ok model reserve: without the rule the search finds nothing"
    cat "$tmp/out"
    exit 1
}
echo "ok model reserve: $states states, and nobody waits for ever"
