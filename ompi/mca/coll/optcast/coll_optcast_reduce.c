/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce, MPI_Ireduce and MPI_Reduce_init. */
#include "coll_optcast_reduce.h"

#include "coll_optcast_call.h"
#include "coll_optcast_module.h"
#include "coll_optcast_operate.h"
#include "coll_optcast_operation.h"
#include "coll_optcast_pass.h"
#include "coll_optcast_persistent.h"
#include "coll_optcast_reductions.h"

static oc_status_t coll_reduce_start(const mca_coll_optcast_module_t *m, oc_group_t *group,
                                     mca_coll_optcast_call_t *call,
                                     void (*finished)(void *, oc_status_t), void *arg)
{
    oc_allreduce_args_t args = mca_coll_optcast_reduction_args(call, finished, arg);

    (void) m;
    args.to = OC_RESULT_TO_ROOT;
    args.root = (uint32_t) call->root;
    return oc_allreduce_start(group, &args);
}

static int reduce_previous(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call)
{
    return m->prev_reduce(call->sbuf, call->rbuf, call->count, call->dtype, call->op, call->root,
                          m->comm, m->prev_reduce_module);
}

static int reduce_previous_now(const mca_coll_optcast_module_t *m,
                               const mca_coll_optcast_call_t *call, ompi_request_t **request)
{
    return m->prev_ireduce(call->sbuf, call->rbuf, call->count, call->dtype, call->op, call->root,
                           m->comm, request, m->prev_ireduce_module);
}

static int reduce_previous_init(const mca_coll_optcast_module_t *m,
                                const mca_coll_optcast_call_t *call, struct ompi_info_t *info,
                                ompi_request_t **request)
{
    return m->prev_reduce_init(call->sbuf, call->rbuf, call->count, call->dtype, call->op,
                               call->root, m->comm, info, request, m->prev_reduce_init_module);
}

/* Of one element: Open MPI does not give back the buffers of a persistent request. */
static int reduce_previous_unused(const mca_coll_optcast_module_t *m,
                                  const mca_coll_optcast_call_t *call, ompi_request_t **request)
{
    static int unused[2];

    return m->prev_reduce_init(&unused[0], &unused[1], 1, MPI_INT, MPI_SUM, call->root, m->comm,
                               (struct ompi_info_t *) MPI_INFO_NULL, request,
                               m->prev_reduce_init_module);
}

static bool reduce_same_numbers(const mca_coll_optcast_module_t *m)
{
    return m->prev_ireduce_module == m->prev_reduce_init_module;
}

static const mca_coll_optcast_operation_t operation = {
    .names = {"Reduce", "Ireduce", "Reduce_init"},
    .service = OC_SERVICE_AGGREGATION,
    .by_size = true,
    .ruled = OC_RULED_REDUCE,
    .decide = mca_coll_optcast_decide_reduction,
    .start = coll_reduce_start,
    .previous = reduce_previous,
    .previous_now = reduce_previous_now,
    .previous_init = reduce_previous_init,
    .previous_unused = reduce_previous_unused,
    .same_numbers = reduce_same_numbers,
};

static mca_coll_optcast_call_t reduce_call_of(mca_coll_optcast_way_t way, const void *sbuf,
                                              void *rbuf, oc_mpi_count_t count,
                                              struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                              int root, const struct ompi_communicator_t *comm)
{
    bool gets = ompi_comm_rank((struct ompi_communicator_t *) comm) == root;

    return (mca_coll_optcast_call_t) {.operation = &operation, .way = way, .sbuf = sbuf,
                                      .rbuf = rbuf, .count = count, .dtype = dtype, .op = op,
                                      .root = root, .elements = (size_t) count,
                                      .own = gets ? (size_t) count : 0, .no_result = !gets};
}

int mca_coll_optcast_reduce(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                            struct ompi_datatype_t *dtype, struct ompi_op_t *op, int root,
                            struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_optcast_module_t *m = (mca_coll_optcast_module_t *) module;
    uint64_t bytes = (uint64_t) count * dtype->super.size;
    mca_coll_optcast_call_t call;
    int rc;

    if (mca_coll_optcast_pass_begin(m, m->least[OC_RULED_REDUCE], bytes, true)) {
        rc = m->prev_reduce(sbuf, rbuf, count, dtype, op, root, comm, m->prev_reduce_module);
        mca_coll_optcast_pass_end(m);
        return rc;
    }
    call = reduce_call_of(OC_WAY_BLOCKING, sbuf, rbuf, count, dtype, op, root, comm);
    return mca_coll_optcast_operate(m, &call);
}

int mca_coll_optcast_ireduce(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                             struct ompi_datatype_t *dtype, struct ompi_op_t *op, int root,
                             struct ompi_communicator_t *comm, ompi_request_t **request,
                             mca_coll_base_module_t *module)
{
    mca_coll_optcast_call_t call = reduce_call_of(OC_WAY_NONBLOCKING, sbuf, rbuf, count, dtype, op,
                                                  root, comm);

    return mca_coll_optcast_operate_now((mca_coll_optcast_module_t *) module, &call, request);
}

int mca_coll_optcast_reduce_init(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                                 struct ompi_datatype_t *dtype, struct ompi_op_t *op, int root,
                                 struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                 ompi_request_t **request, mca_coll_base_module_t *module)
{
    mca_coll_optcast_call_t call = reduce_call_of(OC_WAY_PERSISTENT, sbuf, rbuf, count, dtype, op,
                                                  root, comm);

    return mca_coll_optcast_operate_init((mca_coll_optcast_module_t *) module, &call, info,
                                         request);
}
