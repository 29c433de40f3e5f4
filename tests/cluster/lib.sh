# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns what the tests on emulated clusters share: one cluster for each test, jobs on it, and its removal.
# To be sourced by bash at the beginning of a test. Sets here (the folder of the test), and unless they are set REPO (the
# source tree) and BUILD (the build tree).
# shellcheck disable=SC2154 # tmp is set by begin_test

here=$(cd "$(dirname "$0")" && pwd)
REPO=${REPO:-$(cd "$here/../.." && pwd)}
BUILD=${BUILD:-$REPO/build}

# shellcheck source=tests/mpi/lib.sh
. "$REPO/tests/mpi/lib.sh"

cluster_name=test-$$

# cluster COMMAND [ARGUMENT...]: on the cluster of this test.
cluster() {
    BUILD=$BUILD "$REPO/tests/cluster/cluster" "$1" --name "$cluster_name" "${@:2}"
}

# begin_cluster_test NAME
begin_cluster_test() {
    begin_mpi_test "$1"
    [ "$(id -u)" -eq 0 ] || skip "needs root to make network namespaces"
    has_kernel_features 2>"$tmp/probe" || skip "the kernel cannot emulate hosts: $(tail -n 1 "$tmp/probe")"
    trap 'remove_clusters; clean_up' EXIT
}

# What a cluster needs, without the program that makes one: a fault of that is not a reason to skip.
has_kernel_features() {
    unshare --net --uts --ipc --mount --pid --fork /bin/sh -c '
        ip link add bridge0 type bridge && ip link add veth0 type veth peer name veth1 &&
            tc qdisc add dev veth0 root tbf rate 1mbit burst 20000 limit 20000'
}

# That of the test, and the second one that it may have.
remove_clusters() {
    for cluster_name in "test-$$" "test-$$-b"; do
        cluster down || :
    done
}

# make_cluster [OPTION...]: of up.
make_cluster() {
    cluster up "$@" >"$tmp/up.log" 2>&1 || not_ok "cluster up $*" "$tmp/up.log"
}

# start_servers HOST... [--OPTION-OF-SERVER VALUE...]: sets servers to the list for coll_optcast_servers.
start_servers() {
    local chosen=() host address

    while [ $# -gt 0 ] && [[ $1 != --* ]]; do
        chosen+=("$1")
        shift
    done
    servers=
    for host in "${chosen[@]}"; do
        address=$(cluster server "$host" "$@" 2>"$tmp/server.log") || not_ok "no server on h$host" "$tmp/server.log"
        servers=${servers:+$servers,}$address
    done
}

# cluster_job SERVERS [SETTING=VALUE...] [--OPTION-OF-RUN VALUE...] -- PROGRAM [ARGUMENT...]: a compiled program in
# mode always (or MODE) with the coll_optcast settings; its time is limited. Multicast is off unless it is set:
# programs have Bcasts of their own.
cluster_job() {
    local arguments=(--mca coll_optcast_servers "$1") options=() multicast=off launcher

    shift
    while [ "$1" != -- ]; do
        case $1 in
        --*) options+=("$1" "$2"); shift ;;
        multicast=*) multicast=${1#*=} ;;
        *) arguments+=(--mca "coll_optcast_${1%%=*}" "${1#*=}") ;;
        esac
        shift
    done
    shift
    arguments+=(--mca coll_optcast_mode "${MODE:-always}" --mca coll_optcast_multicast "$multicast"
        --mca coll_optcast_verbose 1)
    launcher_arguments "${arguments[@]}"
    # bounded from here: a shell that ends does not end a function
    BUILD=$BUILD OMPI_MPIRUN=$mpirun timeout --foreground -k 10 "${TIME_LIMIT:-150}" "$REPO/tests/cluster/cluster" \
        run --name "$cluster_name" --mpi "$MPI" "${options[@]}" "${launcher[@]}" "${wrapper[@]}" "$programs/$1" \
        "${@:2}" </dev/null
}

# launcher_arguments --mca NAME VALUE...: sets launcher to what says so to that of this MPI, and has it load Optcast.
launcher_arguments() {
    local options=() rest

    if [ "$MPI" = mpich ]; then
        take_options "$@"
        launcher=(-env LD_PRELOAD "$library" "${options[@]}")
    else
        launcher=(-x "OMPI_MCA_mca_base_component_path=$component_dir:SYSTEM_DEFAULT" "$@")
    fi
}

