#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of processes that MPI starts or meets while it runs, and of one that is alone.
# Test: default 180
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test dynamic
compile dynamic
TIME_LIMIT=${TIME_LIMIT:-40}

# expect_strangers NAME: it was said why the merged communicators are left alone; one of them has no name.
expect_strangers() {
    has_line "$tmp/$1.log" 'communicator "unnamed" has ranks of another MPI job: not used there' ||
        not_ok "$1: it is not told that there are two jobs" "$tmp/$1.log"
}

# expect_end NAME WORD...: each WORD was the last of a job.
expect_end() {
    local word

    for word in "${@:2}"; do
        grep -q -x "ok $word" "$tmp/$1.log" || not_ok "$1: no end of \"$word\"" "$tmp/$1.log"
    done
}

# two_jobs NAME SERVERS: they meet by way of Open MPI's name server.
two_jobs() {
    local accepting port

    start_job "$1-accept" 3 "$2" dynamic accept
    accepting=$job_pid
    wait_until 20 has_line "$tmp/$1-accept.log" '^port ' || not_ok "$1: no port" "$tmp/$1-accept.log"
    port=$(sed -n 's/^port //p' "$tmp/$1-accept.log")
    # each job decides by its own settings: together they would not agree
    expect_job "$1-connect" 2 "$2" max_ranks=3 dynamic connect "$port"
    wait "$accepting" || not_ok "$1: the accepting job failed" "$tmp/$1-accept.log"
    expect_end "$1-accept" accept
    expect_end "$1-connect" connect
    expect_strangers "$1-connect"
}

start_server --aggregators 2
for servers in embedded:2 "$server_address"; do
    name=${servers%%:*}
    expect_job "$name-spawn" 3 "$servers" dynamic spawn 2
    expect_end "$name-spawn" spawn child
    expect_strangers "$name-spawn"
    expect_job "$name-meet" 4 "$servers" dynamic meet
    expect_end "$name-meet" meet
    expect_job "$name-self" 1 "$servers" dynamic self
    expect_end "$name-self" self
done

# without mpirun
OMPI_MCA_mca_base_component_path=$component_dir:SYSTEM_DEFAULT OMPI_MCA_coll_optcast_mode=always \
    timeout "$TIME_LIMIT" "$programs/dynamic" self >"$tmp/alone.log" 2>&1 || not_ok "it fails alone" "$tmp/alone.log"
expect_end alone self

if [ "${OMPI_VERSION%%.*}" -lt 5 ] && command -v ompi-server >/dev/null; then
    ompi-server --no-daemonize -r "$tmp/names" >"$tmp/names.log" 2>&1 </dev/null &
    started+=("$!")
    wait_until 20 [ -s "$tmp/names" ] || not_ok "Open MPI's name server does not start" "$tmp/names.log"
    mpirun_arguments+=(--ompi-server "file:$tmp/names")
    two_jobs embedded embedded:2
    two_jobs server "$server_address"
else
    echo "Open MPI $OMPI_VERSION has no ompi-server here: two jobs that meet are left out"
fi
stop_server "$server_pid" || not_ok "the server did not end in order" "$server_log"
! grep -i -q -E 'warning|error' "$server_log" || not_ok "the server complained" "$server_log"
echo "ok dynamic"
