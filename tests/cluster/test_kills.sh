#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that jobs of all kinds go on, with the right results, while their servers are lost all the time, in any way and
# at any moment, and come back.
# usage: test_kills.sh [KILLS [SEED]]: so many at least (30), in jobs of which each has the seed after that of the one before
# (1); a job is made again by its seed, but for what its processes do meanwhile. Of each that fails, all is kept in
# test-kills/seed-SEED of the build folder, with what its processes are at if it hangs, and the others go on. MPI=mpich: with
# programs of that.
# Test: all 900; mpich: all 900
set -eu

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

wanted=${1:-30} seed=${2:-1}
# Ranks on so many hosts, and so many on each of them.
placements=("2 2" "4 1" "5 1" "3 2" "2 3" "6 1" "7 1" "4 2" "2 4" "8 1")
# How servers are lost, in the order of the summary.
ways=(killed data_killed stopped data_stopped unplugged powerless)
# A job does not take so long, nor one of its operations, whatever happens.
most_seconds=240 most_wait=30

declare -A kills
kills_made=0 jobs=0 recoveries=0 returns=0 checked=0 wrong=0 hangs=0 failed=0 longest=0

# draw LIMIT: sets drawn. Not in a subshell, whose numbers would be others.
draw() {
    drawn=$((RANDOM % $1))
}

# draw_of WORD...: sets drawn to one of them.
draw_of() {
    draw $#
    shift "$drawn"
    drawn=$1
}

# nap LEAST MOST: for so many milliseconds.
nap() {
    draw $(($2 - $1 + 1))
    sleep "$((($1 + drawn) / 1000)).$(printf %03d $((($1 + drawn) % 1000)))"
}

# A job: on which hosts, with which servers and settings, and how many of them it loses in all.
draw_job() {
    draw_of "${placements[@]}"
    read -r rank_hosts per_host <<<"$drawn"
    ranks=$((rank_hosts * per_host))
    draw_of 2 3
    num_servers=$drawn
    server_hosts=()
    for ((i = 1; i <= num_servers; i++)); do
        server_hosts+=($((rank_hosts + i)))
    done
    draw_of shape rank_order
    order=$drawn
    draw_of auto off
    peers=$drawn
    draw_of 100 200 500
    rate=$drawn
    draw_of 1 2
    aggregators=$drawn
    draw_of thread thread mpi
    progress=$drawn
    draw_of 20000 60000 200000 400000
    most=$drawn
    draw_of 0 1
    dups=$drawn
    draw_of 0.005 0.02 0.2
    pause=$drawn
    # a server that is lost soon after it has come is waited for twice as long the next time
    draw 3
    wanted_here=$((num_servers * (3 + drawn)))
}

# job_settings: sets settings and options.
job_settings() {
    local shape_option=()

    [ "$order" = rank_order ] || shape_option=("per_host=$per_host")
    settings=(heartbeat_timeout=2 recovery=on "reproducible=$order" "peer_aggregation=$peers" "progress=$progress")
    options=("until=$folder/over" "seconds=$most_seconds" "most=$most" "seed=$seed" "pause=$pause" "dups=$dups" halves=1 later=2
        "${shape_option[@]}")
    [ "$MPI" = mpich ] || options+=(kept=4)
}

# servers_of_job: how many the communicator of all ranks has by what its ranks have said last.
servers_of_job() {
    local last

    last=$(grep '"MPI_COMM_WORLD"' "$log" | grep -E 'aggregator|server|peer' | tail -n 1)
    if [[ $last =~ ([0-9]+)\ server ]]; then
        echo "${BASH_REMATCH[1]}"
    else
        echo 0
    fi
}

# servers_up: those that were not taken away.
servers_up() {
    local host count=0

    for host in "${server_hosts[@]}"; do
        [ -n "${away[$host]}" ] || count=$((count + 1))
    done
    echo "$count"
}

has_all() {
    [ "$(servers_of_job)" -ge "$(servers_up)" ] || is_over
}

job_has_ended() {
    ! is_alive "$job"
}

# Nothing that follows tells more of it.
is_over() {
    job_has_ended || has_line "$log" '^not ok|^rank [0-9]+: error'
}

