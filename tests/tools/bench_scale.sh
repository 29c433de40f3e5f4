#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that optcast-bench-scale measures a server, and says no to nonsense.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
REPO=$(cd "$here/../.." && pwd)
BUILD=${BUILD:-$REPO/build}
PYTHON=${PYTHON:-/usr/bin/python3}
OPTCAST_SERVER=${OPTCAST_SERVER:-$BUILD/optcast-server}
export OPTCAST_SERVER
program=$BUILD/optcast-bench-scale
tmp=$(mktemp -d "${TMPDIR:-/tmp}/optcast-bench-scale.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

not_ok() {
    echo "not ok bench_scale: $1"
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

refuses "a number from 1 to 99" --rounds 0
refuses "chunks, small or tcp is needed" --load large
refuses "only options are known" small
status=0
"$program" --json "$tmp/none/result" >"$tmp/log" 2>&1 || status=$?
[ "$status" -eq 1 ] || not_ok "a file that cannot be written gave status $status"
"$program" --help | grep -q OPTCAST_SERVER || not_ok "--help does not say everything"
"$program" --rounds 1 --json "$tmp/result.json" >"$tmp/log" 2>&1 || not_ok "it failed"
grep -q '^small *4 *64 .*%' "$tmp/log" || not_ok "a line is missing"
"$PYTHON" - "$tmp/result.json" "$REPO/bench" >"$tmp/log" 2>&1 <<'END' || not_ok "wrong numbers"
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
