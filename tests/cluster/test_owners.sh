#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of Reduce_scatter and Reduce between hosts: bits of each shape, and what each link carries.
# Test: default 300
set -eu

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

total=2097152 times=2 hints=()
payload=$((total * 4 * times))

# expect_link HOST SENT RECEIVED: of the job that was counted last, its link has carried so many thousandths of the
# payload, and little beside.
expect_link() {
    paste -d ' ' "$tmp/before" "$tmp/after" |
        awk -v host="h$1" -v sent="$(($2 * payload / 1000))" -v received="$(($3 * payload / 1000))" '
            function is_right(is, should) { return is >= 0.98 * should && is <= 1.03 * should + 400000 }
            $1 == host {
                printf "%s sent %d of %d and received %d of %d\n", host, $5 - $2, sent, $6 - $3, received
                right = is_right($5 - $2, sent) && is_right($6 - $3, received)
            }
            END { exit !right }' || not_ok "the link of h$1 does not carry $2 and $3 thousandths" "$tmp/$name.log"
}

# count NAME SERVERS KIND [SETTING=VALUE...]
count() {
    name=$1
    expect_counted_job "$1" "$2" --hosts 1-4 "${@:4}" -- owners 1 0 hosts=a,b,c,d "${hints[@]}" "volume=$3:$total:$times"
}

begin_cluster_test owners
compile_program owners "$REPO/tests/mpi/owners.c" "$REPO/tests/mpi/matrix_types.c" -ldl
make_cluster --hosts 8 --rate 200
start_servers 5 6 7 8
four=$servers
two=$(cut -d, -f1,2 <<<"$four")

# each sends what it does not own; owners aggregate for themselves
count embedded embedded block
for host in 1 2 3 4; do
    expect_link "$host" 750 750
done
# servers do it all: a rank gets its block, a server what three ranks do not own
count servers "$four" block
for host in 1 2 3 4; do
    expect_link "$host" 750 250
    expect_link "$((4 + host))" 250 750
done
# k of n: servers have k/n of it; or as much as leaves room for an Allgather: 2(n-1)k/((n-2)k + n(n-1))
count hybrid "$two" block
expect_link 5 250 750
expect_link 1 750 500
count paired "$two" block reduce_scatter_beside=allgather
expect_link 5 375 1125
expect_link 1 750 375
hints=(beside=allgather)
count paired-by-key "$two" block
hints=()
expect_link 5 375 1125
expect_link 1 750 375
# most of a large block is aggregated by others, so that no link carries more than three quarters
count half embedded half
expect_link 2 500 750
for host in 1 3 4; do
    expect_link "$host" 833 750
done
# the root aggregates nothing, and contributes as the others do
count reduce embedded reduce
for host in 1 2 3 4; do
    expect_link "$host" 1000 1000
done

expect_cluster_job bits embedded --hosts 1-4 chunk_size=16384 -- owners 1 1 hosts=a,b,c,d
expect_cluster_job bits-node "$two" --hosts 1-3 --per-host 2 -- owners 2 1 hosts=a,a,b,b,c,c
expect_cluster_job bits-cyclic embedded --hosts 1-3 --per-host 2 --map cyclic -- owners 3 1 hosts=a,b,c,a,b,c
expect_cluster_job bits-order embedded --hosts 1-3 --per-host 2 reproducible=rank_order -- owners 4 1 order=rank
has_line "$tmp/bits.log" ': 4 ranks, 4 peers, 25.0 % each, flat reduction shape$' ||
    not_ok "each rank is not on a host of its own" "$tmp/bits.log"
has_line "$tmp/bits-cyclic.log" 'node reduction shape: 3 hosts with up to 2 ranks$' ||
    not_ok "there are not two ranks on each host" "$tmp/bits-cyclic.log"
echo "ok owners: bits of four shapes; links of seven cases"
