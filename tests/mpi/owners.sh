#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that Reduces, Reduce_scatters and Barriers of all kinds are offloaded, with the bits
# that they should have.
# usage: owners.sh [few]; SEED=N makes other cases
# Test: quick 120 -- few; default 240; sanitizers: default 300 -- few
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

rounds=4
[ "${1:-}" != few ] || rounds=1
begin_mpi_test owners
compile_device
compile_program owners "$here/owners.c" "$here/matrix_types.c" -ldl
TIME_LIMIT=${TIME_LIMIT:-60}
cases=0

# launch NAME RANKS SERVERS SETTING... -- ARGUMENT...
launch() {
    local settings=()

    while [ "$4" != -- ]; do
        settings+=("$4")
        set -- "$1" "$2" "$3" "${@:5}"
    done
    expect_job "$1" "$2" "$3" "${settings[@]}" owners "${SEED:-1}" "$rounds" "${@:5}"
    cases=$((cases + $(sed -n 's/^ok owners: \([0-9]*\) cases.*/\1/p' "$tmp/$1.log")))
}

truncate -s 4096 "$tmp/shared"
launch node 5 embedded reproducible=shape chunk_size=4096 small_size=1024 -- "shared=$tmp/shared"
launch node-device 4 embedded reproducible=shape device_staging=1M chunk_size=16384 -- device
launch flat-device 3 embedded:2 device_staging=1M -- order=rank device
launch flat 4 embedded:2 chunk_size=4096 window=2 reproducible=rank_order -- order=rank
start_server --aggregators 2
first=$server_pid list=$server_address
start_server --aggregators 1
launch servers 6 "$list,$server_address" reproducible=shape chunk_size=8192 -- "shared=$tmp/shared"
stop_server "$first" || not_ok "a server did not end in order" "$tmp"/server-*.log
stop_server "$server_pid" || not_ok "a server did not end in order" "$tmp"/server-*.log
echo "ok owners: $cases cases"
