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
# A copy of the sources that is a repository, and has what is not committed.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
if command -v git >/dev/null; then
    cp -r "$here/../../bench" "$tmp/bench"
    git -C "$tmp" init -q
    if "$PYTHON" "$tmp/bench/run" smoke --no-install >"$tmp/log" 2>&1 ||
        ! grep -q 'bench/.*not as committed' "$tmp/log"; then
        cat "$tmp/log"
        echo "not ok bench: bench/run measures what is not committed"
        exit 1
    fi
fi
echo "ok bench: limits, medians, best peers, launches and the page are right"
