#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that small Allreduces take no memory from the heap, from the MPI call to the server.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
REPO=$(cd "$here/../.." && pwd)
BUILD=${BUILD:-$REPO/build}
# shellcheck source=tests/mpi/lib.sh
. "$here/lib.sh"

begin_mpi_test heap
compile heap
expect_job flat 3 embedded heap
expect_job node 3 embedded reproducible=shape heap
echo "ok heap: no calls, with ranks by themselves and with ranks that share their host's memory"
