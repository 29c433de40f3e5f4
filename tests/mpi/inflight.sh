#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of many nonblocking operations at a time, with servers and without.
# Test: default 180; all 180 x5; mpich: all 180
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test inflight
compile inflight
start_server --aggregators 2
TIME_LIMIT=${TIME_LIMIT:-30}
for seed in ${SEEDS:-1 2 3}; do
    expect_job "embedded-$seed" 4 embedded:2 chunk_size=4096 inflight 64 "$seed" served
    expect_job "server-$seed" 5 "$server_address" chunk_size=8192 inflight 64 "$seed" served
    expect_job "nobody-$seed" 4 127.0.0.1:1 inflight 64 "$seed" unserved
done
# more than are kept in flight, and more than have a place reserved
expect_job many 4 "$server_address" inflight 900 4 served
expect_job many-nobody 4 127.0.0.1:1 inflight 900 4 unserved
# so many ranks that each communicator has some far from each other
expect_job ranks 20 "$server_address" inflight 30 5 served
# below all others, so that it cannot be enabled: not used, and not in the way
if [ "$MPI" = openmpi ]; then
    expect_job low 4 embedded priority=1 inflight 64 1 plain
    has_line "$tmp/low.log" 'has no other .*: not used there' ||
        not_ok "a component that cannot be enabled does not say so" "$tmp/low.log"
fi
echo "ok inflight"
