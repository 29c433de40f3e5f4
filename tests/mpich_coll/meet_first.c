/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To be preloaded before the library for MPICH: sets communicators up before programs use them, so that
 * nonblocking collectives are offloaded from the first one on. Calls MPI by its names, which are the library's.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

#define EXPORT __attribute__((visibility("default")))

#define NEXT(name) ((__typeof__(&name)) dlsym(RTLD_NEXT, #name))

static int meet(MPI_Comm comm)
{
    int one = 1, all[1024], inter = 1, size = 0;

    if (MPI_COMM_NULL == comm || MPI_SUCCESS != PMPI_Comm_test_inter(comm, &inter) || inter
        || MPI_SUCCESS != PMPI_Comm_size(comm, &size) || size > 1024) {
        return MPI_SUCCESS;
    }
    (void) NEXT(MPI_Allreduce)(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, comm);
    return NEXT(MPI_Allgather)(&one, 1, MPI_INT, all, 1, MPI_INT, comm);
}

EXPORT int MPI_Init(int *argc, char ***argv)
{
    int rc = PMPI_Init(argc, argv);

    return MPI_SUCCESS == rc ? meet(MPI_COMM_WORLD) : rc;
}

EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int rc = PMPI_Init_thread(argc, argv, required, provided);

    return MPI_SUCCESS == rc ? meet(MPI_COMM_WORLD) : rc;
}

EXPORT int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy)
{
    int rc = PMPI_Comm_dup(comm, copy);

    return MPI_SUCCESS == rc ? meet(*copy) : rc;
}

EXPORT int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *part)
{
    int rc = PMPI_Comm_split(comm, color, key, part);

    return MPI_SUCCESS == rc ? meet(*part) : rc;
}
