#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that optcast-perf and optcast-tune measure under MPICH what they measure under Open MPI.
# Test: default 180
set -eu

# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2154 # tmp is set by begin_test, tool by find_tool
begin_test mpich_tools
mpiexec=$(find_mpiexec) || skip "no mpiexec of MPICH in PATH; install mpich libmpich-dev"
[ -e "$mpich_library" ] || skip "no $mpich_library: this tree is not built for MPICH"
TIME_LIMIT=${TIME_LIMIT:-60}

# run STATUS RANKS MODE ARGUMENT...: a job of the tool, as ends. Mode none: without the library.
run() {
    local preload=(-env LD_PRELOAD "$mpich_library" -env OPTCAST_MODE "$3" -env OPTCAST_MULTICAST udp
        -env OPTCAST_MULTICAST_INTERFACE lo)

    [ "$3" != none ] || preload=()
    ends "$1" timeout -k 10 "$TIME_LIMIT" "$mpiexec" -n "$2" "${preload[@]}" "$tool" "${@:4}"
}

# check_json PYTHON: a condition on rows, and its first row.
check_json() {
    "$PYTHON" -c 'import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
row = rows[0]
sys.exit(0 if eval(sys.argv[2]) else "not so: " + sys.argv[2])' "$tmp/json" "$1" 2>"$tmp/python" ||
        not_ok "the JSON file is not as expected" "$tmp/python" "$tmp/json"
}

find_tool optcast-perf-mpich
few=(-n 3 -w 1 --check --interface none --json "$tmp/json" -b 64 -e 240000 -f 60)
for collective in allreduce reduce reduce_scatter_block reduce_scatter allgather allgatherv bcast; do
    for how in '' --nonblocking; do
        # shellcheck disable=SC2086 # an option or none
        run 0 3 always "$collective" "${few[@]}" $how
        check_json 'len(rows) == 3 and all(r["wrong"] == 0 and r["offloaded"] == 3 and r["fallbacks"] == 0 for r in rows)'
    done
done
has out '^# liboptcast-mpich.so: mode always, servers embedded$'
# also where nothing warms up
run 0 3 always allgather "${few[@]}" --nonblocking -w 0
check_json 'all(r["offloaded"] == 3 for r in rows)'
run 0 3 always pair "${few[@]}" --overlap 5
check_json 'all(r["wrong"] == 0 and r["offloaded"] == 6 for r in rows)'
# the same without the library in turns, and what it is without it
run 0 3 always allreduce "${few[@]}" --compare
check_json 'all(r["wrong"] == 0 and r["offloaded"] == 3 and r["previous"]["offloaded"] == 0 for r in rows)'
run 0 2 none allreduce "${few[@]}"
has out '^# coll/optcast is not loaded$'
run 2 2 none allreduce "${few[@]}" --compare
has err '^optcast-perf: --compare: coll/optcast is not loaded.*; with MPICH preload liboptcast-mpich.so$'

find_tool optcast-tune-mpich
run 0 3 auto --min 512 --max 1K
has out '^# Measured on [-0-9]{10} with optcast-tune [0-9.]+ and MPICH'
has out '^\[allreduce 1x3\+0\]$'
has out '^offload = (never|[0-9]+-.*)$'
for size in 512 1024; do
    has out "^# +$size +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ to [0-9.]+ (slower|alike|faster)$"
done
run 2 2 never --min 512 --max 1K
has err '^optcast-tune: the mode \(coll_optcast_mode; with MPICH OPTCAST_MODE\) is never: leave it out$'
echo "ok mpich_tools"
