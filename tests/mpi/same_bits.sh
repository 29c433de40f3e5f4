#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that floating-point results are the same bits on all ranks, in all runs, and however
# many servers, aggregators, chunks and vector instructions computed them.
# Test: default 120; mpich: default 120
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test same_bits
compile same_bits
start_server
one=$server_address
start_server --aggregators 3
three=$server_address

# run SERVERS [SETTING=VALUE...]: adds the hashes to $tmp/hashes.
runs=0
run() {
    runs=$((runs + 1))
    expect_job "run-$runs" 5 "$@" same_bits 2
    [ "$(grep -c '^hash ' "$tmp/run-$runs.log")" -eq 2 ] || not_ok "no hashes of run $*" "$tmp/run-$runs.log"
    grep '^hash ' "$tmp/run-$runs.log" | sed "s|\$| $*|" >>"$tmp/hashes"
}

TIME_LIMIT=${TIME_LIMIT:-30}
run embedded
run embedded
run embedded:3 chunk_size=4096 window=1
run embedded:5 chunk_size=16384 window=3 small_size=0
run "$one" chunk_size=65536 window=2
run "$three" small_size=16384
run "$three" chunk_size=4096 window=64 small_size=100
run "$one,$three" chunk_size=8192 window=1
run "$three,$one" chunk_size=12288
OPTCAST_ISA=baseline run embedded:2 chunk_size=4096
OPTCAST_ISA=avx2 run embedded:2 chunk_size=4096
[ "$(cut -d' ' -f2 "$tmp/hashes" | sort -u | wc -l)" -eq 1 ] || not_ok "the hashes differ" "$tmp/hashes"
echo "ok same_bits: $(wc -l <"$tmp/hashes") equal hashes in $runs runs"
