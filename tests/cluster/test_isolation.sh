#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that hosts share nothing but the network: whatever ranks tell each other is on the links.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
REPO=$(cd "$here/../.." && pwd)
BUILD=${BUILD:-$REPO/build}
# shellcheck source=tests/cluster/lib.sh
. "$here/lib.sh"

count=2097152 times=2
payload=$((count * 4 * times))

# namespaces HOST
namespaces() {
    cluster exec "$1" readlink /proc/self/ns/net /proc/self/ns/pid /proc/self/ns/ipc /proc/self/ns/uts \
        /proc/self/ns/mnt
}

# expect_on_links NAME LEAST MOST [ARGUMENT...]: with the arguments of cluster_job before "--", every host sends
# and receives from LEAST to MOST bytes.
expect_on_links() {
    local bad

    take_stats "$tmp/before"
    expect_cluster_job "$1" "${@:4}" -- volume "$count" "$times"
    take_stats "$tmp/after"
    bad=$(paste -d ' ' "$tmp/before" "$tmp/after" | awk -v least="$2" -v most="$3" '
        { sent = $5 - $2; received = $6 - $3 }
        sent < least || received < least || sent > most || received > most { print $1, sent, received }')
    [ -z "$bad" ] || not_ok "$1: not from $2 to $3 bytes on the links: $bad" "$tmp/$1.log"
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
most=$((payload * 11 / 10))
MODE=never expect_on_links ob1 "$payload" "$most" embedded
MODE=never expect_on_links ucx "$payload" "$most" embedded --pml ucx
# the server is a thread of a rank: the vector of the other one, and the result for it
expect_on_links embedded "$payload" "$most" embedded
# two ranks on a host do share memory: with the server on it nothing has to leave it
expect_on_links one-host 0 $((payload / 100)) embedded --hosts 1 --per-host 2
echo "ok isolation"
