#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that an ordinary training job learns the same with its collectives offloaded.
# Test: default 240
set -eu

# shellcheck source=tests/apps/lib.sh
. "$(dirname "$0")/lib.sh"

begin_job_test train
have_python_modules || skip "$PYTHON lacks mpi4py, numpy or sklearn; run tools/packages run"

compare_training run_training 1
