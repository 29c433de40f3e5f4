#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of a rank of MPICH that has no memory for its part of an operation.
# Test: mpich: default 120
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test mpich_no_memory
compile mpich_no_memory
"$MPICHCC" -std=gnu11 -O2 -Wall -Wextra -Werror -shared -fPIC -o "$tmp/shim.so" "$here/no_memory_shim.c" -ldl \
    >"$tmp/shim.log" 2>&1 || not_ok "the shim does not compile" "$tmp/shim.log"
TIME_LIMIT=${TIME_LIMIT:-60}
wrapper=(env "LD_PRELOAD=$tmp/shim.so:$library")
expect_job each 3 embedded "${cast[@]}" mpich_no_memory
echo "ok mpich_no_memory"
