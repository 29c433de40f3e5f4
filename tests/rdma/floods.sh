#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that multicast by RoCE is not used on an Ethernet that delivers it to hosts that have not joined, unless
# somebody allows it.
# Test: all 400 alone
set -eu

# shellcheck source=tests/rdma/lib.sh
. "$(dirname "$0")/lib.sh"

# fates NAME: what became of the communicators of a job.
fates() {
    sed -n -E 's/^communicator [0-9]+: [0-9]+ ms, //p' "$tmp/floods/$1" | tr '\n' ' '
}

begin_rdma_test floods
needs_verbs
compile first_operations
in_guest floods --guests 2 --memory 1024 --timeout 330 -- env "BUILD=$BUILD" "$here/inside/floods"
[ "$(fates auto)" = "left left " ] || not_ok "auto: it is used where it floods" "$tmp/floods/auto"
[ "$(grep -c 'delivers multicast to hosts that have not joined: guest2 sees on roce2 .*multicast=verbs uses' "$tmp/floods/auto")" -eq 1 ] ||
    not_ok "auto: there is not one line that says why" "$tmp/floods/auto"
[ "$(fates verbs)" = "offloaded offloaded " ] || not_ok "verbs: it is not used where it is allowed" "$tmp/floods/verbs"
grep -q 'verbs multicast 239\..* on rxe1 port 1 on roce1, 2 hosts' "$tmp/floods/verbs" ||
    not_ok "verbs: no line says so" "$tmp/floods/verbs"
echo "ok floods"
