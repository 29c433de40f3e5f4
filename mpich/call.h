/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A collective as the program has called it, and what it is for the engine. Who passes it on does
 * not know MPI's function: its operation is a table.
 */
#ifndef OC_MPICH_CALL_H
#define OC_MPICH_CALL_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "adapter/fallback.h"
#include "client/client.h"

#include "mpich/left.h"
#include "mpich/mpich_layout.h"

typedef struct oc_mpich_comm oc_mpich_comm_t;
typedef struct oc_mpich_operation oc_mpich_operation_t;

/* An array of counts or displacements of MPI: of int, or of MPI_Count and MPI_Aint. */
typedef struct {
    const void *values;
    bool large;
} oc_mpich_array_t;

static inline int64_t oc_mpich_array_get(oc_mpich_array_t array, int index)
{
    return array.large ? ((const MPI_Count *) array.values)[index]
                       : ((const int *) array.values)[index];
}

/* -1: one of them is negative, which is for MPICH to say. */
static inline int64_t oc_mpich_array_sum(oc_mpich_array_t array, int length)
{
    int64_t sum = 0;

    for (int i = 0; i < length; i++) {
        int64_t value = oc_mpich_array_get(array, i);

        if (value < 0) {
            return -1;
        }
        sum += value;
    }
    return sum;
}

/* What it does not have is 0. */
typedef struct {
    const oc_mpich_operation_t *operation;
    bool blocking;
    MPI_Comm comm;
    const void *sbuf;
    int64_t scount;             /* Allgather: of the send side; not significant in place */
    MPI_Datatype stype;
    void *rbuf;                 /* Bcast: the only buffer */
    int64_t count;              /* of each block, or of the vector */
    MPI_Datatype type;
    bool unequal;               /* Allgatherv: counts and displacements instead of count, … */
    oc_mpich_array_t counts;    /* … only valid while MPI's function is called; Reduce_scatter */
    oc_mpich_array_t displs;
    int root;
    MPI_Op op;
    size_t elements;            /* reductions: of the vector */
    bool no_result;             /* this rank gets none, and rbuf may be anything */
    unsigned oc_op, oc_type;    /* of reduction/reduction.h */
    uint64_t bytes;             /* of all ranks' blocks, or of the vector */
    size_t bytes_to_send;       /* Allgather: of the send side; 0: in place */
    oc_mpich_layout_t layout;
} oc_mpich_call_t;

struct oc_mpich_operation {
    const char *names[2];       /* blocking, and not */
    oc_mpich_kind_t kind;
    oc_service_t service;
    oc_ruled_t ruled;           /* reductions: whose rules decide */
    /*
     * Whether it is offloaded: a pure function of what MPI makes equal on all ranks. Fills in what
     * the call is for the engine.
     */
    oc_fallback_t (*decide)(const oc_mpich_comm_t *comm, oc_mpich_call_t *call);
    /* Once, before start: fills in the layout. NULL: it has none. false: out of memory. */
    bool (*prepare)(const oc_mpich_comm_t *comm, oc_mpich_call_t *call);
    /* As oc_allreduce_start. */
    oc_status_t (*start)(const oc_mpich_comm_t *comm, oc_mpich_call_t *call,
                         void (*finished)(void *, oc_status_t), void *arg);
    /* After success, on a thread of the program: what is temporary goes to where it belongs. NULL: nothing is. */
    int (*finish)(const oc_mpich_comm_t *comm, oc_mpich_call_t *call);
};

#endif