# take_away WAY HOST: false if there is nothing to take.
take_away() {
    case $1 in
    killed) cluster signal "$2" KILL ;;
    data_killed) cluster signal "$2" KILL jobs 2>/dev/null ;;
    stopped) cluster signal "$2" STOP ;;
    data_stopped) cluster signal "$2" STOP jobs 2>/dev/null ;;
    unplugged) cluster partition "$2" ;;
    powerless) cluster kill "$2" ;;
    esac
}

# give_back HOST
give_back() {
    case ${away[$1]} in
    killed) restart "$1" ;;
    data_killed) ;;
    stopped) cluster signal "$1" CONT ;;
    # it may have been given up meanwhile
    data_stopped) cluster signal "$1" CONT jobs 2>/dev/null || : ;;
    unplugged) cluster heal "$1" ;;
    powerless)
        cluster boot "$1" && restart "$1"
        ;;
    esac
    away[$1]=''
}

restart() {
    cluster server "$1" --aggregators "$aggregators" >>"$folder/servers.log" 2>&1 ||
        not_ok "no server on h$1" "$folder/servers.log"
}

# with_times FILE: passes lines on, and writes them there, too, with the time in front, as of events.
with_times() {
    perl -MTime::HiRes=time -e '
        open(my $times, ">", shift) or die;
        $times->autoflush(1);
        STDOUT->autoflush(1);
        while (<STDIN>) {
            printf $times "%.3f %s", time, $_;
            print;
        }' "$1"
}

# note TEXT: what was done, and when.
note() {
    echo "$(date +%s.%3N) $*" >>"$folder/events"
}

# give_back_some CHANCE: each server that is away, in one of so many cases.
give_back_some() {
    local host

    for host in "${server_hosts[@]}"; do
        [ -n "${away[$host]}" ] || continue
        draw "$1"
        [ "$drawn" -eq 0 ] || continue
        note "h$host is back (${away[$host]})"
        give_back "$host"
    done
}

