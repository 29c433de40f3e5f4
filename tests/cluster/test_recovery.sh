#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that a job on several hosts goes on, with the right results, when it loses a server in the middle:
# killed, stopped, unplugged or without power, at any moment, whether ranks share hosts or each sends for itself; that it
# gets the server back when that runs again; and that hosts aggregate when all servers are lost.
# ROUNDS of the environment: so often in each way (1).
# Test: all 900
set -eu

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

server_hosts=(4 5 6)

# take_away WAY HOST: its server, from the others.
take_away() {
    case $1 in
    killed) cluster signal "$2" KILL ;;
    stopped) cluster signal "$2" STOP ;;
    unplugged) cluster partition "$2" ;;
    powerless) cluster kill "$2" ;;
    esac
}

# give_back WAY HOST: sets returns, how often it comes back to the job.
give_back() {
    returns=1
    case $1 in
    killed) start_servers "$2" --aggregators 1 ;;
    stopped) cluster signal "$2" CONT ;;
    unplugged) cluster heal "$2" ;;
    powerless) returns=0 ;;
    esac
}

# lose WAY SHAPE: a job of two ranks on each of three hosts loses one of three servers.
lose() {
    local way=$1 shape=$2 job victim=${server_hosts[RANDOM % 3]} sums=(per_host=2)

    [ "$shape" = shape ] || sums=()
    log=$tmp/$way-$shape.log
    start_servers "${server_hosts[@]}" --aggregators 1
    TIME_LIMIT=90 cluster_job "$servers" heartbeat_timeout=2 recovery=on "reproducible=$shape" --hosts 1-3 \
        --per-host 2 -- recovery seconds=12 most=60000 "${sums[@]}" "seed=$RANDOM" pause=0.01 later=1 >"$log" 2>&1 &
    job=$!
    started+=("$job")
    wait_until 30 has_line "$log" 'rank 5: begins' || not_ok "$way: the ranks do not begin" "$log"
    sleep "1.$((RANDOM % 90 + 10))"
    take_away "$way" "$victim"
    sleep 4
    give_back "$way" "$victim"
    wait "$job" || not_ok "$way, $shape: the job ends with an error" "$log"
    ! grep -q '^not ok' "$log" || not_ok "$way, $shape: wrong results" "$log"
    [ "$(grep -c '^rank [0-5]: .* offloaded, 1 recoveries, '"$returns returns" "$log")" -eq 6 ] ||
        not_ok "$way, $shape: not all ranks went on" "$log"
    [ "$(grep -c '^rank [0-5]: 1 of 1 later ones offloaded' "$log")" -eq 6 ] ||
        not_ok "$way, $shape: a new communicator does not use the others" "$log"
    echo "ok recovery: $way, $shape: longest $(sed -n 's/^rank 0: .*longest //p' "$log")"
}

# lose_all SHAPE: the hosts aggregate themselves, until a server is back.
lose_all() {
    local shape=$1 job host sums=(per_host=2)

    [ "$shape" = shape ] || sums=()
    log=$tmp/all-$shape.log
    start_servers "${server_hosts[@]}" --aggregators 1
    TIME_LIMIT=90 cluster_job "$servers" heartbeat_timeout=2 "reproducible=$shape" --hosts 1-3 --per-host 2 -- \
        recovery seconds=12 most=60000 "${sums[@]}" "seed=$RANDOM" pause=0.01 >"$log" 2>&1 &
    job=$!
    started+=("$job")
    wait_until 30 has_line "$log" 'rank 5: begins' || not_ok "all: the ranks do not begin" "$log"
    sleep 1.37
    for host in "${server_hosts[@]}"; do
        take_away killed "$host"
    done
    wait_until 20 has_line "$log" 'goes on: 3 peers' || not_ok "all, $shape: the hosts do not aggregate" "$log"
    sleep 2
    give_back killed 5
    wait "$job" || not_ok "all, $shape: the job ends with an error" "$log"
    ! grep -q '^not ok' "$log" || not_ok "all, $shape: wrong results" "$log"
    [ "$(grep -c '^rank [0-5]: .* 1 returns' "$log")" -eq 6 ] || not_ok "all, $shape: no server is back" "$log"
    echo "ok recovery: all servers, $shape: longest $(sed -n 's/^rank 0: .*longest //p' "$log")"
}

