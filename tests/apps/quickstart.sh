#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that ./quickstart refuses what does not go together, and that --fsdp compares two trainings as they are.
# Test: default 180
set -eu

# shellcheck source=tests/apps/lib.sh
. "$(dirname "$0")/lib.sh"

begin_job_test quickstart
have_python_modules || skip "$PYTHON lacks mpi4py, numpy or sklearn; run tools/packages run"

# refused TEXT ARGUMENT...: it says so, and does nothing else.
refused() {
    text=$1
    shift
    ! "$REPO/quickstart" --no-install "$@" >"$tmp/refused" 2>&1 || not_ok "it takes $*" "$tmp/refused"
    case $(cat "$tmp/refused") in
    "quickstart: "*"$text"*) ;;
    *) not_ok "it does not refuse $* with '$text'" "$tmp/refused" ;;
    esac
    [ "$(wc -l <"$tmp/refused")" -eq 1 ] || not_ok "it does more than refuse $*" "$tmp/refused"
}

refused '--fsdp trains in mode never and in mode always: leave out --mode' --fsdp --mode auto
refused '--fsdp trains in mode never and in mode always: leave out --mode' --mode=never --cluster --fsdp
refused 'leave it out with --fsdp and --cluster' --fsdp --mpi mpich
refused "--mpi 'lam' is unknown" --mpi lam
refused 'leave out --np' --cluster --np 4
refused 'leave out --np --mode' --np 4 --cluster --mode always
refused '--np 9 is too much for --cluster' --fsdp --cluster --np 9
refused "--np '1' is not a number of ranks" --fsdp --np 1

# has_line PATTERN: in what was printed last.
has_line() {
    grep -q -E "$1" "$tmp/out" || not_ok "there is no line $1" "$tmp/out"
}

# told NEVER ALWAYS OFFLOADED_IN_ALWAYS: of two runs.
told() {
    status=0
    "$PYTHON" "$here/fsdp_demo.py" "$tmp/$1.json" "$tmp/$2.json" 0 "$3" >"$tmp/out" 2>&1 || status=$?
}

echo '{"seconds": [9, 0.4], "computing": [1, 0.3], "exposed": [8, 0.1], "losses": [2, 1]}' >"$tmp/never.json"
echo '{"seconds": [9, 0.3], "computing": [1, 0.27], "exposed": [8, 0.03], "losses": [2, 1.00001]}' >"$tmp/always.json"
echo '{"seconds": [9, 0.3], "computing": [1, 0.27], "exposed": [8, 0.03], "losses": [2, 1.1]}' >"$tmp/wrong.json"
told never always 28
[ "$status" -eq 0 ] || not_ok "it does not take what is right" "$tmp/out"
has_line '^  time per step +400\.0 ms +300\.0 ms$'
has_line '^  exposed communication +100\.0 ms \(25 %\) +30\.0 ms \(10 %\)$'
has_line '^The losses are not the same in all digits; they differ by at most 1\.0e-05 of a loss'
told never wrong 28
[ "$status" -eq 1 ] || not_ok "it takes losses that differ" "$tmp/out"
told never always 0
[ "$status" -eq 1 ] || not_ok "it takes it that nothing was offloaded" "$tmp/out"

# two ranks add in the same order, whoever adds
BUILD=$BUILD "$here/fsdp_demo" --np 2 >"$tmp/out" 2>&1 || not_ok "the comparison fails" "$tmp/out"
has_line '^  time per step +[0-9.]+ ms +[0-9.]+ ms$'
has_line '^  exposed communication +[0-9.]+ ms \([0-9]+ %\) +[0-9.]+ ms \([0-9]+ %\)$'
has_line '^The losses of all 12 steps are the same, in all digits\.$'
offloaded=$(sed -n -E 's/^  offloaded collectives +0 +([0-9]+)$/\1/p' "$tmp/out")
# 12 steps of 5 layers: 9 gathers and 5 reductions each
[ "${offloaded:-0}" -ge 168 ] || not_ok "'$offloaded' collectives were offloaded, of at least 168" "$tmp/out"
echo "ok quickstart: sharded training without and with Optcast has the same losses; $offloaded collectives offloaded"
