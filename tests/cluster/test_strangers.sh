#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of strangers: hosts outside a job, and processes of others on its hosts, that send what they like to its
# ports. From outside, nothing gets in; from inside, the result is right, or an error says what happened, and other
# jobs go on.
# usage: test_strangers.sh [PART...] | --list; without arguments all parts
# Test: default 400 parts
set -eu

all_parts=(server server6 mixed embedded embedded6 alone interface refused full multicast inside inside6)
if [ "${1:-}" = --list ]; then
    # the others try the same in other ways
    for part in "${all_parts[@]}"; do
        case $part in
        server | multicast | inside) echo "$part" ;;
        *) echo "$part:all" ;;
        esac
    done
    exit 0
fi

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

# Hosts: 1 has the server, 2 and 3 the job, 4 a stranger, 5 and 6 another job.

# use_family 4|6: sets family, and wrapper to what makes ranks use it; UCX takes addresses of that family.
use_family() {
    family=$1
    wrapper=()
    [ "$family" = 4 ] || wrapper=(env UCX_TCP_AF_PRIO=inet6)
}

address_on() {
    if [ "$family" = 6 ]; then
        echo "fd77::$1"
    else
        echo "10.77.0.$1"
    fi
}

# start_server_on HOST [ADDRESS]: sets servers.
start_server_on() {
    local address=${2:-}

    [ -n "$address" ] || address=$(address_on "$1")
    case $address in
    *:*) address="[$address]" ;;
    esac
    [ "$family" = 4 ] || export UCX_TCP_AF_PRIO=inet6
    start_servers "$1" --listen "$address:0" --log-level info
    unset UCX_TCP_AF_PRIO
}

# begin_job NAME SERVERS HOSTS [SETTING=VALUE...] -- PROGRAM...: a job in the background that goes on until $tmp/NAME.stop
# exists; its output is in $tmp/NAME.log. Sets job.
begin_job() {
    TIME_LIMIT=240 cluster_job "$2" "${@:4:$(($# - 3))}" >"$tmp/$1.log" 2>&1 &
    job=$!
    started+=("$job")
}

# ports_on HOST PROGRAM [ADDRESS]: ports of UCX of these processes. It listens on the address of an interface, and
# nobody else does.
ports_on() {
    cluster exec "$1" ss -Hltnp | awk -v address="${3:-$(address_on "$1")}" -v program="\"$2\"" '
        index($NF, program) {
            port = $4; sub(/.*:/, "", port)
            host = $4; sub(/:[0-9]*$/, "", host); gsub(/[][]/, "", host); sub(/%.*/, "", host)
            if (host == address) { print port }
        }' | sort -u
}

# has_ports HOST PROGRAM COUNT
has_ports() {
    [ "$(ports_on "$1" "$2" | wc -l)" -ge "$3" ]
}

# is_busy JOB HOST PROGRAM COUNT
wait_for_ports() {
    wait_until 60 has_ports "$2" "$3" "$4" || not_ok "$1: $3 on h$2 has not $4 ports of UCX" "$tmp/$1.log"
}

# try_raw HOST TARGET PORT...: garbage from one host to ports of another; what became of it is added to $tmp/raw.
try_raw() {
    timeout 200 "$here/cluster" exec --name "$cluster_name" "$1" python3 "$here/stranger.py" raw "$(address_on "$2")" "${@:3}" \
        >>"$tmp/raw" 2>&1 || not_ok "the stranger on h$1 cannot try" "$tmp/raw"
}

# try_ucx HOST TARGET PORT...: the same with messages of UCX, into $tmp/ucx.
try_ucx() {
    local port

    for port in "${@:3}"; do
        family_environment timeout 60 "$here/cluster" exec --name "$cluster_name" "$1" "$tmp/stranger_ucx" "$(address_on "$1")" \
            "$(address_on "$2")" "$port" 3 >>"$tmp/ucx" 2>"$tmp/ucx.err" || not_ok "the stranger with UCX on h$1 cannot try" "$tmp/ucx" "$tmp/ucx.err"
    done
}

