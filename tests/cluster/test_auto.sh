#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of mode auto on several hosts: what the model says of these links, and that nothing is set up where
# nothing is gained.
# Test: default 180
set -eu

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

# expect_offloaded NAME TIMES HOSTS SERVERS RULES COUNT [PER-HOST]: volume, of COUNT elements of 4 bytes, three times.
expect_offloaded() {
    local name=$1 ranks=$(($3 * ${7:-1}))

    MODE=auto expect_cluster_job "$name" "$4" rules="$5" --hosts "1-$3" --per-host "${7:-1}" -- volume "$6" 3
    [ "$(grep -c -E "^rank [0-9]+ host h[0-9] sent .* offloaded $2\$" "$tmp/$name.log")" -eq "$ranks" ] ||
        not_ok "$name: not $2 of 3 are offloaded on $ranks ranks" "$tmp/$name.log"
}

says() {
    has_line "$tmp/$1.log" "$2" || not_ok "$1: no line says: $2" "$tmp/$1.log"
}

nothing_was_set_up() {
    ! has_line "$tmp/$1.log" 'aggregates for its job|communicator "|answer' ||
        not_ok "$1: something was set up in vain" "$tmp/$1.log"
}

begin_cluster_test auto
compile volume
make_cluster --hosts 8 --rate 200
start_servers 5 6 7 8
TIME_LIMIT=60
mib=$((1 << 18))
cat >"$tmp/links.ini" <<END
[model]
link_rate = 200
link_latency = 50000
offload_latency = 100000
message_cost = 10000
END

# hosts by themselves, and two of them with any servers, are as fast as a ring
expect_offloaded embedded 0 3 embedded "" "$mib"
nothing_was_set_up embedded
expect_offloaded two 0 2 "$servers" "$tmp/links.ini" "$mib" 2
nothing_was_set_up two
# four with four: from half a MiB on, by these links
expect_offloaded small 0 4 "$servers" "$tmp/links.ini" 1
expect_offloaded medium 0 4 "$servers" "$tmp/links.ini" $((mib / 4))
nothing_was_set_up medium
expect_offloaded large 3 4 "$servers" "$tmp/links.ini" "$mib"
says large '4 aggregators on 4 servers, .*, offloads 512 KiB and more \(model of .*/links.ini: 4 hosts x 1 ranks, 4 serv'
# several ranks on each host, which send as much as one
expect_offloaded crowd 3 4 "$servers" "$tmp/links.ini" "$mib" 2
says crowd 'offloads [0-9]+ [KM]iB and more \(model of .*/links.ini: 4 hosts x 2 ranks, 4 servers'
expect_offloaded crowd-nominal 0 4 "$servers" "" "$mib" 2
nothing_was_set_up crowd-nominal
expect_offloaded nominal 0 4 "$servers" "" "$mib"
nothing_was_set_up nominal
# before they have met ranks cannot tell two hosts from three; afterwards no server is asked, which nobody is
printf '[allreduce two]\nhosts = 2\noffload = always\n[allreduce three]\nhosts = 3\noffload = never\n' >"$tmp/three.ini"
expect_offloaded three 0 3 192.0.2.1 "$tmp/three.ini" "$mib" 2
says three 'communicator "MPI_COMM_WORLD": 6 ranks, offloads nothing \(rule "three" of '
! has_line "$tmp/three.log" 'answer|192.0.2.1' || not_ok "three: a server was asked" "$tmp/three.log"
echo "ok auto: what is offloaded follows links, hosts and servers"
