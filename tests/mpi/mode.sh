#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that the mode can be changed through MPI_T, and that communicators keep theirs.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
REPO=$(cd "$here/../.." && pwd)
BUILD=${BUILD:-$REPO/build}
# shellcheck source=tests/mpi/lib.sh
. "$here/lib.sh"

begin_mpi_test mode
compile mode
TIME_LIMIT=${TIME_LIMIT:-30}
for begin in always auto never; do
    expect_job "$begin" 4 embedded mode="$begin" min_size=64K mode "$begin"
    grep -q -x 'ok mode' "$tmp/$begin.log" || not_ok "it said nothing" "$tmp/$begin.log"
done
echo "ok mode: each communicator keeps the mode that it was made in"
