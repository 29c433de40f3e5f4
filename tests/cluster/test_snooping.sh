#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that multicast is not used where it would reach hosts that have nothing to do with it: on switches that
# prune and that do not, by ranks that may look at packets and by ranks that may not.
# usage: test_snooping.sh [PART...] | --list; without arguments all parts
# Test: default 240 parts
set -eu

all_parts=(pruning flooding no_querier blind noise communicators away one_host rows budget servers second_switch)
if [ "${1:-}" = --list ]; then
    for part in "${all_parts[@]}"; do
        case $part in
        noise) echo "$part:all" ;; # it takes three minutes
        *) echo "$part" ;;
        esac
    done
    exit 0
fi

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

# The last host has no rank. It takes part in nothing, and so nothing is to reach it.
hosts=5
ranks=$((hosts - 1))
block=1048576
times=5
# Of a whole job a bystander may get its flood test, on switches that flood, and what set-up broadcasts.
most_of_bystander=300000
flooded='optcast: communicator .*: the network delivers multicast to hosts that have not joined: h[24] sees on .*'
exposed_line='the network delivers multicast to servers, which have not joined it: '
blind='optcast: communicator .*: no host can tell whether the network delivers multicast only to those who join, .*'

# as PRIVILEGED: whether ranks may look at packets from now on.
as() {
    wrapper=()
    if [ "$1" = unprivileged ]; then
        wrapper=(setpriv --bounding-set=-net_raw)
        # shellcheck disable=SC2016 # for the other shell
        ! cluster exec 1 "${wrapper[@]}" "$PYTHON" -c 'import socket; socket.socket(socket.AF_PACKET)' 2>"$tmp/error" ||
            not_ok "ranks can look at packets without the right to do so"
    fi
}

# gather NAME [SETTING=VALUE...]: some Allgathers on all hosts but the last one; sets bystander to what that got, in bytes.
gather() {
    local name=$1 before

    shift
    before=$(received_bytes "$hosts")
    expect_cluster_job "$name" embedded "$@" --hosts "1-$ranks" -- gather "allgather:$block:$times"
    bystander=$(($(received_bytes "$hosts") - before))
    has_line "$tmp/$name.log" '^ok gather$' || not_ok "$name: it said nothing" "$tmp/$name.log"
    echo "$name: the host beside it got $bystander bytes"
}

# attended COMMAND NAME ARGUMENT...: until ranks without privileges have looked: on a busy machine they may be kept from
# that, and say so.
attended() {
    local try

    for try in 1 2 3 4 5 6; do
        "$@"
        has_line "$tmp/$2.log" "$blind" || return 0
        echo "$2: in test $try nobody looked in time"
    done
}

received_bytes() {
    cluster stats | awk -v host="h$1" '$1 == host { print $3 }'
}

# expect_offloaded NAME: all of it, by multicast datagrams, and nobody complains.
expect_offloaded() {
    [ "$(grep -c -E "^rank [0-9]+ host h[0-9]+: ([0-9]+) operations, \1 offloaded, [1-9][0-9]* sent, [1-9]" "$tmp/$1.log")" \
        -eq "$ranks" ] || not_ok "$1: not all was offloaded" "$tmp/$1.log"
    ! has_line "$tmp/$1.log" "Open MPI's own Allgather and Bcast are used" || not_ok "$1: it complains" "$tmp/$1.log"
}

expect_not_used() {
    [ "$(grep -c -E "^rank [0-9]+ host h[0-9]+: [1-9][0-9]* operations, 0 offloaded, 0 sent, 0 received, " "$tmp/$1.log")" \
        -eq "$ranks" ] || not_ok "$1: something was offloaded" "$tmp/$1.log"
}

