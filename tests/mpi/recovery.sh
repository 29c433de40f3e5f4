#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the tests of jobs that lose a server and go on: it is killed, stands still, or is told to stop, at any moment; and of
# servers that come back to them.
# usage: recovery.sh [TEST...] | --list; without arguments all of the list below
# Test: default 300 parts
set -eu

all_tests=(kill kill_data_process stop two jobs freed host new back rolling last)
if [ "${1:-}" = --list ]; then
    echo "${all_tests[*]}"
    exit 0
fi

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test recovery
compile recovery
TIME_LIMIT=${TIME_LIMIT:-60}

# start_servers COUNT: sets pids and addresses.
start_servers() {
    pids=() addresses=() list=
    local i

    for ((i = 0; i < $1; i++)); do
        start_server --aggregators 2
        pids+=("$server_pid") addresses+=("$server_address")
        list+=${list:+,}$server_address
    done
}

# begin_job NAME: a job that uses the servers, is past its set-up; sets job_pid. More for it in settings and options, which are arrays.
settings=() options=() seconds=6 count=3
begin_job() {
    start_job "$1" 4 "$list" heartbeat_timeout=2 recovery=on "${settings[@]}" recovery \
        "seconds=$seconds" "seed=$RANDOM" pause=0.02 "${options[@]}"
    wait_until 20 has_line "$tmp/$1.log" 'rank 3: begins' || not_ok "$1: no job" "$tmp/$1.log"
    # what begins before that has the bits of others
    wait_until 20 has_line "$tmp/$1.log" "communicator .* $((2 * count)) aggregators on $count server" ||
        not_ok "$1: nothing is offloaded" "$tmp/$1.log"
}

# end_job NAME PID LOST: it ends well, without that many servers.
end_job() {
    local name=$1 pid=$2 lost=$3 status=0

    wait_until 40 eval "! is_alive $pid" || not_ok "$name: the job hangs" "$tmp/$name.log"
    wait "$pid" || status=$?
    [ "$status" -eq 0 ] || not_ok "$name: the job ended with status $status" "$tmp/$name.log"
    ! grep -q '^not ok' "$tmp/$name.log" || not_ok "$name: wrong results, or a kind of operation that was not offloaded" "$tmp/$name.log"
    [ "$(grep -c "^rank [0-3]: .* offloaded, $lost recoveries" "$tmp/$name.log")" -eq 4 ] ||
        not_ok "$name: not all ranks went on after $lost losses" "$tmp/$name.log"
    has_line "$tmp/$name.log" "optcast: .*rank 0: $lost recoveries, .* us until all went on, [0-9]* bytes reduced again" ||
        not_ok "$name: the summary tells of no recovery" "$tmp/$name.log"
    expect_nothing_left "$name"
}

end_servers() {
    local pid

    for pid in "${pids[@]}"; do
        end_process "$pid"
    done
}

# run_and_lose NAME SIGNAL WHO DELAY VICTIM...: a job with so many servers as count says loses some of them, after DELAY seconds each.
# back: victims that start again a second later.
back=()
run_and_lose() {
    local name=$1 signal=$2 who=$3 delay=$4 victim pid

    shift 4
    start_servers "$count"
    begin_job "$name"
    for victim in "$@"; do
        sleep "$delay"
        pid=${pids[victim]}
        [ "$who" = supervisor ] || pid=$(children_of "$pid")
        # shellcheck disable=SC2086 # a list
        kill "-$signal" $pid
    done
    for victim in "${back[@]}"; do
        sleep 1
        start_server --aggregators 2 --listen "${addresses[victim]}"
        pids+=("$server_pid")
    done
    end_job "$name" "$job_pid" $#
    end_servers
}

test_kill() { run_and_lose kill KILL supervisor 1.37 1; }
test_kill_data_process() { run_and_lose data KILL data_process 1.61 0; }
test_stop() { run_and_lose stop STOP supervisor 1.29 2; }
test_two() { run_and_lose two KILL supervisor 1.13 2 0; }

# Two jobs use the server that dies.
test_jobs() {
    local first seconds=12

    start_servers 3
    begin_job first
    first=$job_pid
    seconds=6
    begin_job second
    sleep 0.71
    is_alive "$first" || not_ok "jobs: the first one is over" "$tmp/first.log"
    kill -KILL "${pids[1]}"
    end_job first "$first" 1
    end_job second "$job_pid" 1
    end_servers
}

# Communicators are freed meanwhile.
test_freed() {
    local options=(freed=300)

    run_and_lose freed KILL supervisor 0.37 2 1
}

# The ranks share the memory of their host.
test_host() {
    local settings=(reproducible=shape)

    run_and_lose host KILL supervisor 1.07 1 2
}

