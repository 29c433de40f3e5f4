/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent collectives: an extension of Open MPI 4.1, and a part of MPI from 5.0 on. */
#ifndef TESTS_MPI_PERSISTENT_H
#define TESTS_MPI_PERSISTENT_H

#include <mpi.h>

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
#    include <mpi-ext.h>
#    define MPI_Allreduce_init  MPIX_Allreduce_init
#    define MPI_Allgather_init  MPIX_Allgather_init
#    define MPI_Allgatherv_init MPIX_Allgatherv_init
#    define MPI_Bcast_init      MPIX_Bcast_init
#    define MPI_Reduce_init     MPIX_Reduce_init
#    define MPI_Barrier_init    MPIX_Barrier_init
#    define MPI_Reduce_scatter_init       MPIX_Reduce_scatter_init
#    define MPI_Reduce_scatter_block_init MPIX_Reduce_scatter_block_init
#endif

#endif
