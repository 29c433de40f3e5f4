/* SPDX-License-Identifier: BSD-3-Clause */
/* What Optcast offers of MPI, which depends on the MPI library. */
#ifndef TESTS_MPI_OFFERED_H
#define TESTS_MPI_OFFERED_H

#include <mpi.h>
#include <stdbool.h>

#ifdef MPICH_VERSION
/*
 * Its Fortran 2008 calls PMPI_Barrier; its persistent collectives can be of its own kind only; nonblocking ones
 * are offloaded once a blocking one has set the communicator up, and then whatever they are.
 */
static const bool offers_barrier, offers_persistent, offers_first_nonblocking, has_own_order;
#else
/* Open MPI itself issues small nonblocking ones, in an order that differs between ranks. */
static const bool offers_barrier = true, offers_persistent = true, offers_first_nonblocking = true,
                  has_own_order = true;
#endif

/* Before the first nonblocking operation of a communicator, unless that is offered. Collective. */
static inline void meet_first(MPI_Comm comm)
{
    int sum = 1, all[1024];

    if (!offers_first_nonblocking) {
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
        MPI_Allgather(&sum, 1, MPI_INT, all, 1, MPI_INT, comm);
    }
}

#endif
