#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that nothing breaks while ranks wait long for one of them, and the server sleeps.
# Test: default 120 alone; mpich: all 120 alone
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test late_rank
compile late_rank
small=${SECS:-20}
large=12
margin=6 # seconds that a machine with other work may take to see that ranks wait, and to look at the server
# of each second: hundredths, which threads that poll would use up alone, and how often all threads together wake
most_used=5
most_wakes=50
start_server --aggregators 2

# wakes_of PID: how often its threads, and those of its children, have gone to sleep so far.
wakes_of() {
    local pid

    for pid in $(family_of "$1"); do
        cat "/proc/$pid/task/"*/status 2>/dev/null || :
    done | awk '$1 == "voluntary_ctxt_switches:" { sum += $2 } END { print sum + 0 }'
}

# watch NAME SECONDS: what the server does while ranks wait for SECONDS, of which the margin and the time in which the
# vectors of those that wait are sent are not looked at. Processor time counts in ticks, and a machine with other work adds to
# it: so what tells of needless work is how often it wakes.
watch() {
    local used wakes watched=$(($2 - margin - 1))

    wait_until 20 has_line "$tmp/job.log" "^waiting $1" || not_ok "the job does not wait" "$tmp/job.log"
    sleep 1
    used=$(cpu_time "$server_pid") wakes=$(wakes_of "$server_pid")
    sleep "$watched"
    used=$(($(cpu_time "$server_pid") - used)) wakes=$(($(wakes_of "$server_pid") - wakes))
    [ -n "$(children_of "$server_pid")" ] || not_ok "the job's process is gone" "$tmp/job.log" "$server_log"
    seen="${seen:+$seen, }$(in_seconds "$used") s and woke $wakes times in $watched s"
    [ "$used" -lt $((most_used * watched)) ] && [ "$wakes" -lt $((most_wakes * watched)) ] ||
        not_ok "with a $1 vector the waiting server used $seen" "$tmp/job.log"
}

seen=
TIME_LIMIT=${TIME_LIMIT:-$((small + large + 30))}
start_job job 3 "$server_address" late_rank "$small" "$large"
watch small "$small"
watch large "$large"
wait "$job_pid" || not_ok "the job failed" "$tmp/job.log" "$server_log"
has_line "$tmp/job.log" '^ok late_rank' || not_ok "the job did not end well" "$tmp/job.log"
stop_server "$server_pid" || not_ok "the server did not end in order" "$server_log"
echo "ok late_rank: the waiting server used $seen"
