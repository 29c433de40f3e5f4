#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of what bench/ computes and says, without a cluster and without MPI.
# Test: default 60
set -eu

here=$(cd "$(dirname "$0")" && pwd)
PYTHON=${PYTHON:-/usr/bin/python3}

"$PYTHON" "$here/bench_test.py" || {
    echo "not ok bench: see above"
    exit 1
}
"$PYTHON" "$here/../../bench/run" --list | grep '^allreduce-hosts ' >/dev/null || {
    echo "not ok bench: bench/run --list does not name allreduce-hosts"
    exit 1
}
echo "ok bench: limits, medians, best peers, launches and the page are right"
