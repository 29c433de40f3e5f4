#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that calls that are left to MPICH again and again are counted, and left no longer than there is a reason.
# Test: mpich: quick 90
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test mpich_left
compile mpich_left
TIME_LIMIT=${TIME_LIMIT:-30}
expect_job auto 3 embedded:2 mode=auto offload=64K- mpich_left auto
expect_job told 3 embedded:2 mode=auto offload=64K- verbose=2 mpich_left auto
expect_job always 3 embedded "${cast[@]}" mpich_left always
expect_job never 2 embedded mode=never "${cast[@]}" mpich_left never
expect_job off 2 embedded multicast=off mpich_left off
echo "ok mpich_left"
