#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of Allgather and Bcast of more than 2^31 bytes.
# Test: all 500 alone
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test big_cast
# two vectors of 2 GiB, and room for all else; with gaps two of 3 GiB and what they are packed into
need_memory $((6 * 1024 * 1024))
needed_gaps=$((13 * 1024 * 1024))
gaps=()
[ "$(available_memory)" -lt "$needed_gaps" ] || gaps=(gaps)
compile big_cast

TIME_LIMIT=${TIME_LIMIT:-460}
expect_job big_cast 2 embedded "${cast[@]}" big_cast "${gaps[@]}"
echo "ok big_cast: 2^31 bytes and 80 more${gaps:+, also with gaps}"
