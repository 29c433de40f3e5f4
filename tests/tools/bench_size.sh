#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that optcast-bench-size measures a server, and says no to nonsense.
# Test: all 300 alone
set -eu

here=$(cd "$(dirname "$0")" && pwd)
REPO=$(cd "$here/../.." && pwd)
BUILD=${BUILD:-$REPO/build}
# shellcheck source=tests/tools/lib.sh
. "$here/lib.sh"

# shellcheck disable=SC2154 # tmp is set by begin_test
begin_tool_test bench_size optcast-bench-size
OPTCAST_SERVER=${OPTCAST_SERVER:-$BUILD/optcast-server}
export OPTCAST_SERVER

refuses "a number from 1 to 65536" --most 0
refuses "connect, ping, communicators, flat or memory is needed" --only large
refuses "only options are known" small
shows 1 --json "$tmp/none/result"
shows 0 --help
has out OPTCAST_SERVER
shows 0 --most 8192 --json "$tmp/result.json"
has out '^connect: *8192 clients at once: *8192 welcomed'
"$PYTHON" - "$tmp/result.json" "$REPO/bench" >"$tmp/log" 2>&1 <<'END' || not_ok "wrong numbers" "$tmp/log"
import json, sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[2])
from lib import size

result = json.load(open(sys.argv[1], encoding="utf-8"))
rows = {}
for row in result["rows"]:
    rows.setdefault(row.pop("what"), []).append(row)
assert [row["clients"] for row in rows["connect"]] == [1024, 8192], rows
assert all(row["welcomed"] == row["clients"] for row in rows["connect"]), rows
assert [row["sessions"] for row in rows["ping"]] == [2048, 4096, 8192], rows
# whatever else this machine does: no walk through all of them for each
each = [row["processor"] / row["sessions"] for row in rows["ping"]]
assert 0 < each[-1] < 2 * each[0], rows
assert [row["aggregators"] for row in rows["communicators"]] == [1, 4], rows
assert all(row["live"] >= 32 for row in rows["communicators"]), rows
assert [row["chunk"] for row in rows["flat"]] == [65536, 16384], rows
assert [row["ranks"] for row in rows["server"]] == [1000, 2000, 4000, 8000], rows
assert all(row["joined"] > row["connected"] > row["endpoints"] > 0 for row in rows["server"]), rows
assert all(row["setup"] > row["live"] >= 0 for row in rows["rank"]), rows
lines = size.section(json.load(open(sys.argv[1], encoding="utf-8")))
assert any(line.startswith("| 8192 | 8192 | 0 | 0 |") for line in lines), lines
END
echo "ok bench_size: clients that connect at once, heartbeats, communicators and memory"
