# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the links between hosts and switch: plugging, rate, loss, counters.
# shellcheck disable=SC2154 # state is shared with the other files

mtu=1500
# Largest piece that a host hands to its link at once, in bytes for each Mbit/s: 1.6 milliseconds. The
# shaper gives credit for one such piece and a little more, or for two milliseconds: a message of that size is
# faster than the link. Below 16 KiB processors would be the limit, not links.
gso_per_rate=200
gso_least=16384
gso_most=65536
# Enough for all socket buffers of a host, so that nothing is dropped but by loss.
queue=4194304
# Short queues in the sender: the time of a message is not that of another one before it.
wmem=262144
# Ethernet, IP and TCP with timestamps, for each packet.
tcp_headers=66

# plug_all HOSTS SNOOPING QUERIER IPV6
plug_all() {
    local k error

    error=$(switch_commands "$1" "$2" "$3" | in_network switch ip -batch - 2>&1) ||
        fail "cannot make the switch: ${error%%$'\n'*} (the kernel needs bridge and veth)"
    bypass_filters || fail "cannot keep the filters of this machine from the switch"
    for k in $(seq "$1"); do
        set_up_link "$k" "$4"
    done
}

# set_up_link K IPV6: the host's end.
set_up_link() {
    local error

    error=$(host_commands "$1" "$2" | in_network "$1" ip -batch - 2>&1) ||
        fail "cannot set up the link of h$1: ${error%%$'\n'*}"
    in_network "$1" /bin/sh -c "
        echo '4096 16384 $wmem' >/proc/sys/net/ipv4/tcp_wmem
        echo 1 >/proc/sys/net/ipv4/tcp_no_metrics_save
        echo 0 >/proc/sys/net/ipv4/tcp_slow_start_after_idle" || fail "cannot tune TCP of h$1"
}

# plug K: a host that has just begun. Connections that nobody has closed keep the link of the one before.
plug() {
    local error

    in_network switch ip link delete "p$1" 2>/dev/null || :
    error=$(port_commands "$1" | in_network switch ip -batch - 2>&1) || fail "cannot plug in h$1: ${error%%$'\n'*}"
    set_up_link "$1" "$(cat "$state/ipv6")"
    shape "$1" "$(cat "$state/rate")"
}


# Machines with containers send what passes a bridge through their filters of IP, which costs processor time
# and filters nothing here.
bypass_filters() {
    # shellcheck disable=SC2016 # expands there
    in_network switch /bin/sh -c '
        for call in /proc/sys/net/bridge/bridge-nf-call-*; do
            [ ! -e "$call" ] || echo 0 >"$call" || exit
        done'
}

# switch_commands HOSTS SNOOPING QUERIER
switch_commands() {
    local k

    echo "link set lo up"
    # an address of its own: it would have that of a port, and another one after that is unplugged
    echo "link add switch address 02:00:00:00:00:fe type bridge stp_state 0 forward_delay 0 mcast_snooping $2" \
        "mcast_query_response_interval 50 mcast_startup_query_interval 50"
    for k in $(seq "$1"); do
        port_commands "$k"
    done
    echo "link set switch addrgenmode none up"
    echo "addr add $network.254/24 broadcast + dev switch"
    [ "$2" = 0 ] || echo "link set switch type bridge mcast_querier $3"
}

# port_commands K
port_commands() {
    echo "link add p$1 mtu $mtu type veth peer name eth0 mtu $mtu netns $(holder_of "$1")"
    # nobody has addresses of the sixth version here: what is counted is what was sent on purpose
    echo "link set p$1 addrgenmode none master switch up"
}

# host_commands K IPV6
host_commands() {
    local address control=''

    address=$(address_of "$1")
    # the same everywhere, whatever the machine prefers
    ! grep -q -w cubic /proc/sys/net/ipv4/tcp_available_congestion_control || control='congctl cubic'
    echo "link set lo up"
    # the same when it boots again: others know it
    echo "link set eth0 address 02:00:00:00:01:$(printf %02x "$1") addrgenmode none up"
    echo "addr add $address/24 broadcast + dev eth0"
    echo "route replace $network.0/24 dev eth0 proto kernel scope link src $address $control"
    echo "route add 224.0.0.0/4 dev eth0"
    # nobody else has it: it can be used at once
    [ "$2" = 0 ] || echo "addr add $network6::$1/64 dev eth0 nodad"
}

# shape_all HOSTS RATE
shape_all() {
    local k

    for k in $(seq "$1"); do
        shape "$k" "$2"
    done
}

# shape K RATE: both directions of a link.
shape() {
    local gso=$gso_most burst discipline error

    if [ "$2" -ne 0 ]; then
        gso=$(($2 * gso_per_rate))
        [ "$gso" -gt "$gso_least" ] || gso=$gso_least
        [ "$gso" -lt "$gso_most" ] || gso=$gso_most
    fi
    # two milliseconds at the rate: timers come late, and what was not sent by then is lost; at least one piece
    burst=$(($2 * 250))
    [ "$burst" -gt $((gso + 4096)) ] || burst=$((gso + 4096))
    discipline="tbf rate ${2}mbit burst $burst limit $queue"
    [ "$2" -ne 0 ] || discipline='pfifo limit 20000'
    error=$(
        {
            # shellcheck disable=SC2086 # words, here and below
            in_network "$1" ip link set eth0 gso_max_size "$gso" &&
                in_network "$1" tc qdisc replace dev eth0 root $discipline &&
                in_network switch ip link set "p$1" gso_max_size "$gso" &&
                in_network switch tc qdisc replace dev "p$1" root $discipline
        } 2>&1
    ) || fail "cannot shape the link of h$1: ${error%%$'\n'*} (the kernel needs CONFIG_NET_SCH_TBF)"
}

