#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of Allreduce across hosts: the results, and that each rank sends and receives its vector once if
# servers do all the work.
# Test: default 180
set -eu

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

count=4194304 times=2
payload=$((count * 4 * times))

begin_cluster_test allreduce
compile_program allreduce_matrix "$REPO/tests/mpi/allreduce_matrix.c" "$REPO/tests/mpi/matrix_types.c"
compile volume
make_cluster --hosts 6 --rate 200
start_servers 5 6

# one of each operation and width; sizes around messages, chunks and windows; all ranks or three of four
sizes=(3 1000 8191 65537 200000 70001 131072) offsets=(0 element 1)
write_cases "INT8_T UINT16_T INT32_T UINT64_T FLOAT DOUBLE" "SUM PROD MIN MAX BAND BXOR LOR" >"$tmp/cases"
expect_cluster_job matrix "$servers" chunk_size=65536 -- allreduce_matrix "$tmp/cases"
expect_cluster_job matrix-embedded embedded:2 --hosts 1-4 chunk_size=65536 -- allreduce_matrix "$tmp/cases"

expect_counted_job volume "$servers" peer_aggregation=off -- volume "$count" "$times"
expect_volume volume 4 "$payload" "$times"
expect_carried volume "$payload" 100 103 1 2 3 4
# each server takes half of the vectors of four ranks
expect_carried volume $((2 * payload)) 100 103 5 6
echo "ok allreduce: $(wc -l <"$tmp/cases") cases across hosts, and $payload bytes a rank each way"
