#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that nothing breaks while ranks wait long for one of them, and the server sleeps.
# Test: default 120 alone
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test late_rank
compile late_rank
small=${SECS:-20}
large=12
margin=6 # seconds that a machine with other work may take to see that ranks wait, and to look at the server
most=20 # hundredths of a second
start_server --aggregators 2

# watch NAME SECONDS: what the server uses while ranks wait for SECONDS, of which the margin and the time in which the
# vectors of those that wait are sent are not looked at.
watch() {
    local before after watched=$(($2 - margin))

    wait_until 20 has_line "$tmp/job.log" "^waiting $1" || not_ok "the job does not wait" "$tmp/job.log"
    sleep 1
    before=$(cpu_time "$server_pid")
    sleep $((watched - 1))
    after=$(cpu_time "$server_pid")
    [ -n "$(children_of "$server_pid")" ] || not_ok "the job's process is gone" "$tmp/job.log" "$server_log"
    used="${used:+$used, }$(in_seconds $((after - before))) s in $((watched - 1)) s"
    [ $((after - before)) -lt "$most" ] ||
        not_ok "with a $1 vector the waiting server used $used" "$tmp/job.log"
}

used=
TIME_LIMIT=${TIME_LIMIT:-$((small + large + 30))}
start_job job 3 "$server_address" late_rank "$small" "$large"
watch small "$small"
watch large "$large"
wait "$job_pid" || not_ok "the job failed" "$tmp/job.log" "$server_log"
has_line "$tmp/job.log" '^ok late_rank' || not_ok "the job did not end well" "$tmp/job.log"
stop_server "$server_pid" || not_ok "the server did not end in order" "$server_log"
echo "ok late_rank: the waiting server used $used"
