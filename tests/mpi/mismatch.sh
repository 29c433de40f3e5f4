#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that ranks whose counts do not match get what Open MPI gives them, or an error, from Allgather and Bcast.
# Test: default 120; sanitizers: all 300
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test mismatch
compile mismatch
TIME_LIMIT=${TIME_LIMIT:-60}
for variant in short long; do
    expect_job "$variant" 3 embedded "${cast[@]}" mismatch "$variant"
done
# with losses, too: what is asked for again does not fit either
for faults in drop=0 drop=0.3,seed=1; do
    for variant in small large; do
        expect_job "$variant" 3 embedded "${cast[@]}" faults="$faults" mismatch "$variant"
        has_line "$tmp/$variant.log" 'their counts or types do not match' ||
            not_ok "$variant: the error does not say what is wrong" "$tmp/$variant.log"
    done
done
echo "ok mismatch"
