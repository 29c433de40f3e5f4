#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that sharded training with its collectives offloaded learns what unsharded training does, bit for bit.
# Test: default 240
set -eu

# shellcheck source=tests/apps/lib.sh
. "$(dirname "$0")/lib.sh"

begin_job_test fsdp
have_python_modules || skip "$PYTHON lacks mpi4py, numpy or sklearn; run tools/packages run"

# run NAME RANKS MODE [ARGUMENT...]: leave the output in $tmp/NAME.out and $tmp/NAME.err.
run() {
    name=$1 ranks=$2 mode=$3
    shift 3
    status=0
    OMPI_MCA_coll_optcast_reproducible=rank_order OMPI_MCA_coll_optcast_multicast=udp \
        run_mpi "$ranks" "$mode" "$PYTHON" -m mpi4py "$REPO/examples/fsdp.py" --width 100 --steps 30 "$@" \
        >"$tmp/$name.out" 2>"$tmp/$name.err" || status=$?
    [ "$status" -eq 0 ] || not_ok "the training ended with status $status ($name)" "$tmp/$name.out" "$tmp/$name.err"
}

# same NAME NAME: they have the same losses in all digits, which fall.
same() {
    for name in "$1" "$2"; do
        grep '^step ' "$tmp/$name.out" >"$tmp/$name.losses" || true
        [ "$(wc -l <"$tmp/$name.losses")" -eq 30 ] || not_ok "there are not 30 losses" "$tmp/$name.out"
    done
    cmp -s "$tmp/$1.losses" "$tmp/$2.losses" || not_ok "losses of $1 and $2 differ" "$tmp/$1.losses" "$tmp/$2.losses"
    awk 'NR == 1 { first = $4 } END { exit !($4 < 0.7 * first) }' "$tmp/$1.losses" ||
        not_ok "nothing is learned" "$tmp/$1.losses"
}

run unsharded 4 never --unsharded
run sharded 4 always --json "$tmp/sharded.json"
same sharded unsharded
run half-unsharded 3 never --unsharded --half
run half 3 always --half
same half half-unsharded
# Open MPI's own, in another order and from time to time with other bits, learns the same
run never 4 never

"$PYTHON" - "$tmp/sharded.json" <<'END' || not_ok "exposed communication is not what a step takes longer than it computes" "$tmp/sharded.out"
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    told = json.load(file)
steps = list(zip(*(told[name] for name in ("seconds", "computing", "exposed", "waiting_least", "waiting"))))
assert len(steps) == 30
for seconds, computing, exposed, least, most in steps:
    assert abs(exposed - (seconds - computing)) < 1e-9 and 0 < computing <= seconds and 0 < least <= most < seconds
END
grep -q '^time per step .* ms, computing .* ms, exposed communication .* ms (.* %), waiting .* to .* ms$' "$tmp/sharded.out" ||
    not_ok "there are no times" "$tmp/sharded.out"
offloaded=$(offloaded_count "$tmp/sharded.err")
# 30 steps of 5 layers: 9 gathers and 5 reductions each
[ "$offloaded" -ge 420 ] || not_ok "only $offloaded collectives were offloaded" "$tmp/sharded.err"
unwanted=$(offloaded_count "$tmp/never.err")
[ "$unwanted" -eq 0 ] || not_ok "$unwanted collectives were offloaded in mode never" "$tmp/never.err"
echo "ok fsdp: the same 30 losses, also with 16-bit parameters; $offloaded collectives offloaded"
