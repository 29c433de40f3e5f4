# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns what the tests on emulated clusters share: one cluster for each test, jobs on it, and its removal.
# To be sourced by bash after REPO (the source tree) and BUILD (the build tree) are set.
# shellcheck disable=SC2154 # tmp is set by begin_test

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

# start_servers HOST...: sets servers to the list for coll_optcast_servers.
start_servers() {
    local host address

    servers=
    for host in "$@"; do
        address=$(cluster server "$host" 2>"$tmp/server.log") || not_ok "no server on h$host" "$tmp/server.log"
        servers=${servers:+$servers,}$address
    done
}

# cluster_job SERVERS [SETTING=VALUE...] [--OPTION-OF-RUN VALUE...] -- PROGRAM [ARGUMENT...]: a compiled program in
# mode always (or MODE) with the coll_optcast settings; its time is limited. Multicast is off unless it is set:
# programs have Bcasts of their own.
cluster_job() {
    local arguments=(--mca coll_optcast_servers "$1") options=() multicast=off

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
    # bounded from here: a shell that ends does not end a function
    BUILD=$BUILD timeout --foreground -k 10 "${TIME_LIMIT:-60}" "$REPO/tests/cluster/cluster" \
        run --name "$cluster_name" "${options[@]}" \
        -x "OMPI_MCA_mca_base_component_path=$component_dir:SYSTEM_DEFAULT" \
        --mca coll optcast,tuned,basic,libnbc,self,inter --mca coll_optcast_mode "${MODE:-always}" \
        --mca coll_optcast_multicast "$multicast" --mca coll_optcast_verbose 1 "${arguments[@]}" "${wrapper[@]}" "$programs/$1" "${@:2}" </dev/null
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
