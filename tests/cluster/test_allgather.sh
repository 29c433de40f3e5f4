#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of Allgather and Bcast by UDP multicast across hosts: every byte, with and without losses, what goes
# over the links, networks without multicast, deaths, and other jobs at the same address.
# usage: test_allgather.sh [PART...] | --list; without arguments all parts
# Test: default 400 parts
set -eu

# the last one leaves a host without power
all_parts=(ranks large losses nodes leaders devices node_losses traffic small_buffers blocked two_jobs deaths)
if [ "${1:-}" = --list ]; then
    for part in "${all_parts[@]}"; do
        case $part in
        large) echo "$part:all" ;; # others have smaller ones
        devices | node_losses | small_buffers) echo "$part:all" ;; # minutes, and the engine's tests have the same
        *) echo "$part" ;;
        esac
    done
    exit 0
fi

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

rate=200
# A fragment on the wire: Ethernet, IP, UDP and the datagram's header before 1432 bytes.
mtu_payload=1432

# gather NAME [SETTING=VALUE...] [--OPTION-OF-RUN VALUE...] -- ARGUMENT...: tests/mpi/gather.c, which has to succeed.
gather() {
    local name=$1 words=()

    shift
    while [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    expect_cluster_job "$name" embedded multicast=udp "${words[@]}" -- gather "${@:2}"
    has_line "$tmp/$name.log" '^ok gather$' || not_ok "$name: it said nothing" "$tmp/$name.log"
}

# expect_offloaded NAME RANKS: all operations of all ranks went by multicast.
expect_offloaded() {
    [ "$(grep -c -E '^rank [0-9]+ host h[0-9]+: ([0-9]+) operations, \1 offloaded, ' "$tmp/$1.log")" -eq "$2" ] ||
        not_ok "$1: not all operations of $2 ranks were offloaded" "$tmp/$1.log"
}

# total NAME WORD: sum over ranks of what gather.c counts as WORD.
total() {
    sed -n -E "s/^rank [0-9]+ host .* ([0-9]+) $2(,.*)?\$/\1/p" "$tmp/$1.log" | awk '{ sum += $1 } END { print sum + 0 }'
}

# Sizes around a fragment with and without its checksum, and some that are no multiple of anything.
cases=(allgather:1:2 allgather:$((mtu_payload - 4)):1 allgather:$((mtu_payload - 3)):1:inplace "allgather:$mtu_payload"
    allgather:65536:2 allgatherv:1 allgatherv:100003:2 allgatherv:4099:1:inplace bcast:1:2 bcast:5000 bcast:300001:2)

test_ranks() {
    local ranks

    for ranks in 2 3 4 7 8; do
        gather "ranks-$ranks" --hosts "1-$ranks" -- "${cases[@]}" allgather:1048576
        expect_offloaded "ranks-$ranks" "$ranks"
    done
    gather ranks-16 --hosts 1-8 --per-host 2 -- "${cases[@]}" allgather:4194304
    expect_offloaded ranks-16 16
    gather chain multicast_senders=1 --hosts 1-4 -- "${cases[@]}" allgather:262144
    expect_offloaded chain 4
    gather chains multicast_senders=3 --hosts 1-8 -- "${cases[@]}"
    expect_offloaded chains 8
}

# Links without a limit: processors are the limit, and datagrams are lost in the kernel.
test_large() {
    cluster rate 0
    gather large-4 --hosts 1-4 -- allgather:67108864:1:inplace
    expect_offloaded large-4 4
    gather large-2 --hosts 1-2 -- allgather:67108864 bcast:67108864
    expect_offloaded large-2 2
    big
    cluster rate "$rate"
}

# More than 2^31 bytes in all.
big() {
    local needed=$((6 * 1024 * 1024)) available

    available=$(available_memory)
    if [ "${available:-0}" -lt "$needed" ]; then
        echo "without 2^31 bytes: it needs $needed kB of memory, and ${available:-0} kB are available"
        return
    fi
    gather big --hosts 1-2 -- allgather:$((1024 * 1024 * 1024 + 5)):1:inplace
    expect_offloaded big 2
}

# lossy PERCENT HOST...: these hosts lose as many datagrams as arrive; results are right all the same.
lossy() {
    local name=loss-$1-$# host

    for host in "${@:2}"; do
        cluster loss "$host" "$1" udp
    done
    gather "$name" --hosts 1-4 -- "${cases[@]}" allgather:1048576 bcast:1048576
    for host in "${@:2}"; do
        cluster loss "$host" 0
    done
    expect_offloaded "$name" 4
    if [ "$(total "$name" lost)" -eq 0 ] || [ "$(total "$name" recovered)" -eq 0 ]; then
        not_ok "$name: nothing was lost, or nothing recovered" "$tmp/$name.log"
    fi
    echo "$1 % lost at $(($# - 1)) of 4 hosts: $(total "$name" lost) fragments asked for," \
        "$(total "$name" recovered) recovered, $(total "$name" received) received"
}

test_losses() {
    lossy 1 1 2 3 4
    lossy 5 2
    lossy 30 3
    lossy 30 1 2 3 4
}

# start_gather NAME ...: as gather, in the background, with pauses in $tmp/NAME. Sets job.
start_gather() {
    local name=$1 words=()

    shift
    while [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    rm -rf "${tmp:?}/$name"
    mkdir "$tmp/$name"
    : >"$tmp/$name.log"
    cluster_job embedded multicast=udp "${words[@]}" -- gather "pause=$tmp/$name" "${@:2}" >"$tmp/$name.log" 2>&1 &
    job=$!
    started+=("$job")
}

# count_others HOST...: from now on these count what they send that is no multicast datagram.
count_others() {
    local host

    for host in "$@"; do
        cluster exec "$host" nft -f - <<'RULES'
table inet count {
    counter sent {}
    chain output {
        type filter hook output priority 0; policy accept;
        oifname "eth0" ip daddr != 224.0.0.0/4 counter name sent
    }
}
RULES
    done
}

forget_others() {
    local host

    for host in "$@"; do
        cluster exec "$host" nft delete table inet count
    done
}

# links HOST...: for each "HOST SENT RECEIVED OTHERS", bytes on its link so far with all headers; OTHERS are those
# that it has sent and that are no multicast.
links() {
    local host others

    cluster stats >"$tmp/stats"
    for host in "$@"; do
        others=$(cluster exec "$host" nft list counter inet count sent |
            sed -n -E 's/.*packets ([0-9]+) bytes ([0-9]+).*/\2 + 14 * \1/p')
        awk -v host="h$host" -v others=$((others)) '$1 == host { print $1, $2, $3, others }' "$tmp/stats"
    done
}

# measure_links NAME COUNT HOSTS... -- ...: what COUNT operations between the two pauses of a job put on the links:
# "HOST SENT RECEIVED OTHERS" of one operation, in $tmp/NAME.links.
measure_links() {
    local name=$1 count=$2 hosts=()

    shift 2
    while [ "$1" != -- ]; do
        hosts+=("$1")
        shift
    done
    shift
    start_gather "$name" "$@"
    wait_until 40 test -e "$tmp/$name/pause.1" || not_ok "$name: no first pause" "$tmp/$name.log"
    links "${hosts[@]}" >"$tmp/before"
    : >"$tmp/$name/go.1"
    wait_until 60 test -e "$tmp/$name/pause.2" || not_ok "$name: no second pause" "$tmp/$name.log"
    links "${hosts[@]}" >"$tmp/after"
    : >"$tmp/$name/go.2"
    wait "$job" || not_ok "$name: it did not end well" "$tmp/$name.log"
    paste -d ' ' "$tmp/before" "$tmp/after" | awk -v count="$count" '
        { printf "%s %d %d %d\n", $1, ($6 - $2) / count, ($7 - $3) / count, ($8 - $4) / count }' >"$tmp/$name.links"
}

# expect_links NAME BLOCK HOSTS: each host sends its BLOCK bytes once, and receives those of the others.
expect_links() {
    awk -v block="$2" -v hosts="$3" '
        {
            printf "%s: a block of %d bytes: sent %d (%.4f of it), ", $1, block, $2, $2 / block
            printf "%d of that no multicast (%.4f), ", $4, $4 / block
            printf "received %d (%.4f of %d blocks)\n", $3, $3 / block / (hosts - 1), hosts - 1
            bad += $2 > 1.07 * block || $2 < block || $4 > 0.01 * block || $3 > 1.07 * (hosts - 1) * block
        }
        END { exit bad > 0 || NR != hosts }' "$tmp/$1.links" ||
        not_ok "$1: a host sends more than 1.07 of its block, or more than 0.01 that is no multicast" "$tmp/$1.log"
}

# A host's ranks share what arrives: it crosses the link once.
test_nodes() {
    local block=1048576

    count_others 1 2
    measure_links nodes 4 1 2 -- --hosts 1-2 --per-host 4 -- allgather:$block:2 pause allgather:$block:4 pause
    expect_offloaded nodes 8
    expect_links nodes $((4 * block)) 2
    forget_others 1 2
}

# expect_shared NAME: three of four ranks get what their host missed from the fourth, through shared memory.
expect_shared() {
    awk -v name="$1" -v shared="$(total "$1" shared)" -v recovered="$(total "$1" recovered)" -v payload="$mtu_payload" '
        BEGIN {
            share = shared / (recovered * payload)
            printf "%s: of %d recovered fragments %.2f came through shared memory\n", name, recovered, share
            exit share < 0.6
        }' || not_ok "$1: too little came through shared memory" "$tmp/$1.log"
}

# lose_on_node NAME RECEIVER: a host with four ranks misses much.
lose_on_node() {
    local name=$1 receiver=$2 block=1048576 percent=30

    cluster loss 2 "$percent" udp
    count_others 2
    measure_links "$name" 4 2 -- "multicast_receiver=$receiver" --hosts 1-4 --per-host 4 -- \
        allgather:$((block / 4)):2 pause allgather:$((block / 4)):4 pause
    cluster loss 2 0
    forget_others 2
    expect_offloaded "$name" 16
    awk -v block="$block" -v percent="$percent" '
        {
            times = ($3 / 1.06 - 3 * block) / (3 * block * percent / 100)
            printf "%s: of 3 blocks of %d bytes %d %% were lost: received %d, what was lost %.2f times\n",
                $1, block, percent, $3, times
        }
        END { exit NR != 1 || times > 2.5 || times < 0.9 }' "$tmp/$name.links" ||
        not_ok "$name: what was lost crosses the link more than once" "$tmp/$name.log"
}

# What a host has missed crosses its link once more, not once for each of its ranks, whoever receives there.
test_node_losses() {
    lose_on_node node-losses host
    lose_on_node rank-losses rank
    expect_shared rank-losses
}

# One rank of each host receives, wherever the others are in the communicator.
test_leaders() {
    local map

    for map in block cyclic; do
        gather "leaders-$map" --hosts 1-4 --per-host 3 --map "$map" -- "${cases[@]}" allgather:1048576 bcast:3000000:3
        expect_offloaded "leaders-$map" 12
        [ "$(grep -c ', 0 received,' "$tmp/leaders-$map.log")" -eq 8 ] ||
            not_ok "leaders-$map: 8 of 12 ranks were to receive nothing by multicast" "$tmp/leaders-$map.log"
    done
}

# Buffers in memory of devices, of leaders and of others, wherever these are; copies that fail on either.
test_devices() {
    local map settings=(multicast=udp device_staging=1M)

    compile_device
    for map in block cyclic; do
        expect_cluster_job "devices-$map" embedded "${settings[@]}" --hosts 1-2 --per-host 2 --map "$map" -- \
            device offloaded casts
        expect_cluster_job "leader-broken-$map" embedded "${settings[@]}" --hosts 1-2 --per-host 2 --map "$map" -- \
            device broken bcast
        expect_cluster_job "other-broken-$map" embedded "${settings[@]}" --hosts 1-2 --per-host 2 --map "$map" -- \
            device broken allgather blocking 3
        expect_cluster_job "small-broken-$map" embedded "${settings[@]}" --hosts 1-2 --per-host 2 --map "$map" -- \
            device broken allgather blocking 3 3
    done
    expect_cluster_job other-broken-away embedded "${settings[@]}" --hosts 1-2 --per-host 2 -- \
        device broken allgather nonblocking 1
    wrapper=()
}

# 8 hosts, 16 MiB in all. What is lost crosses links again: where all share two processors, some rank may not have been
# there to empty its buffers. Then once more.
test_traffic() {
    local block=2097152 try

    count_others 1 2 3 4 5 6 7 8
    for try in 1 2 3 4 5; do
        measure_links traffic 10 1 2 3 4 5 6 7 8 -- --hosts 1-8 -- allgather:$block:2 pause allgather:$block:10 pause
        expect_offloaded traffic 8
        if [ "$(total traffic lost)" -eq 0 ]; then
            break
        fi
        echo "traffic, $try: $(total traffic lost) fragments were lost"
    done
    expect_links traffic $block 8
    forget_others 1 2 3 4 5 6 7 8
}

# With what a kernel gives by default to who has no privileges (net.core.rmem_max is 212992 then), the window is as
# large as it may be: nothing is lost. About processors, as above.
test_small_buffers() {
    local try

    wrapper=(setpriv --bounding-set=-net_admin --inh-caps=-net_admin)
    for try in 1 2 3 4 5; do
        gather small-buffers multicast_staging=212992 --hosts 1-8 -- allgather:2097152:2 bcast:16777216:2
        [ "$(total small-buffers lost)" -ne 0 ] || break
        echo "small buffers, $try: $(total small-buffers lost) fragments were lost"
    done
    wrapper=()
    expect_offloaded small-buffers 8
    [ "$(total small-buffers lost)" -eq 0 ] || not_ok "fragments were lost five times" "$tmp/small-buffers.log"
}

# block MATCH HOST...: these do not get multicast datagrams any more, or not those that nft's MATCH is about.
block() {
    local host

    for host in "${@:2}"; do
        cluster exec "$host" nft -f - <<RULES
table inet block {
    chain input {
        type filter hook input priority 0; policy accept;
        iifname "eth0" ip daddr 224.0.0.0/4 $1 drop
    }
}
RULES
    done
}

unblock() {
    local host

    for host in "$@"; do
        cluster exec "$host" nft delete table inet block
    done
}

# expect_declined NAME RANKS: one line says why, and nothing was offloaded.
expect_declined() {
    local line="optcast: communicator .*does not carry multicast; Open MPI's own .* are used"

    [ "$(grep -c "$line" "$tmp/$1.log")" -eq 1 ] || not_ok "$1: there is not one line that says why" "$tmp/$1.log"
    [ "$(grep -c -E '^rank [0-9]+ host h[0-9]+: [1-9][0-9]* operations, 0 offloaded, ' "$tmp/$1.log")" -eq "$2" ] ||
        not_ok "$1: something was offloaded" "$tmp/$1.log"
}

test_blocked() {
    block '' 1 2 3 4
    gather blocked --hosts 1-4 -- allgather:100000:2 allgatherv:1000 bcast:100000
    unblock 1 2 3 4
    expect_declined blocked 4
    block '' 3
    gather blocked-one --hosts 1-4 -- allgather:100000:2 bcast:100000
    unblock 3
    expect_declined blocked-one 4
    # as on a way with a smaller MTU: there are no large ones
    block 'meta length > 1000' 4
    gather blocked-large --hosts 1-4 -- allgather:100000:2 bcast:100000
    unblock 4
    expect_declined blocked-large 4
}

all_begin() {
    [ "$(grep -c '^rank .*: begins' "$log")" -eq "$ranks" ]
}

# start_looping NAME ...: operations in the background, on h1 to h4; returns when they are at work.
start_looping() {
    log=$tmp/$1.log
    start_gather "$1" "${@:2}" --hosts 1-4 -- seconds=60 allgather:4194304
    wait_until 20 all_begin || not_ok "$1: the ranks do not begin" "$log"
    wait_until 20 has_line "$log" '^allgather:.* took' || not_ok "$1: no operation ends" "$log"
}

errors() {
    grep -c '^rank .*: error after ' "$log"
}

# True when so many ranks have got an error, or the launcher ends them: whichever is first. It may wait for a host
# without power itself.
is_over() {
    [ "$(errors)" -ge "$1" ] || has_line "$log" 'job has been aborted' || ! is_alive "$job"
}

# signal_rank HOST SIGNAL: to the rank there.
signal_rank() {
    # shellcheck disable=SC2016 # for the other shell
    cluster exec "$1" sh -c 'kill -s "$0" $(pgrep -x gather)' "$2"
}

# operations: that have ended so far.
operations() {
    grep -c '^allgather:.* took' "$log"
}

more_operations() {
    [ "$(operations)" -gt "$1" ]
}

# give_up_soon HOST...: the kernel there takes a host that does not answer for gone after some three seconds.
give_up_soon() {
    local host

    for host in "$@"; do
        cluster exec "$host" sh -c 'echo 3 >/proc/sys/net/ipv4/tcp_retries2'
    done
}

test_deaths() {
    local try

    ranks=4
    # the launcher sees that one is dead
    start_looping killed
    signal_rank 3 KILL
    wait_until 10 is_over 3 || not_ok "killed: the others go on" "$log"
    end_process "$job"
    # one that stands still is waited for
    start_looping stopped heartbeat_timeout=1
    for try in 1 2 3; do
        signal_rank 3 STOP
        sleep 3.3
        signal_rank 3 CONT || not_ok "stopped: it was ended" "$log"
        wait_until 20 more_operations "$(operations)" || not_ok "stopped: they do not go on" "$log"
        sleep "0.$((try * 3))"
    done
    [ "$(errors)" -eq 0 ] || not_ok "stopped: there is an error" "$log"
    end_process "$job"
    # a host without power: not a sign of it, but that nothing gets through to it
    give_up_soon 1 2 3
    start_looping power
    cluster kill 4
    wait_until 20 is_over 3 || not_ok "power: the others go on" "$log"
    end_process "$job"
}

# Both get all datagrams of the other one, which has other contents.
test_two_jobs() {
    local same=(multicast_address=239.192.7.7 multicast_port=9007 multicast_groups=1)
    local mixture=(seconds=6 allgather:30000 bcast:20000 allgatherv:50000 allgather:400000)

    start_gather first "${same[@]}" --hosts 1-3 -- contents=1 "${mixture[@]}"
    start_gather second "${same[@]}" --hosts 2-4 -- contents=2 "${mixture[@]}"
    wait "${started[-2]}" || not_ok "the first of two jobs" "$tmp/first.log"
    wait "${started[-1]}" || not_ok "the second of two jobs" "$tmp/second.log"
    expect_offloaded first 3
    expect_offloaded second 3
}

begin_cluster_test allgather
command -v nft >/dev/null || skip "no nft; install nftables"
compile gather
make_cluster --hosts 8 --rate "$rate"
[ $# -gt 0 ] || set -- "${all_parts[@]}"
for part in "$@"; do
    begin=$SECONDS
    "test_$part"
    echo "$part: $((SECONDS - begin)) s"
done
echo "ok allgather: $*"
