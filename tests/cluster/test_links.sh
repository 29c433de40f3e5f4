#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that links carry what they should, and lose what they should.
# Test: default 120 alone
set -eu

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

begin_cluster_test links
command -v iperf3 >/dev/null || skip "no iperf3; install it"
command -v nft >/dev/null || skip "no nft; install nftables"

# datagrams COUNT FROM ADDRESS TO...: prints for each host TO how many came.
datagrams() {
    local host pids=()

    for host in "${@:4}"; do
        rm -f "$tmp/ready.$host"
        cluster exec "$host" "$PYTHON" "$here/datagrams.py" receive "$3" "$1" "$tmp/ready.$host" >"$tmp/came.$host" &
        pids+=($!)
    done
    for host in "${@:4}"; do
        wait_until 10 test -e "$tmp/ready.$host" || not_ok "h$host does not receive"
    done
    cluster exec "$2" "$PYTHON" "$here/datagrams.py" send "$3" "$1" || not_ok "h$2 cannot send"
    for host in "${pids[@]}"; do
        wait "$host"
    done
    for host in "${@:4}"; do
        cat "$tmp/came.$host"
    done | tr '\n' ' '
}

# expect_within WHAT VALUE LOWEST HIGHEST
expect_within() {
    if [ "$2" -lt "$3" ] || [ "$2" -gt "$4" ]; then
        not_ok "$1: $2 is not between $3 and $4"
    fi
}

received_packets() {
    cluster stats | awk -v host="h$1" '$1 == host { print $5 }'
}

# carried_rate: prints the highest rate at which all links of this machine carry what they should at once.
# Links cost processor time, and other work takes from it: lower rates say the same of the links.
carried_rate() {
    local rate seconds

    for rate in 200 100 50 20; do
        cluster rate "$rate" || return 1
        for seconds in 2 4 8; do
            if cluster check "$seconds" >"$tmp/check"; then
                echo "$rate"
                return 0
            fi
        done
        sed "s|^|$rate Mbit/s: |" "$tmp/check" >&2
    done
    return 1
}

make_cluster --hosts 4 --rate 200 --snooping
rate=$(carried_rate) || not_ok "the links do not carry their rate"
cat "$tmp/check"
# a check that cannot fail would say nothing
cluster rate $((rate * 3 / 4)) 2
! cluster check 1 >"$tmp/check" 2>&1 || not_ok "the check does not notice a slow link" "$tmp/check"
has_line "$tmp/check" '^limit .* NOT OK$' || not_ok "the check fails for another reason" "$tmp/check"
cluster rate 200

read -r count <<<"$(datagrams 1000 1 10.77.0.2 2)"
expect_within "datagrams without loss" "$count" 1000 1000
cluster loss 2 10
read -r count <<<"$(datagrams 1000 1 10.77.0.2 2)"
expect_within "datagrams at 10 % loss" "$count" 850 950
cluster loss 2 50 tcp
read -r count <<<"$(datagrams 1000 1 10.77.0.2 2)"
expect_within "datagrams while TCP has losses" "$count" 1000 1000
cluster loss 2 0

# multicast: each receiver has its own losses, and the switch keeps it from the others
cluster loss 3 20 udp
before=$(received_packets 4)
read -r second third <<<"$(datagrams 1000 1 239.77.1.1 2 3)"
after=$(received_packets 4)
expect_within "multicast without loss" "$second" 1000 1000
expect_within "multicast at 20 % loss" "$third" 700 890
expect_within "packets at a host that did not join" $((after - before)) 0 50
cluster loss 3 0

cluster partition 2
[ "$(cluster exec 2 cat /sys/class/net/eth0/carrier)" = 1 ] || not_ok "a partition shows at the host"
read -r count <<<"$(datagrams 10 1 10.77.0.2 2)"
expect_within "datagrams into a partition" "$count" 0 0
cluster heal 2
read -r count <<<"$(datagrams 10 1 10.77.0.2 2)"
expect_within "datagrams after it" "$count" 10 10

cluster exec 2 sleep 60 &
wait_until 5 eval 'cluster exec 2 ps ax -o args= | grep -q -x "sleep 60"' || not_ok "nothing runs on h2"
cluster kill 2
! wait $! || not_ok "a process survives its host"
! cluster exec 2 true 2>"$tmp/error" || not_ok "a dead host runs commands"
has_line "$tmp/error" 'host h2 is not running' || not_ok "no reason" "$tmp/error"
[ "$(cluster exec 3 hostname)" = h3 ] || not_ok "another host went down, too"
echo "ok links"
