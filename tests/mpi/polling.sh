#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of how ranks wait: by sleeping now and then where others want their processor, or not at all, which is
# told where it hurts.
# Test: default 150 alone
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test polling
compile late_rank
compile_program slow_setup "$REPO/tests/mpi/slow_setup.c" -Wl,--export-dynamic-symbol=connect
compile_program woken "$REPO/tests/mpi/woken.c" -Wl,--export-dynamic-symbol=ppoll -D_GNU_SOURCE -ldl
TIME_LIMIT=${TIME_LIMIT:-60}
ranks=$(($(getconf _NPROCESSORS_ONLN) + 1))
[ "$ranks" -le 33 ] || skip "this is for at most 32 processors"
# A nap is 4 ms at most: in two seconds each rank that waits sleeps 500 times or more, where it gets the processor.
least=$((ranks < 5 ? 250 * (ranks - 1) : 1000))
start_server --aggregators 1

# sleeps_of PROGRAM PID: how often the ranks of that job have gone to sleep.
sleeps_of() {
    local pid

    for pid in $(family_of "$2"); do
        if grep -q "^Name:[[:space:]]*$1\$" "/proc/$pid/status" 2>/dev/null; then
            sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' "/proc/$pid/status"
        fi
    done | awk '{ sum += $1 } END { print sum + 0 }'
}

# count_sleeps NAME PROGRAM: sets sleeps to how often ranks of the job NAME sleep in two seconds, while they wait for
# one of them.
count_sleeps() {
    local before

    wait_until 20 has_line "$tmp/$1.log" '^waiting' || not_ok "the job does not wait" "$tmp/$1.log"
    sleep 1
    before=$(sleeps_of "$2" "$job_pid")
    sleep 2
    sleeps=$(($(sleeps_of "$2" "$job_pid") - before))
}

# wait_in_operation POLLING
wait_in_operation() {
    start_job "$1" "$ranks" "$server_address" polling="$1" late_rank 60 0
    count_sleeps "$1" late_rank
    end_process "$job_pid"
}

# Open MPI does not yield, or if it does all the same nobody sleeps there: see polite.c
mpirun_arguments+=(--mca mpi_yield_when_idle 0 -x OPTCAST_TEST_YIELDS=1)
wait_in_operation adaptive
adaptive=$sleeps
wait_in_operation busy
busy=$sleeps
[ "$adaptive" -gt "$least" ] || not_ok "ranks that wait sleep $adaptive times in two seconds" "$tmp/adaptive.log"
[ "$busy" -lt 200 ] || not_ok "busy ranks sleep $busy times in two seconds" "$tmp/busy.log"
[ "$(grep -c 'with coll_optcast_polling busy' "$tmp/busy.log")" -eq 1 ] ||
    not_ok "not one rank says that processors are short" "$tmp/busy.log"
! has_line "$tmp/adaptive.log" 'coll_optcast_polling' || not_ok "a warning too much" "$tmp/adaptive.log"

expect_job woken "$ranks" "$server_address" woken 20
has_line "$tmp/woken.log" '^ok woken' || not_ok "ranks sleep on when the result is there" "$tmp/woken.log"

# Those that are ready wait for one that has not reached the server yet.
start_job setup "$ranks" "$server_address" connect_timeout=30 slow_setup "${server_address##*:}" 6
count_sleeps setup slow_setup
wait "$job_pid" || not_ok "the job failed" "$tmp/setup.log" "$server_log"
has_line "$tmp/setup.log" '^ok slow_setup' || not_ok "the job did not end well" "$tmp/setup.log"
[ "$sleeps" -gt "$least" ] || not_ok "ranks that are set up sleep $sleeps times in two seconds" "$tmp/setup.log"

# Ranks are as many as processors, and an aggregator is beside them.
# count_embedded POLLING: sets told to how many say that the aggregator is not busy.
count_embedded() {
    start_job "embedded-$1" "$((ranks > 2 ? ranks - 1 : 2))" embedded:1 polling="$1" late_rank 60 0
    wait_until 20 has_line "$tmp/embedded-$1.log" '^waiting small' ||
        not_ok "the job does not wait" "$tmp/embedded-$1.log"
    end_process "$job_pid"
    told=$(grep -c 'polling is adaptive, not busy, for the aggregator in process 0' "$tmp/embedded-$1.log") || :
}
count_embedded busy
[ "$told" -eq 1 ] || not_ok "nobody says that an aggregator cannot be busy" "$tmp/embedded-busy.log"
count_embedded adaptive
[ "$told" -eq 0 ] || not_ok "a warning too much" "$tmp/embedded-adaptive.log"
stop_server "$server_pid" || not_ok "the server did not end in order" "$server_log"
echo "ok polling: waiting ranks slept $adaptive times, busy ones $busy times"
