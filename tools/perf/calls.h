/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of MPI that are measured. */
#ifndef OC_PERF_CALLS_H
#define OC_PERF_CALLS_H

#include <mpi.h>

#include "tools/perf/layout.h"
#include "tools/perf/outside.h"

typedef struct {
    oc_perf_collective_t collective;
    bool nonblocking;
    const void *send;           /* MPI_IN_PLACE where that is meant */
    void *receive;
    int count, root;
    int *counts, *first;        /* of unequal blocks: of all ranks */
    MPI_Datatype type;
    MPI_Op op;
} oc_perf_call_t;

/* MPI_BYTE for OC_PERF_BYTE and so on; MPI_OP_NULL for OC_PERF_OP_END. */
MPI_Datatype oc_perf_mpi_type(oc_perf_type_t type);
MPI_Op oc_perf_mpi_op(oc_perf_op_t op);

#define OC_PERF_MAX_CALLS OC_PERF_MAX_STREAM

/*
 * Starts operations, each on the communicator of its index, and returns when all are complete on this rank. Several have
 * to be nonblocking; between start and wait of these is what is outside MPI, if outside is not NULL, and how many seconds
 * that took is returned. Errors go to the error handlers of the communicators.
 */
double oc_perf_call(const oc_perf_call_t *const *calls, const MPI_Comm *comms, int count,
                    const oc_perf_outside_t *outside);

#endif
