#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that ./quickstart --cluster measures all three collectives, right and offloaded, and leaves no hosts.
# Test: default 120
set -eu

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

begin_cluster_test demo
PYTHON=$PYTHON "$REPO/tests/cluster/demo" >"$tmp/log" 2>&1 &
demo=$!
wait "$demo" || not_ok "it fails" "$tmp/log"
for collective in Allreduce Allgather Bcast; do
    for size in '256 KiB' '1 MiB' '4 MiB'; do
        has_line "$tmp/log" "^ +$collective +$size +[0-9.]+ ms +[0-9.]+ ms +[0-9.]+ x$" ||
            not_ok "no line for $collective of $size" "$tmp/log"
    done
done
! "$REPO/tests/cluster/cluster" list | grep -q "^demo-$demo:" || not_ok "its hosts are still there" "$tmp/log"
echo "ok demo"
