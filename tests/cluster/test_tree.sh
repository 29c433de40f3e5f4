#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of a tree of servers across hosts: results, and what each link carries.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
REPO=$(cd "$here/../.." && pwd)
BUILD=${BUILD:-$REPO/build}
# shellcheck source=tests/cluster/lib.sh
. "$here/lib.sh"

hosts=8 count=1048576 times=2
payload=$((count * 4 * times))

# Integers: their results are the same in any order. Sizes around messages, chunks and windows.
write_cases() {
    local op type number=0

    for type in INT8_T UINT16_T INT32_T UINT64_T; do
        for op in SUM MAX BXOR LOR; do
            number=$((number + 1))
            echo "$((3 + number % 2)) $op $type ${sizes[number % ${#sizes[@]}]}" \
                "${places[number % 2]} 0 ${ways[number / 2 % 2]} $number"
        done
    done
}
sizes=(3 1000 65537 200000)
places=(apart inplace)
ways=(b nb)

# expect_links NAME VECTORS HOST...: in both directions the links of these hosts have carried so many times the payload.
expect_links() {
    local name=$1 expected=$((payload * $2)) host

    shift 2
    for host in "$@"; do
        paste -d ' ' "$tmp/before" "$tmp/after" |
            awk -v host="h$host" -v expected="$expected" -v name="$name" '
                $1 == host {
                    sent = ($5 - $2) / expected; received = ($6 - $3) / expected
                    printf "%s: %s sent %.3f and received %.3f of %d bytes\n", name, host, sent, received, expected
                    exit !(sent >= 0.98 && sent <= 1.04 && received >= 0.98 && received <= 1.04)
                }' || not_ok "$name: the link of h$host does not carry $expected bytes of payload each way"
    done
}

# expect_volume NAME TEXT [--OPTION-OF-RUN VALUE...]: large vectors, and what rank 0 says of the shape.
expect_volume() {
    take_stats "$tmp/before"
    expect_cluster_job "$1" "$servers" --hosts "1-$hosts" "${@:3}" -- volume "$count" "$times"
    take_stats "$tmp/after"
    has_line "$tmp/$1.log" "$2\$" || not_ok "$1: rank 0 does not say: $2" "$tmp/$1.log"
}

# add_hash NAME SETTING...
add_hash() {
    expect_cluster_job "bits-$1" "$servers" "${@:2}" --hosts "1-$hosts" -- same_bits 1
    [ "$(grep -c '^hash ' "$tmp/bits-$1.log")" -eq 1 ] || not_ok "no hash of $1" "$tmp/bits-$1.log"
    grep '^hash ' "$tmp/bits-$1.log" | sed "s/\$/ $1/" >>"$tmp/hashes"
}

begin_cluster_test tree
compile_program allreduce_matrix "$REPO/tests/mpi/allreduce_matrix.c" "$REPO/tests/mpi/matrix_types.c"
compile volume same_bits inflight
make_cluster --hosts $((hosts + 3)) --rate 400
start_servers 9
parent=$servers
servers=
for host in 10 11; do
    address=$(cluster server "$host" --parent "$parent" 2>"$tmp/server.log") ||
        not_ok "no leaf on h$host" "$tmp/server.log"
    servers=${servers:+$servers,}$address
done

shape='2 leaf servers, tree reduction shape: up to 4'
expect_volume flat ": $hosts ranks, 1 aggregator on each of $shape ranks a leaf"
for ((rank = 0; rank < hosts; rank++)); do
    has_line "$tmp/flat.log" "^rank $rank host h[1-8] sent $payload received $payload offloaded $times\$" ||
        not_ok "rank $rank does not send and receive exactly $payload bytes" "$tmp/flat.log"
done
# shellcheck disable=SC2046 # a list
expect_links flat 1 $(seq "$hosts")
expect_links flat 5 10 11
expect_links flat 2 9
expect_volume node ": 16 ranks, 1 aggregator on each of $shape hosts a leaf, 8 hosts with up to 2 ranks" --per-host 2
# shellcheck disable=SC2046 # a list
expect_links node 1 $(seq "$hosts")
expect_links node 5 10 11
expect_links node 2 9

write_cases >"$tmp/cases"
expect_cluster_job matrix "$servers" chunk_size=65536 --hosts "1-$hosts" -- allreduce_matrix "$tmp/cases"
expect_cluster_job inflight "$servers" chunk_size=8192 --hosts "1-$hosts" -- inflight 64 1 served
add_hash plain
add_hash chunks chunk_size=4096 window=2
[ "$(cut -d' ' -f2 "$tmp/hashes" | sort -u | wc -l)" -eq 1 ] || not_ok "the hashes differ" "$tmp/hashes"

# ranks on one host, or an order that leaves cannot keep: no tree
expect_cluster_job one-host "$servers" --hosts 1 --per-host 3 -- volume 100000 1
has_line "$tmp/one-host.log" ': 3 ranks, 1 aggregator on 1 server, node reduction shape: 1 host with 3 ranks$' ||
    not_ok "one host needs a tree" "$tmp/one-host.log"
cluster_job "$servers" reproducible=rank_order --hosts "1-$hosts" -- volume 100000 1 >"$tmp/order.log" 2>&1 || :
grep -q 'leaves of a tree, which cannot reduce in rank order' "$tmp/order.log" ||
    not_ok "nobody says that a tree cannot reduce in rank order" "$tmp/order.log"
echo "ok tree: 8 hosts, 2 leaves and their parent, whose links carry 1, 5 and 2 vectors"
