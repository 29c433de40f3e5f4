#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that verbs programs see the RDMA devices of a guest, ready and with the largest MTU.
# Test: all 120 alone
set -eu

# shellcheck source=tests/rdma/lib.sh
. "$(dirname "$0")/lib.sh"

begin_rdma_test devices
in_guest devices --devices 4 -- bash -c 'ibv_devinfo && rdma link show'

# has COUNT PATTERN
has() {
    [ "$(grep -c -E "$2" "$tmp/devices.log")" -eq "$1" ] || not_ok "there are not $1 lines with '$2'" "$tmp/devices.log"
}

for i in 1 2 3 4; do
    has 1 "^hca_id:[[:space:]]+rxe$i\$"
    has 1 "^link rxe$i/1 state ACTIVE .* netdev roce$i( |\$)"
done
has 4 'state:[[:space:]]+PORT_ACTIVE'
has 4 'active_mtu:[[:space:]]+4096'
has 4 'link_layer:[[:space:]]+Ethernet'
echo "ok devices: 4 active ports with MTU 4096"
