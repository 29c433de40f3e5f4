#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of what it costs that the component is there where mode auto leaves reductions to the module before:
# instructions of a call, without those of that module. Under MPICH of a call like one before.
# Test: default 480; mpich: all 240
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

# of calls that the communicator decides about, and of those that are smaller than all that may ever be offloaded
most=400
most_small=110
# … and to issue one that is offloaded, with the thread that moves it on or without
most_issued=1500
# what only the first call does counts next to nothing
times=4000
how=(mode=auto)

# What callgrind counts: from the beginning of the component's function to its end; of that, what is the component's own,
# without its progress, in which the module before waits.
function_prefix=mca_coll_optcast_
if [ "$MPI" = mpich ]; then
    # All from the beginning of our MPI_Allreduce to its end, but for MPICH's, which is called in it: what is asked
    # of MPICH counts, too. Set-ups call MPICH's before any of it.
    function_prefix=MPI_
    most=250 most_small=250
    own_instructions() {
        callgrind_annotate --auto=no --inclusive=yes --threshold=100 "$1" >"$tmp/annotated" 2>&1 ||
            not_ok "callgrind_annotate cannot read what callgrind wrote" "$tmp/annotated"
        sed -n -E "s/^ *([0-9,]+) .*entry\.c:MPI_${kind^} .*/\1 all/p" "$tmp/annotated" | tr -d ,
    }
fi

# counted_function KIND: MPI_Allreduce
counted_function() {
    local name=$1

    [ "$MPI" = openmpi ] || name=${name^}
    echo "$function_prefix$name"
}

# expect_cost NAME MOST KIND RULES ARGUMENT...: of the program.
expect_cost() {
    local name=$1 most=$2 kind=$3 rules=$4 count toggles # own_instructions uses kind

    shift 4
    toggles=("--toggle-collect=$(counted_function "$kind")")
    [ "$MPI" = openmpi ] || toggles+=("--toggle-collect=P$(counted_function "$kind")")
    wrapper=(valgrind --tool=callgrind --vgdb=no "--callgrind-out-file=$tmp/$name.%q{$rank_variable}"
        "${toggles[@]}")
    expect_job "$name" 2 embedded rules="$rules" "${how[@]}" heartbeat_timeout=60 "${cast[@]}" cost "$kind" "$times" "$@"
    wrapper=()
    own_instructions "$tmp/$name.0" >"$tmp/counts"
    count=$(awk -v calls="$times" '{ sum += $1 } END { print int(sum / calls) }' "$tmp/counts")
    echo "$name: ${count:-no} instructions a call beside those of the module before"
    # nothing counted would be nothing measured
    [ "${count:-0}" -ge 10 ] || not_ok "$name: callgrind has not seen its calls" "$tmp/counts"
    [ "$count" -le "$most" ] || not_ok "$name: $count instructions a call, more than $most" "$tmp/counts"
}

# expect_recovery on|off MOST: what a small operation costs so that its result is there for others if a server is lost.
# Sets messages to what was sent.
expect_recovery() {
    local name=recovery-$1 count

    wrapper=(valgrind --tool=callgrind --vgdb=no "--callgrind-out-file=$tmp/$name.%q{$rank_variable}"
        --toggle-collect=oc_kept_add)
    expect_job "$name" 2 "$list" mode=always recovery="$1" heartbeat_timeout=60 progress=mpi cost iallreduce "$times" 1
    wrapper=()
    callgrind_annotate "$tmp/$name.0" >"$tmp/annotated" 2>&1 ||
        not_ok "callgrind_annotate cannot read what callgrind wrote" "$tmp/annotated"
    count=$(sed -n -E 's/^ *([0-9,]+) .*PROGRAM TOTALS.*/\1/p' "$tmp/annotated" | tr -d ,)
    [ "${count:-0}" -ge "$times" ] || not_ok "$name: callgrind has not seen that something is kept" "$tmp/annotated"
    count=$((count / times)) messages=$(sed -n 's/^rank 0: \([0-9]*\) messages$/\1/p' "$tmp/$name.log")
    echo "$name: $count instructions an operation for what is kept, $messages messages for $times operations"
    [ "$count" -le "$2" ] || not_ok "$name: $count instructions an operation, more than $2" "$tmp/annotated"
}

begin_mpi_test cost
command -v valgrind >/dev/null || skip "there is no valgrind; install it"
compile cost
TIME_LIMIT=${TIME_LIMIT:-240}
printf '[%s one]\nhosts = 1-\noffload = 1K-2K, 64K-\n' allreduce reduce >"$tmp/rules.ini"
[ "$MPI" = openmpi ] || printf '[reduce_scatter_block one]\nhosts = 1-\noffload = always\n' >>"$tmp/rules.ini"
# all ranks on one host; a communicator with service, for another size
expect_cost one-host "$most_small" allreduce "" 1
expect_cost live "$most" allreduce "$tmp/rules.ini" 1000 offloaded
expect_cost reduce-one-host "$most_small" reduce "" 1
expect_cost reduce-live "$most" reduce "$tmp/rules.ini" 1000 offloaded
if [ "$MPI" = mpich ]; then
    expect_cost bcast-one-host "$most_small" bcast "" 1
    expect_cost allgather-one-host "$most_small" allgather "" 1
else
    expect_cost barrier-one-host "$most_small" barrier "" 1
    for progress in thread mpi; do
        how=(mode=always "progress=$progress")
        expect_cost "issued-$progress" "$most_issued" iallreduce "" 1
    done
    start_server
    list=$server_address
    start_server
    list+=,$server_address
    expect_recovery off 40
    messages_before=$messages
    expect_recovery on 250
    [ "$messages" -eq "$messages_before" ] || not_ok "recovery: $messages messages, and without it $messages_before"
fi
echo "ok cost"
