#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that Allgather and Bcast are right on bad networks, and end with an error when a rank is lost.
# usage: cast_faults.sh; SECS=N: how late a rank is
# Test: default 400; mpich: all 400
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test cast_faults
compile cast_loop
TIME_LIMIT=${TIME_LIMIT:-120}
late=${SECS:-15}

# counted NAME WORD RANKS: the sum over the ranks of what they counted before WORD.
counted() {
    [ "$(grep -c '^rank [0-9]*: .* offloaded, ' "$tmp/$1.log")" -eq "$3" ] || not_ok "$1: not all ranks tell" "$tmp/$1.log"
    sed -n -E "s/^rank [0-9]*: .*\b([0-9]+) $2.*/\1/p" "$tmp/$1.log" | awk '{ sum += $1 } END { print sum + 0 }'
}

# lossy NAME RANKS FAULTS OPTION...: right, all offloaded, and what was lost was recovered, most of it through
# shared memory.
lossy() {
    local name=$1 ranks=$2 operations=60 shared repaired

    expect_job "$name" "$ranks" embedded "${cast[@]}" faults="$3" cast_loop operations="$operations" "${@:4}"
    [ "$(counted "$name" offloaded "$ranks")" -eq $((operations * ranks)) ] ||
        not_ok "$name: not everything was offloaded" "$tmp/$name.log"
    [ "$(counted "$name" lost "$ranks")" -gt 0 ] || not_ok "$name: nothing was lost" "$tmp/$name.log"
    [ "$(counted "$name" recovered "$ranks")" -gt 0 ] || not_ok "$name: nothing was recovered" "$tmp/$name.log"
    shared=$(counted "$name" shared "$ranks")
    repaired=$(counted "$name" repaired "$ranks")
    echo "$name: of $repaired bytes that were lost $shared came through shared memory"
    [ $((shared * 10)) -ge $((repaired * 9)) ] ||
        not_ok "$name: what was lost did not come through shared memory" "$tmp/$name.log"
}

lossy bad 4 drop=0.05,duplicate=0.1,reorder=0.1,seed=1 count=20000
[ "$(counted bad doubled 4)" -gt 0 ] || not_ok "bad: nothing came twice" "$tmp/bad.log"
lossy bursts 3 drop=0.2,burst=30,delay=0.05,seed=2 count=50000 nonblocking=1
lossy awful 3 drop=0.3,reorder=0.3,seed=3 count=3000
# nothing at all gets through: found out when communicators are set up
expect_job deaf 3 embedded "${cast[@]}" connect_timeout=5 faults=drop=1 cast_loop operations=10
[ "$(counted deaf offloaded 3)" -eq 0 ] || not_ok "deaf: something was offloaded" "$tmp/deaf.log"
[ "$(grep -c "$mpi_library's own Allgather and Bcast are used" "$tmp/deaf.log")" -eq 1 ] ||
    not_ok "deaf: it is not said once that there is no multicast" "$tmp/deaf.log"

# Multicast works at first, and then no more: said once, nothing is lost, and what follows is left to Open MPI, but
# what does not block, as ranks may have begun more of it.
cut() {
    local name=$1

    expect_job "$name" 3 embedded "${cast[@]}" faults=cut=400 cast_loop operations=60 count=100000 "${@:2}"
    [ "$(counted "$name" unicast 3)" -eq 3 ] || not_ok "$name: not all ranks know" "$tmp/$name.log"
    [ "$(grep -c 'goes on without multicast' "$tmp/$name.log")" -eq 1 ] || not_ok "$name: it is not said once" "$tmp/$name.log"
}
cut cut
offloaded=$(counted cut offloaded 3)
[ "$offloaded" -gt 0 ] && [ "$offloaded" -lt 90 ] || not_ok "cut: $offloaded were offloaded" "$tmp/cut.log"
cut cut-nonblocking nonblocking=1
[ "$(counted cut-nonblocking offloaded 3)" -eq 180 ] ||
    not_ok "cut-nonblocking: not everything was offloaded" "$tmp/cut-nonblocking.log"

# nobody takes a rank for dead that computes
expect_job late 3 embedded "${cast[@]}" cast_loop operations=9 late=1 late_for="$late"
[ "$(counted late offloaded 3)" -eq 27 ] || not_ok "late: not everything was offloaded" "$tmp/late.log"
expect_job late-nonblocking 3 embedded "${cast[@]}" cast_loop operations=9 nonblocking=1 late=0 late_for="$late"
[ "$(counted late-nonblocking offloaded 3)" -eq 27 ] ||
    not_ok "late-nonblocking: not everything was offloaded" "$tmp/late-nonblocking.log"

# The launcher ends the job soon. Operations last some tenths of a second: all have entered by then, even where
# processors are rare.
start_job killed 4 embedded "${cast[@]}" multicast_rate=20 cast_loop operations=8 count=200000 kill=1
wait_until 30 has_line "$tmp/killed.log" '^rank 1: dies at ' || not_ok "killed: nothing happens" "$tmp/killed.log"
wait_until 25 eval "! is_alive $job_pid" || not_ok "killed: the job hangs" "$tmp/killed.log"
! wait "$job_pid" || not_ok "killed: the job ended without an error" "$tmp/killed.log"
! grep '^not ok' "$tmp/killed.log" || not_ok "killed: wrong results" "$tmp/killed.log"

# Two jobs on the same multicast address and port, at the same time, do not disturb each other.
same=("${cast[@]}" multicast_address=239.255.77.1 multicast_port=8920 multicast_groups=1)
start_job one 3 embedded "${same[@]}" cast_loop operations=600 count=5000 start="$tmp/start"
one=$job_pid
start_job two 3 embedded "${same[@]}" cast_loop operations=600 count=5000 start="$tmp/start"
# shellcheck disable=SC2016 # for eval
wait_until 60 eval '[ "$(cat "$tmp/one.log" "$tmp/two.log" | grep -c "begins at")" -eq 6 ]' ||
    not_ok "two jobs: they do not begin" "$tmp/one.log" "$tmp/two.log"
touch "$tmp/start"
wait "$one" || not_ok "two jobs: the first failed" "$tmp/one.log"
wait "$job_pid" || not_ok "two jobs: the second failed" "$tmp/two.log"
[ "$(counted one offloaded 3)" -eq 1800 ] || not_ok "two jobs: not everything was offloaded" "$tmp/one.log"
[ "$(counted two offloaded 3)" -eq 1800 ] || not_ok "two jobs: not everything was offloaded" "$tmp/two.log"
[ "$(($(counted one foreign 3) + $(counted two foreign 3)))" -gt 0 ] ||
    not_ok "two jobs: they did not hear of each other" "$tmp/one.log" "$tmp/two.log"
echo "ok cast_faults"
