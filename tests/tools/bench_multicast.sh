#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that optcast-bench-multicast simulates what it is told, and says no to nonsense.
# Test: default 120
set -eu

# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2154 # tmp is set by begin_test
begin_tool_test bench_multicast optcast-bench-multicast

refuses "a number from 2 to 4096" --hosts 1
refuses "allgather or bcast is needed" --operation alltoall
refuses "7 bytes are too few for 8 ranks" --bytes 7
refuses "only options are known" small
shows 1 --json "$tmp/none/result"
shows 0 --help
has out --root-loss

# result NAME OPTION...: leaves the numbers in $tmp/NAME.json.
result() {
    shows 0 "${@:2}" --json "$tmp/$1.json"
}

result plain --hosts 16 --bytes 1048576
result again --hosts 16 --bytes 1048576
result clos --hosts 64 --leaf 4 --pod 16 --bytes 65536
result lossy --operation bcast --hosts 8 --bytes 1048576 --loss 10000
result other --operation bcast --hosts 8 --bytes 1048576 --loss 10000 --seed 2
result shared --hosts 4 --ranks 4 --bytes 1048576 --tcp 4
result narrow --hosts 4 --ranks 4 --bytes 1048576 --tcp 4 --tcp-window 20000
result pieces --hosts 16 --bytes 1048576 --piece 16384
result many --hosts 512 --leaf 16 --pod 256 --bytes 131072
result paused --hosts 8 --bytes 1048576 --pause 5000
"$PYTHON" - "$tmp" >"$tmp/log" 2>&1 <<'END' || not_ok "wrong numbers" "$tmp/log"
import json, sys

results = {name: json.load(open(f"{sys.argv[1]}/{name}.json", encoding="utf-8"))
           for name in ("plain", "again", "clos", "lossy", "other", "shared", "narrow", "pieces", "many",
                        "paused")}
for name, result in results.items():
    print(name, result)
    assert 0 < result["floor"] <= result["seconds"], name
plain, clos, lossy = results["plain"], results["clos"], results["lossy"]
assert plain == results["again"], "equal seeds, other results"
assert plain["seconds"] < 1.2 * plain["floor"] and plain["fragments_lost"] == 0
assert plain["fragments_sent"] == 16 * (65536 // 1430 + 1), "each block once"
# what is sent is the vector's part of each host, with headers and little control
assert 65536 < plain["up_bytes"] < 1.15 * 65536
# each fragment crosses P + P/L + P/Q links
assert clos["fragments_sent"] == 64 and clos["multicast_crossings"] == 64 * (64 + 16 + 4)
assert clos["crossings"] > clos["multicast_crossings"], "there are no control messages"
assert lossy["fragments_lost"] > 0 and lossy["repair_bytes"] > 0
assert lossy["seconds"] != results["other"]["seconds"], "the seed changes nothing"
assert results["shared"]["background"] > 2 * results["narrow"]["background"] > 0
# the same fragments, in fewer packets: a third of the window has room for 8 fragments at a time
pieces = results["pieces"]
assert pieces["fragments_sent"] == plain["fragments_sent"] and pieces["fragments_lost"] == 0
assert pieces["multicast_crossings"] < plain["multicast_crossings"] / 7
# the set-up costs no more than the operation: each rank hears each other rank two times, or little more
assert results["many"]["events"] < 6 * 512 ** 2
# a rank that stands still holds the others up
assert results["paused"]["seconds"] > plain["floor"] + 0.004
END
echo "ok bench_multicast: Allgather and Bcast on simulated networks, with losses, streams and a pause"