family_environment() {
    if [ "$family" = 6 ]; then
        UCX_TCP_AF_PRIO=inet6 "$@"
    else
        "$@"
    fi
}

# expect_kept_out: all that was tried since the files were emptied.
expect_kept_out() {
    [ -s "$tmp/raw" ] || not_ok "nothing was tried"
    ! grep -v ' dropped$' "$tmp/raw" || not_ok "a stranger gets in" "$tmp/raw"
    [ "$(grep -c '^stranger: no connection' "$tmp/ucx")" -eq "$(grep -c . "$tmp/raw")" ] || not_ok "a stranger gets in with UCX" "$tmp/ucx"
}

# expect_end NAME [TOO_FEW]: the job goes on until it is told to stop, with right results of offloaded operations, and
# of more of them than what a job has that is told so at once.
expect_end() {
    : >"$tmp/$1.stop"
    wait "$job" || not_ok "$1: the job failed" "$tmp/$1.log" "$tmp/server.text"
    has_line "$tmp/$1.log" '^ok two_jobs$' || not_ok "$1: the results are not right" "$tmp/$1.log"
    ! has_line "$tmp/$1.log" "^(${2:-0|1|2|3}) operations\$" || not_ok "$1: nothing was offloaded" "$tmp/$1.log"
    ! has_line "$tmp/$1.log" 'open to every host' || not_ok "$1: it has no filter" "$tmp/$1.log"
}

from_outside() {
    : >"$tmp/raw"
    : >"$tmp/ucx"
}

