#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that optcast-info --multicast tells the truth about networks that carry multicast, flood, lose it in one
# direction, or only carry small datagrams; that it names the hosts; and that it ends if a host does not come.
# usage: test_survey.sh [PART...] | --list; without arguments all parts
# Test: default 240 parts
set -eu

all_parts=(launched flooding unprivileged dropped unjoined sizes late losses absent strangers)
if [ "${1:-}" = --list ]; then
    echo "${all_parts[*]}"
    exit 0
fi

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

hosts=4
probes=32
info=$BUILD/optcast-info
wrapper=()

new_cluster() {
    cluster down
    make_cluster --hosts "$hosts" "$@"
}

# host_info K ARGUMENT...: a process of it on that host; its time is limited.
host_info() {
    local k=$1

    shift
    timeout --foreground -k 10 "${TIME_LIMIT:-100}" "$REPO/tests/cluster/cluster" exec --name "$cluster_name" "$k" \
        "${wrapper[@]}" "$info" --multicast "$@" </dev/null
}

# survey NAME STATUS [ARGUMENT...]: by hand on all hosts, with h1 as the coordinator; its output is in $tmp/NAME.log, and
# that of the others in $tmp/NAME-K.log. All others have to end well.
survey() {
    local name=$1 expected=$2 status=0 k pids=() common=(--coordinator h1 --token "word-$$" --wait 40)

    shift 2
    for k in $(seq 2 "$hosts"); do
        host_info "$k" "${common[@]}" "$@" >"$tmp/$name-$k.log" 2>&1 &
        pids+=($!)
    done
    host_info 1 "${common[@]}" --hosts "$hosts" "$@" >"$tmp/$name.log" 2>&1 || status=$?
    for k in "${pids[@]}"; do
        wait "$k" || not_ok "$name: a host that is not the coordinator fails" "$tmp/$name.log" "$tmp/$name"-*.log
    done
    [ "$status" -eq "$expected" ] || not_ok "$name: status $status, not $expected" "$tmp/$name.log"
}

# says NAME LINE: once, as a whole line.
says() {
    [ "$(grep -c -E -x -e "$2" "$tmp/$1.log")" -eq 1 ] || not_ok "$1: no line, or not one, with '$2'" "$tmp/$1.log"
}

# has_only NAME [KIND...]: faults and flaws of these kinds, and no others.
has_only() {
    local found

    found=$(sed -n -E 's/^optcast:multicast:(fault|flaw):([a-z]+):.*/\2/p' "$tmp/$1.log" | sort | tr '\n' ' ')
    [ "$found" = "$(printf '%s\n' "${@:2}" | sort | sed '/^$/d' | tr '\n' ' ')" ] ||
        not_ok "$1: it finds '$found', not '${*:2}'" "$tmp/$1.log"
}

# expect_lost NAME SMALL FULL FROM TO: so many of those sent one by one.
expect_lost() {
    says "$1" "optcast:multicast:pair:h$4:h$5:lost_small:$2(\.0000)?"
    says "$1" "optcast:multicast:pair:h$4:h$5:lost_full:$3(\.0000)?"
}

# expect_pairs NAME: of all pairs, nothing is lost but for those with host ODD (0: none), from and to which SMALL and FULL
# are lost in the directions that are named: "from", "to", or both.
expect_pairs() {
    local name=$1 odd=$2 small=$3 full=$4 directions=$5 s r

    for s in $(seq "$hosts"); do
        for r in $(seq "$hosts"); do
            [ "$s" -ne "$r" ] || continue
            if { [ "$s" -eq "$odd" ] && [[ $directions = *from* ]]; } ||
                { [ "$r" -eq "$odd" ] && [[ $directions = *to* ]]; }; then
                expect_lost "$name" "$small" "$full" "$s" "$r"
            else
                expect_lost "$name" 0 0 "$s" "$r"
            fi
        done
    done
}

# expect_rates NAME: in bursts nothing is lost, and no link is faster than it is shaped to be, but for its burst.
expect_rates() {
    [ "$(grep -c -E '^optcast:multicast:pair:h[0-9]+:h[0-9]+:lost_of_bursts:0\.0000$' "$tmp/$1.log")" -eq \
        $((hosts * (hosts - 1))) ] || not_ok "$1: bursts lose datagrams" "$tmp/$1.log"
    awk -F : '/:rate_mbit:/ && $NF > 0 { known++; if ($NF > 400) exit 1 } END { if (!known) exit 1 }' "$tmp/$1.log" ||
        not_ok "$1: rates of links with 200 Mbit/s are above 400, or all are unknown" "$tmp/$1.log"
}