# expect_cluster_job NAME ...: cluster_job that has to succeed; its output stays in $tmp/NAME.log.
expect_cluster_job() {
    local log=$tmp/$1.log status=0

    shift
    cluster_job "$@" >"$log" 2>&1 || status=$?
    [ "$status" -eq 0 ] || not_ok "status $status of: $*" "$log"
}

# take_stats FILE: payload of TCP on each link so far, "HOST SENT RECEIVED" a line. Each packet has 66 bytes of
# headers: Ethernet 14, IP 20, TCP 20 with 12 of timestamps.
take_stats() {
    cluster stats | awk 'NR > 1 { print $1, $2 - 66 * $4, $3 - 66 * $5 }' >"$1"
}

# expect_counted_job NAME ...: expect_cluster_job, with what was on the links before and after it for expect_carried.
expect_counted_job() {
    take_stats "$tmp/before"
    expect_cluster_job "$@"
    take_stats "$tmp/after"
}

# expect_carried NAME BYTES LEAST MOST HOST...: of the job that was counted last, the links of these hosts have
# carried from LEAST to MOST per cent of so many bytes of payload, in both directions.
expect_carried() {
    local name=$1 bytes=$2 least=$3 most=$4 host

    shift 4
    for host in "$@"; do
        paste -d ' ' "$tmp/before" "$tmp/after" |
            awk -v host="h$host" -v bytes="$bytes" -v least="$least" -v most="$most" -v name="$name" '
                function is_right(n) { return 100 * n >= least * bytes && 100 * n <= most * bytes }
                $1 == host {
                    sent = $5 - $2; received = $6 - $3; seen = 1
                    printf "%s: %s sent %d and received %d bytes, %.3f and %.3f of %d\n", name, host, sent,
                        received, sent / bytes, received / bytes, bytes
                }
                END { exit !(seen && is_right(sent) && is_right(received)) }' ||
            not_ok "$name: the link of h$host does not carry $least to $most % of $bytes bytes each way" "$tmp/$name.log"
    done
}

# expect_volume NAME RANKS BYTES TIMES: all ranks of a job of volume, one a host from h1 on, say that so many
# operations were offloaded, which took exactly so many bytes each way.
expect_volume() {
    local rank

    for ((rank = 0; rank < $2; rank++)); do
        has_line "$tmp/$1.log" "^rank $rank host h[1-$2] sent $3 received $3 offloaded $4\$" ||
            not_ok "$1: rank $rank does not send and receive exactly $3 bytes" "$tmp/$1.log"
    done
}

# add_hash NAME SERVERS [SETTING=VALUE...] [--OPTION-OF-RUN VALUE...]: that of the results of same_bits.
add_hash() {
    expect_cluster_job "bits-$1" "${@:2}" -- same_bits 1
    [ "$(grep -c '^hash ' "$tmp/bits-$1.log")" -eq 1 ] || not_ok "no hash of $1" "$tmp/bits-$1.log"
    grep '^hash ' "$tmp/bits-$1.log" | sed "s/\$/ $1/" >>"$tmp/hashes"
}

expect_equal_hashes() {
    [ "$(cut -d' ' -f2 "$tmp/hashes" | sort -u | wc -l)" -eq 1 ] || not_ok "the hashes differ" "$tmp/hashes"
}

# write_cases TYPES OPERATIONS: one of allreduce_matrix for each two that go together, for all of four ranks or three
# of them. sizes and offsets are arrays of the test.
write_cases() {
    local type op number=0 places=(apart inplace) ways=(b nb)

    for type in $1; do
        for op in $2; do
            case $op-$type in
            B*-FLOAT | B*-DOUBLE | L*-FLOAT | L*-DOUBLE) continue ;;
            esac
            number=$((number + 1))
            echo "$((3 + number % 2)) $op $type ${sizes[number % ${#sizes[@]}]}" \
                "${places[number % 2]} ${offsets[number % ${#offsets[@]}]} ${ways[number / 2 % 2]} $number"
        done
    done
}
