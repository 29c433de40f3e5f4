#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that HAN, if it is what the component leaves collectives to, does them by itself: its communicators open no
# groups and offload nothing.
# Test: default 120
set -eu

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

begin_cluster_test han
compile han
make_cluster --hosts 2 --rate 0
# HAN of Open MPI 4.1.4 crashes now and then with shared memory, with and without the component
wrapper=(env OMPI_MCA_coll_han_priority=50 OMPI_MCA_coll_base_verbose=10)
expect_cluster_job han embedded multicast=udp --hosts 1-2 --per-host 2 --btl tcp,self -- han
has_line "$tmp/han.log" 'selecting +han, priority +50, Enabled' || not_ok "HAN is not there" "$tmp/han.log"
has_line "$tmp/han.log" '^ok han' || not_ok "results or counters are wrong" "$tmp/han.log"
echo "ok han"