# in_switch COMMAND...: with the interfaces of the switch.
in_switch() {
    local holder

    # the only process that the holder has started
    holder=$(tr -d ' ' <"/proc/$(cat "${OPTCAST_CLUSTERS:-/run/optcast-clusters}/$cluster_name/pid.switch")/task/$(
        cat "${OPTCAST_CLUSTERS:-/run/optcast-clusters}/$cluster_name/pid.switch")/children")
    nsenter --target "$holder" --net "$@"
}

# drop_on HOST HOOK: on that host, all datagrams of the job's port, as they come in or go out.
drop_on() {
    command -v nft >/dev/null || skip "no nft (Debian: nftables)"
    cluster exec "$1" nft "add table inet drops; add chain inet drops datagrams { type filter hook $2 priority 0; };
        add rule inet drops datagrams udp dport 8919 drop" >"$tmp/error" 2>&1 || not_ok "no filter on h$1" "$tmp/error"
}

# By mpirun, without arguments, and also with more processes than hosts.
test_launched() {
    local status=0

    "$info" --help | grep -q -e '--multicast' || not_ok "its help does not have --multicast"
    new_cluster --snooping
    run_launched launched --per-host 1
    has_only launched
    says launched 'optcast:multicast:usable:yes'
    says launched 'optcast:multicast:hosts:4'
    expect_pairs launched 0 0 0 none
    expect_rates launched
    says launched 'optcast:multicast:host:h2:flooded:no'
    says launched 'optcast:multicast:host:h4:flooded:no'
    says launched 'optcast:multicast:host:h3:interface:eth0'
    says launched 'optcast:multicast:host:h3:address:10\.77\.0\.3'
    says launched 'optcast:multicast:host:h3:mtu:1500'
    says launched 'optcast:multicast:host:h3:cap_net_raw:yes'
    run_launched several --per-host 2
    says several 'optcast:multicast:usable:yes'
    says several 'optcast:multicast:hosts:4'
    # settings come as those of a job do
    run_launched set --per-host 1 --mca coll_optcast_multicast_address 239.192.7.0 --mca coll_optcast_multicast_port 9001
    says set 'optcast:multicast:address:239\.192\.7\.0'
    says set 'optcast:multicast:port:9001'
    # for people
    cluster_launch --per-host 1 -- "$info" --multicast >"$tmp/people.log" 2>&1 || status=$?
    [ "$status" -eq 0 ] || not_ok "people: status $status" "$tmp/people.log"
    says people '  multicast    usable'
    says people '  h2, h4: no'
}

# cluster_launch [OPTION...] -- COMMAND...
cluster_launch() {
    local options=()

    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    BUILD=$BUILD OMPI_MPIRUN=$mpirun timeout --foreground -k 10 "${TIME_LIMIT:-100}" "$REPO/tests/cluster/cluster" \
        run --name "$cluster_name" "${options[@]}" "${@:2}" </dev/null
}

# run_launched NAME [OPTION...]: has to be usable without flaws.
run_launched() {
    cluster_launch "${@:2}" -- "$info" --parsable --multicast >"$tmp/$1.log" 2>&1 ||
        not_ok "$1: status $? of optcast-info under mpirun" "$tmp/$1.log"
}

test_flooding() {
    new_cluster
    survey flooding 1 --parsable
    has_only flooding flood
    says flooding 'optcast:multicast:flaw:flood:the network floods: .* of which h2, h4 see it; .*'
    says flooding 'optcast:multicast:usable:flawed'
    says flooding 'optcast:multicast:host:h2:flooded:yes'
    says flooding 'optcast:multicast:host:h4:flooded:yes'
    expect_pairs flooding 0 0 0 none
    new_cluster --snooping --no-querier
    survey no-querier 1 --parsable
    has_only no-querier flood
}

