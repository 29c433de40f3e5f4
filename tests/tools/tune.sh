#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that optcast-tune writes what it measured, keeps what others wrote, and explains what is wrong.
# Test: all 120
set -eu

# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2154 # tmp is set by begin_test, tool by begin_mpi_tool_test
begin_mpi_tool_test tune optcast-tune
rules=$tmp/rules.ini

# Every size stands there, and what came of it. Who is faster is not for a test to say.
one_host() {
    local size

    run 0 4 auto --max 16K
    has out '^version = 1$'
    has out '^# Measured on [-0-9]{10} with optcast-tune [0-9.]+ and Open MPI v?[0-9.]+'
    has out '^# 1 host with up to 4 ranks, servers embedded;$'
    has out '^\[allreduce 1x4\+0\]$'
    has out '^offload = (never|[0-9]+-.*)$'
    for ((size = 8; size <= 16384; size *= 2)); do
        has out "^# +$size +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ to [0-9.]+ (slower|alike|faster)$"
    done
    if grep -E -q -e '^# +(4|32768) ' "$tmp/out"; then
        not_ok "there are other sizes than from 8 to 16384" "$tmp/out"
    fi
    has err '^optcast-tune: all sizes, round 5 of 5, '
}

# The mode of the job does not matter, unless it is never; small sizes of large types are one.
modes() {
    run 0 2 always --min 1 --max 16 --type double --rounds 6
    has out '^# sums of double, medians of 6 rounds\.'
    [ "$(grep -c 'slower$\|alike$\|faster$' "$tmp/out")" -eq 2 ] || not_ok "8 and 16 are all sizes" "$tmp/out"
    has out '^\[allreduce 1x2\+0\]$'
}

# The other collectives, each by its name; blocks are equal, and a Barrier has no sizes.
collectives() {
    local kind

    for kind in reduce reduce_scatter reduce_scatter_block; do
        run 0 3 always --collective "$kind" --min 3K --max 12K
        has out "^\[$kind 1x3\+0\]\$"
        has out '^# +3072 '
        has out '^# +12288 '
        has out '^offload = (never|[0-9]+-.*)$'
    done
    run 0 2 auto -c barrier
    has out '^\[barrier 1x2\+0\]$'
    has out '^# medians of 5 rounds\.'
    has out '^# +0 +[0-9.]+ +[0-9.]+ .* (slower|alike|faster)$'
    has out '^offload = (never|always)$'
}

file() {
    local few=(--min 512 --max 1K)

    rm -f "$rules"
    run 0 2 auto "${few[@]}" --output "$rules"
    has rules.ini '^\[allreduce 1x2\+0\]$'
    has out "^# written to $rules$"
    cp "$rules" "$tmp/before"
    run 2 2 auto "${few[@]}" --output "$rules"
    has err "^optcast-tune: \"$rules\" exists: give --add to keep what is in it, or remove it$"
    cmp -s "$rules" "$tmp/before" || not_ok "the file has changed"

    # another situation comes first, and a second time in the same place
    printf '# by hand\n[allreduce mine]\nhosts = 2-\noffload = never\n' >>"$rules"
    run 0 3 auto "${few[@]}" --add --output "$rules"
    run 0 3 auto "${few[@]}" --add --output "$rules"
    [ "$(grep '^\[' "$rules" | tr -d '\n')" = '[allreduce 1x3+0][allreduce 1x2+0][allreduce mine]' ] ||
        not_ok "the rules are not as expected" "$rules"
    has rules.ini '^# by hand$'
    [ "$(find "$tmp" -name 'rules.ini.*')" = "" ] || not_ok "a temporary file is left"

    printf '[allreduce x]\noffload = 5\n' >"$rules"
    run 2 2 auto "${few[@]}" --add --output "$rules"
    has err "^optcast-tune: $rules, line 2: \"5\" is not a value of offload"
    run 2 2 auto "${few[@]}" --output /nonexistent/x
    has err '^optcast-tune: /nonexistent/x cannot be written: No such file'
    [ "$(grep -c '^optcast-tune: ' "$tmp/err")" -eq 1 ] || not_ok "more than one line of errors" "$tmp/err"
}

# What would be no measurement is no rule.
nothing() {
    local before=("${mpirun_arguments[@]}")

    rm -f "$rules"
    run 2 2 none --output "$rules"
    has err '^optcast-tune: coll/optcast is not loaded, there is nothing to measure: see optcast-info; with MPICH preload liboptcast-mpich.so$'
    run 2 2 never --output "$rules"
    has err '^optcast-tune: the mode \(coll_optcast_mode; with MPICH OPTCAST_MODE\) is never: leave it out$'
    run 2 1 auto --output "$rules"
    has err '^optcast-tune: there is one rank only: '
    run 2 2 auto --rounds 1 --output "$rules"
    has err '^optcast-tune: "1" is not a value of --rounds: give a number from 5 to 99$'
    mpirun_arguments+=(--mca coll_optcast_servers 127.0.0.1:1)
    run 1 2 auto --min 8 --max 16 --output "$rules"
    has err '^optcast-tune: nothing was offloaded, so that there is nothing to compare'
    mpirun_arguments=("${before[@]}" --mca coll_optcast_servers nosuch:port)
    run 2 2 auto --min 8 --max 16 --output "$rules"
    has err '^optcast-tune: .*nosuch:port'
    mpirun_arguments=("${before[@]}")
    [ ! -e "$rules" ] || not_ok "there is a file" "$rules"
}

# A library between program and MPI changes one element of one rank, from its 21st sum of floats on.
wrong_results() {
    local before=("${mpirun_arguments[@]}")

    cat >"$tmp/fault.c" <<'END'
#include <mpi.h>
int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    static int calls;
    int rank, rc = PMPI_Allreduce(send, receive, count, type, op, comm);

    PMPI_Comm_rank(comm, &rank);
    if (MPI_FLOAT == type && 1 == rank && ++calls > 20) {
        ((float *) receive)[count - 1] += 0.25f;
    }
    return rc;
}
END
    put_between fault
    run 1 2 auto --min 512 --max 1K --output "$rules"
    has err '^optcast-tune: wrong result of allreduce'
    has err '^optcast-tune: results were wrong: no rule is written; please report this$'
    [ ! -e "$rules" ] || not_ok "there is a file" "$rules"
    mpirun_arguments=("${before[@]}")
}

one_host
modes
collectives
file
nothing
wrong_results
run 0 2 none --help
has out '^Usage: mpirun \.\.\. optcast-tune '
[ "$(grep -c '^Usage' "$tmp/out")" -eq 1 ] || not_ok "more than one rank helps" "$tmp/out"
run 0 2 none --version
has out '^optcast-tune [0-9]+\.[0-9]+\.[0-9]+$'
echo "ok tune: rules say what was measured, files keep what was in them, and what is wrong is explained"
