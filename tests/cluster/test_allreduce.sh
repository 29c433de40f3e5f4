#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of Allreduce across hosts: the results, and that each rank sends and receives its vector once if
# servers do all the work.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
REPO=$(cd "$here/../.." && pwd)
BUILD=${BUILD:-$REPO/build}
# shellcheck source=tests/cluster/lib.sh
. "$here/lib.sh"

count=4194304 times=2
payload=$((count * 4 * times))

# One of each operation and width; sizes around messages, chunks and windows; all ranks or three of four.
write_cases() {
    local op type number=0

    for type in INT8_T UINT16_T INT32_T UINT64_T FLOAT DOUBLE; do
        for op in SUM PROD MIN MAX BAND BXOR LOR; do
            case $op-$type in
            B*-FLOAT | B*-DOUBLE | L*-FLOAT | L*-DOUBLE) continue ;;
            esac
            number=$((number + 1))
            echo "$((3 + number % 2)) $op $type ${sizes[number % ${#sizes[@]}]}" \
                "${places[number % 2]} ${offsets[number % 3]} ${ways[number / 2 % 2]} $number"
        done
    done
}
sizes=(3 1000 8191 65537 200000 70001 131072)
places=(apart inplace)
offsets=(0 element 1)
ways=(b nb)

# expect_payload HOST FROM TO: bytes of payload that its link has carried in each direction.
expect_payload() {
    paste -d ' ' "$tmp/before" "$tmp/after" |
        awk -v host="h$1" -v least="$2" -v most="$3" '
            $1 == host {
                sent = $5 - $2; received = $6 - $3
                printf "%s sent %d received %d (%.4f and %.4f of %d)\n", host, sent, received,
                    sent / least, received / least, least
                exit !(sent >= least && sent <= most && received >= least && received <= most)
            }' || not_ok "h$1 does not send and receive from $2 to $3 bytes"
}

begin_cluster_test allreduce
compile_program allreduce_matrix "$REPO/tests/mpi/allreduce_matrix.c" "$REPO/tests/mpi/matrix_types.c"
compile volume
make_cluster --hosts 6 --rate 200
start_servers 5 6

write_cases >"$tmp/cases"
expect_cluster_job matrix "$servers" chunk_size=65536 -- allreduce_matrix "$tmp/cases"
expect_cluster_job matrix-embedded embedded:2 --hosts 1-4 chunk_size=65536 -- allreduce_matrix "$tmp/cases"

take_stats "$tmp/before"
expect_cluster_job volume "$servers" peer_aggregation=off -- volume "$count" "$times"
take_stats "$tmp/after"
for rank in 0 1 2 3; do
    has_line "$tmp/volume.log" "^rank $rank host h[1-4] sent $payload received $payload offloaded $times\$" ||
        not_ok "rank $rank does not send and receive exactly $payload bytes" "$tmp/volume.log"
done
for host in 1 2 3 4; do
    expect_payload "$host" "$payload" $((payload * 103 / 100))
done
# each server takes half of the vectors of four ranks
for host in 5 6; do
    expect_payload "$host" $((2 * payload)) $((2 * payload * 103 / 100))
done
echo "ok allreduce: $(wc -l <"$tmp/cases") cases across hosts, and $payload bytes a rank each way"