# Who may not look at packets looks at counters; if somebody was busy, it says so, but never that there is a flood.
test_unprivileged() {
    local try

    new_cluster --snooping
    wrapper=(setpriv --bounding-set=-net_raw)
    for try in 1 2 3 4; do
        survey_any unprivileged
        ! grep -q -x 'optcast:multicast:usable:yes' "$tmp/unprivileged.log" || break
        has_only unprivileged blind
        echo "unprivileged: in test $try nobody looked in time"
    done
    wrapper=()
    says unprivileged 'optcast:multicast:usable:yes'
    says unprivileged 'optcast:multicast:host:h2:cap_net_raw:no'
    says unprivileged 'optcast:multicast:host:h2:flooded:(no|blind|unknown)'
}

# survey_any NAME: whatever the status.
survey_any() {
    (survey "$1" 0 --parsable) || (survey "$1" 1 --parsable) || not_ok "$1: neither 0 nor 1" "$tmp/$1.log"
}

test_dropped() {
    new_cluster --snooping
    drop_on 3 input
    survey deaf 3 --parsable
    has_only deaf nothing
    says deaf 'optcast:multicast:fault:nothing:what is sent by any other host does not reach h3'
    says deaf 'optcast:multicast:usable:no'
    expect_pairs deaf 3 "$probes" "$probes" to
    cluster exec 3 nft 'delete table inet drops'
    drop_on 2 output
    survey mute 3 --parsable
    has_only mute nothing
    says mute 'optcast:multicast:fault:nothing:what is sent by h2 does not reach any other host'
    expect_pairs mute 2 "$probes" "$probes" from
    for host in 1 3 4; do
        drop_on "$host" output
    done
    survey none 3 --parsable
    has_only none nothing
    says none 'optcast:multicast:fault:nothing:no multicast passes between any two hosts: .*'
}

# A host that has no such interface.
test_unjoined() {
    new_cluster --snooping
    cluster exec 4 sh -c 'ip link set eth0 down && ip link set eth0 name eth4 && ip link set eth4 up &&
        ip route replace 10.77.0.0/24 dev eth4 src 10.77.0.4'
    survey unjoined 3 --parsable --set multicast_interface=eth0
    has_only unjoined join
    says unjoined 'optcast:multicast:fault:join:h4 takes no part: the network interface "eth0" is not there; .*'
    says unjoined 'optcast:multicast:host:h4:joined:no'
    expect_lost unjoined 0 0 1 3
}

# A port of the switch that carries only small datagrams; and hosts with different MTUs, which is no fault.
test_sizes() {
    new_cluster --snooping
    in_switch ip link set p3 mtu 1000
    survey small 3 --parsable
    has_only small size size
    says small 'optcast:multicast:fault:size:small datagrams from h3 reach any other host, and none of 1500 bytes .*'
    says small 'optcast:multicast:fault:size:small datagrams from any other host reach h3, and none of 1500 bytes .*'
    expect_pairs small 3 0 "$probes" from,to
    cluster exec 3 ip link set eth0 mtu 1000
    survey different 1 --parsable
    has_only different mtu
    says different 'optcast:multicast:flaw:mtu:hosts have different MTUs: h3 1000, and h1 1500; .*'
    says different 'optcast:multicast:datagram:972'
    expect_pairs different 0 0 0 none
}

# A switch that lets a host in late: all that the first one sends one by one is lost, once.
test_late() {
    command -v nft >/dev/null || skip "no nft (Debian: nftables)"
    new_cluster --snooping
    cluster exec 3 nft "add table inet drops; add chain inet drops datagrams { type filter hook input priority 0; };
        add rule inet drops datagrams ip saddr 10.77.0.1 udp dport 8919 numgen inc mod 1000000 < $((2 * probes)) counter \
        drop" >"$tmp/error" 2>&1 || not_ok "no filter on h3" "$tmp/error"
    survey late 0 --parsable
    cluster exec 3 nft list table inet drops | grep -q "packets $((2 * probes)) " ||
        not_ok "nothing was dropped" "$tmp/late.log"
    has_only late
    expect_pairs late 0 0 0 none
}

