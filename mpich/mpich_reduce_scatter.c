/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce_scatter_block and MPI_Reduce_scatter, nonblocking ones, too. */
#include "mpich/mpich_reduce_scatter.h"

#include <stdlib.h>

#include "mpich/enter.h"
#include "mpich/handles.h"
#include "mpich/mpich_operate.h"
#include "mpich/reductions.h"

static oc_status_t mpich_reduce_scatter_start(const oc_mpich_comm_t *c, oc_mpich_call_t *call,
                                              void (*finished)(void *, oc_status_t), void *arg)
{
    oc_allreduce_args_t args = oc_mpich_reduction_args(call, finished, arg);

    args.to = OC_RESULT_TO_BLOCKS;
    args.counts = call->layout.elements;
    return oc_allreduce_start(oc_mpich_reduction_group(c), &args);
}

/* The engine knows counts of one kind. */
static bool list_blocks(const oc_mpich_comm_t *c, oc_mpich_call_t *call)
{
    size_t *elements = malloc((size_t) c->size * sizeof(*elements));

    for (int i = 0; NULL != elements && i < c->size; i++) {
        elements[i] = (size_t) oc_mpich_array_get(call->counts, i);
    }
    call->layout.elements = elements;
    return NULL != elements;
}

static const oc_mpich_operation_t equal_blocks = {
    .names = {"Reduce_scatter_block", "Ireduce_scatter_block"},
    .kind = OC_MPICH_REDUCE_SCATTER_BLOCK,
    .service = OC_SERVICE_AGGREGATION,
    .ruled = OC_RULED_REDUCE_SCATTER_BLOCK,
    .decide = oc_mpich_decide_reduction,
    .start = mpich_reduce_scatter_start,
};

static const oc_mpich_operation_t any_blocks = {
    .names = {"Reduce_scatter", "Ireduce_scatter"},
    .kind = OC_MPICH_REDUCE_SCATTER,
    .service = OC_SERVICE_AGGREGATION,
    .ruled = OC_RULED_REDUCE_SCATTER,
    .decide = oc_mpich_decide_reduction,
    .prepare = list_blocks,
    .start = mpich_reduce_scatter_start,
};

bool oc_mpich_reduce_scatter_block(const void *sbuf, void *rbuf, int64_t count, int type, int op,
                                   int comm, int *request, int *rc)
{
    oc_mpich_shape_t shape = {.count = count, .type = type, .op = op};
    oc_mpich_comm_t *c = oc_mpich_enter(comm, equal_blocks.kind, shape, request);
    oc_mpich_call_t call;

    if (NULL == c || count < 0 || !oc_mpich_is_type(type) || !oc_mpich_is_op(op)
        || oc_mpich_is_missing(sbuf, count, type) || oc_mpich_is_missing(rbuf, count, type)) {
        return false;
    }
    call = (oc_mpich_call_t) {.operation = &equal_blocks, .sbuf = sbuf, .rbuf = rbuf, .count = count,
                              .type = type, .op = op, .elements = (size_t) count * (size_t) c->size,
                              .layout.type = MPI_DATATYPE_NULL};
    return oc_mpich_operate(c, &call, request, rc);
}

bool oc_mpich_reduce_scatter(const void *sbuf, void *rbuf, const void *counts, bool large, int type,
                             int op, int comm, int *request, int *rc)
{
    oc_mpich_comm_t *c = oc_mpich_enter(comm, any_blocks.kind, OC_MPICH_NO_SHAPE, request);
    oc_mpich_call_t call;
    int64_t elements;

    if (NULL == c || NULL == counts || !oc_mpich_is_type(type) || !oc_mpich_is_op(op)) {
        return false;
    }
    call = (oc_mpich_call_t) {.operation = &any_blocks, .sbuf = sbuf, .rbuf = rbuf, .type = type,
                              .counts = {counts, large}, .op = op,
                              .layout.type = MPI_DATATYPE_NULL};
    elements = oc_mpich_array_sum(call.counts, c->size);
    call.elements = (size_t) elements;
    return elements >= 0 && !oc_mpich_is_missing(sbuf, elements, type)
           && !oc_mpich_is_missing(rbuf, oc_mpich_array_get(call.counts, c->rank), type)
           && oc_mpich_operate(c, &call, request, rc);
}