command_rate() {
    local k

    need_number "rate in Mbit/s" "${1:-}" 0 100000
    no_more "${@:3}"
    if [ $# -gt 1 ]; then
        k=$(host_number "$2")
        shape "$k" "$1"
    else
        shape_all "$(host_count)" "$1"
        printf '%s\n' "$1" >"$state/rate"
    fi
}

command_loss() {
    local k protocol='' share error

    [ $# -ge 2 ] || fail "loss needs a host and a percentage"
    k=$(host_number "$1")
    case ${3:-} in
    "") ;;
    udp | tcp) protocol="meta l4proto $3" ;;
    *) fail "bad protocol '$3': use udp or tcp, or none for all" ;;
    esac
    share=$(awk -v percent="$2" 'BEGIN {
        if (percent !~ /^[0-9]+(\.[0-9]+)?$/ || percent > 100) exit 1
        printf "%d", percent * 100 + 0.5 }') || fail "bad loss '$2': a percentage from 0 to 100 is needed"
    need_program nft nftables
    in_network "$k" nft delete table inet loss 2>/dev/null || :
    [ "$share" -ne 0 ] || return 0
    error=$(in_network "$k" nft -f - 2>&1 <<RULES
table inet loss {
    chain input {
        type filter hook input priority 0; policy accept;
        iifname "eth0" $protocol numgen random mod 10000 < $share counter drop
    }
}
RULES
    ) || fail "cannot set a loss: ${error%%$'\n'*} (the kernel needs nftables with numgen)"
}

unplug() {
    in_network switch ip link set "p$1" nomaster
}

command_partition() {
    local k

    [ $# -eq 1 ] || fail "partition needs a host"
    k=$(host_number "$1")
    unplug "$k"
}

command_heal() {
    local k

    [ $# -eq 1 ] || fail "heal needs a host"
    k=$(host_number "$1")
    in_network switch ip link set "p$k" master switch
}

# The trunk between the two is not shaped.
command_move() {
    local host ports=() error

    [ $# -ge 1 ] || fail "move needs a host"
    for host in "$@"; do
        ports+=("p$(host_number "$host")")
    done
    error=$(
        {
            echo "link add second address 02:00:00:00:00:fd type bridge stp_state 0 forward_delay 0 mcast_snooping 0"
            echo "link add trunk1 mtu $mtu type veth peer name trunk2 mtu $mtu"
            echo "link set trunk1 addrgenmode none master switch up"
            echo "link set trunk2 addrgenmode none master second up"
            printf 'link set %s master second\n' "${ports[@]}"
            echo "link set second addrgenmode none up"
        } | in_network switch ip -batch - 2>&1
    ) || fail "cannot make a second switch: ${error%%$'\n'*}"
}

# sent K|switch DEVICE: bytes, packets and drops of what that side of a link has sent. The shaper's counters
# have the headers of all packets; those of the interface count those of a large piece once.
sent() {
    in_network "$1" tc -s qdisc show dev "$2" |
        sed -n -E 's/^ Sent ([0-9]+) bytes ([0-9]+) pkt \(dropped ([0-9]+),.*/\1 \2 \3/p' | head -n 1
}

command_stats() {
    local k format='%-6s %14s %14s %12s %12s %8s\n' tx rx

    # shellcheck disable=SC2059 # the same for all lines
    printf "$format" host tx_bytes rx_bytes tx_packets rx_packets dropped
    for k in $(seq "$(host_count)"); do
        [ -n "$(holder_of "$k")" ] || continue
        read -r -a tx <<<"$(sent "$k" eth0)"
        read -r -a rx <<<"$(sent switch "p$k")"
        # shellcheck disable=SC2059
        printf "$format" "h$k" "${tx[0]}" "${rx[0]}" "${tx[1]}" "${rx[1]}" $((tx[2] + rx[2]))
    done
}

# Every host sends to the next one, at the same time.
command_check() {
    local seconds=${1:-2}

    no_more "${@:2}"
    need_number "number of seconds" "$seconds" 1 600
    need_program iperf3 iperf3
    need_program python3 python3
    [ "$(host_count)" -ge 2 ] || fail "a check needs two hosts"
    [ "$(cat "$state/rate")" -ne 0 ] || fail "the links are not shaped: there is nothing to check"
    check_traffic "$seconds"
    python3 "$here/check.py" "$(cat "$state/rate")" "$(host_count)" "$mtu" "$tcp_headers" "$state/check"
}

check_traffic() {
    local k next hosts pids=()

    hosts=$(host_count)
    rm -rf "$state/check"
    mkdir "$state/check"
    for k in $(seq "$hosts"); do
        # among the processes of the host, so that it ends with it
        (enter "$k" iperf3 --server --one-off --daemon >/dev/null)
    done
    command_stats >"$state/check/before"
    for k in $(seq "$hosts"); do
        next=$((k % hosts + 1))
        in_network "$k" timeout $(($1 + 20)) iperf3 --client "$(address_of "$next")" --json \
            --connect-timeout 5000 --omit 0 --time "$1" >"$state/check/client.$k" &
        pids+=($!)
    done
    for k in "${pids[@]}"; do
        wait "$k" || fail "iperf3 failed: $(grep -h '"error"' "$state"/check/client.* | head -n 1)"
    done
    command_stats >"$state/check/after"
}
