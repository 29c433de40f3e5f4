#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of a tree of servers across hosts: results, and what each link carries.
# Test: default 300
set -eu

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

hosts=8 count=1048576 times=2
payload=$((count * 4 * times))

# expect_shape NAME TEXT [--OPTION-OF-RUN VALUE...]: large vectors, and what rank 0 says of the shape.
expect_shape() {
    expect_counted_job "$1" "$servers" --hosts "1-$hosts" "${@:3}" -- volume "$count" "$times"
    has_line "$tmp/$1.log" "$2\$" || not_ok "$1: rank 0 does not say: $2" "$tmp/$1.log"
}

# expect_links NAME: in both directions, those of hosts carry one vector, of leaves five, of the parent two.
expect_links() {
    # shellcheck disable=SC2046 # a list
    expect_carried "$1" "$payload" 98 104 $(seq "$hosts")
    expect_carried "$1" $((5 * payload)) 98 104 10 11
    expect_carried "$1" $((2 * payload)) 98 104 9
}

begin_cluster_test tree
compile_program allreduce_matrix "$REPO/tests/mpi/allreduce_matrix.c" "$REPO/tests/mpi/matrix_types.c"
compile volume same_bits inflight
make_cluster --hosts $((hosts + 3)) --rate 400
start_servers 9
start_servers 10 11 --parent "$servers"

shape='2 leaf servers, tree reduction shape: up to 4'
expect_shape flat ": $hosts ranks, 1 aggregator on each of $shape ranks a leaf"
expect_volume flat "$hosts" "$payload" "$times"
expect_links flat
expect_shape node ": 16 ranks, 1 aggregator on each of $shape hosts a leaf, 8 hosts with up to 2 ranks" --per-host 2
expect_links node

# integers: their results are the same in any order; sizes around messages, chunks and windows
sizes=(3 1000 65537 200000) offsets=(0)
write_cases "INT8_T UINT16_T INT32_T UINT64_T" "SUM MAX BXOR LOR" >"$tmp/cases"
expect_cluster_job matrix "$servers" chunk_size=65536 --hosts "1-$hosts" -- allreduce_matrix "$tmp/cases"
expect_cluster_job inflight "$servers" chunk_size=8192 --hosts "1-$hosts" -- inflight 64 1 served
add_hash plain "$servers" --hosts "1-$hosts"
add_hash chunks "$servers" chunk_size=4096 window=2 --hosts "1-$hosts"
expect_equal_hashes

# ranks on one host, or an order that leaves cannot keep: no tree
expect_cluster_job one-host "$servers" --hosts 1 --per-host 3 -- volume 100000 1
has_line "$tmp/one-host.log" ': 3 ranks, 1 aggregator on 1 server, node reduction shape: 1 host with 3 ranks$' ||
    not_ok "one host needs a tree" "$tmp/one-host.log"
cluster_job "$servers" reproducible=rank_order --hosts "1-$hosts" -- volume 100000 1 >"$tmp/order.log" 2>&1 || :
grep -q 'leaves of a tree, which cannot reduce in rank order' "$tmp/order.log" ||
    not_ok "nobody says that a tree cannot reduce in rank order" "$tmp/order.log"
echo "ok tree: 8 hosts, 2 leaves and their parent, whose links carry 1, 5 and 2 vectors"
