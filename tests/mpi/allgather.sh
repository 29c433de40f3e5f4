#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the matrix of Allgathers, Allgathervs and Bcasts by multicast.
# usage: allgather.sh [few]; SEED=N makes other cases
# Test: quick 120 -- few; default 600; sanitizers: default 300 -- few; mpich: default 300 -- few
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

cases_each=()
[ "${1:-}" != few ] || cases_each=(40)
begin_mpi_test allgather
compile_program allgather "$here/allgather.c" "$here/layouts.c"
TIME_LIMIT=${TIME_LIMIT:-300}
cases=0
for ranks in 2 3 4 7 8; do
    expect_job "ranks-$ranks" "$ranks" embedded "${cast[@]}" allgather "$((${SEED:-1} + ranks))" "${cases_each[@]}"
    cases=$((cases + $(sed -n 's/^ok allgather: \([0-9]*\) cases.*/\1/p' "$tmp/ranks-$ranks.log")))
done
echo "ok allgather: $cases cases"
