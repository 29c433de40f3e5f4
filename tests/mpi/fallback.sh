#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that what cannot be offloaded falls back on all ranks, is right, and is counted.
# Test: default 120
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test fallback
compile fallback
start_server --aggregators 1
TIME_LIMIT=${TIME_LIMIT:-30}
for mode in always auto; do
    expect_job "embedded-$mode" 4 embedded:2 mode="$mode" offload=64K- fallback "$mode"
    expect_job "server-$mode" 5 "$server_address" mode="$mode" offload=64K- fallback "$mode"
done
expect_job crowded 4 embedded max_ranks=2 fallback always crowded
expect_job crowded-auto 4 embedded max_ranks=2 mode=auto offload=64K- fallback auto crowded
stop_server "$server_pid" || not_ok "the server did not end in order" "$server_log"
echo "ok fallback"
