#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that a job notices nothing of others on its server that are killed at any moment, and
# that the server keeps nothing of them.
# usage: two_jobs.sh; KILLS=N (an even number), SEED=N. After three minutes no more are killed.
# Test: all 300
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test two_jobs
compile two_jobs
kills=${KILLS:-50} seed=${SEED:-$(date +%s)}
RANDOM=$seed
most_memory=$((512 * 1024)) # bytes: of the supervisor, whatever the number of kills
TIME_LIMIT=${TIME_LIMIT:-240}

# ranks_of JOB: the processes of two_jobs below it, and the same for its mpirun.
members_of() {
    local pid name

    for pid in $(family_of "$1"); do
        read -r name <"/proc/$pid/comm" || continue
        [ "$name" != "$2" ] || echo "$pid"
    done 2>/dev/null
}
ranks_of() { members_of "$1" two_jobs; }
# in Open MPI 5.0 it is replaced by prterun
mpirun_of() {
    members_of "$1" "$(basename "$mpirun")"
    members_of "$1" prterun
}

has_ranks() {
    [ "$(ranks_of "$1" | wc -l)" -eq 2 ]
}

none_alive() {
    local pid

    for pid in "$@"; do
        ! is_alive "$pid" || return 1
    done
}

# kill_job JOB: at a random moment after its ranks have begun, one of three ways.
kill_job() {
    local way=$((RANDOM % 3)) moment=$((RANDOM % 1000)) ranks family victims

    wait_until 20 has_ranks "$1" || not_ok "seed $seed: a job to be killed does not start" "$tmp"/victim-*.log
    sleep "0.$(printf '%03d' "$moment")"
    ranks=$(ranks_of "$1")
    family=$(family_of "$1")
    case $way in
    0) victims=$ranks ;;
    1) victims=$(head -n 1 <<<"$ranks") ;;
    2) victims=$(mpirun_of "$1") ;;
    esac
    # shellcheck disable=SC2086 # lists, here and below
    kill -KILL $victims || not_ok "seed $seed: a job ended by itself" "$tmp"/victim-*.log
    ways[way]=$((ways[way] + 1))
    # shellcheck disable=SC2086
    if ! wait_until 10 none_alive $ranks; then
        kill -KILL $family 2>/dev/null || :
        not_ok "seed $seed: ranks of a killed job stay, killed in way $way"
    fi
    end_process "$1"
}

# start_victim NUMBER: sets job_pid.
start_victim() {
    start_job "victim-$1" 2 "$server_address" two_jobs "$tmp/never" "$((RANDOM))"
}

count_descriptors() {
    find "/proc/$server_pid/fd" -mindepth 1 | wc -l
}

serves_only_one() {
    [ "$(children_of "$server_pid" | wc -l)" -eq 1 ]
}

serves_nobody() {
    [ -z "$(children_of "$server_pid")" ]
}

# what killed processes leave in shared memory and in folders goes with this test
mpirun_arguments+=(--mca orte_tmpdir_base "$tmp" --mca btl_vader_backing_directory "$tmp"
    -x "UCX_POSIX_DIR=$tmp")
ways=(0 0 0)
start_server --aggregators 2
expect_job first 2 "$server_address" two_jobs /
wait_until 10 serves_nobody || not_ok "the server keeps the process of a job that ended" "$server_log"
descriptors=$(count_descriptors)
memory=$(memory_of "$server_pid")
start_job lasting 3 "$server_address" two_jobs "$tmp/stop" "$seed"
lasting=$job_pid
wait_until 20 serves_only_one || not_ok "the lasting job does not begin" "$tmp/lasting.log" "$server_log"

for ((i = 0; i < kills && SECONDS < 180; i += 2)); do
    start_victim 0
    one=$job_pid
    start_victim 1
    two=$job_pid
    kill_job "$one"
    kill_job "$two"
    is_alive "$lasting" || not_ok "seed $seed: the lasting job has ended" "$tmp/lasting.log" "$server_log"
done
wait_until 10 serves_only_one || not_ok "seed $seed: processes of killed jobs stay" "$server_log"
touch "$tmp/stop"
wait "$lasting" || not_ok "seed $seed: the lasting job failed" "$tmp/lasting.log" "$server_log"
has_line "$tmp/lasting.log" '^ok two_jobs' || not_ok "seed $seed: no end of the lasting job" "$tmp/lasting.log"
wait_until 10 serves_nobody || not_ok "seed $seed: the process of the lasting job stays" "$server_log"
[ "$(count_descriptors)" -eq "$descriptors" ] ||
    not_ok "seed $seed: the server has $(count_descriptors) descriptors instead of $descriptors" "$server_log"
grown=$(($(memory_of "$server_pid") - memory))
[ "$grown" -le "$most_memory" ] || not_ok "seed $seed: the server has grown by $grown bytes" "$server_log"
stop_server "$server_pid" || not_ok "the server did not end in order" "$server_log"
echo "ok two_jobs: seed $seed: $(grep -o '^[0-9]* operations' "$tmp/lasting.log") beside ${ways[0]} jobs that lost all" \
    "ranks, ${ways[1]} that lost one, and ${ways[2]} that lost mpirun; the server has grown by $grown bytes"
