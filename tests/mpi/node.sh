#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that ranks of one host reduce in shared memory first: set up by blocking, nonblocking and
# persistent operations, with the right bits, and every byte leaves the host once.
# Test: default 180
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test node
compile volume same_bits inflight persistent
TIME_LIMIT=${TIME_LIMIT:-60}
count=500000
times=4

# expect_volume NAME SERVERS: what each rank sends, in sum what one of them has.
expect_volume() {
    expect_job "$1" 4 "$2" reproducible=shape peer_aggregation=off volume "$count" "$times"
    has_line "$tmp/$1.log" 'node reduction shape: 1 host with 4 ranks' ||
        not_ok "$1: not the node shape" "$tmp/$1.log"
    awk -v bytes="$((count * times * 4))" -v times="$times" '
        $5 == "sent" && ($6 == 0 || $6 > bytes / 3) { uneven = 1 }
        $5 == "sent" { sent += $6; received += $8; done += $10 == times }
        END { exit uneven || sent != bytes || received != bytes || done != 4 }' "$tmp/$1.log" ||
        not_ok "$1: the ranks do not send $((count * times * 4)) bytes together" "$tmp/$1.log"
}

start_server --aggregators 2
expect_volume server "$server_address"
expect_volume embedded embedded:2
expect_job flat 4 embedded:2 reproducible=rank_order volume 50000 1
has_line "$tmp/flat.log" 'flat reduction shape' || not_ok "rank_order is not flat" "$tmp/flat.log"
# one host: both orders are the same
for order in shape rank_order; do
    expect_job "bits-$order" 4 embedded:2 reproducible=$order chunk_size=4096 same_bits 2
    grep '^hash ' "$tmp/bits-$order.log" >>"$tmp/hashes"
done
[ "$(sort -u "$tmp/hashes" | wc -l)" -eq 1 ] || not_ok "the bits differ" "$tmp/hashes"
expect_job nonblocking 4 "$server_address" reproducible=shape chunk_size=8192 inflight 64 1 served
expect_job many 4 embedded:2 reproducible=shape inflight 900 4 served
expect_job persistent 4 "$server_address" reproducible=shape persistent served
stop_server "$server_pid" || not_ok "the server did not end in order" "$server_log"
echo "ok node"
