#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that vectors are registered with RDMA devices once, and again when their memory is new.
# Test: all 600 alone
set -eu

# shellcheck source=tests/rdma/lib.sh
. "$(dirname "$0")/lib.sh"

begin_rdma_test registrations
needs_verbs
compile_program registrations "$here/registrations.c" -I"$REPO/tests/mpi" -rdynamic -libverbs
in_guest guest --devices 3 --memory 1024 --timeout 500 -- env "BUILD=$BUILD" "$here/inside/registrations"
log=$tmp/guest/all.log
grep -q '^ok registrations$' "$log" || not_ok "not everything is right" "$log"
# what could not be registered as a whole would be in pieces, without a word
! grep -q 'UCX  *\(ERROR\|WARN\)' "$log" || not_ok "UCX complains" "$log"
log=$tmp/guest/refused.log
grep -q '^ok registrations$' "$log" || not_ok "what cannot be registered is not as it should be" "$log"
[ "$(grep -c '2097152 bytes at once could not be registered' "$log")" -eq 2 ] ||
    not_ok "it is not said once by each of 2 ranks" "$log"
[ "$(grep -c 'ibv_reg_mr(.*length=2097152,.* failed' "$log")" -eq 2 ] ||
    not_ok "it is not tried once by each of 2 ranks" "$log"
echo "ok registrations: 2 vectors registered once each on 2 ranks, and anew after their memory was; and" \
    "shorter ones after longer ones could not be"
