#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of info keys of communicators.
# Test: quick 60
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test hints
compile hints
start_server
expect_job embedded 4 embedded hints
expect_job server 3 "$server_address" hints
for name in embedded server; do
    [ "$(grep -c 'communicator ".*": the info key optcast_reduce_scatter_beside is ignored: "bcast" is not a value' "$tmp/$name.log")" -eq 1 ] ||
        not_ok "$name: the value is not refused once" "$tmp/$name.log"
    has_line "$tmp/$name.log" "communicator \"unequal\": .*settings.*Open MPI's own collectives are used" ||
        not_ok "$name: no line says that ranks disagree" "$tmp/$name.log"
done
stop_server "$server_pid" || not_ok "the server did not end in order" "$server_log"
echo "ok hints: what communicators say is taken, refused, or compared"