# Communicators are made all the time, and at the end with the servers that are left.
test_new() {
    local options=(dups=1 later=4) ways

    run_and_lose new KILL supervisor 1.23 1
    [ "$(grep -c '^rank [0-3]: 4 of 4 later ones offloaded' "$tmp/new.log")" -eq 4 ] ||
        not_ok "new: communicators that were made later were not offloaded" "$tmp/new.log"
    ways=$(grep -c 'communicator .* 4 aggregators on 2 servers' "$tmp/new.log") || :
    [ "$ways" -ge 4 ] || not_ok "new: they do not use the servers that are left" "$tmp/new.log"
}

# has_all_servers NAME COUNT: the communicator of all ranks has them, after COUNT returns.
has_all_servers() {
    [ "$(grep -c "^rank [0-3]: .* $2 returns" "$tmp/$1.log")" -eq 4 ] ||
        not_ok "$1: there were not $2 returns" "$tmp/$1.log"
    [ "$(grep '"MPI_COMM_WORLD.* goes on: ' "$tmp/$1.log" | tail -n 4 | grep -c '6 aggregators on 3 servers')" -eq 4 ] ||
        not_ok "$1: at the end there are not all servers" "$tmp/$1.log"
}

# A server that is back is used by communicators that are made later, and by those that there were.
test_back() {
    local options=(dups=1 later=4) back=(0) seconds=8

    run_and_lose back KILL supervisor 1.23 0
    has_all_servers back 1
    [ "$(grep 'communicator .* aggregators on' "$tmp/back.log" | tail -n 1 | grep -c '6 aggregators on 3 servers')" -eq 1 ] ||
        not_ok "back: the server that is back is not used" "$tmp/back.log"
}

# There is no other server: the ranks aggregate themselves, until it is back.
test_last() {
    local back=(0) seconds=8 count=1 ways

    run_and_lose last KILL supervisor 1.31 0
    ways=$(grep -c '"MPI_COMM_WORLD" goes on: 1 peer' "$tmp/last.log") || :
    [ "$ways" -eq 4 ] || not_ok "last: the ranks do not aggregate" "$tmp/last.log"
    [ "$(grep '"MPI_COMM_WORLD" goes on: ' "$tmp/last.log" | tail -n 4 | grep -c '2 aggregators on 1 server,')" -eq 4 ] ||
        not_ok "last: the server that is back is not used" "$tmp/last.log"
}

# replace_server VICTIM: is told to stop, ends by itself, and is started anew.
replace_server() {
    kill -TERM "${pids[$1]}"
    wait_until 20 eval "! is_alive ${pids[$1]}" || not_ok "rolling: server $1 does not end" "$tmp/rolling.log"
    wait "${pids[$1]}" || not_ok "rolling: server $1 ends with status $?" "$tmp/rolling.log"
    start_server --aggregators 2 --listen "${addresses[$1]}"
    pids[$1]=$server_pid
}

# Each server is told to stop and started anew, one after the other, under a job that goes on.
test_rolling() {
    local victim returns status=0

    start_servers 3
    start_job rolling 4 "$list" recovery=on recovery seconds=22 "seed=$RANDOM" pause=0.02
    wait_until 20 has_line "$tmp/rolling.log" 'rank 3: begins' || not_ok "rolling: no job" "$tmp/rolling.log"
    for victim in 0 1 2; do
        sleep 1
        replace_server "$victim"
        returns=$((4 * (victim + 1)))
        wait_until 20 eval "[ \"\$(grep -c 'goes on: 6 aggregators on 3 servers' $tmp/rolling.log)\" -ge $returns ]" ||
            not_ok "rolling: server $victim does not return" "$tmp/rolling.log"
    done
    wait "$job_pid" || status=$?
    [ "$status" -eq 0 ] || not_ok "rolling: the job ended with status $status" "$tmp/rolling.log"
    ! grep -q '^not ok' "$tmp/rolling.log" || not_ok "rolling: wrong results" "$tmp/rolling.log"
    [ "$(grep -c '^rank [0-3]: .* 3 recoveries, 3 returns' "$tmp/rolling.log")" -eq 4 ] ||
        not_ok "rolling: not all ranks went on" "$tmp/rolling.log"
    has_all_servers rolling 3
    end_servers
}

[ $# -gt 0 ] || set -- "${all_tests[@]}"
for test in "$@"; do
    [[ " ${all_tests[*]} " == *" $test "* ]] || not_ok "no test '$test'; there are: ${all_tests[*]}"
done
for test in "$@"; do
    test_name=recovery/$test
    begin=$SECONDS
    "test_$test"
    [ $# -eq 1 ] || echo "ok $test_name ($((SECONDS - begin)) s)"
done
echo "ok recovery: $*"
