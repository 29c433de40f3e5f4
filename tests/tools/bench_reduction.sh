#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that optcast-bench-reduction measures what it is told to, and says no to nonsense.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
REPO=$(cd "$here/../.." && pwd)
BUILD=${BUILD:-$REPO/build}
PYTHON=${PYTHON:-/usr/bin/python3}
program=$BUILD/optcast-bench-reduction
tmp=$(mktemp -d "${TMPDIR:-/tmp}/optcast-bench-reduction.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

not_ok() {
    echo "not ok bench_reduction: $1"
    cat "$tmp/log" 2>/dev/null || :
    exit 1
}

# refuses TEXT ARGUMENT...: a usage error that says TEXT.
refuses() {
    text=$1
    shift
    status=0
    "$program" "$@" >"$tmp/log" 2>&1 || status=$?
    [ "$status" -eq 2 ] || not_ok "$* gave status $status"
    grep -q -F -e "$text" "$tmp/log" || not_ok "$* does not say '$text'"
}

"$program" --memory 64 --chunk 1 --type float --type float-int32 --rounds 2 \
    --json "$tmp/result.json" >"$tmp/log" 2>&1 || not_ok "it failed"
grep -q '^memory *64  float-int32 *minloc ' "$tmp/log" || not_ok "a line is missing"
"$PYTHON" - "$tmp/result.json" "$REPO/bench" >"$tmp/log" 2>&1 <<'END' || not_ok "wrong numbers"
import json, sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[2])
from lib import reduction

result = json.load(open(sys.argv[1], encoding="utf-8"))
places = [(row["place"], row["inputs"]) for row in result["rows"]]
assert places == [(p, n) for n in (2, 3, 4, 8, 16, 32, 64) for p in ("memory", "L2")], places
for row in result["rows"]:
    assert [t["name"] for t in row["types"]] == ["float", "float-int32"], row
    assert 0 < row["working_set"] <= 64 << 20 and row["working_set"] % row["inputs"] == 0, row
    for loop in row["limits"] + row["types"]:
        assert len(loop["gbytes_s"]) == 2 and min(loop["gbytes_s"]) > 0.001, loop
    # whatever else this machine does: they read the same memory
    assert row["types"][0]["gbytes_s"][0] < 3 * max(reduction.limits_of(row)), row
assert any("| float |" in line for line in reduction.section(result))
END
refuses "a number from 64 to" --memory 63
refuses "a number from 1 to 99" --rounds 1x
refuses "2, 3, 4, 8, 16, 32 or 64 is needed" --inputs 5
refuses "there is no such type" --type half
refuses "only options are known" float
status=0
"$program" --memory 64 --json "$tmp/none/result" >"$tmp/log" 2>&1 || status=$?
[ "$status" -eq 1 ] || not_ok "a file that cannot be written gave status $status"
"$program" --help | grep -q OPTCAST_ISA || not_ok "--help does not say everything"
echo "ok bench_reduction: rates of kernels and limits, for each number of inputs"
