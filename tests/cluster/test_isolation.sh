#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that hosts share nothing but the network: whatever ranks tell each other is on the links.
# Test: default 120
set -eu

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

count=2097152 times=2
payload=$((count * 4 * times))

# namespaces HOST
namespaces() {
    cluster exec "$1" readlink /proc/self/ns/net /proc/self/ns/pid /proc/self/ns/ipc /proc/self/ns/uts \
        /proc/self/ns/mnt
}

# expect_on_links NAME LEAST MOST [ARGUMENT...]: with the arguments of cluster_job before "--", both hosts send and
# receive from LEAST to MOST per cent of the payload.
expect_on_links() {
    expect_counted_job "$1" "${@:4}" -- volume "$count" "$times"
    expect_carried "$1" "$payload" "$2" "$3" 1 2
}

begin_cluster_test isolation
compile volume
make_cluster --hosts 2 --rate 0

paste -d ' ' <(namespaces 1) <(namespaces 2) <(readlink /proc/self/ns/{net,pid,ipc,uts,mnt}) >"$tmp/namespaces"
! awk '$1 == $2 || $1 == $3 || $2 == $3' "$tmp/namespaces" | grep . ||
    not_ok "two hosts, or a host and this machine, share a namespace" "$tmp/namespaces"
cluster exec 1 touch /dev/shm/mine
! cluster exec 2 test -e /dev/shm/mine || not_ok "hosts share /dev/shm"
[ ! -e /dev/shm/mine ] || not_ok "a host shares /dev/shm with this machine"

# Two ranks that exchange all they have: less than the vector on a link would have gone another way.
MODE=never expect_on_links ob1 100 110 embedded
MODE=never expect_on_links ucx 100 110 embedded --pml ucx
# the server is a thread of a rank: the vector of the other one, and the result for it
expect_on_links embedded 100 110 embedded
# two ranks on a host do share memory: with the server on it nothing has to leave it
expect_on_links one-host 0 1 embedded --hosts 1 --per-host 2
echo "ok isolation"
