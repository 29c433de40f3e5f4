#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of communicators of all kinds, and of what is not offloaded.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
REPO=$(cd "$here/../.." && pwd)
BUILD=${BUILD:-$REPO/build}
# shellcheck source=tests/mpi/lib.sh
. "$here/lib.sh"

begin_mpi_test comms
compile comms
start_server --aggregators 2
TIME_LIMIT=${TIME_LIMIT:-30}
expect_job embedded 4 embedded comms
expect_job embedded-3 5 embedded:3 chunk_size=4096 comms
expect_job server 4 "$server_address" comms
stop_server "$server_pid" || not_ok "the server did not end in order" "$server_log"
! grep -i -q -E 'warning|error' "$server_log" || not_ok "the server complained" "$server_log"
echo "ok comms"
