#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that optcast-bench-reduction measures what it is told to, and says no to nonsense.
# Test: default 60
set -eu

# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2154 # tmp is set by begin_test
begin_tool_test bench_reduction optcast-bench-reduction

shows 0 --memory 64 --chunk 1 --type float --type float-int32 --rounds 2 --json "$tmp/result.json"
has out '^memory *64  float-int32 *minloc '
"$PYTHON" - "$tmp/result.json" "$REPO/bench" >"$tmp/log" 2>&1 <<'END' || not_ok "wrong numbers" "$tmp/log"
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
shows 1 --memory 64 --json "$tmp/none/result"
shows 0 --help
has out OPTCAST_ISA
echo "ok bench_reduction: rates of kernels and limits, for each number of inputs"