test_losses() {
    new_cluster --snooping
    cluster loss 2 30 udp
    survey losses 1 --parsable
    has_only losses loss
    says losses 'optcast:multicast:flaw:loss:datagrams that are sent one by one get lost between 3 pairs of hosts, .* to h2'
    # bursts that the switch has no room for: single datagrams pass
    new_cluster --snooping
    in_switch tc qdisc replace dev p4 root tbf rate 50mbit burst 4000 limit 100000
    survey bursts 1 --parsable
    has_only bursts burst
    says bursts 'optcast:multicast:flaw:burst:bursts lose datagrams between 3 pairs of hosts, .* to h4: .*'
    expect_pairs bursts 0 0 0 none
}

# A host that does not come, and one that goes.
test_absent() {
    local begin=$SECONDS status=0

    new_cluster --snooping
    host_info 2 --coordinator h1 --token t --wait 5 >"$tmp/other.log" 2>&1 &
    host_info 1 --coordinator h1 --token t --wait 5 --hosts 3 >"$tmp/late.log" 2>&1 || status=$?
    [ "$status" -eq 4 ] || not_ok "late: status $status, not 4" "$tmp/late.log"
    says late 'optcast-info: h1: --multicast: 2 of 3 hosts have come in time: h1, h2; start one process on each host, .*'
    status=0
    wait $! || status=$?
    [ "$status" -eq 4 ] || not_ok "other: status $status, not 4" "$tmp/other.log"
    says other 'optcast-info: h2: --multicast: the coordinator says: 2 of 3 hosts have come in time: .*'
    [ $((SECONDS - begin)) -lt 60 ] || not_ok "late: it took $((SECONDS - begin)) s to end after 5" "$tmp/late.log"
    status=0
    host_info 1 --hosts 3 --wait 1 >"$tmp/alone.log" 2>&1 || status=$?
    [ "$status" -eq 4 ] || not_ok "alone: status $status, not 4" "$tmp/alone.log"
    says alone '  optcast-info --multicast --coordinator h1 --token [0-9a-f]{32}'
    status=0
    host_info 2 --coordinator h1 --token t --wait 1 >"$tmp/nobody.log" 2>&1 || status=$?
    [ "$status" -eq 4 ] || not_ok "nobody: status $status, not 4" "$tmp/nobody.log"
    says nobody 'optcast-info: h2: --multicast: no coordinator answers at 10\.77\.0\.1:8920: Connection refused'
}

# Others that connect, with wrong tokens or with garbage, or that say nothing, keep nobody from anything.
test_strangers() {
    new_cluster --snooping
    cluster exec 4 "$PYTHON" - <<'SEND' >"$tmp/stranger.log" 2>&1 &
import os, socket, struct, time
end = time.time() + 60
silent, count = [], 0
while time.time() < end:
    try:
        sock = socket.create_connection(("10.77.0.1", 8920), 1)
    except OSError:
        if count:
            break
        time.sleep(0.01)
        continue
    count += 1
    kind = count % 5
    if kind == 0 and len(silent) < 40:
        silent.append(sock)
        continue
    body = struct.pack("<HBB", 0x534f, 1, 1)
    try:
        sock.sendall({0: os.urandom(2000),
                      1: struct.pack("<I", 0xffffffff) + bytes(100),
                      2: struct.pack("<I", 4) + body,
                      3: struct.pack("<I", 6 + 70) + body + struct.pack("<H", 70) + b"A" * 70,
                      4: struct.pack("<I", 4 + 7 + 6 + 8) + body + struct.pack("<H", 5) + b"wrong"
                         + struct.pack("<H", 4) + b"\x1b[2J" + bytes(8)}[kind])
    except OSError:
        pass
    sock.close()
    time.sleep(0.002)
print("connections", count)
SEND
    started+=($!)
    stranger=$!
    survey strangers 0 --parsable
    has_only strangers
    expect_pairs strangers 0 0 0 none
    wait "$stranger" || not_ok "the stranger fails" "$tmp/stranger.log"
    [ "$(sed -n 's/^connections //p' "$tmp/stranger.log")" -ge 10 ] || not_ok "too few strangers came" "$tmp/stranger.log"
}

begin_cluster_test survey
[ -x "$info" ] || not_ok "no $info: run make in $BUILD"
[ $# -gt 0 ] || set -- "${all_parts[@]}"
for part in "$@"; do
    begin=$SECONDS
    "test_$part"
    echo "$part: $((SECONDS - begin)) s"
done
echo "ok survey: $*"
