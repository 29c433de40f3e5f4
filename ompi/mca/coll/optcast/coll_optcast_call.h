/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call of MPI as the component passes it on: who reads it does not know MPI's function. Its
 * operation says how it is decided, started and left to the previous module.
 */
#ifndef MCA_COLL_OPTCAST_CALL_H
#define MCA_COLL_OPTCAST_CALL_H

#include "coll_optcast_compat.h"

#include "staging/device.h"

#include "coll_optcast_layout.h"

typedef struct mca_coll_optcast_operation mca_coll_optcast_operation_t;

/* How MPI's function waits for the collective. */
typedef enum {
    OC_WAY_BLOCKING,
    OC_WAY_NONBLOCKING,
    OC_WAY_PERSISTENT,
    OC_NUM_WAYS
} mca_coll_optcast_way_t;

/* A collective as MPI gave it, and what it is for the engine. What it does not have is 0. */
struct mca_coll_optcast_call {
    const mca_coll_optcast_operation_t *operation;
    mca_coll_optcast_way_t way;
    const void *sbuf;
    oc_mpi_count_t scount;      /* Allgather */
    struct ompi_datatype_t *sdtype;
    void *rbuf;                 /* Bcast: the only buffer */
    oc_mpi_count_t count;
    struct ompi_datatype_t *dtype;
    bool unequal;               /* Allgatherv: counts and displacements instead of count, … */
    oc_mpi_counts_t counts;     /* … only valid while MPI's function is called; Reduce_scatter */
    oc_mpi_displs_t displs;
    int root;
    struct ompi_op_t *op;
    size_t elements;            /* reductions: of the vector; … */
    size_t own;                 /* … and those of the result that go to rbuf */
    bool no_result;             /* this rank gets none, and rbuf may be anything */
    uint8_t token;              /* Barrier: what goes round */
    oc_device_t *sdevice, *rdevice; /* that have the buffers; NULL: host memory */
    unsigned oc_op, oc_type;    /* of reduction/reduction.h */
    uint64_t bytes;             /* reductions: of the vector */
    mca_coll_optcast_layout_t layout;
};

#endif
