#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of Reduce_scatters of more than 2^31 elements.
# Test: all 300 alone
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test big_blocks
# two vectors of 2 GiB, and room for all else
need_memory $((6 * 1024 * 1024))
compile big_blocks

TIME_LIMIT=${TIME_LIMIT:-120}
start_server --aggregators 1
expect_job embedded 2 embedded reproducible=rank_order chunk_size=1048576 big_blocks
expect_job server 2 "$server_address" reproducible=rank_order chunk_size=1048576 big_blocks
stop_server "$server_pid" || not_ok "the server did not end in order" "$server_log"
echo "ok big_blocks: 2^31 elements and 10 more, equal and unequal blocks"
