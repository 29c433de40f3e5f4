/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of a program into MPI_Allreduce, by any of its names.
 * request: NULL if the function blocks. false: MPICH is to do it. rc: what MPI's function returns.
 * Handles are those of MPICH's binary interface, which are ints, so that callers need not know mpi.h.
 */
#ifndef OC_MPICH_ALLREDUCE_H
#define OC_MPICH_ALLREDUCE_H

#include <stdbool.h>
#include <stdint.h>

bool oc_mpich_allreduce(const void *sbuf, void *rbuf, int64_t count, int type, int op, int comm,
                        int *request, int *rc);

#endif