# lose_beside SECONDS: a server is lost while another one is unplugged, which is plugged in so much later. Then it hears of the loss
# from some ranks first, and passes it on to others, which have left that connection: their own words have to arrive nevertheless.
lose_beside() {
    local job

    log=$tmp/beside-$1.log
    start_servers 4 5 --aggregators 1
    TIME_LIMIT=90 cluster_job "$servers" heartbeat_timeout=20 connect_timeout=20 reproducible=rank_order --hosts 1-3 \
        --per-host 2 -- recovery seconds=10 most=20000 "seed=$RANDOM" >"$log" 2>&1 &
    job=$!
    started+=("$job")
    wait_until 30 has_line "$log" 'rank 5: begins' || not_ok "beside: the ranks do not begin" "$log"
    sleep 1
    take_away unplugged 4
    sleep 0.2
    take_away killed 5
    sleep "$1"
    give_back unplugged 4
    wait "$job" || not_ok "beside, $1 s: the job ends with an error" "$log"
    ! grep -q '^not ok' "$log" || not_ok "beside, $1 s: wrong results" "$log"
    [ "$(grep -c '^rank [0-5]: .* offloaded, 1 recoveries, 0 returns' "$log")" -eq 6 ] ||
        not_ok "beside, $1 s: not all ranks went on with the other server" "$log"
    echo "ok recovery: beside another one that is unplugged for $1 s: longest $(sed -n 's/^rank 0: .*longest //p' "$log")"
}

# lose_unheard: a lost server comes back while the only other one is unplugged, so that nobody but the rank that has looked for it knows
# of that; then all others lose that one, too, and count on each other.
lose_unheard() {
    local job

    log=$tmp/unheard.log
    start_servers 4 5 --aggregators 1
    TIME_LIMIT=90 cluster_job "$servers" heartbeat_timeout=2 peer_aggregation=off reproducible=rank_order --hosts 1-3 -- \
        recovery seconds=25 most=20000 "seed=$RANDOM" >"$log" 2>&1 &
    job=$!
    started+=("$job")
    wait_until 30 has_line "$log" 'rank 2: begins' || not_ok "unheard: the ranks do not begin" "$log"
    sleep 1
    take_away killed 4
    wait_until 20 has_line "$log" '"MPI_COMM_WORLD" goes on: 1 aggregator on 1 server' || not_ok "unheard: no loss" "$log"
    take_away unplugged 5
    give_back killed 4
    wait "$job" || not_ok "unheard: the job ends with an error" "$log"
    ! grep -q '^not ok' "$log" || not_ok "unheard: wrong results" "$log"
    [ "$(grep -c '^rank [0-2]: .* offloaded, [1-9] recoveries, 1 returns' "$log")" -eq 3 ] ||
        not_ok "unheard: not all ranks went on with the server that is back" "$log"
    echo "ok recovery: a server is back, and most ranks do not hear of that: longest $(sed -n 's/^rank 0: .*longest //p' "$log")"
}

begin_cluster_test recovery
compile recovery
for way in killed stopped unplugged powerless; do
    for shape in shape rank_order; do
        for ((round = 0; round < ${ROUNDS:-1}; round++)); do
            make_cluster --hosts 6 --rate 200
            lose "$way" "$shape"
            cluster down
        done
    done
done
for shape in shape rank_order; do
    make_cluster --hosts 6 --rate 200
    lose_all "$shape"
    cluster down
done
for seconds in 0.5 1.6 3.4; do
    make_cluster --hosts 5 --rate 200
    lose_beside "$seconds"
    cluster down
done
make_cluster --hosts 5 --rate 200
lose_unheard
cluster down
echo "ok recovery: on several hosts"
