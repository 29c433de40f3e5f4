#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of what it costs that the component is there where it leaves small Allgathers and Bcasts to the
# module before: instructions of a call, without those of that module.
# Test: default 180
set -eu

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

most=400
# what only the first call does counts next to nothing
times=1000
operations=(allgather allgatherv bcast)
declare -A callers=([allgather]=previous_allgather [allgatherv]=previous_allgatherv [bcast]=bcast_previous)

# callgrind counts from the beginning of the component's function on, and stops in the one that calls the module
# before.
count_instructions() {
    local operation cases=()

    wrapper=(valgrind --tool=callgrind --vgdb=no "--callgrind-out-file=$tmp/rank.%q{OMPI_COMM_WORLD_RANK}")
    for operation in "${operations[@]}"; do
        wrapper+=("--toggle-collect=mca_coll_optcast_$operation" "--toggle-collect=${callers[$operation]}")
        cases+=("$operation:8:$times" "$operation:4096:$times")
    done
    MODE=auto expect_cluster_job ranks embedded multicast=udp --hosts 1-3 -- gather "${cases[@]}"
    [ "$(grep -c -E "^rank [0-2] host h[1-3]: $((6 * times)) operations, 0 offloaded, " "$tmp/ranks.log")" -eq 3 ] ||
        not_ok "not everything was left to the module before" "$tmp/ranks.log"
    callgrind_annotate --inclusive=yes --auto=no --threshold=100 "$tmp/rank.0" >"$tmp/counts" 2>&1 ||
        not_ok "callgrind_annotate cannot read what callgrind wrote" "$tmp/counts"
}

# instructions_of OPERATION: of a call.
instructions_of() {
    sed -n -E "s/^ *([0-9,]+) .*:mca_coll_optcast_$1( .*|\$)/\1/p" "$tmp/counts" | head -n 1 | tr -d , |
        awk -v calls=$((2 * times)) '{ print int($1 / calls) }'
}

begin_cluster_test cost
command -v valgrind >/dev/null || skip "there is no valgrind; install it"
compile gather
make_cluster --hosts 3 --rate 0
TIME_LIMIT=150
count_instructions
for operation in "${operations[@]}"; do
    count=$(instructions_of "$operation")
    echo "$operation: ${count:-no} instructions a call beside those of the module before"
    # nothing counted would be nothing measured
    [ "${count:-0}" -ge 10 ] || not_ok "$operation: callgrind has not seen its calls" "$tmp/counts"
    [ "$count" -le "$most" ] || not_ok "$operation: $count instructions a call, more than $most" "$tmp/counts"
done
echo "ok cost"
