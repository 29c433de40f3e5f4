/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of MPI that are measured. */
#ifndef OC_PERF_CALLS_H
#define OC_PERF_CALLS_H

#include <mpi.h>

#include "tools/perf/layout.h"

typedef struct {
    oc_perf_collective_t collective;
    bool nonblocking;
    int outside;                /* milliseconds between start and wait that are not spent in MPI */
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

/* Returns when the operation is complete on this rank; errors go to comm's error handler. */
void oc_perf_call(const oc_perf_call_t *call, MPI_Comm comm);

#endif
