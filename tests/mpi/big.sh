#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of one Allreduce of more than 2^31 bytes.
# Test: all 300 alone
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test big
# two vectors of 2 GiB, and room for all else
need_memory $((6 * 1024 * 1024))
compile big

TIME_LIMIT=${TIME_LIMIT:-240}
start_server --aggregators 1
expect_job big 2 "$server_address" chunk_size=1048576 big
stop_server "$server_pid" || not_ok "the server did not end in order" "$server_log"
echo "ok big: 2^31 bytes and 40 more"
