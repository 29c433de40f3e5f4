#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of errors under MPICH: they are MPI's own, texts have the names of settings that its users know, and ranks
# with different versions of the library leave everything to MPICH.
# Test: mpich: quick 60
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test mpich_errors
compile mpich_errors faults
says() {
    has_line "$tmp/$1.log" "$2" || not_ok "$1: nobody says: $2" "$tmp/$1.log"
}

expect_job errors 3 embedded "${cast[@]}" mpich_errors
says errors 'MPICH has no room for the communicator that a set-up needs: free some'

# servers that are none: by the name that the setting has here
expect_job nowhere 2 host:x connect_timeout=2 faults seconds=0.2
says nowhere 'OPTCAST_SERVERS: "host:x" has no valid port'
! has_line "$tmp/nowhere.log" 'coll_optcast_' || not_ok "nowhere: a name that only Open MPI knows" "$tmp/nowhere.log"

# another version on one of the ranks
sed 's/OCJ04001/OCJ04999/g' "$library" >"$tmp/other.so"
! cmp -s "$library" "$tmp/other.so" || not_ok "there is no other version"
for other in 0 1; do
    cat >"$tmp/version" <<EOF
#!/bin/sh
[ "\$PMI_RANK" != $other ] || export LD_PRELOAD=$tmp/other.so
exec "\$@"
EOF
    chmod +x "$tmp/version"
    wrapper=("$tmp/version")
    expect_job "version-$other" 3 embedded faults seconds=0.2
    says "version-$other" 'its ranks have different versions of liboptcast-mpich.so: install one of them on all hosts'
    [ "$(grep -c '^rank [0-2]: .* 0 offloaded' "$tmp/version-$other.log")" -eq 3 ] ||
        not_ok "version-$other: something was offloaded" "$tmp/version-$other.log"
done
echo "ok mpich_errors"
