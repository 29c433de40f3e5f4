/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allreduce and MPI_Iallreduce. */
#include "mpich/mpich_allreduce.h"

#include "mpich/enter.h"
#include "mpich/handles.h"
#include "mpich/mpich_operate.h"
#include "mpich/reductions.h"

static oc_status_t mpich_allreduce_start(const oc_mpich_comm_t *c, oc_mpich_call_t *call,
                                         void (*finished)(void *, oc_status_t), void *arg)
{
    oc_allreduce_args_t args = oc_mpich_reduction_args(call, finished, arg);

    return oc_allreduce_start(oc_mpich_reduction_group(c), &args);
}

static const oc_mpich_operation_t operation = {
    .names = {"Allreduce", "Iallreduce"},
    .kind = OC_MPICH_ALLREDUCE,
    .service = OC_SERVICE_AGGREGATION,
    .ruled = OC_RULED_ALLREDUCE,
    .decide = oc_mpich_decide_reduction,
    .start = mpich_allreduce_start,
};

bool oc_mpich_allreduce(const void *sbuf, void *rbuf, int64_t count, int type, int op, int comm,
                        int *request, int *rc)
{
    oc_mpich_shape_t shape = {.count = count, .type = type, .op = op};
    oc_mpich_comm_t *c = oc_mpich_enter(comm, operation.kind, shape, request);
    oc_mpich_call_t call;

    if (NULL == c) {
        return false;
    }
    call = (oc_mpich_call_t) {.operation = &operation, .sbuf = sbuf, .rbuf = rbuf, .count = count,
                              .type = type, .op = op, .elements = (size_t) count,
                              .layout.type = MPI_DATATYPE_NULL};
    return count >= 0 && oc_mpich_is_type(type) && oc_mpich_is_op(op)
           && !oc_mpich_is_missing(sbuf, count, type) && !oc_mpich_is_missing(rbuf, count, type)
           && oc_mpich_operate(c, &call, request, rc);
}
