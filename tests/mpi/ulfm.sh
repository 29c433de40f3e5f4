#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that a program that survives failures (ULFM) does so with the component as well, which leaves it alone.
# Test: openmpi5: all 120
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test ulfm
[ "${OMPI_VERSION%%.*}" -ge 5 ] || skip "Open MPI $OMPI_VERSION has no ULFM"
compile ulfm
mpirun_arguments+=(--with-ft ulfm)
# mpirun says that a process has died, and may end with its status
run_job 4 embedded "${cast[@]}" ulfm >"$tmp/log" 2>&1 || :
has_line "$tmp/log" '^ok ulfm: 3 are left' || not_ok "it does not survive" "$tmp/log"
has_line "$tmp/log" 'to survive failures \(ULFM\): nothing is offloaded' || not_ok "it is not said why" "$tmp/log"
echo "ok ulfm"
