#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of persistent Allreduces: offloaded, and left to Open MPI for two reasons.
# Test: default 120
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test persistent
compile persistent
TIME_LIMIT=${TIME_LIMIT:-40}
start_server --aggregators 2
expect_job external 4 "$server_address" persistent served
start_job doomed 3 "$server_address" recovery=off persistent doomed "$tmp/dead"
wait_until 20 has_line "$tmp/doomed.log" '^may die$' || not_ok "doomed: it does not get going" "$tmp/doomed.log"
kill -KILL "$server_pid"
: >"$tmp/dead"
wait "$job_pid" || not_ok "doomed: errors are lost" "$tmp/doomed.log"
start_server --aggregators 2
expect_job again 3 "$server_address" persistent served
stop_server "$server_pid" || not_ok "the server did not end in order" "$server_log"
expect_job embedded 3 embedded:2 persistent served
expect_job unserved 3 127.0.0.1:1 persistent unserved
expect_job crowded 3 embedded max_ranks=2 persistent crowded
echo "ok persistent: served by others and by itself, and not served"
