#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that a rank on one of several hosts that stands still for three times heartbeat_timeout is waited for,
# whichever it is and whatever it was doing, also if it aggregates for the others.
# Test: all 300
set -eu

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

per_host=2

# host_and_pid RANK: ranks are numbered host by host; the pid is that on the host.
host_and_pid() {
    echo "$((1 + $1 / per_host)) $(sed -n "s/^rank $1 is //p" "$log")"
}

all_are_there() {
    [ "$(grep -c '^rank . is ' "$log")" -eq $((3 * per_host)) ]
}

# stand_still NAME SERVERS [SETTING=VALUE...]: each rank is stopped in turn, twice.
stand_still() {
    local round rank host pid job

    log=$tmp/$1.log
    TIME_LIMIT=150 cluster_job "$2" multicast=udp heartbeat_timeout=1 "${@:3}" --hosts 1-3 --per-host "$per_host" \
        -- stopped "$tmp/$1.end" >"$log" 2>&1 &
    job=$!
    started+=("$job")
    wait_until 30 all_are_there || not_ok "$1: the ranks do not begin" "$log"
    for round in 1 2; do
        for ((rank = 0; rank < 3 * per_host; rank++)); do
            read -r host pid < <(host_and_pid "$rank")
            sleep "0.$((RANDOM % 90 + 10))"
            cluster exec "$host" kill -STOP "$pid" || not_ok "$1: rank $rank has ended" "$log"
            sleep 3
            cluster exec "$host" kill -CONT "$pid" || not_ok "$1: rank $rank has ended in round $round" "$log"
        done
    done
    touch "$tmp/$1.end"
    wait "$job" || not_ok "$1: the job ends with an error" "$log"
    has_line "$log" '^ok stopped' || not_ok "$1: results or counters are wrong" "$log"
}

begin_cluster_test stopped
compile stopped
make_cluster --hosts 4 --rate 200
stand_still embedded embedded
start_servers 4
stand_still server "$servers"
echo "ok stopped: on several hosts, with servers and without"
