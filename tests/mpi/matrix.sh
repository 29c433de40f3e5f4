#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that every offered Allreduce gives the bits of a left fold in rank order, and that
# every other one is left to Open MPI.
# usage: matrix.sh [few]; SEED=N makes another plan
# Test: quick 120 -- few; default 180; sanitizers: default 300 -- few; mpich: default 180 -- few
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test matrix
compile_program allreduce_matrix "$here/allreduce_matrix.c" "$here/matrix_types.c"
run_mpi 1 none "$programs/allreduce_matrix" pairs >"$tmp/pairs" || not_ok "there are no pairs" "$tmp/pairs"
"$PYTHON" "$here/plan.py" "$tmp/pairs" "$tmp" "${SEED:-1}" "$@" >"$tmp/plan" || not_ok "plan.py failed"

# launch NUMBER RANKS SERVERS AGGREGATORS SMALL_SIZE
launch() {
    local targets=embedded:$4 pids=() i

    if [ "$3" -gt 0 ]; then
        targets=
        for ((i = 0; i < $3; i++)); do
            start_server --aggregators "$4"
            targets=${targets:+$targets,}$server_address
            pids+=("$server_pid")
        done
    fi
    expect_job "launch-$1" "$2" "$targets" chunk_size=4096 window=2 small_size="$5" \
        allreduce_matrix "$tmp/$1.cases"
    for i in "${pids[@]}"; do
        stop_server "$i" || not_ok "launch $1: a server did not end in order" "$tmp"/server-*.log
    done
}

TIME_LIMIT=${TIME_LIMIT:-30}
while read -r number ranks servers aggregators small_size; do
    launch "$number" "$ranks" "$servers" "$aggregators" "$small_size"
done <"$tmp/plan"
expect_job rest 3 embedded allreduce_matrix rest
rest=$(sed -n 's/^ok allreduce_matrix: //p' "$tmp/rest.log")
echo "ok matrix: $(cat "$tmp"/*.cases | wc -l) cases in $(wc -l <"$tmp/plan") launches," \
    "$(wc -l <"$tmp/pairs") pairs of operation and type; not offloaded: $rest"
