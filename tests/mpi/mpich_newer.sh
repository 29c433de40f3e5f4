#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that the library, built with one MPICH, works under a newer one: the same programs, with the same interface.
# Test: mpich: all 900
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test mpich_newer
[ "$(id -u)" -eq 0 ] || skip "needs root, which runs programs in another root folder"
NEWER_MPICH_ROOT=$("$REPO/tests/newer_mpich/root" 2>"$tmp/root.log") || not_ok "no newer MPICH" "$tmp/root.log"
export NEWER_MPICH_ROOT NEWER_MPICH_MPIEXEC=$REPO/tests/newer_mpich/mpiexec BUILD
version=$("$NEWER_MPICH_MPIEXEC" --version | sed -n 's/^ *Version: *//p')
[[ $version =~ ^(4\.[2-9]|[5-9]) ]] || not_ok "its version is '$version'"

# passes NAME [ARGUMENT...]: a test of this folder, with that MPICH.
passes() {
    "$here/$1.sh" "${@:2}" >"$tmp/$1.out" 2>&1 || not_ok "MPICH $version: $1 fails" "$tmp/$1.out"
    grep -q '^ok' "$tmp/$1.out" || not_ok "MPICH $version: $1 does not pass" "$tmp/$1.out"
}

passes mpich_requests
passes mpich_errors
passes matrix few
passes allgather few
passes background
passes fortran
echo "ok mpich_newer: MPICH $version"