# attack FROM TARGET PROGRAM: all ports of UCX there.
attack() {
    local ports

    read -r -a ports <<<"$(ports_on "$2" "$3" | tr '\n' ' ')"
    [ ${#ports[@]} -gt 0 ] || not_ok "no port of $3 on h$2"
    try_raw "$1" "$2" "${ports[@]}"
    try_ucx "$1" "$2" "${ports[@]}"
}

# The server, and ranks that use one.
outside_server() {
    use_family "${1%%-*}"
    start_server_on 1 "${2:-}"
    begin_job "server$1" "$servers" 2-3 --hosts 2-3 -- two_jobs "$tmp/server$1.stop" 1
    wait_for_ports "server$1" 1 optcast-job 1
    wait_for_ports "server$1" 2 two_jobs 1
    wait_for_ports "server$1" 3 two_jobs 1
    from_outside
    attack 4 1 optcast-job
    attack 4 2 two_jobs
    attack 4 3 two_jobs
    # the control port is there for everybody, and refuses
    try_control "$servers"
    expect_kept_out
    expect_end "server$1"
    cluster signal 1 TERM
}

# try_control ADDRESS:PORT
try_control() {
    local address=${1%:*}

    address=${address#[}
    cluster exec 4 python3 "$here/stranger.py" raw "${address%]}" "${1##*:}" >"$tmp/control" 2>&1
    grep -q ' open$' "$tmp/control" || not_ok "nobody listens at the control port, or it does not take garbage" "$tmp/control"
}

test_server() { outside_server 4; }
test_server6() { outside_server 6; }
# Control connections and data go by different addresses: hosts have to tell theirs.
test_mixed() { outside_server 6-4 10.77.0.1; }

# Aggregators in ranks.
outside_embedded() {
    use_family "$1"
    begin_job "embedded$1" embedded 2-3 --hosts 2-3 -- two_jobs "$tmp/embedded$1.stop" 2
    # that of the rank and that of its aggregator
    wait_for_ports "embedded$1" 2 two_jobs 2
    wait_for_ports "embedded$1" 3 two_jobs 2
    from_outside
    attack 4 2 two_jobs
    attack 4 3 two_jobs
    expect_kept_out
    expect_end "embedded$1"
}

test_embedded() { outside_embedded 4; }
test_embedded6() { outside_embedded 6; }

# A job on one host listens on loopback only, where no other host gets to.
test_alone() {
    use_family 4
    begin_job alone embedded 2 multicast=udp --hosts 2 --per-host 3 -- two_jobs "$tmp/alone.stop" 5
    wait_until 60 has_loopback_ports 2 two_jobs 3 || not_ok "alone: no ports of UCX" "$tmp/alone.log"
    [ -z "$(ports_on 2 two_jobs)" ] || not_ok "alone: the job listens on $(address_on 2)" "$tmp/alone.log"
    expect_end alone
}

# Ranks that need servers only use the interface that leads to them.
test_interface() {
    use_family 4
    start_server_on 1
    begin_job interface "$servers" 2-3 peer_aggregation=off --hosts 2-3 -- two_jobs "$tmp/interface.stop" 6
    wait_for_ports interface 2 two_jobs 1
    [ -z "$(ports_on 2 two_jobs 127.0.0.1)" ] || not_ok "interface: the job listens on loopback, too" "$tmp/interface.log"
    expect_end interface '0|1' # nobody attacks it
    cluster signal 1 TERM
}

# has_loopback_ports HOST PROGRAM COUNT
has_loopback_ports() {
    [ "$(ports_on "$1" "$2" 127.0.0.1 | wc -l)" -ge "$3" ]
}

# Where the kernel does not let ranks filter: the job goes on as without, and says so.
test_refused() {
    use_family 4
    if setpriv --bounding-set=-net_admin --inh-caps=-net_admin "$BUILD/optcast-info" 2>&1 |
        grep -q '^  filter  *on'; then
        echo "refused: this kernel lets everybody filter"
        return
    fi
    wrapper=(setpriv --bounding-set=-net_admin --inh-caps=-net_admin)
    begin_job refused embedded 2-3 --hosts 2-3 -- two_jobs "$tmp/refused.stop" 7
    wait_for_ports refused 2 two_jobs 2
    # one line of each thing that has ports: two ranks, and two aggregators
    : >"$tmp/refused.stop"
    wait "$job" || not_ok "refused: the job failed" "$tmp/refused.log"
    has_line "$tmp/refused.log" '^ok two_jobs$' || not_ok "refused: the results are not right" "$tmp/refused.log"
    [ "$(grep -c 'open to every host that reaches it.*CAP_NET_ADMIN' "$tmp/refused.log")" -eq 4 ] ||
        not_ok "refused: not each of two ranks and two aggregators says that it has no filter" "$tmp/refused.log"
}

# set_filter_memory HOST BYTES: of each socket.
set_filter_memory() {
    cluster exec "$1" sh -c "echo $2 >/proc/sys/net/core/optmem_max"
}

# A host whose kernel has room for a filter that admits nobody, and for no other: Open MPI does all, and people are told.
test_full() {
    local before began=$SECONDS

    use_family 4
    # before Linux 6.8 there is one for all networks, which only the first of them sees
    before=$(cluster exec 3 cat /proc/sys/net/core/optmem_max 2>/dev/null) && set_filter_memory 3 200 || {
        echo "full: this kernel has one optmem_max for all networks"
        return
    }
    begin_job full embedded 2-3 multicast=udp --hosts 2-3 -- cast_loop operations=100 count=3000
    wait "$job" || not_ok "full: the job failed" "$tmp/full.log"
    set_filter_memory 3 "$before"
    has_line "$tmp/full.log" 'this rank cannot admit the hosts of other ranks' ||
        not_ok "full: the rank does not say that it cannot admit others" "$tmp/full.log"
    [ "$(grep -c -E '^rank [01]: 0 offloaded' "$tmp/full.log")" -eq 2 ] ||
        not_ok "full: a result is wrong, or something was offloaded" "$tmp/full.log"
    [ $((SECONDS - began)) -lt 30 ] || not_ok "full: it took $((SECONDS - began)) s" "$tmp/full.log"
}

# Ranks that multicast: their ports of UCX, and their address.
test_multicast() {
    use_family 4
    begin_job multicast embedded 2-3 multicast=udp multicast_address=239.192.7.1 multicast_groups=1 --hosts 2-3 -- cast_loop operations=60000 count=3000
    wait_for_ports multicast 2 cast_loop 1
    wait_for_ports multicast 3 cast_loop 1
    from_outside
    attack 4 2 cast_loop
    attack 4 3 cast_loop
    expect_kept_out
    OWN_ADDRESS=$(address_on 4) cluster exec 4 python3 "$here/stranger.py" cast 239.192.7.1 8919 5 >"$tmp/cast" 2>&1 ||
        not_ok "the stranger cannot multicast" "$tmp/cast"
    kill -0 "$job" || not_ok "multicast: the job was over too early" "$tmp/multicast.log"
    has_line "$tmp/cast" '^[1-9][0-9]* datagrams, [1-9][0-9]* copies' || not_ok "the stranger has heard nothing to copy" "$tmp/cast"
    wait "$job" || not_ok "multicast: the job failed" "$tmp/multicast.log"
    [ "$(grep -c -E '^rank [01]: [1-9][0-9]* offloaded' "$tmp/multicast.log")" -eq 2 ] ||
        not_ok "multicast: nothing was offloaded, or a result is wrong" "$tmp/multicast.log"
}

# expect_honest NAME: either all results are right, or people are told what happened.
expect_honest() {
    : >"$tmp/$1.stop"
    if wait "$job"; then
        has_line "$tmp/$1.log" '^ok two_jobs$' || not_ok "$1: it ends well without right results" "$tmp/$1.log"
        echo "$1: the results are right"
        return
    fi
    ! has_line "$tmp/$1.log" 'is [-0-9]+ instead of' || not_ok "$1: a wrong result" "$tmp/$1.log"
    has_line "$tmp/$1.log" 'server .* (is gone|ended its service|stopped answering)|signal 6|Caught signal|Assertion' ||
        not_ok "$1: it fails, and nobody says why" "$tmp/$1.log"
    echo "$1: $(grep -m 1 -o -E 'server .* (is gone|ended its service|stopped answering).*|.*signal 6.*|.*Assertion.*' "$tmp/$1.log")"
}

# A process of somebody else on host 2, where the job has a rank: it passes the filters. Against the server first, then,
# in another job, against a rank on another host.
inside() {
    local victim other

    use_family "$1"
    start_server_on 1
    begin_job "other$1" "$servers" 5-6 --hosts 5-6 -- two_jobs "$tmp/other$1.stop" 3
    other=$job
    wait_for_ports "other$1" 5 two_jobs 1
    for victim in 1 3; do
        rm -f "$tmp/inside$1-$victim.stop"
        begin_job "inside$1-$victim" "$servers" 2-3 --hosts 2-3 -- two_jobs "$tmp/inside$1-$victim.stop" 4
        wait_for_ports "inside$1-$victim" 1 optcast-job 2
        wait_for_ports "inside$1-$victim" 3 two_jobs 1
        from_outside
        if [ "$victim" = 1 ]; then
            attack 2 1 optcast-job
        else
            attack 2 3 two_jobs
        fi
        # one of the two jobs has no process on host 2: its port is closed to it
        grep -q -v dropped "$tmp/raw" || not_ok "a process on a host of the job does not get in" "$tmp/raw"
        expect_honest "inside$1-$victim"
    done
    job=$other
    expect_end "other$1"
    cluster signal 1 TERM
}

test_inside() { inside 4; }
test_inside6() { inside 6; }

begin_cluster_test strangers
compile two_jobs
compile cast_loop
"${CC:-cc}" -O2 -D_GNU_SOURCE -o "$tmp/stranger_ucx" "$here/stranger_ucx.c" -lucp -lucs >"$tmp/compile" 2>&1 ||
    not_ok "cannot compile the stranger with UCX" "$tmp/compile"
make_cluster --hosts 6 --rate 0 --ipv6
[ $# -gt 0 ] || set -- "${all_parts[@]}"
for part in "$@"; do
    begin=$SECONDS
    "test_$part"
    echo "$part: $((SECONDS - begin)) s"
done
echo "ok strangers: $*"
