#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of collectives of all services on many communicators, and of what thousands of them leave behind.
# usage: cast_comms.sh [few]; CYCLES=N makes N communicators one after the other, 1000 or more
# Test: default 600; sanitizers: default 300 -- few
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

cycles=${CYCLES:-1000}
connections=0 # descriptors that a rank may have more
options=(comms=200 operations=1000 cycles="$cycles")
most=$((100 * cycles + 65536)) # bytes that a rank may have grown by
if [ "${1:-}" = few ]; then    # not about memory: so few say nothing, and sanitizers keep what was freed
    cycles=40
    options=(comms=40 operations=200 cycles="$cycles")
    most=1000000000
    connections=8 # a rank connects to another when it first has something to say: so few do not reach all
fi

begin_mpi_test cast_comms
compile cast_comms
TIME_LIMIT=${TIME_LIMIT:-$((240 + cycles / 5))}

# number NAME RANK WHEN WORD: what a rank printed before WORD.
number() {
    sed -n -E "s/^rank $2: $3 .*\b([0-9]+) $4.*/\1/p; s/^rank $2: $3 ([0-9]+) $4.*/\1/p" "$tmp/$1.log" | head -n 1
}

# check_ranks NAME RANKS
check_ranks() {
    local rank bytes files

    for ((rank = 0; rank < $2; rank++)); do
        bytes=$(($(number "$1" "$rank" "done" bytes) - $(number "$1" "$rank" warm bytes)))
        files=$(($(number "$1" "$rank" "done" descriptors) - $(number "$1" "$rank" warm descriptors)))
        [ "$bytes" -le "$most" ] ||
            not_ok "$1: rank $rank has grown by $bytes bytes, more than $most" "$tmp/$1.log"
        [ "$files" -le "$connections" ] || not_ok "$1: rank $rank has $files descriptors more" "$tmp/$1.log"
        grown="${grown:+$grown, }$bytes"
    done
}

grown=
expect_job mixed 4 embedded "${cast[@]}" cast_comms "${options[@]}" seed="${SEED:-1}"
check_ranks mixed 4
expect_job shared 3 embedded "${cast[@]}" multicast_groups=3 cast_comms comms=30 \
    operations=200 cycles=100 seed=3
echo "ok cast_comms: after $cycles cycles ranks have grown by $grown bytes"
