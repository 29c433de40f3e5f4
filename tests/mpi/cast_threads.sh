#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of many threads of a rank, each with collectives of all services on a communicator of its own.
# usage: cast_threads.sh [few]; LAUNCHES=N starts each job so often
# Test: default 240; sanitizers: default 300 -- few
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

launches=${LAUNCHES:-3} repetitions=12
[ "${1:-}" != few ] || launches=1 repetitions=5
begin_mpi_test cast_threads
compile cast_threads
TIME_LIMIT=${TIME_LIMIT:-120}
for ((launch = 1; launch <= launches; launch++)); do
    expect_job "threads-$launch" $((2 + launch % 3)) embedded "${cast[@]}" cast_threads "$repetitions"
done
expect_job declined 3 embedded multicast=udp multicast_interface=nosuch0 cast_threads "$repetitions" declined
echo "ok cast_threads: $((launches + 1)) jobs with $repetitions repetitions"
