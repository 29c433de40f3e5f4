#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that a training job of MPICH learns the same with its collectives offloaded.
# Test: default 240
set -eu

# shellcheck source=tests/apps/lib.sh
. "$(dirname "$0")/lib.sh"

begin_test train_mpich
mpiexec=$(find_mpiexec) || skip "no mpiexec of MPICH in PATH; install mpich libmpich-dev"
[ -e "$mpich_library" ] || not_ok "no $mpich_library: run make in $BUILD"
have_python_modules || skip "$PYTHON lacks mpi4py, numpy or sklearn; run tools/packages run"

# run MODE: leave the output in $tmp/MODE.out and $tmp/MODE.err.
run() {
    status=0
    run_training_in_c 4 "$1" >"$tmp/$1.out" 2>"$tmp/$1.err" || status=$?
    [ "$status" -eq 0 ] ||
        not_ok "the training ended with status $status in optcast mode $1" "$tmp/$1.out" "$tmp/$1.err"
}

run always
run never

always=$(final_accuracy "$tmp/always.out")
never=$(final_accuracy "$tmp/never.out")
awk -v a="$always" -v b="$never" 'BEGIN { d = a - b; exit !(a >= 0.95 && b >= 0.95 && d <= 0.01 && d >= -0.01) }' ||
    not_ok "test accuracy is '$always' in mode always and '$never' in mode never: both must be 0.95 or more, and equal to 0.01"

# 30 epochs of 43 minibatches and one sum, and the comparison of weights
offloaded=$(offloaded_count "$tmp/always.err")
[ "$offloaded" -ge 1320 ] || not_ok "$offloaded collectives were offloaded in mode always, of at least 1320" "$tmp/always.err"
unwanted=$(offloaded_count "$tmp/never.err")
[ "$unwanted" -eq 0 ] || not_ok "$unwanted collectives were offloaded in mode never" "$tmp/never.err"
echo "ok train_mpich: test accuracy $always, $never without offload; $offloaded collectives offloaded"
