/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of a program into MPI_Reduce_scatter_block and MPI_Reduce_scatter, by any of their names.
 * request: NULL if the function blocks. false: MPICH is to do it. rc: what MPI's function returns.
 * Handles are those of MPICH's binary interface, which are ints, so that callers need not know mpi.h.
 */
#ifndef OC_MPICH_REDUCE_SCATTER_H
#define OC_MPICH_REDUCE_SCATTER_H

#include <stdbool.h>
#include <stdint.h>

bool oc_mpich_reduce_scatter_block(const void *sbuf, void *rbuf, int64_t count, int type, int op,
                                   int comm, int *request, int *rc);
/* counts: of int, or if large of MPI_Count. */
bool oc_mpich_reduce_scatter(const void *sbuf, void *rbuf, const void *counts, bool large, int type,
                             int op, int comm, int *request, int *rc);

#endif
