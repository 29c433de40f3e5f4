#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that a rank that stands still for three times heartbeat_timeout, whichever it is and whatever it
# was doing, is waited for: results are right, and nothing fails.
# Test: all 300
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

ranks=4
begin_mpi_test stopped
compile stopped
TIME_LIMIT=${TIME_LIMIT:-120}

# stand_still NAME SERVERS SETTING=VALUE...: each rank is stopped in turn, three times.
stand_still() {
    local name=$1 round rank pid

    start_job "$name" "$ranks" "$2" "${cast[@]}" heartbeat_timeout=1 "${@:3}" stopped "$tmp/$name.end"
    wait_until 30 eval "[ \"\$(grep -c '^rank . is ' '$tmp/$name.log')\" = $ranks ]" ||
        not_ok "$name: the ranks do not begin" "$tmp/$name.log"
    for round in 1 2 3; do
        for ((rank = 0; rank < ranks; rank++)); do
            pid=$(sed -n "s/^rank $rank is //p" "$tmp/$name.log")
            sleep "0.$((RANDOM % 90 + 10))"
            kill -STOP "$pid" || not_ok "$name: rank $rank has ended" "$tmp/$name.log"
            sleep 3
            kill -CONT "$pid" || not_ok "$name: rank $rank has ended in round $round" "$tmp/$name.log"
        done
    done
    touch "$tmp/$name.end"
    wait "$job_pid" || not_ok "$name: the job ends with an error" "$tmp/$name.log"
    has_line "$tmp/$name.log" '^ok stopped' || not_ok "$name: results or counters are wrong" "$tmp/$name.log"
}

stand_still embedded embedded
start_server
stand_still server "$server_address" reproducible=shape
echo "ok stopped"
