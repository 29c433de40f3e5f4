#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that the library for MPICH does no harm where it has nothing to do, and says why nothing is offloaded.
# Test: mpich: quick 90
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test mpich_preload
cat >"$tmp/sum.c" <<'PROGRAM'
#include <mpi.h>
#include <stdio.h>

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *length; i++) {
        ((int *) inout)[i] += ((int *) in)[i];
    }
}

int main(int argc, char **argv)
{
    int rank, size, sum = 1;
    MPI_Op op;

    MPI_Init(&argc, &argv);
    MPI_Op_create(add, 1, &op); /* before any collective */
    MPI_Op_free(&op);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d: %s\n", rank, sum == size ? "ok" : "wrong");
    return MPI_Finalize();
}
PROGRAM

# count NAME PATTERN NUMBER: so many lines.
count() {
    local lines

    lines=$(grep -c -E "$2" "$tmp/$1.log") || :
    [ "$lines" -eq "$3" ] || not_ok "$1: $lines lines \"$2\", not $3" "$tmp/$1.log"
}

# programs without MPI, also where all symbols are looked up at once
LD_PRELOAD=$library LD_BIND_NOW=1 ls / >"$tmp/ls.log" 2>&1 || not_ok "ls fails with the library" "$tmp/ls.log"
! grep -q optcast "$tmp/ls.log" || not_ok "the library speaks in a program without MPI" "$tmp/ls.log"

# a program of Open MPI: one line, and the right result
"$OMPICC" -o "$tmp/sum.openmpi" "$tmp/sum.c" >"$tmp/compile.log" 2>&1 || not_ok "no program of Open MPI" "$tmp/compile.log"
timeout 60 "$OMPI_MPIRUN" --oversubscribe -np 3 -x "LD_PRELOAD=$library" "$tmp/sum.openmpi" >"$tmp/foreign.log" 2>&1 ||
    not_ok "a program of Open MPI fails with the library" "$tmp/foreign.log"
count foreign 'rank [0-9]*: ok' 3
count foreign 'optcast: nothing is offloaded: .* MPI library of this program is Open MPI' 1

# MPICH: offloaded; a wrong setting is named, and nothing is lost
"$MPICHCC" -o "$tmp/sum.mpich" "$tmp/sum.c" >"$tmp/compile.log" 2>&1 || not_ok "no program of MPICH" "$tmp/compile.log"
programs=$tmp
expect_job offloaded 3 embedded sum.mpich
count offloaded 'rank [0-9]*: ok' 3
count offloaded 'rank 0: 1 collectives offloaded' 1
expect_job wrong 3 embedded window=many sum.mpich
count wrong 'rank [0-9]*: ok' 3
count wrong 'OPTCAST_WINDOW: "many" is not a value of window: a number from .* is needed; nothing is offloaded' 3
expect_job never 3 embedded mode=never sum.mpich
count never 'rank 0: 0 collectives offloaded' 1
expect_job alone 1 embedded sum.mpich
count alone 'rank 0: ok' 1
# a module that brings MPICH along for itself, as those of Python do
cat >"$tmp/host.c" <<'HOST'
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    int (*run)(int, char **) = module ? (int (*)(int, char **)) dlsym(module, "main") : NULL;

    if (!run) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    return run(argc, argv);
}
HOST
gcc -o "$tmp/host" "$tmp/host.c" -ldl >"$tmp/compile.log" 2>&1 || not_ok "no program that loads modules" "$tmp/compile.log"
"$MPICHCC" -shared -fPIC -o "$tmp/module.so" "$tmp/sum.c" >"$tmp/compile.log" 2>&1 ||
    not_ok "no module of MPICH" "$tmp/compile.log"
expect_job module 3 embedded host "$tmp/module.so"
count module 'rank [0-9]*: ok' 3
count module 'rank 0: 1 collectives offloaded' 1
echo "ok mpich_preload"
