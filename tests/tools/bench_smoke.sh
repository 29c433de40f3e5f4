#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that bench/run measures, writes all of its files, and leaves no cluster.
# Test: default 180
set -eu

here=$(cd "$(dirname "$0")" && pwd)
REPO=$(cd "$here/../.." && pwd)
BUILD=${BUILD:-$REPO/build}
export BUILD
# shellcheck source=tests/apps/lib.sh
. "$REPO/tests/apps/lib.sh"

begin_job_test bench_smoke
[ "$(id -u)" -eq 0 ] || skip "needs root, for namespaces"
for program in gnuplot iperf3 tc nsenter mpirun.openmpi; do
    command -v "$program" >/dev/null || skip "no $program; run tools/packages bench"
done

# clusters: the names of those that bench/run made.
clusters() {
    "$REPO/tests/cluster/cluster" list | sed -n 's/^\(bench-[0-9]*\):.*/\1/p'
}

# has_text FILE TEXT
has_text() {
    grep -q -F -e "$2" "$1" || not_ok "no '$2' in $1" "$1"
}

# other tests may be keeping the processors busy: the links need not pass their check
"$PYTHON" "$REPO/bench/run" smoke --quick --launches 1 --unchecked --no-install \
    --output "$tmp/out" >"$tmp/log" 2>&1 &
pid=$!
wait "$pid" || not_ok "bench/run failed" "$tmp/log"
! clusters | grep -q -x "bench-$pid" || not_ok "cluster bench-$pid is still up" "$tmp/log"
result=$tmp/out/smoke-quick.json
page=$tmp/out/performance.md
[ -s "$result" ] || not_ok "no result file" "$tmp/log"
"$PYTHON" - "$result" <<'END' || not_ok "the result file is wrong" "$tmp/log"
import json, sys

result = json.load(open(sys.argv[1], encoding="utf-8"))
setup, = result["setups"]
assert result["quick"] and result["experiment"] == "smoke", result
rows = {(row["contestant"], row["bytes"]): row["launches"] for row in setup["rows"]}
for name in ("ring", "optcast"):
    for size in (16384, 65536):
        launch, = rows[name, size]
        assert launch["seconds"] and min(launch["seconds"]) > 0, launch
        assert launch["wire"]["sent"] > size, launch
launch, = rows["optcast", 65536]
assert launch["offloaded"] == launch["operations"] > 0, launch
# half of the vector to two hosts; the hosts reduce the other half
assert launch["wire"]["server_sent"] > 65536, launch
END
own=$tmp/out/performance/smoke-quick.md
has_text "$own" "Made by \`bench/run smoke --quick"
has_text "$page" "(performance/smoke-quick.md)"
has_text "$page" "all hosts are emulated on **one machine**"
for what in time bandwidth; do
    plot=smoke-quick-2-1-$what.svg
    has_text "$own" "($plot)"
    has_text "$tmp/out/performance/$plot" "</svg>"
done

# Interrupted, it takes its cluster away.
"$PYTHON" "$REPO/bench/run" smoke --quick --launches 50 --unchecked --no-install \
    --output "$tmp/out" >"$tmp/log" 2>&1 &
pid=$!
patience=100
until grep -q 'launch 1' "$tmp/log"; do
    patience=$((patience - 1))
    [ "$patience" -gt 0 ] || break
    sleep 0.5
done
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
[ "$patience" -gt 0 ] || not_ok "bench/run measured nothing within 50 s" "$tmp/log"
[ "$status" -eq 143 ] || not_ok "bench/run that got SIGTERM ended with status $status" "$tmp/log"
! clusters | grep -q -x "bench-$pid" || not_ok "cluster bench-$pid is still up" "$tmp/log"
echo "ok bench_smoke: numbers, page and plots are there, and no cluster remains"