# expect_left NAME LINE: nothing was offloaded, and LINE, once, says why; the bystander has a quiet life.
expect_left() {
    expect_not_used "$1"
    [ "$(grep -c -E "$2; Open MPI's own Allgather and Bcast are used" "$tmp/$1.log")" -eq 1 ] ||
        not_ok "$1: there is not one line that says why" "$tmp/$1.log"
    expect_quiet "$1"
}

expect_quiet() {
    [ "$bystander" -le "$most_of_bystander" ] ||
        not_ok "$1: a host that has no part in it got $bystander bytes" "$tmp/$1.log"
}

new_cluster() {
    cluster down
    make_cluster --hosts "$hosts" "$@"
}

test_pruning() {
    local who

    new_cluster --snooping
    for who in privileged unprivileged; do
        as "$who"
        attended gather "pruning-$who" multicast=auto
        expect_offloaded "pruning-$who"
        expect_quiet "pruning-$who"
    done
}

test_flooding() {
    local who

    new_cluster
    for who in privileged unprivileged; do
        as "$who"
        attended gather "flooding-$who" multicast=auto
        expect_left "flooding-$who" "$flooded"
    done
    # somebody has allowed it, and it is what it is
    gather allowed multicast=udp
    expect_offloaded allowed
    [ "$bystander" -gt $((ranks * block * times)) ] || not_ok "allowed: the switch does not flood" "$tmp/allowed.log"
}

# A switch that would prune, and does not know whom.
test_no_querier() {
    new_cluster --snooping --no-querier
    as privileged
    gather no-querier multicast=auto
    expect_left no-querier "$flooded"
}

# Interfaces of the second floor drop what nobody has joined before they count it.
test_blind() {
    local host

    new_cluster --snooping
    for host in $(seq "$hosts"); do
        cluster exec "$host" sh -c "ip link add mv0 link eth0 type macvlan mode bridge &&
            ip addr add 10.78.0.$host/24 dev mv0 && ip link set mv0 up" 2>"$tmp/error" ||
            skip "the kernel has no macvlan: $(head -n 1 "$tmp/error")"
    done
    as unprivileged
    gather blind multicast=auto multicast_interface=mv0
    expect_left blind "$blind"
    as privileged
    gather seeing multicast=auto multicast_interface=mv0
    expect_offloaded seeing
    as unprivileged
    gather told multicast=udp multicast_interface=mv0
    expect_offloaded told
}

# start_noise MILLISECONDS: bursts of 100 multicast datagrams, every so often, from the host beside the job to an address
# that all hosts have joined. Sets noise.
start_noise() {
    cluster exec "$hosts" "$PYTHON" - "$1" <<'SEND' &
import socket, sys, time
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    for _ in range(100):
        sock.sendto(bytes(50), ("239.77.7.7", 7707))
    time.sleep(int(sys.argv[1]) / 1000)
SEND
    noise=$!
    started+=("$noise")
    for host in $(seq "$ranks"); do
        cluster exec "$host" "$PYTHON" -c 'import socket, time
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton("239.77.7.7") + bytes(4))
time.sleep(60)' &
        started+=($!)
    done
}

# Multicast of others is not taken for a flood, and does not hide one, whoever looks.
test_noise() {
    local pause

    new_cluster --snooping
    start_noise 5
    as privileged
    gather noise-pruned multicast=auto
    expect_offloaded noise-pruned
    as unprivileged
    gather noise-unprivileged multicast=auto
    ! has_line "$tmp/noise-unprivileged.log" "$flooded" || not_ok "noise: it is taken for a flood" "$tmp/noise-unprivileged.log"
    for pause in 5 13 40; do
        new_cluster
        start_noise "$pause"
        as privileged
        gather "noise-flooded-$pause" multicast=auto
        expect_not_used "noise-flooded-$pause"
        has_line "$tmp/noise-flooded-$pause.log" "$flooded" ||
            not_ok "noise: it hides a flood" "$tmp/noise-flooded-$pause.log"
        as unprivileged
        gather "noise-floods-$pause" multicast=auto
        expect_not_used "noise-floods-$pause"
    done
}

