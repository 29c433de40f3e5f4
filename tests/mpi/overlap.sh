#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of Allreduces among all that MPI does at the same time.
# usage: overlap.sh; SEEDS="N..." makes other orders
# Test: default 120; all 120 x10
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test overlap
compile overlap
start_server --aggregators 2
TIME_LIMIT=${TIME_LIMIT:-30}
# large messages only move while their sender makes progress
mpirun_arguments+=(--mca btl_vader_single_copy_mechanism none)
for seed in ${SEEDS:-1 2}; do
    expect_job "embedded-$seed" 4 embedded:2 overlap 5 "$seed" served
    expect_job "server-$seed" 5 "$server_address" chunk_size=8192 overlap 5 "$seed" served
done
expect_job cast 4 embedded:2 "${cast[@]}" overlap 4 3 cast
expect_job nobody 4 127.0.0.1:1 overlap 3 3 unserved
stop_server "$server_pid" || not_ok "the server did not end in order" "$server_log"
echo "ok overlap"
