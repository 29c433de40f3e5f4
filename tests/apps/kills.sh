#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the tests that unmodified applications compute the same while every five seconds one of their servers is killed, which
# starts again a second later: LAMMPS, whose thermostat is fed by reductions, both training examples, and MPICH's own program
# that mixes nonblocking collectives.
# usage: kills.sh [TEST...] | --list; without arguments all of the list below
# Test: all 900 parts
set -eu

all_tests=(lammps train fsdp mixed)
if [ "${1:-}" = --list ]; then
    echo "${all_tests[*]}"
    exit 0
fi

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/../mpi/lib.sh"

begin_mpi_test kills
here=$REPO/tests/apps
# So long each takes at least, and longer with kills.
least_seconds=30
TIME_LIMIT=600

# make_finale COMPILER OPTION...: sets finale to what tells the counters of processes at their end.
make_finale() {
    finale=$tmp/finale.so
    "$@" -shared -fPIC -O2 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$REPO" -o "$finale" "$here/finale.c" -ldl \
        >"$tmp/compile.log" 2>&1 || not_ok "finale.c does not compile" "$tmp/compile.log"
}

# start_servers COUNT: sets pids, addresses, and list.
start_servers() {
    local i

    pids=() addresses=() list=''
    for ((i = 0; i < $1; i++)); do
        start_server --aggregators 1
        pids+=("$server_pid") addresses+=("$server_address")
        list+=${list:+,}$server_address
    done
}

end_servers() {
    local pid

    for pid in "${pids[@]}"; do
        end_process "$pid"
    done
}

# restart VICTIM: it is killed with its process for the job.
restart() {
    # shellcheck disable=SC2046 # a list
    kill -KILL "${pids[$1]}" $(children_of "${pids[$1]}") || :
    wait "${pids[$1]}" 2>/dev/null || :
    kills=$((kills + 1))
    sleep 1
    start_server --aggregators 1 --listen "${addresses[$1]}"
    pids[$1]=$server_pid
}

