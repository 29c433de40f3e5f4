/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce and MPI_Ireduce. */
#include "mpich/mpich_reduce.h"

#include "mpich/enter.h"
#include "mpich/handles.h"
#include "mpich/mpich_operate.h"
#include "mpich/reductions.h"

static oc_status_t mpich_reduce_start(const oc_mpich_comm_t *c, oc_mpich_call_t *call,
                                      void (*finished)(void *, oc_status_t), void *arg)
{
    oc_allreduce_args_t args = oc_mpich_reduction_args(call, finished, arg);

    args.to = OC_RESULT_TO_ROOT;
    args.root = (uint32_t) call->root;
    return oc_allreduce_start(oc_mpich_reduction_group(c), &args);
}

static const oc_mpich_operation_t operation = {
    .names = {"Reduce", "Ireduce"},
    .kind = OC_MPICH_REDUCE,
    .service = OC_SERVICE_AGGREGATION,
    .ruled = OC_RULED_REDUCE,
    .decide = oc_mpich_decide_reduction,
    .start = mpich_reduce_start,
};

bool oc_mpich_reduce(const void *sbuf, void *rbuf, int64_t count, int type, int op, int root,
                     int comm, int *request, int *rc)
{
    oc_mpich_shape_t shape = {.count = count, .type = type, .op = op};
    oc_mpich_comm_t *c = oc_mpich_enter(comm, operation.kind, shape, request);
    oc_mpich_call_t call;

    if (NULL == c || count < 0 || root < 0 || root >= c->size
        || !oc_mpich_is_type(type) || !oc_mpich_is_op(op)
        || oc_mpich_is_missing(sbuf, count, type)
        || (root == c->rank && oc_mpich_is_missing(rbuf, count, type))) {
        return false;
    }
    call = (oc_mpich_call_t) {.operation = &operation, .sbuf = sbuf, .rbuf = rbuf, .count = count,
                              .type = type, .op = op, .root = root, .elements = (size_t) count,
                              .no_result = root != c->rank, .layout.type = MPI_DATATYPE_NULL};
    return oc_mpich_operate(c, &call, request, rc);
}
