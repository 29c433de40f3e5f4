#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of the server's limits: memory that is short, groups that do not fit, and SIGTERM.
# Test: default 180
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

# What a data process may have beside its memory limit, in KiB; doc/architecture.md says so.
process_kib=$((40 * 1024))

begin_mpi_test limits
compile limits
TIME_LIMIT=${TIME_LIMIT:-60}

# all_wait NAME RANKS: every rank of the job has got to its wait.
all_wait() {
    [ "$(grep -c '^rank [0-9]*: waits' "$tmp/$1.log")" -eq "$2" ]
}

# peak_kib: the most that the process of the only job has had resident.
peak_kib() {
    sed -n -E 's/^VmHWM:[^0-9]*([0-9]+) kB/\1/p' "/proc/$(children_of "$server_pid")/status"
}

# short NAME BYTES AGGREGATORS OPTION...: a server with so little memory for each aggregator serves 40 communicators.
short() {
    local name=$1 bytes=$2 aggregators=$3 peak line

    start_server "${@:4}"
    start_job "$name" 4 "$server_address" small_size=16384 chunk_size=96K window=8 limits 40 served "$tmp/$name.go"
    wait_until 40 all_wait "$name" 4 || not_ok "$name: the ranks do not end" "$tmp/$name.log" "$server_log"
    peak=$(peak_kib)
    touch "$tmp/$name.go"
    wait "$job_pid" || not_ok "$name: status $?" "$tmp/$name.log" "$server_log"
    has_line "$tmp/$name.log" '^ok limits' || not_ok "$name: it does not say ok" "$tmp/$name.log"
    [ "$(grep -c -E '^rank [0-3]: [0-9]+ offloaded, 0 without service' "$tmp/$name.log")" -eq 4 ] ||
        not_ok "$name: something fell back" "$tmp/$name.log"
    stop_server "$server_pid" || not_ok "$name: the server did not end well" "$server_log"
    line='was short of memory: [1-9][0-9]* collectives waited for it, [1-9][0-9]* contributions were asked for again'
    [ "$(grep -c -E "aggregator [0-9]+ $line, at most [0-9]+ of $bytes bytes" "$server_log")" -eq "$aggregators" ] ||
        not_ok "$name: memory was not short on $aggregators aggregators with $bytes bytes" "$server_log"
    has_line "$tmp/$name.log" 'offloaded, .* [1-9][0-9]* sent again' ||
        not_ok "$name: nothing was sent again" "$tmp/$name.log"
    sed -n -E 's/.*at most ([0-9]+) of ([0-9]+) bytes.*/\1 \2/p' "$server_log" |
        awk '$1 > $2 { exit 1 }' || not_ok "$name: more memory than the limit" "$server_log"
    echo "$name: resident at most $peak KiB, limit $((aggregators * bytes / 1024)) KiB"
    [ -n "${TEST_MPIRUN_ARGUMENTS:-}" ] || [ "$peak" -le $((process_kib + aggregators * bytes / 1024)) ] ||
        not_ok "$name: the process had $peak KiB" "$server_log"
}

# refused NAME LINE OPTION...: a communicator for which the server has not the memory falls back, with one line.
refused() {
    local name=$1 line=$2 told fell

    start_server "${@:3}"
    expect_job "$name" 4 "$server_address" small_size=16384 chunk_size=512K limits 3 unserved -
    # one line for each communicator, of the one rank that knows why, and one of the server
    told=$(grep -c -E "optcast: communicator .*server $server_address refused: $line" "$tmp/$name.log") ||
        not_ok "$name: no line with \"$line\"" "$tmp/$name.log" "$server_log"
    fell=$(grep -c -E "optcast: communicator .*own collectives are used" "$tmp/$name.log")
    [ "$told,$fell" = 3,3 ] ||
        not_ok "$name: $told of $fell communicators tell \"$line\", and there are 3" "$tmp/$name.log"
    [ "$(grep -c -E "cannot join a group: $line" "$server_log")" -eq 3 ] ||
        not_ok "$name: the server does not say so once for each communicator" "$server_log"
    [ "$(grep -c -E '^rank [0-3]: 0 offloaded, [1-9][0-9]* without service, 0 sent again' "$tmp/$name.log")" -eq 4 ] ||
        not_ok "$name: not all ranks fell back" "$tmp/$name.log"
    stop_server "$server_pid" || not_ok "$name: the server did not end well" "$server_log"
}

# With all operations begun and no rank in MPI: SIGTERM.
drained() {
    local end

    start_server --memory-limit 2M --drain-timeout 50
    start_job drain 4 "$server_address" recovery=off small_size=16384 chunk_size=96K limits 32 drained "$tmp/drain.go"
    wait_until 30 all_wait drain 4 || not_ok "drain: the ranks do not begin" "$tmp/drain.log" "$server_log"
    kill -TERM "$server_pid"
    wait_until 5 has_line "$server_log" 'told to stop' || not_ok "drain: the server does not say so" "$server_log"
    touch "$tmp/drain.go"
    wait "$job_pid" || not_ok "drain: status $?" "$tmp/drain.log" "$server_log"
    end=$SECONDS
    has_line "$tmp/drain.log" 'refused: the server is going to stop' ||
        not_ok "drain: a new communicator does not learn why" "$tmp/drain.log"
    [ "$(grep -c -E '^rank [0-3]: [1-9][0-9]* offloaded, 1 without service' "$tmp/drain.log")" -eq 4 ] ||
        not_ok "drain: not offloaded, or not fallen back" "$tmp/drain.log"
    wait_until 5 eval "! is_alive $server_pid" || not_ok "drain: the server stays" "$server_log"
    wait "$server_pid" || not_ok "drain: the server ended with status $?" "$server_log"
    echo "drain: the server ended $((SECONDS - end)) s after its job"
}

printf 'memory-limit = 2M\naggregators = 2\n' >"$tmp/short.conf"
short file 1048576 2 --config "$tmp/short.conf"
short option 1572864 1 --memory-limit 1536K
short both 2097152 2 --memory-limit=4M --config "$tmp/short.conf"
refused alone 'it needs [0-9]+ bytes of an aggregator.s memory to do one step for 4 ranks, and an aggregator has 32768: raise --memory-limit, use fewer aggregators, or lower coll_optcast_small_size' \
    --memory-limit 1M --aggregators 32
drained
echo "ok limits"
