#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of many threads of a rank, each with communicators of its own.
# usage: threads.sh [few]; LAUNCHES=N starts each job so often
# Test: default 240; sanitizers: default 300 -- few
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

launches=${LAUNCHES:-5} repetitions=20
[ "${1:-}" != few ] || launches=1 repetitions=5
begin_mpi_test threads
compile threads
start_server --aggregators 2
TIME_LIMIT=${TIME_LIMIT:-60}
for ((launch = 1; launch <= launches; launch++)); do
    expect_job "embedded-$launch" 3 embedded:2 threads "$repetitions"
    expect_job "server-$launch" 4 "$server_address" chunk_size=16384 threads "$repetitions"
done
stop_server "$server_pid" || not_ok "the server did not end in order" "$server_log"
! grep -i -q -E 'warning|error' "$server_log" || not_ok "the server complained" "$server_log"
echo "ok threads: $((2 * launches)) jobs with $repetitions repetitions"
