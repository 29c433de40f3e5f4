#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that Allgather and Bcast go over UD multicast of RDMA devices: right results on all ranks, each
# of which sends its block once; that what the network loses is recovered; and that a rank whose port is down for a
# while joins again, with right results meanwhile.
# Test: all 900 alone
set -eu

# shellcheck source=tests/rdma/lib.sh
. "$(dirname "$0")/lib.sh"

# check NAME: a job on 2, 3 and 4 ranks.
check() {
    local log=$tmp/$1/log ranks

    grep -q '^ok allgather_verbs$' "$log" || not_ok "$1: not everything is right" "$log"
    for ranks in 2 3 4; do
        grep -q "SPLIT FROM 0\": $ranks ranks, verbs multicast 239\..* on rxe1 port 1 on roce1, 1 host" "$log" ||
            not_ok "$1: the log does not say that $ranks ranks use verbs" "$log"
    done
}

losses() {
    sed -n 's/^fragments lost: \([0-9]*\), recovered: .*/\1/p' "$tmp/$1/log"
}

begin_rdma_test allgather
needs_verbs
compile_program allgather_verbs "$here/allgather_verbs.c" -I"$REPO/tests/mpi"
in_guest clean --devices 4 --memory 1024 --timeout 400 -- env "BUILD=$BUILD" "$here/inside/allgather" clean
check clean
in_guest lossy --devices 4 --loss 10 --memory 1024 --timeout 400 -- \
    env "BUILD=$BUILD" "$here/inside/allgather" lossy
check lossy
in_guest shaken --devices 4 --memory 1024 --timeout 400 -- env "BUILD=$BUILD" "$here/inside/allgather" shaken
grep -q '^ok allgather_verbs$' "$tmp/shaken/log" || not_ok "shaken: not everything is right" "$tmp/shaken/log"
echo "ok allgather: on 2, 3 and 4 ranks; $(losses clean) fragments were lost without loss," \
    "$(losses lossy) with 10 %"
