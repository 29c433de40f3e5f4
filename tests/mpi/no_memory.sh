#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of a rank that has no memory while communicators and persistent operations are made.
# Test: default 180
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test no_memory
compile_program no_memory "$here/no_memory.c" -ldl
"$OMPICC" -std=gnu11 -O2 -Wall -Wextra -Werror -shared -fPIC -o "$tmp/shim.so" "$here/no_memory_shim.c" -ldl \
    >"$tmp/shim.log" 2>&1 || not_ok "the shim does not compile" "$tmp/shim.log"
TIME_LIMIT=${TIME_LIMIT:-100}
wrapper=(env "LD_PRELOAD=$tmp/shim.so")

expect_job each 3 embedded "${cast[@]}" no_memory each
for what in COMMUNICATOR OPERATION; do
    if run_job 3 embedded "${cast[@]}" no_memory all "$what" >"$tmp/all.log" 2>&1; then
        not_ok "$what: the job goes on without memory" "$tmp/all.log"
    fi
    has_line "$tmp/all.log" 'optcast: communicator ".*": out of memory for .*, which the other ranks count on; the job ends' ||
        not_ok "$what: no line says why the job has ended" "$tmp/all.log"
done
echo "ok no_memory"
