#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that optcast-bench-scale measures a server, and says no to nonsense.
# Test: default 180
set -eu

# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2154 # tmp is set by begin_test
begin_tool_test bench_scale optcast-bench-scale
OPTCAST_SERVER=${OPTCAST_SERVER:-$BUILD/optcast-server}
export OPTCAST_SERVER

refuses "a number from 1 to 99" --rounds 0
refuses "chunks, small or tcp is needed" --load large
refuses "only options are known" small
shows 1 --json "$tmp/none/result"
shows 0 --help
has out OPTCAST_SERVER
shows 0 --rounds 1 --json "$tmp/result.json"
has out '^small *4 *64 .*%'
"$PYTHON" - "$tmp/result.json" "$REPO/bench" >"$tmp/log" 2>&1 <<'END' || not_ok "wrong numbers" "$tmp/log"
import json, sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[2])
from lib import scale

result = json.load(open(sys.argv[1], encoding="utf-8"))
rows = [(row["load"], row["ranks"], row["groups"]) for row in result["rows"]]
assert rows == [(load, 4, groups) for load in ("chunks", "small") for groups in (1, 8, 64)] \
    + [("tcp", 8, 1)], rows
for row in result["rows"]:
    assert len(row["seconds"]) == len(row["user"]) == len(row["instructions"]) == 1, row
    # whatever else this machine does: something was used, and not a second for each
    assert 0 < row["seconds"][0] < row["units"] and 0 <= row["user"][0] <= 1, row
# chunks are as large as they should be, and all contributions count
assert [row["units"] for row in result["rows"]] == 3 * [8192] + 3 * [8192] + [12 * 256]
assert result["rows"][-1]["bytes"] == 12 * 8 * (16 << 20)
assert any("for a vector of 1 KiB from each rank | 64 |" in line for line in scale.section(result))
END
echo "ok bench_scale: processor time of an aggregator, for 1, 8 and 64 groups and over TCP"
