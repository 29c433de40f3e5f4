#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that a training job of MPICH learns the same with its collectives offloaded.
# Test: default 240
set -eu

# shellcheck source=tests/apps/lib.sh
. "$(dirname "$0")/lib.sh"

begin_test train_mpich
mpiexec=$(find_mpiexec) || skip "no mpiexec of MPICH in PATH; install mpich libmpich-dev"
[ -e "$mpich_library" ] || skip "no $mpich_library; install mpich and libmpich-dev before configure"
have_python_modules || skip "$PYTHON lacks mpi4py, numpy or sklearn; run tools/packages run"

# 30 epochs of 43 minibatches and one sum, and the comparison of weights
compare_training run_training_in_c 1320
