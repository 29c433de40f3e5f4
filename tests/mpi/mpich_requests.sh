#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that requests of offloaded operations are like others to MPICH, wherever they are waited for.
# Test: mpich: quick 90
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test mpich_requests
compile mpich_requests
start_server --aggregators 2
TIME_LIMIT=${TIME_LIMIT:-60}
expect_job embedded 3 embedded:2 "${cast[@]}" mpich_requests
expect_job server 4 "$server_address" "${cast[@]}" mpich_requests
expect_job two 2 "$server_address" "${cast[@]}" mpich_requests
stop_server "$server_pid" || not_ok "the server did not end in order" "$server_log"
echo "ok mpich_requests"
