#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that results do not depend on the arithmetic of the program's threads: where ranks of a
# host reduce, odd ones round upwards and flush subnormals, and the bits are as if none did.
# Test: default 120
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test arithmetic
compile_program arithmetic "$here/arithmetic.c" -I"$REPO" -L"$BUILD/.libs" -Wl,-rpath,"$BUILD/.libs" \
    -loptcast-mpi
TIME_LIMIT=${TIME_LIMIT:-60}

# expect_same NAME offloaded|plain odd|all RANKS SERVERS [SETTING=VALUE...]: with so many ranks' own
# arithmetic as with none's.
expect_same() {
    local name=$1 way=$2 who=$3 arithmetic

    shift 3
    for arithmetic in none "$who"; do
        expect_job "$name-$arithmetic" "$@" arithmetic "$arithmetic" "$way"
        grep '^hash ' "$tmp/$name-$arithmetic.log" >"$tmp/$name-$arithmetic.hashes" ||
            not_ok "$name: no hashes" "$tmp/$name-$arithmetic.log"
    done
    diff "$tmp/$name-none.hashes" "$tmp/$name-$who.hashes" >"$tmp/$name.diff" ||
        not_ok "$name: the bits differ" "$tmp/$name.diff"
}

start_server
for isa in baseline avx2 avx512; do
    export OPTCAST_ISA=$isa
    expect_same "node-$isa" offloaded odd 4 "$server_address" reproducible=shape chunk_size=4096 small_size=256
    has_line "$tmp/node-$isa-odd.log" 'node reduction shape: 1 host with 4 ranks' ||
        not_ok "node-$isa: not the node shape" "$tmp/node-$isa-odd.log"
done
unset OPTCAST_ISA
expect_same small offloaded all 4 embedded:2 reproducible=shape small_size=16384
expect_same flat offloaded all 4 embedded:4 reproducible=rank_order chunk_size=4096
# 16-bit floats without the service: what the library itself computes
expect_same library plain all 4 embedded mode=never
stop_server "$server_pid" || not_ok "the server did not end in order" "$server_log"
echo "ok arithmetic"
