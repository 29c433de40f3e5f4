#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of Allreduce with fewer servers than hosts: what each link carries, and the same bits whoever
# aggregates.
# Test: default 300
set -eu

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

hosts=4 count=2097152 times=2
payload=$((count * 4 * times))

# expect_links NAME PARTS HOST...: in both directions those of these hosts have carried so many thousandths of the
# payload.
expect_links() {
    expect_carried "$1" $((payload * $2 / 1000)) 98 104 "${@:3}"
}

# expect_shares NAME SERVERS PARTS WAY HOST...: large vectors, what rank 0 says of who aggregates, and the links of
# these hosts beside those with ranks.
expect_shares() {
    expect_counted_job "$1" "$2" --hosts "1-$hosts" -- volume "$count" "$times"
    has_line "$tmp/$1.log" ": $hosts ranks, $4, flat reduction shape\$" ||
        not_ok "$1: rank 0 does not say: $4" "$tmp/$1.log"
    expect_volume "$1" "$hosts" "$payload" "$times"
    # shellcheck disable=SC2046 # a list
    expect_links "$1" "$3" $(seq "$hosts") "${@:5}"
}

# Small vectors are the servers', also beside peers: each is a message from and to each rank.
expect_small() {
    expect_counted_job small "$1" --hosts "1-$hosts" -- volume 1000 300
    # at least: much surrounds messages of 4000 bytes
    expect_carried small $((hosts * 1000 * 4 * 300)) 100 1000 5
}

begin_cluster_test hybrid
compile volume same_bits
make_cluster --hosts $((hosts + 4)) --rate 200
start_servers 5 6 7 8
four=$servers
one=${four%%,*}
two=$one,$(cut -d, -f2 <<<"$four")
printf '%s weight=1.5\n%s weight=0.5\n' "$one" "${two#*,}" >"$tmp/weights"

# y = 2 (n - 1) / (n² + k n - 2 k) of a vector for each of k servers, and each link carries n y of it
expect_shares k0 embedded 1500 '4 peers, 25.0 % each'
expect_shares k1 "$one" 1333 '1 server and 4 peers, 33.3 % and 16.7 % each' 5
expect_shares k2 "$two" 1200 '2 servers and 4 peers, 30.0 % and 10.0 % each' 5 6
expect_shares k4 "$four" 1000 '4 aggregators on 4 servers' 5 6 7 8
expect_shares weights "file:$tmp/weights" 1200 '2 servers and 4 peers, 15.0 to 45.0 % and 10.0 % each'
expect_links weights 1800 5
expect_links weights 600 6
expect_small "$one"

# several ranks on a host: one of them aggregates
expect_cluster_job per-host embedded --hosts 1-2 --per-host 2 -- volume 100000 1
has_line "$tmp/per-host.log" ': 4 ranks, 2 peers, 50.0 % each, node reduction shape: 2 hosts with up to 2 ranks$' ||
    not_ok "there is not one peer on each host" "$tmp/per-host.log"
expect_cluster_job one-host embedded --hosts 1 --per-host 3 -- volume 100000 1
has_line "$tmp/one-host.log" ': 3 ranks, 1 peer, node reduction shape: 1 host with 3 ranks$' ||
    not_ok "there is not one peer on the host" "$tmp/one-host.log"

# as many servers as hosts: ranks that are elsewhere are more, but the launcher knows on how many hosts
expect_cluster_job enough "$two" --hosts 1-2 --per-host 2 -- volume 100000 1
has_line "$tmp/enough.log" ': 4 ranks, 2 aggregators on 2 servers, ' ||
    not_ok "not only servers aggregate" "$tmp/enough.log"
! grep 'aggregates for its job' "$tmp/enough.log" ||
    not_ok "an embedded server was started in vain" "$tmp/enough.log"
grep -q 'process 0 aggregates for its job' "$tmp/per-host.log" ||
    not_ok "embedded servers do not tell" "$tmp/per-host.log"

add_hash one embedded:1 --hosts "1-$hosts"
add_hash k0 embedded --hosts "1-$hosts"
add_hash k1 "$one" --hosts "1-$hosts"
add_hash k2 "$two" --hosts "1-$hosts"
add_hash k4 "$four" --hosts "1-$hosts"
add_hash weights "file:$tmp/weights" --hosts "1-$hosts"
expect_equal_hashes
echo "ok hybrid: with 0, 1, 2 and 4 servers each link carries its share, and $(wc -l <"$tmp/hashes") hashes are equal"
