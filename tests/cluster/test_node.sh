#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of Allreduce with several ranks on each host, mapped by block and in turn: the link of a host carries
# every byte once, all ranks of the host have their share in that, and the bits are those of that placement.
# Test: all 180
set -eu

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

hosts=4 per_host=4 count=1048576 times=2
payload=$((count * 4 * times))

# expect_shares NAME: the ranks of a host send and receive the payload together, each of them a part of it.
expect_shares() {
    awk -v payload="$payload" -v times="$times" -v ranks="$((hosts * per_host))" '
        $1 == "rank" && $5 == "sent" {
            sent[$4] += $6; received[$4] += $8; seen++
            wrong = wrong || $6 < payload / 8 || $6 > payload / 2 || $10 != times
        }
        END {
            for (host in sent) {
                wrong = wrong || sent[host] != payload || received[host] != payload
            }
            exit wrong || seen != ranks
        }' "$tmp/$1.log" || not_ok "$1: the ranks of a host do not share $payload bytes" "$tmp/$1.log"
}

# expect_placed MAP: hosts in the order of ranks, and all of the above.
expect_placed() {
    local name=$1 map=()

    # on a busy machine set-up takes longer than usual, and a fallback has other bits
    expect_counted_job "$name" "$servers" connect_timeout=30 --hosts "1-$hosts" --per-host "$per_host" --map "$name" -- \
        placed "$count" "$times"
    case $name in
    block) mapfile -t map < <(for k in $(seq "$hosts"); do yes "h$k" | head -n "$per_host"; done) ;;
    cyclic) mapfile -t map < <(for _ in $(seq "$per_host"); do seq -f h%g "$hosts"; done) ;;
    esac
    has_line "$tmp/$name.log" "^hosts ${map[*]}\$" || not_ok "$name: ranks are elsewhere" "$tmp/$name.log"
    has_line "$tmp/$name.log" ': 16 ranks, .*, node reduction shape: 4 hosts with up to 4 ranks$' ||
        not_ok "$name: the shape is another one" "$tmp/$name.log"
    expect_shares "$name"
    # shellcheck disable=SC2046 # a list
    expect_carried "$name" "$payload" 98 103 $(seq "$hosts")
}

begin_cluster_test node
compile placed
make_cluster --hosts $((hosts + 4)) --rate 200
start_servers 5 6 7 8
expect_placed block
expect_placed cyclic
echo "ok node: $((hosts * per_host)) ranks on $hosts hosts, in two orders, whose links carry each byte once"
