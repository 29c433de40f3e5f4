/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of a program into MPI_Allgather and MPI_Allgatherv, by any of their names.
 * request: NULL if the function blocks. false: MPICH is to do it. rc: what MPI's function returns.
 * Handles are those of MPICH's binary interface, which are ints, so that callers need not know mpi.h.
 */
#ifndef OC_MPICH_ALLGATHER_H
#define OC_MPICH_ALLGATHER_H

#include <stdbool.h>
#include <stdint.h>

bool oc_mpich_allgather(const void *sbuf, int64_t scount, int stype, void *rbuf, int64_t rcount,
                        int rtype, int comm, int *request, int *rc);
/* rcounts and displs: of int, or if large of MPI_Count and MPI_Aint. */
bool oc_mpich_allgatherv(const void *sbuf, int64_t scount, int stype, void *rbuf,
                         const void *rcounts, const void *displs, bool large, int rtype, int comm,
                         int *request, int *rc);

#endif
