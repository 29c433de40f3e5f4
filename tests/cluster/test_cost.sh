#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of what it costs that the component is there where it leaves small Allgathers and Bcasts to the
# module before: instructions of a call, without those of that module.
# Test: all 180
set -eu

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

# of calls that are smaller than all that may ever be offloaded; the counts of an Allgatherv are added up before that
# is known
declare -A most=([allgather]=110 [allgatherv]=400 [bcast]=110)
# what only the first call does counts next to nothing
times=1000

# count_instructions OPERATION: of a call. callgrind counts from the beginning of the component's function to its end;
# of that, what is the component's own, without its progress, in which the module before waits.
count_instructions() {
    wrapper=(valgrind --tool=callgrind --vgdb=no "--callgrind-out-file=$tmp/$1.%q{OMPI_COMM_WORLD_RANK}"
        "--toggle-collect=mca_coll_optcast_$1")
    MODE=auto expect_cluster_job "$1" embedded multicast=udp --hosts 1-3 -- gather "$1:8:$times" "$1:4096:$times"
    [ "$(grep -c -E "^rank [0-2] host h[1-3]: $((2 * times)) operations, 0 offloaded, " "$tmp/$1.log")" -eq 3 ] ||
        not_ok "not everything was left to the module before" "$tmp/$1.log"
    own_instructions "$tmp/$1.0" >"$tmp/counts"
    count=$(awk -v calls="$((2 * times))" '{ sum += $1 } END { print int(sum / calls) }' "$tmp/counts")
}

begin_cluster_test cost
command -v valgrind >/dev/null || skip "there is no valgrind; install it"
compile gather
make_cluster --hosts 3 --rate 0
TIME_LIMIT=150
for operation in allgather allgatherv bcast; do
    count_instructions "$operation"
    echo "$operation: ${count:-no} instructions a call beside those of the module before"
    # nothing counted would be nothing measured
    [ "${count:-0}" -ge 10 ] || not_ok "$operation: callgrind has not seen its calls" "$tmp/counts"
    [ "$count" -le "${most[$operation]}" ] ||
        not_ok "$operation: $count instructions a call, more than ${most[$operation]}" "$tmp/counts"
done
echo "ok cost"