# kill_one: any server that is there, in any way.
kill_one() {
    local host way there=()

    for host in "${server_hosts[@]}"; do
        [ -n "${away[$host]}" ] || there+=("$host")
    done
    [ ${#there[@]} -gt 0 ] || return 0
    draw_of "${there[@]}"
    host=$drawn
    draw_of "${ways[@]}"
    way=$drawn
    take_away "$way" "$host" || return 0
    note "h$host is $way"
    away[host]=$way
    kills[$way]=$((${kills[$way]:-0} + 1))
    kills_here=$((kills_here + 1))
}

# In most cases the job has all servers that there are before it loses the next one; in others it has just lost one, or is about
# to get one.
lose_servers() {
    kills_here=0
    while [ "$kills_here" -lt "$wanted_here" ] && ! is_over; do
        nap 20 1500
        give_back_some 3
        draw 3
        [ "$drawn" -eq 0 ] || wait_until 10 has_all || :
        nap 0 700
        kill_one
    done
    nap 100 3000
    give_back_some 1
    nap 0 4000
}

# fail_job REASON: keeps what there is of it.
fail_job() {
    local kept=$BUILD/test-kills/seed-$seed

    echo "not ok: seed $seed: $*"
    failed=$((failed + 1))
    rm -rf "$kept"
    mkdir -p "$kept"
    cp -r "$folder/." "$kept"
    cp "${OPTCAST_CLUSTERS:-/run/optcast-clusters}/$cluster_name"/server.*.log "$kept" 2>/dev/null || :
}

# What all ranks are at: the rank programs of this job.
write_stacks() {
    local rank

    grep -l -a -x -z -F -e "until=$folder/over" /proc/[0-9]*/cmdline 2>/dev/null | cut -d / -f 3 | while read -r rank; do
        [ "$(readlink "/proc/$rank/exe")" = "$(readlink -f "$programs/recovery")" ] || continue
        timeout 60 gdb -batch -p "$rank" -ex 'thread apply all bt' >"$folder/stack.$rank" 2>&1 </dev/null || :
    done
}

# add_up: of this job to what the summary has.
add_up() {
    local here

    here=$(sed -n -E 's/^rank [0-9]+: ([0-9]+) operations, [0-9]+ offloaded, ([0-9]+) recoveries, ([0-9]+) returns, longest ([0-9.]+) s/\1 \2 \3 \4/p' "$log" |
        awk '{ if ($1 > a) a = $1; if ($2 > b) b = $2; if ($3 > c) c = $3; if ($4 > d) d = $4 } END { print a + 0, b + 0, c + 0, d + 0 }')
    read -r operations_here recoveries_here returns_here longest_here <<<"$here"
    kills_made=$((kills_made + kills_here))
    checked=$((checked + operations_here * ranks))
    recoveries=$((recoveries + recoveries_here))
    returns=$((returns + returns_here))
    wrong=$((wrong + $(grep -c '^not ok' "$log" || :)))
    longest=$(awk -v a="$longest" -v b="$longest_here" 'BEGIN { print (a > b ? a : b) }')
}

# judge STATUS
judge() {
    local words="$ranks ranks on $rank_hosts hosts, $num_servers servers, $order, peers $peers, $rate Mbit/s, up to $most, progress $progress"

    add_up
    words="seed $seed ($words): $kills_here kills, $recoveries_here recoveries, $returns_here returns, $operations_here operations, longest $longest_here s"
    if [ "$hung" = yes ]; then
        hangs=$((hangs + 1))
        fail_job "it hangs: $words"
    elif grep -q '^not ok' "$log"; then
        fail_job "$(grep -m 1 '^not ok' "$log"): $words"
    elif [ "$1" -ne 0 ]; then
        fail_job "status $1: $(grep -m 1 -E '^rank [0-9]+: error' "$log"): $words"
    elif [ "$(grep -c -E '^rank [0-9]+: [0-9]+ operations, .* offloaded, [1-9][0-9]* recoveries' "$log")" -ne "$ranks" ]; then
        fail_job "not all ranks have gone on after a loss: $words"
    elif awk -v a="$longest_here" -v b="$most_wait" 'BEGIN { exit !(a > b) }'; then
        fail_job "an operation took too long: $words"
    else
        echo "$words"
    fi
}

# stuck_in_mpich: MPICH 4.0 on several hosts now and then does not end in MPI_Finalize, also without servers, and in mode never. All has
# been checked by then.
stuck_in_mpich() {
    [ "$MPI" = mpich ] && has_line "$log" '^ok recovery$' &&
        [ "$(grep -c -E '^rank [0-9]+: [0-9]+ operations, ' "$log")" -eq "$ranks" ] || return 1
    stuck=yes
    echo "seed $seed: MPICH does not end in MPI_Finalize"
}

run_one_job() {
    local status=0

    RANDOM=$seed
    folder=$tmp/$seed hung=no stuck=no
    log=$folder/job.log
    mkdir "$folder"
    draw_job
    job_settings
    make_cluster --hosts $((rank_hosts + num_servers)) --rate "$rate"
    start_servers "${server_hosts[@]}" --aggregators "$aggregators"
    away=()
    for host in "${server_hosts[@]}"; do
        away[host]=''
    done
    (
        set -o pipefail
        TIME_LIMIT=$((most_seconds + 60)) cluster_job "$servers" "${settings[@]}" --hosts "1-$rank_hosts" \
            --per-host "$per_host" -- recovery "${options[@]}" 2>&1 | with_times "$folder/times" >"$log"
    ) &
    job=$!
    started+=("$job")
    wait_until 60 has_line "$log" "rank $((ranks - 1)): begins" || not_ok "seed $seed: the ranks do not begin" "$log"
    lose_servers
    : >"$folder/over"
    if ! wait_until 90 job_has_ended; then
        stuck_in_mpich || hung=yes
        write_stacks
        end_process "$job"
    fi
    wait "$job" || status=$?
    [ "$stuck" = no ] || status=0
    judge "$status"
    jobs=$((jobs + 1))
    cluster down
    [ -n "${KEEP:-}" ] || rm -rf "$folder"
}

summary() {
    local way text=''

    for way in "${ways[@]}"; do
        text+=", ${kills[$way]:-0} $way"
    done
    echo "$kills_made kills in $jobs jobs ($MPI): ${text#, }; $recoveries recoveries, $returns returns, $checked operations of ranks checked, $wrong wrong results, $hangs hangs, longest operation $longest s"
}

begin_cluster_test kills
compile recovery
while [ "$kills_made" -lt "$wanted" ]; do
    run_one_job
    seed=$((seed + 1))
done
summary
[ "$failed" -eq 0 ] || not_ok "$failed of $jobs jobs failed: see $BUILD/test-kills"
[ "$returns" -gt 0 ] || not_ok "no server has come back"
echo "ok kills: $kills_made"
