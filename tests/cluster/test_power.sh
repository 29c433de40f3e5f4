#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of hosts that vanish without a word: a server's, a rank's, and one that comes back in time.
# Test: default 240
set -eu

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

ranks=3

# start_looping NAME ARGUMENT...: faults.c in the background, on h1 to h3; returns when all ranks are at work.
start_looping() {
    log=$tmp/$1.log
    cluster_job "$servers" heartbeat_timeout=3 --hosts 1-3 -- faults "${@:2}" >"$log" 2>&1 &
    job=$!
    started+=("$job")
    wait_until 20 all_begin || not_ok "$1: the ranks do not begin" "$log"
    sleep 1
}

all_begin() {
    [ "$(grep -c '^rank .*: begins' "$log")" -eq "$ranks" ]
}

all_failed() {
    [ "$(grep -c '^rank .*: error after ' "$log")" -eq "$ranks" ]
}

# A process of the server on h4 that is not the supervisor.
serves_a_job() {
    [ "$(cluster exec 4 ps ax -o comm= | grep -c '^optcast')" -ge 2 ]
}

begin_cluster_test power
compile faults
make_cluster --hosts 5 --rate 0
start_servers 4 5

# away for less than the time that a server may leave a heartbeat unanswered: nobody notices
start_looping blink seconds=8 count=100000
cluster partition 4
sleep 1.5
cluster heal 4
wait "$job" || not_ok "a short partition is an error" "$log"
[ "$(grep -c '^rank .* operations, [1-9]' "$log")" -eq "$ranks" ] || not_ok "not all ranks end in order" "$log"

# True when the ranks have got an error, or the launcher has ended them: whichever notices first.
is_over() {
    all_failed || ! is_alive "$job"
}

# a rank's host: TCP tells the servers, which end the job for the others, and forget it
start_looping rank seconds=60 count=100000
serves_a_job || not_ok "h4 serves no job" "$log"
cluster kill 3
ranks=2
begin=$SECONDS
wait_until 16 is_over || not_ok "the other ranks go on" "$log"
wait_until 16 eval ! serves_a_job || not_ok "h4 still serves a job that has ended" "$log"
echo "a rank's host is missed after $((SECONDS - begin)) s"
end_process "$job"

# a server's host: an error on each rank that names it
cluster_job "$servers" heartbeat_timeout=3 --hosts 1-2 -- faults seconds=60 count=100000 >"$tmp/server.log" 2>&1 &
job=$!
started+=("$job")
log=$tmp/server.log
wait_until 20 all_begin || not_ok "the ranks do not begin" "$log"
sleep 1
cluster kill 4
begin=$SECONDS
wait_until 10 all_failed || not_ok "no error on each rank within 10 s" "$log"
echo "a server's host is missed after $((SECONDS - begin)) s"
grep '^rank .*: error after ' "$log" | grep -q -F 10.77.0.4 || not_ok "no error names the server" "$log"
wait "$job" || :
echo "ok power"