# kill_servers NAME PATTERN: one after the other, from when the pattern is in the log on until the job has ended; sets kills.
kill_servers() {
    local victim=0

    kills=0
    wait_until 120 has_line "$tmp/$1.err" "$2" || not_ok "$1: nothing is offloaded" "$tmp/$1.out" "$tmp/$1.err"
    while ! wait_until 4 eval "! is_alive $job_pid"; do
        restart "$victim"
        victim=$(((victim + 1) % ${#pids[@]}))
    done
}

# run NAME COMMAND...: run_mpi of an application that is offloaded to the servers, in the background.
run() {
    local name=$1

    shift
    rm -f "$tmp/$name.err"
    run_mpi 4 always -x "LD_PRELOAD=$finale" --mca coll_optcast_servers "$list" --mca coll_optcast_reproducible rank_order \
        "${cast_arguments[@]}" "$@" >"$tmp/$name.out" 2>"$tmp/$name.err" &
    job_pid=$!
    started+=("$job_pid")
}

# finish NAME: it has to end well.
finish() {
    local status=0

    wait "$job_pid" || status=$?
    [ "$status" -eq 0 ] || not_ok "$1: the job ended with status $status" "$tmp/$1.out" "$tmp/$1.err"
}

# expect_kills NAME: by the counters of all ranks, the job was offloaded, has lost servers, and got some back.
expect_kills() {
    local pattern='^rank [0-9]+: [1-9][0-9]* reductions offloaded, [1-9][0-9]* recoveries, [1-9][0-9]* returns$'

    [ "$kills" -ge 3 ] || not_ok "$1: only $kills servers were killed" "$tmp/$1.err"
    [ "$(grep -c -E "$pattern" "$tmp/$1.err")" -eq 4 ] ||
        not_ok "$1: not all ranks were offloaded, lost servers, and got some back" "$tmp/$1.err"
}

# tell NAME WHAT: the last line of a test.
tell() {
    echo "ok kills/$1: $2; $kills kills, $(sed -n 's/^rank 0: \(.* offloaded\)/\1/p' "$tmp/$1.err")"
}

# steps_for STEPS SECONDS: how many last long enough, after so many took so long; a multiple of 10.
steps_for() {
    echo $((($1 * (least_seconds + 5) / ($2 > 0 ? $2 : 1) / 10 + 1) * 10))
}

# with_and_without NAME STEPS COMMAND...: runs the command with so many steps, without kills and with kills; their results are in
# $tmp/NAME.without and $tmp/NAME.with. Sets kills.
with_and_without() {
    local name=$1 steps=$2

    shift 2
    run "$name" "$@" "$steps"
    finish "$name"
    "results_of_$name" "$tmp/$name.out" >"$tmp/$name.without"
    run "$name" "$@" "$steps"
    kill_servers "$name" 'aggregators? on 3 servers'
    finish "$name"
    "results_of_$name" "$tmp/$name.out" >"$tmp/$name.with"
}

# compare NAME STEPS UNIT COMMAND...: the command with so many steps of it (its last argument is their number) shows how long
# they take; then it is run long enough without kills and with kills, and $tmp/NAME.out is the same but for lines with times. On a
# machine that is faster by then, that is repeated with more steps.
compare() {
    local name=$1 steps=$2 unit=$3 begin tries=3

    shift 3
    start_servers 3
    begin=$SECONDS
    run "$name" "$@" "$steps"
    finish "$name"
    steps=$(steps_for "$steps" $((SECONDS - begin)))
    with_and_without "$name" "$steps" "$@"
    while [ "$kills" -lt 3 ] && [ $((tries -= 1)) -gt 0 ]; do
        steps=$((2 * steps))
        with_and_without "$name" "$steps" "$@"
    done
    [ "$(wc -l <"$tmp/$name.with")" -ge $((steps / 20 + 1)) ] || not_ok "$name: there are no results" "$tmp/$name.out"
    cmp "$tmp/$name.without" "$tmp/$name.with" >"$tmp/difference" ||
        not_ok "$name: results differ from those without kills: $(cat "$tmp/difference")" "$tmp/$name.err"
    expect_kills "$name"
    end_servers
    tell "$name" "the same $(wc -l <"$tmp/$name.with") lines of results in $steps $unit"
}

results_of_lammps() {
    awk '/^Loop time/ { inside = 0 } inside; /^ *Step / { inside = 1 }' "$1"
}

# A thermostat moves atoms by a temperature that ranks add up, so that a wrong bit would soon be a different melt.
test_lammps() {
    LMP=${LMP:-lmp}
    command -v "$LMP" >/dev/null || skip "no $LMP in PATH; install lammps"
    cast_arguments=(--mca coll_optcast_multicast off)
    compare lammps 100 steps "$LMP" -in "$here/lj.in" -log none -var every 5 -var ensemble "nvt temp 2.0 2.0 0.5" -var steps
}

results_of_train() {
    sed -E 's/ +[0-9.]+ s$//' "$1" | grep -E '^(epoch|weights|test accuracy)'
}

test_train() {
    have_python_modules || skip "$PYTHON lacks mpi4py, numpy or sklearn; run tools/packages run"
    cast_arguments=(--mca coll_optcast_multicast off)
    compare train 30 epochs "$PYTHON" -m mpi4py "$here/weights.py" --epochs
}

results_of_fsdp() {
    grep -E '^(step|test accuracy) ' "$1"
}

# The gathers go by multicast, at the same time.
test_fsdp() {
    have_python_modules || skip "$PYTHON lacks mpi4py, numpy or sklearn; run tools/packages run"
    cast_arguments=(--mca coll_optcast_multicast udp --mca coll_optcast_multicast_interface lo)
    compare fsdp 100 steps "$PYTHON" -m mpi4py "$REPO/examples/fsdp.py" --width 100 --steps
}

# It checks its results itself.
test_mixed() {
    local begin status=0

    [ -x "${MPICH_MPIEXEC:-}" ] || skip "no mpiexec of MPICH; install mpich libmpich-dev before configure"
    make_finale "$MPICHCC"
    "$REPO/tests/mpich_coll/run" --build nonblocking3 >"$tmp/mixed.log" 2>&1 || not_ok "mixed: no program" "$tmp/mixed.log"
    start_servers 3
    begin=$SECONDS
    LIMIT=$TIME_LIMIT "$REPO/tests/mpich_coll/run" --first --servers "$list" --preload "$finale" --output "$tmp" --ranks 4 nonblocking3 \
        >"$tmp/mixed.out" 2>"$tmp/mixed.log" &
    job_pid=$!
    started+=("$job_pid")
    : >"$tmp/nonblocking3-4.log"
    ln -s nonblocking3-4.log "$tmp/mixed.err"
    kill_servers mixed 'aggregators? on 3 servers'
    wait "$job_pid" || status=$?
    [ "$status" -eq 0 ] || not_ok "mixed: it ended with status $status" "$tmp/mixed.out" "$tmp/mixed.err"
    has_line "$tmp/mixed.err" 'No Errors' || not_ok "mixed: it does not say that there were no errors" "$tmp/mixed.err"
    [ $((SECONDS - begin)) -ge "$least_seconds" ] || not_ok "mixed: it took only $((SECONDS - begin)) s" "$tmp/mixed.err"
    expect_kills mixed
    end_servers
    tell mixed "no errors in $((SECONDS - begin)) s"
}

[ $# -gt 0 ] || set -- "${all_tests[@]}"
for test in "$@"; do
    [[ " ${all_tests[*]} " == *" $test "* ]] || not_ok "no test '$test'; there are: ${all_tests[*]}"
done
make_finale "$OMPICC"
for test in "$@"; do
    test_name=kills/$test
    "test_$test"
done
echo "ok kills: $*"
