#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of communicators in numbers: many at a time, and thousands one after the other,
# after which neither ranks nor server have grown.
# usage: many_comms.sh [few]; CYCLES=N makes N communicators one after the other, 1000 or more: the first fifth
# is for memory that is taken once
# Test: default 180; sanitizers: all 300 -- few
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

cycles=${CYCLES:-1000}
options=(comms=200 operations=800 cycles="$cycles")
# Growth after the warm-up, in bytes. Seen: 10 to 30 KiB at a rank and 0 to 64 KiB at the server, whatever the
# number of cycles. If a group were lost in every cycle that makes one (two in three), a rank would grow by 700
# bytes a cycle and the server by 65: for the server that takes CYCLES=10000 to be told, or valgrind.sh.
most_rank=$((100 * cycles + 65536))
most_server=$((24 * cycles + 131072))

if [ "${1:-}" = few ]; then # not about memory: so few say nothing, and sanitizers keep what was freed
    cycles=40
    options=(comms=40 operations=200 cycles="$cycles")
    most_rank=1000000000 most_server=1000000000
fi

begin_mpi_test many_comms
compile many_comms
TIME_LIMIT=${TIME_LIMIT:-$((60 + cycles / 20))}

# check_ranks NAME RANKS: what they printed.
check_ranks() {
    local rank before after

    for ((rank = 0; rank < $2; rank++)); do
        before=$(sed -n "s/^rank $rank: warm \([0-9]*\) bytes.*/\1/p" "$tmp/$1.log")
        after=$(sed -n "s/^rank $rank: done \([0-9]*\) bytes.*/\1/p" "$tmp/$1.log")
        [[ -n $before && -n $after ]] || not_ok "$1: rank $rank does not tell its memory" "$tmp/$1.log"
        [ $((after - before)) -le "$most_rank" ] ||
            not_ok "$1: rank $rank has grown by $((after - before)) bytes, more than $most_rank" "$tmp/$1.log"
        grown="${grown:+$grown, }$((after - before))"
    done
}

# have_said WORD: all ranks of the job, or it has ended.
have_said() {
    [ "$(grep -s -c "^rank .*: $1 " "$tmp/server.log")" = 3 ] || ! is_alive "$job_pid"
}

# memory_when WORD: sets memory to that of the data process when all ranks of the job have said WORD and wait.
memory_when() {
    wait_until "$TIME_LIMIT" have_said "$1" || not_ok "the job with a server hangs" "$tmp/server.log"
    is_alive "$job_pid" || not_ok "the job with a server ended early" "$tmp/server.log" "$server_log"
    memory=$(memory_of "$(children_of "$server_pid")")
}

grown=
expect_job embedded 4 embedded:2 many_comms "${options[@]}" seed=2
check_ranks embedded 4
expect_job nobody 3 127.0.0.1:1 many_comms comms=40 operations=200 cycles=40 seed=3 served=0
start_server --aggregators 2
start_job server 3 "$server_address" many_comms "${options[@]}" pause=2
memory_when warm
before=$memory
memory_when "done"
after=$memory
wait "$job_pid" || not_ok "the job with a server failed" "$tmp/server.log" "$server_log"
check_ranks server 3
[ $((after - before)) -le "$most_server" ] ||
    not_ok "the server has grown by $((after - before)) bytes, more than $most_server" "$server_log"
stop_server "$server_pid" || not_ok "the server did not end in order" "$server_log"
! grep -i -q -E 'warning|error' "$server_log" || not_ok "the server complained" "$server_log"
echo "ok many_comms: after $cycles cycles ranks have grown by $grown bytes, the server by $((after - before))"
