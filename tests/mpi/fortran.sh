#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that Fortran programs are offloaded, in each of the three ways in which they know MPI.
# Test: default 120; mpich: default 120
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test fortran
compiler=$OMPICC
[ "$MPI" = openmpi ] || compiler=$MPICHCC
fortran=${compiler/mpicc/mpifort}
[ "$fortran" != "$compiler" ] && [ -x "$fortran" ] || skip "no $fortran: this MPI library has no Fortran"
programs=$tmp
# mpif.h and mpi know no types of buffers: any may come
options=(-O2 -g -Wall -fallow-argument-mismatch)
"$fortran" "${options[@]}" -o "$tmp/hello" -x f95 - <<<'end' >"$tmp/compile.log" 2>&1 ||
    skip "$fortran does not compile an empty program: install gfortran"
# has_way MPIF_H|MPI|MPI_F08: an Open MPI may have been built without its modules.
has_way() {
    local info=${compiler/mpicc/ompi_info}

    [ "$MPI" = openmpi ] && [ -x "$info" ] || return 0
    case $1 in
    MPI) "$info" | grep -q 'Fort use mpi: yes' ;;
    MPI_F08) "$info" | grep -q 'Fort use mpi_f08: yes' ;;
    esac
}

for way in MPIF_H MPI MPI_F08; do
    if ! has_way "$way"; then
        echo "left out: $way, which this Open MPI does not have"
        continue
    fi
    "$fortran" "${options[@]}" "-DBY_$way" -o "$tmp/fortran_$way" "$here/fortran.F90" >"$tmp/compile.log" 2>&1 ||
        not_ok "$way: it does not compile" "$tmp/compile.log"
    expect_job "$way" 3 embedded "${cast[@]}" "fortran_$way"
    has_line "$tmp/$way.log" '^ok fortran$' || not_ok "$way: wrong results" "$tmp/$way.log"
    # five rounds of five blocking and two nonblocking ones
    has_line "$tmp/$way.log" 'rank 0: 35 collectives offloaded' || not_ok "$way: not all was offloaded" "$tmp/$way.log"
done
echo "ok fortran"
