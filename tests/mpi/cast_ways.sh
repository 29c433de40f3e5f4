#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that Allgather and Bcast are left to Open MPI on all ranks or on none, are right, and are counted.
# Test: quick 120; default 180; sanitizers: all 300
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test cast_ways
compile cast_ways
TIME_LIMIT=${TIME_LIMIT:-120}

# one_line NAME TEXT: each communicator whose set-up is declined says so once, and why.
one_line() {
    local lines

    lines=$(grep -c "optcast: communicator .*Open MPI's own Allgather and Bcast are used" "$tmp/$1.log") || :
    [ "$lines" -eq "$2" ] || not_ok "$1: $lines lines say that there is no multicast, not $2" "$tmp/$1.log"
    has_line "$tmp/$1.log" "$3" || not_ok "$1: no line \"$3\"" "$tmp/$1.log"
}

for ranks in 2 4; do
    expect_job "served-$ranks" "$ranks" embedded "${cast[@]}" cast_ways served
    has_line "$tmp/served-$ranks.log" "optcast: communicator .*: $ranks ranks, udp multicast .* on lo" ||
        not_ok "served: no line says what a communicator uses" "$tmp/served-$ranks.log"
    has_line "$tmp/served-$ranks.log" 'optcast: rank 0: [1-9][0-9]* fragments sent by multicast' ||
        not_ok "served: the summary has no fragments" "$tmp/served-$ranks.log"
done
# here Open MPI's Allgather calls Bcast, and its Allreduce Reduce and Bcast, of the same communicator
wrapper=(env "OMPI_MCA_coll=optcast,basic,libnbc,self")
expect_job simple 4 embedded "${cast[@]}" cast_ways served
expect_job simple-setup 4 embedded multicast=udp multicast_interface=nosuch0 cast_ways setup
wrapper=()
expect_job chain 4 embedded "${cast[@]}" multicast_senders=2 cast_ways served
expect_job place 4 embedded "${cast[@]}" mode=auto cast_ways place
expect_job ranks 3 embedded "${cast[@]}" max_ranks=2 cast_ways ranks
expect_job off 3 embedded multicast=off cast_ways off
! has_line "$tmp/off.log" 'multicast' || not_ok "off: something is said about multicast" "$tmp/off.log"
expect_job setup 3 embedded multicast=udp multicast_interface=nosuch0 cast_ways setup
one_line setup 3 'nosuch0.*is not there'
expect_job address 3 embedded "${cast[@]}" multicast_address=10.0.0.1 cast_ways setup
one_line address 3 '10\.0\.0\.1'
# an address of the world is the user's choice
expect_job scope 3 embedded "${cast[@]}" multicast_address=238.1.2.3 cast_ways served
[ "$(grep -c '"238\.1\.2\.3" is not in 239\.0\.0\.0/8' "$tmp/scope.log")" -eq 1 ] ||
    not_ok "scope: there is not one warning" "$tmp/scope.log"
! grep -q 'is not in 239' "$tmp/chain.log" || not_ok "chain: it warns of an address that is made" "$tmp/chain.log"
echo "ok cast_ways"
