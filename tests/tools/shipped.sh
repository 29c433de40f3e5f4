#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that the product has no code of tests, and that tests load a component of the very code that ships.
# Test: default 60; openmpi5: all 60
set -eu

here=$(cd "$(dirname "$0")" && pwd)
REPO=$(cd "$here/../.." && pwd)
BUILD=${BUILD:-$REPO/build}
# shellcheck source=tests/apps/lib.sh
. "$REPO/tests/apps/lib.sh"

begin_job_test shipped
shipped=$component_dir/mca_coll_optcast.so
variant=$BUILD/tests/faults/.libs/mca_coll_optcast.so
[ -e "$variant" ] || not_ok "no $variant: run make in $BUILD"

# foreign FILE: symbols and texts in it that only tests need, one a line.
foreign() {
    nm "$1" | sed -n -E 's/.* ((oc_)?(shim|faults)_[a-z_]+)$/\1/p'
    strings -a "$1" | grep -E '^(OPTCAST_TEST_.*|multicast_faults|drop_sent)$' || :
}

# code FILE: size and name of each function in it that is not of the compiler's start files.
code() {
    nm -S --defined-only "$1" | sed -n -E 's/^[0-9a-f]+ ([0-9a-f]+ [Tt] .*)/\1/p' | LC_ALL=C sort
}

code "$shipped" >"$tmp/shipped"
grep -q ' oc_multicast_' "$tmp/shipped" || not_ok "$shipped has no symbols to look at"
for name in shim_new faults_parse OPTCAST_TEST_FAULTS drop_sent; do
    foreign "$variant" | grep -q "$name" || not_ok "$name is not found in $variant, where it is"
done
for file in "$shipped" "$BUILD/optcast-server" "$BUILD"/.libs/liboptcast-mpi*.so; do
    foreign "$file" >"$tmp/foreign"
    [ ! -s "$tmp/foreign" ] || not_ok "$file has what is for tests" "$tmp/foreign"
done
code "$variant" >"$tmp/variant"
LC_ALL=C comm -23 "$tmp/shipped" "$tmp/variant" >"$tmp/missing"
[ ! -s "$tmp/missing" ] || not_ok "the component of tests lacks functions that ship, or has others" "$tmp/missing"
echo "ok shipped: $(wc -l <"$tmp/shipped") functions ship, and are what tests with faults load; no code of tests does"
