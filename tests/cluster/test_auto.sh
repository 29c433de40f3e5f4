#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of mode auto on several hosts: what the model says of these links, and that nothing is set up where
# nothing is gained.
# Test: all 240
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

# expect_owned NAME COUNT HOSTS SERVERS RULES COLLECTIVE BYTES [PER-HOST]: of two operations, so many.
expect_owned() {
    MODE=auto expect_cluster_job "$1" "$4" rules="$5" --hosts "1-$3" --per-host "${8:-1}" -- \
        optcast-perf "$6" -b "$7" -e "$7" -n 2 -w 1 --check --interface none --csv "$tmp/$1.csv"
    [ "$("$PYTHON" -c 'import csv, sys; print(next(csv.DictReader(open(sys.argv[1])))["offloaded"])' "$tmp/$1.csv")" -eq "$2" ] ||
        not_ok "$1: not $2 of 2 are offloaded" "$tmp/$1.log"
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
compile gather
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

# without a rate of any device or file nothing is offloaded: these are virtual
expect_offloaded embedded 0 3 embedded "" "$mib"
nothing_was_set_up embedded
# hosts by themselves, and two of them with any servers, are as fast as a ring
wrapper=(env OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_allreduce_algorithm=4)
expect_offloaded ring 0 3 embedded "$tmp/links.ini" "$mib"
expect_offloaded two 0 2 "$servers" "$tmp/links.ini" "$mib"
expect_offloaded forced 3 4 "$servers" "$tmp/links.ini" "$mib"
says forced '4 hosts x 1 ranks, 4 servers, TCP at 200 Mbit/s, compared with ring\)'
# but not as what Open MPI takes by itself
wrapper=()
expect_offloaded alone 3 3 embedded "$tmp/links.ini" "$mib"
says alone 'Allreduce offloads (256|512) KiB and more \(model of .*, no servers, TCP at 200 Mbit/s, compared with tuned\)'
# a file of rules for tuned may say anything: so do we not suppose it
echo 0 >"$tmp/tuned.conf"
wrapper=(env OMPI_MCA_coll_tuned_use_dynamic_rules=1 "OMPI_MCA_coll_tuned_dynamic_rules_filename=$tmp/tuned.conf")
expect_offloaded unknown 0 3 embedded "$tmp/links.ini" "$mib"
wrapper=()
# HAN, if it is what communicators have below, and hosts have several ranks; it is not run here
wrapper=(env OMPI_MCA_coll_han_priority=50)
expect_offloaded han 3 3 embedded "$tmp/links.ini" "$mib" 2
says han 'compared with HAN\)'
expect_offloaded no-han 3 3 embedded "$tmp/links.ini" "$mib"
says no-han 'compared with tuned\)'
wrapper=()
# four with four: from 256 KiB on, by these links
expect_offloaded small 0 4 "$servers" "$tmp/links.ini" 1
expect_offloaded medium 0 4 "$servers" "$tmp/links.ini" $((mib / 16))
nothing_was_set_up medium
expect_offloaded large 3 4 "$servers" "$tmp/links.ini" "$mib"
says large '4 aggregators on 4 servers'
says large 'Allreduce offloads (256|512) KiB and more \(model of .*/links.ini: 4 hosts x 1 ranks, 4 serv'
# several ranks on each host, which send as much as one
expect_offloaded crowd 3 4 "$servers" "$tmp/links.ini" "$mib" 2
says crowd 'Allreduce offloads [0-9]+ [KM]iB and more \(model of .*/links.ini: 4 hosts x 2 ranks, 4 servers'
expect_offloaded crowd-nominal 0 4 "$servers" "" "$mib" 2
nothing_was_set_up crowd-nominal
expect_offloaded nominal 0 4 "$servers" "" "$mib"
nothing_was_set_up nominal
# results that go to owners: by what tuned does with them, which of a Reduce_scatter is a ring
own=$programs
programs=$BUILD
expect_owned reduce 2 4 embedded "$tmp/links.ini" reduce 4M
says reduce ': Reduce offloads .*no servers, TCP at 200 Mbit/s, compared with tuned\)'
expect_owned reduce-small 0 4 embedded "$tmp/links.ini" reduce 1K
nothing_was_set_up reduce-small
expect_owned block 2 4 embedded "$tmp/links.ini" reduce_scatter_block 4M
expect_owned block-served 2 4 "$servers" "$tmp/links.ini" reduce_scatter_block 4M
expect_owned ring-scatter 0 4 "$servers" "$tmp/links.ini" reduce_scatter 4M
expect_owned reduce-crowd 2 4 "$servers" "$tmp/links.ini" reduce 4M 2
wrapper=(env OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_reduce_algorithm=3
    OMPI_MCA_coll_tuned_reduce_algorithm_segmentsize=65536)
expect_owned reduce-pipeline 0 4 embedded "$tmp/links.ini" reduce 4M
wrapper=()
programs=$own
# before they have met ranks cannot tell two hosts from three; afterwards no server is asked, which nobody is
printf '[allreduce two]\nhosts = 2\noffload = always\n[allreduce three]\nhosts = 3\noffload = never\n' >"$tmp/three.ini"
expect_offloaded three 0 3 192.0.2.1 "$tmp/three.ini" "$mib" 2
says three 'communicator "MPI_COMM_WORLD": Allreduce offloads nothing \(rule "three" of '
! has_line "$tmp/three.log" 'answer|192.0.2.1' || not_ok "three: a server was asked" "$tmp/three.log"

# expect_casts NAME HOSTS RULES CASE COUNT [PER_HOST]: of Allgathers and Bcasts so many are offloaded.
expect_casts() {
    local ranks=$(($2 * ${6:-1}))

    MODE=auto expect_cluster_job "$1" embedded multicast=udp rules="$3" --hosts "1-$2" --per-host "${6:-1}" -- gather "$4"
    [ "$(grep -c -E "^rank [0-9]+ host h[0-9]: [0-9]+ operations, $5 offloaded," "$tmp/$1.log")" -eq "$ranks" ] ||
        not_ok "$1: not $5 operations are offloaded on $ranks ranks" "$tmp/$1.log"
}

# what a link carries in 0.5 ms, and no less than 64 KiB; without a rate 256 KiB
expect_casts slow 3 "$tmp/links.ini" bcast:65536:2 2
expect_casts slow-less 3 "$tmp/links.ini" bcast:65535:2 0
printf '[model]\nlink_rate = 1000\n' >"$tmp/gigabit.ini"
expect_casts gigabit 3 "$tmp/gigabit.ini" bcast:65536:2 2
expect_casts gigabit-gather 3 "$tmp/gigabit.ini" allgather:21846:2 2
printf '[model]\nlink_rate = 2000\n' >"$tmp/faster.ini"
expect_casts faster 3 "$tmp/faster.ini" bcast:65536:2 0
expect_casts any-rate 3 "" bcast:262143:2 0
expect_casts any-rate-more 3 "" bcast:262144:2 2
# two ranks exchange over one connection; a Bcast has one direction
expect_casts pair 2 "$tmp/links.ini" allgather:131072:2 2
expect_casts pair-less 2 "$tmp/links.ini" allgather:131071:2 0
expect_casts pair-bcast 2 "$tmp/links.ini" bcast:1000000:2 0
# 18 ranks: more than 64 KiB in all, but blocks count
expect_casts blocks 3 "$tmp/links.ini" allgather:4096:2 2 6
expect_casts blocks-less 3 "$tmp/links.ini" allgather:4095:2 0 6
expect_casts blocks-faster 3 "$tmp/gigabit.ini" allgather:8191:2 0 6
echo "ok auto: what is offloaded follows links, hosts and servers"