# first_operations NAME [SETTING=VALUE...] -- ARGUMENT...
first_operations() {
    local name=$1 words=()

    shift
    while [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    expect_cluster_job "$name" embedded multicast=auto "${words[@]}" -- first_operations "${@:2}"
    has_line "$tmp/$name.log" '^ok first_operations$' || not_ok "$name: it said nothing" "$tmp/$name.log"
    grep '^communicator ' "$tmp/$name.log"
}

# has_fates NAME FATE...: "offloaded" or "left", of each communicator.
has_fates() {
    [ "$(sed -n -E 's/^communicator [0-9]+: [0-9]+ ms, //p' "$tmp/$1.log" | tr '\n' ' ')" = "${*:2} " ]
}

expect_fates() {
    has_fates "$@" || not_ok "$1: they are not: ${*:2}" "$tmp/$1.log"
}

# times_of NAME: of communicators, in milliseconds, the first one first.
times_of() {
    sed -n -E 's/^communicator [0-9]+: ([0-9]+) ms, .*/\1/p' "$tmp/$1.log"
}

# The test is about hosts: one communicator has it, the others know. It takes half a second.
test_communicators() {
    local least

    new_cluster --snooping
    as unprivileged
    attended first_operations comms --hosts "1-$ranks" --per-host 2 -- all all less all all
    expect_fates comms offloaded offloaded offloaded offloaded offloaded
    least=$(times_of comms | tail -n 4 | sort -n | head -n 1)
    [ "$least" -lt 450 ] || not_ok "comms: later communicators take as long as the first one" "$tmp/comms.log"
    [ "$(times_of comms | head -n 1)" -gt 450 ] || not_ok "comms: there was no test" "$tmp/comms.log"
    # a host that nobody knows is looked at
    attended first_operations grows --hosts "1-$ranks" -- less less all all
    expect_fates grows offloaded offloaded offloaded offloaded
    new_cluster
    attended first_operations floods --hosts "1-$ranks" --per-host 2 -- all all less
    expect_fates floods left left left
    [ "$(grep -c -E "$flooded" "$tmp/floods.log")" -eq 1 ] || not_ok "floods: there is not one line" "$tmp/floods.log"
}

# A rank that is elsewhere during the test: with counters it cannot tell afterwards, packets wait for it, and its helper
# thread looks meanwhile.
test_away() {
    local stays

    new_cluster --snooping
    as privileged
    first_operations away --hosts 1-3 -- away=1 stays=0.25 away all
    expect_fates away offloaded offloaded
    as unprivileged
    # it has to leave when all have joined, and before the end
    for stays in 0.20 0.25 0.30 0.35 0.15 0.40; do
        first_operations elsewhere progress=mpi --hosts 1-2 --per-host 2 -- away=2 stays=$stays away all all
        ! has_fates elsewhere left offloaded offloaded || break
    done
    expect_fates elsewhere left offloaded offloaded
    [ "$(grep -c -E "$blind" "$tmp/elsewhere.log")" -eq 1 ] || not_ok "elsewhere: there is not one line" "$tmp/elsewhere.log"
    attended first_operations helped progress=thread --hosts 1-2 --per-host 2 -- away=2 stays=0.25 away all all
    expect_fates helped offloaded offloaded offloaded
    # who sends comes late, and so does who has joined
    attended first_operations late --hosts 1-3 -- away=0 away away=2 away
    expect_fates late offloaded offloaded
}

# What ranks of one host say to each other does not leave it, and needs no test.
test_one_host() {
    local before sent

    new_cluster
    as unprivileged
    before=$(cluster stats | awk '$1 == "h1" { print $2 }')
    first_operations one-host --hosts 1 --per-host 4 -- all all all
    sent=$(($(cluster stats | awk '$1 == "h1" { print $2 }') - before))
    expect_fates one-host offloaded offloaded offloaded
    [ "$(times_of one-host | sort -n | head -n 1)" -lt 450 ] || not_ok "one-host: it takes its time" "$tmp/one-host.log"
    echo "one-host: h1 sent $sent bytes"
    [ "$sent" -le "$most_of_bystander" ] || not_ok "one-host: datagrams leave the host" "$tmp/one-host.log"
}

# take_received: what each of the hosts of rows has got so far, "HOST BYTES" a line.
take_received() {
    cluster stats | awk -v hosts="$row_hosts" '{ number = substr($1, 2) } /^h[0-9]/ && number <= hosts { print $1, $3 }'
}

# rows NAME [SETTING=VALUE...] -- WORD...: sets worst to how much of what a host has got is not for it, in per mille: all but
# the blocks of others on its communicators, with headers and codes. A rank has so many other ranks on them, of which
# each sends row_bytes in all.
rows() {
    local name=$1 words=() own

    shift
    while [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    shift
    take_received >"$tmp/before"
    expect_cluster_job "$name" embedded multicast=udp "${words[@]}" --hosts "1-$row_hosts" --per-host "$row_per_host" -- \
        rows per_host="$row_per_host" "$@"
    take_received >"$tmp/after"
    has_line "$tmp/$name.log" '^ok rows$' || not_ok "$name: it said nothing" "$tmp/$name.log"
    # of 1514 bytes of a frame 1432 are data
    own=$((row_per_host * row_bytes * 1514 / 1432))
    worst=$(paste -d ' ' "$tmp/before" "$tmp/after" | awk -v own="$own" '
        { got = $4 - $2; part = 1000 * (got - own) / got; worst = part > worst ? part : worst }
        END { printf "%d", worst }')
    [ "$row_bytes" -eq 0 ] || echo "$name: of what a host gets, at most $((worst / 10)).$((worst % 10)) % is not for it"
}

# expect_told NAME WORD PATTERN: each rank has said so after this word.
expect_told() {
    [ "$(grep -c -E "^rank [0-9]+ host h[0-9]+: $2: $3\$" "$tmp/$1.log")" -eq $((row_hosts * row_per_host)) ] ||
        not_ok "$1: not all ranks say after $2: $3" "$tmp/$1.log"
}

# expect_common NAME COUNT: so many communicators say that they have no address of their own.
expect_common() {
    [ "$(grep -c 'udp multicast 239[0-9.]* (common to the job) on ' "$tmp/$1.log")" -eq "$2" ] ||
        not_ok "$1: not $2 communicators use the common address" "$tmp/$1.log"
}

# What the ranks of two hosts say to each other does not reach other hosts, and a rank hears nothing of communicators
# of other ranks of its host.
test_rows() {
    local row_hosts=8 row_per_host=2 row_bytes=$((24 * 262144))

    cluster down
    make_cluster --hosts 8 --snooping
    rows rows -- rows=2 gather=262144:24
    [ "$worst" -le 50 ] || not_ok "rows: more than 5 % of what a host gets is not for it" "$tmp/rows.log"
    expect_told rows gather=262144:24 '2 joined, 24 offloaded, 0 foreign'
    # the same with one address for all
    rows flooded multicast_groups=1 -- rows=2 gather=262144:24
    [ "$worst" -gt 500 ] || not_ok "flooded: an address for all floods nobody, so this test says nothing" "$tmp/flooded.log"
    expect_told flooded gather=262144:24 '1 joined, 24 offloaded, [1-9][0-9]* foreign'
    # each rank with each of the other hosts: 28 pairs of hosts
    row_per_host=1 row_bytes=$((7 * 6 * 262144))
    rows pairs -- rounds=7 gather=262144:6
    [ "$worst" -le 50 ] || not_ok "pairs: more than 5 % of what a host gets is not for it" "$tmp/pairs.log"
    expect_told pairs gather=262144:6 '7 joined, 42 offloaded, 0 foreign'
}

# Communicators of the same ranks share an address; who has no room uses the common one; what is not used any more is
# left, but for two.
test_budget() {
    local row_hosts=4 row_per_host=1 row_bytes=0

    cluster down
    make_cluster --hosts 4 --snooping
    rows shared -- rounds=3 gather=65536:2 again gather=65536:2 free rounds=2 gather=65536:1
    expect_told shared gather=65536:2 '3 joined, 6 offloaded, 0 foreign'
    expect_told shared gather=65536:2 '3 joined, 24 offloaded, 0 foreign'
    expect_told shared free '2 joined, 24 offloaded, 0 foreign'
    expect_common shared 0
    # room for two, of which those that came first have each their own
    rows crowded multicast_groups=3 -- rounds=3 gather=65536:2 again gather=65536:2 free rounds=3 gather=65536:1
    expect_told crowded free '2 joined, 24 offloaded, [1-9][0-9]* foreign'
    expect_told crowded gather=65536:1 '3 joined, 27 offloaded, [1-9][0-9]* foreign'
    expect_common crowded 8
    # a given range, as it was before
    rows given multicast_groups=4 multicast_address=239.192.7.1 -- rounds=3 gather=65536:2
    expect_told given gather=65536:2 '[1-4] joined, 6 offloaded, [0-9]+ foreign'
}

# exposed NAME [SETTING=VALUE...] [-- WORD...]: Allgathers by multicast beside Allreduces by the servers, on the first three hosts.
exposed() {
    local name=$1 words=()

    shift
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    expect_cluster_job "$name" "$servers" "${words[@]}" --hosts 1-3 -- exposed "${@:2}"
    has_line "$tmp/$name.log" '^ok exposed$' || not_ok "$name: it said nothing" "$tmp/$name.log"
    [ "$(grep -c -E '^rank [0-2]: ([1-9][0-9]*) rounds, \1 gathered, \1 reduced, ' "$tmp/$name.log")" -eq 3 ] ||
        not_ok "$name: not all was offloaded" "$tmp/$name.log"
}

# expect_flooded NAME COUNT: rank 0 has found so many servers flooded, and if there are any, one line of all says so.
expect_flooded() {
    has_line "$tmp/$1.log" "^rank 0: .* $2 flooded\$" || not_ok "$1: rank 0 does not count $2 flooded servers" "$tmp/$1.log"
    [ "$(grep -c -E '^rank [12]: .* 0 flooded$' "$tmp/$1.log")" -eq 2 ] ||
        not_ok "$1: others than rank 0 have looked" "$tmp/$1.log"
    [ "$(grep -c "$exposed_line" "$tmp/$1.log")" -eq $(($2 > 0)) ] || not_ok "$1: there is not one line, or none" "$tmp/$1.log"
}

# saw NAME VIEW COUNT: so many servers have answered so, as the log of rank 0 says at level debug.
saw() {
    [ "$(grep -c "flood test: server 10.77.0.[45]:[0-9]* says $2: eth0" "$tmp/$1.log")" -eq "$3" ] ||
        not_ok "$1: not $3 servers say $2" "$tmp/$1.log"
}

# is_under_way LOG: a server has begun to watch, and none has said what it has seen.
is_under_way() {
    has_line "$1" 'flood test: server .* says 1: ' && ! has_line "$1" 'flood test: server .* says [234]: '
}

# Whether multicast reaches servers, which have no rank on their hosts. What a test finds changes nothing else.
test_servers() {
    local names='10.77.0.[45]:[0-9]* sees it on eth0, 10.77.0.[45]:[0-9]* on eth0; IGMP snooping' seconds status job cut=0

    new_cluster
    start_servers 4 5
    as privileged
    exposed flooded-servers multicast=udp
    expect_flooded flooded-servers 2
    has_line "$tmp/flooded-servers.log" "$exposed_line$names" || not_ok "servers: the line does not name them" "$tmp/flooded-servers.log"
    exposed helped-servers multicast=udp -- nonblocking=1 nap=0.05
    expect_flooded helped-servers 2
    exposed own-progress multicast=udp progress=mpi -- nap=0.01
    expect_flooded own-progress 2
    # one that ends before the test, in the middle of it, and when it is about to end
    wrapper=(env OMPI_MCA_coll_optcast_verbose=2)
    for seconds in 0.5 1.1 1.3 1.5 1.7 1.9 2.2; do
        exposed "ends-$seconds" multicast=udp -- seconds="$seconds"
        ! is_under_way "$tmp/ends-$seconds.log" || cut=$((cut + 1))
    done
    [ "$cut" -gt 0 ] || not_ok "servers: no job has ended during its test" "$tmp/ends-1.5.log"
    # a server that dies in the middle, of a test that takes seconds: there is an error, and an end
    status=0
    cluster_job "$servers" multicast=udp progress=mpi recovery=off --hosts 1-3 -- exposed seconds=60 nap=0.3 >"$tmp/dies.log" 2>&1 &
    job=$!
    started+=("$job")
    wait_until 60 has_line "$tmp/dies.log" 'flood test: server 10\.77\.0\.5:[0-9]* says 1: ' ||
        not_ok "servers: there is no test" "$tmp/dies.log"
    cluster signal 5 KILL
    wait "$job" || status=$?
    wrapper=()
    is_under_way "$tmp/dies.log" || not_ok "servers: the test was over when the server died" "$tmp/dies.log"
    [ "$status" -ne 0 ] || not_ok "servers: the job has not missed a server" "$tmp/dies.log"
    has_line "$tmp/dies.log" '^rank [0-2]: error after [1-9][0-9]* operations at .*10\.77\.0\.5:' ||
        not_ok "servers: no rank names the server that has died" "$tmp/dies.log"
    # rows and columns, of which each has a rank 0, and the job one that tests
    new_cluster
    start_servers 5
    expect_cluster_job rows-servers "$servers" multicast=udp --hosts 1-4 -- exposed columns=2
    has_line "$tmp/rows-servers.log" '^rank 0: .* 1 flooded$' || not_ok "servers: rank 0 has not looked" "$tmp/rows-servers.log"
    [ "$(grep -c -E '^rank [1-3]: .* 0 flooded$' "$tmp/rows-servers.log")" -eq 3 ] ||
        not_ok "servers: others than rank 0 have looked" "$tmp/rows-servers.log"
    [ "$(grep -c "$exposed_line" "$tmp/rows-servers.log")" -eq 1 ] || not_ok "servers: there is not one line" "$tmp/rows-servers.log"
    # switches that know who has joined
    new_cluster --snooping
    start_servers 4 5
    wrapper=(env OMPI_MCA_coll_optcast_verbose=2)
    exposed guarded-servers multicast=udp
    expect_flooded guarded-servers 0
    saw guarded-servers 3 2
    exposed auto-servers multicast=auto
    expect_flooded auto-servers 0
    saw auto-servers 3 2
    wrapper=()
}

# A switch that prunes, and behind it one that does not, with a rank and a server: what the rank has joined is passed on to
# that switch, and there to the server. The ranks' own test may see that, so they are told to multicast.
test_second_switch() {
    new_cluster --snooping
    cluster move 3 5
    start_servers 4 5
    as privileged
    wrapper=(env OMPI_MCA_coll_optcast_verbose=2)
    exposed second-switch multicast=udp
    wrapper=()
    expect_flooded second-switch 1
    has_line "$tmp/second-switch.log" "${exposed_line}10\\.77\\.0\\.5:[0-9]* sees it on eth0; IGMP snooping" ||
        not_ok "second-switch: the line does not name the server" "$tmp/second-switch.log"
    [ "$(grep -c 'flood test: server 10.77.0.4:[0-9]* says 3: eth0' "$tmp/second-switch.log")" -eq 1 ] ||
        not_ok "second-switch: the server of the first switch does not say that it is guarded" "$tmp/second-switch.log"
}

begin_cluster_test snooping
compile gather first_operations rows exposed
[ $# -gt 0 ] || set -- "${all_parts[@]}"
for part in "$@"; do
    begin=$SECONDS
    "test_$part"
    echo "$part: $((SECONDS - begin)) s"
done
echo "ok snooping: $*"
