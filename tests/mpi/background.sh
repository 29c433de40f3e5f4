#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that nonblocking collectives move on and end while the program is not in MPI, with all that can serve
# them; not with coll_optcast_progress=mpi, and no thread is made for blocking ones, but for what follows the loss of a
# server.
# Test: default 180; all 180 x5; mpich: default 120
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test background
compile background
start_server --aggregators 2
TIME_LIMIT=${TIME_LIMIT:-60}
expect_job embedded 3 embedded:2 "${cast[@]}" background thread
expect_job server 4 "$server_address" "${cast[@]}" chunk_size=16384 background thread
expect_job node 4 "$server_address" "${cast[@]}" reproducible=shape background thread
# MPICH waits for what the program has left, has no other progress, and needs the thread always
if [ "$MPI" = openmpi ]; then
    expect_job lossy 3 embedded "${cast[@]}" faults=drop=0.02,reorder=0.05 background thread
    expect_job left 3 "$server_address" "${cast[@]}" background left
    expect_job mpi 3 "$server_address" "${cast[@]}" recovery=off progress=mpi background mpi
    expect_job blocking 3 "$server_address" "${cast[@]}" recovery=off background blocking
fi
stop_server "$server_pid" || not_ok "the server did not end in order" "$server_log"
echo "ok background"
