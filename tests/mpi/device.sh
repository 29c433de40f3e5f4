#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of buffers in the memory of accelerators, which is a stand-in's: a touch of it is a SIGSEGV.
# Test: default 300 -- --few; all 300; sanitizers: all 600
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test device
compile_device
TIME_LIMIT=${TIME_LIMIT:-200}
staged=("${cast[@]}" device_staging=1M)

expect_job flat 3 embedded:2 "${staged[@]}" device offloaded
if [ "${1:-}" != --few ]; then
    expect_job node 3 embedded "${staged[@]}" reproducible=shape device offloaded
    start_server --aggregators 2
    expect_job server 4 "$server_address" "${staged[@]}" chunk_size=16K device offloaded
    stop_server "$server_pid" || not_ok "the server did not end in order" "$server_log"
    expect_job lossy 3 embedded "${staged[@]}" faults=drop=0.02,reorder=0.05 device offloaded
fi
expect_job left 3 embedded "${staged[@]}" mode=auto device left
expect_job declined 3 127.0.0.1:1 multicast=udp multicast_interface=nosuch0 connect_timeout=1 device left
expect_job broken 3 embedded:2 "${staged[@]}" device broken
expect_job broken-away 3 embedded:2 "${staged[@]}" device broken allreduce nonblocking
expect_job broken-node 3 embedded "${staged[@]}" reproducible=shape device broken
expect_job broken-bcast 3 embedded "${staged[@]}" device broken bcast
expect_job unrecorded 3 embedded "${staged[@]}" device unrecorded
# it cannot read what it sends, and Open MPI's algorithm does not hear of that
status=0
run_job 3 embedded mode=auto device broken-left >"$tmp/broken-left.log" 2>&1 || status=$?
if [ "$status" -eq 0 ] || [ "$status" -eq 124 ]; then
    not_ok "broken-left: the job goes on: status $status" "$tmp/broken-left.log"
fi
has_line "$tmp/broken-left.log" 'CUDA cannot copy: .*, and the other ranks wait for it; the job ends' ||
    not_ok "broken-left: nobody says why" "$tmp/broken-left.log"
echo "ok device"
