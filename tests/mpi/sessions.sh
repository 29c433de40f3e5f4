#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that the component serves, or leaves alone, one MPI session after another.
# Test: openmpi5: all 240
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

ranks=4

begin_mpi_test sessions
case $OMPI_VERSION in
[1-4].*) skip "Open MPI $OMPI_VERSION has no MPI sessions; they came with 5.0" ;;
esac
compile sessions
TIME_LIMIT=${TIME_LIMIT:-20}
# Open MPI 5.0's own pml/ucx crashes in a second session
mpirun_arguments+=(--mca pml ob1)

# lost_memory NAME SERVERS offloaded|fallback: the job failed because Open MPI, with or without this component, did
# not find its own shared memory in the second session: see sessions.c, which makes that rare.
lost_memory() {
    : >"$tmp/meet"
    ! run_job "$ranks" "$2" connect_timeout=2 sessions "$3" "$tmp/meet" >"$tmp/$1.log" 2>&1 &&
        grep -q 'failed during shared memory initialization' "$tmp/$1.log"
}

# check NAME SERVERS offloaded|fallback: in both sessions, on all ranks.
check() {
    local attempts=3

    while lost_memory "$@" && [ $((--attempts)) -gt 0 ]; do
        echo "$1: Open MPI lost its shared memory between sessions; once more"
    done
    [ "$(grep -c -x 'ok [0-9]' "$tmp/$1.log")" -eq "$ranks" ] || not_ok "$1: it is not 'ok' for all ranks" "$tmp/$1.log"
}

# It was opened and closed in each of the sessions: a summary each.
check embedded embedded offloaded
[ "$(grep -c 'collectives offloaded' "$tmp/embedded.log")" -eq 2 ] ||
    not_ok "there are not two summaries, one for each session" "$tmp/embedded.log"
start_server --aggregators 2
check server "$server_address" offloaded
stop_server "$server_pid" || not_ok "the server did not end in order" "$server_log"
check nobody "$server_address" fallback

echo "ok sessions: two in a row, offloaded with servers, and consistently left to Open MPI without"
