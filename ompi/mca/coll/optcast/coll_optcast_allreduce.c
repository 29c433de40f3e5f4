/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allreduce, MPI_Iallreduce and MPI_Allreduce_init. */
#include "coll_optcast_allreduce.h"

#include "coll_optcast_call.h"
#include "coll_optcast_module.h"
#include "coll_optcast_operate.h"
#include "coll_optcast_operation.h"
#include "coll_optcast_pass.h"
#include "coll_optcast_persistent.h"
#include "coll_optcast_reductions.h"

static oc_status_t coll_allreduce_start(const mca_coll_optcast_module_t *m, oc_group_t *group,
                                        mca_coll_optcast_call_t *call,
                                        void (*finished)(void *, oc_status_t), void *arg)
{
    oc_allreduce_args_t args = mca_coll_optcast_reduction_args(call, finished, arg);

    (void) m;
    return oc_allreduce_start(group, &args);
}

static int allreduce_previous(const mca_coll_optcast_module_t *m,
                              const mca_coll_optcast_call_t *call)
{
    return m->prev_allreduce(call->sbuf, call->rbuf, call->count, call->dtype, call->op, m->comm,
                             m->prev_allreduce_module);
}

static int allreduce_previous_now(const mca_coll_optcast_module_t *m,
                                  const mca_coll_optcast_call_t *call, ompi_request_t **request)
{
    return m->prev_iallreduce(call->sbuf, call->rbuf, call->count, call->dtype, call->op, m->comm,
                              request, m->prev_iallreduce_module);
}

static int allreduce_previous_init(const mca_coll_optcast_module_t *m,
                                   const mca_coll_optcast_call_t *call, struct ompi_info_t *info,
                                   ompi_request_t **request)
{
    return m->prev_allreduce_init(call->sbuf, call->rbuf, call->count, call->dtype, call->op,
                                  m->comm, info, request, m->prev_allreduce_init_module);
}

/*
 * Open MPI does not give back the buffers of a persistent request, which are as large as the
 * vector: so this is one element.
 */
static int allreduce_previous_unused(const mca_coll_optcast_module_t *m,
                                     const mca_coll_optcast_call_t *call, ompi_request_t **request)
{
    static int unused;

    (void) call;
    return m->prev_allreduce_init(MPI_IN_PLACE, &unused, 1, MPI_INT, MPI_SUM, m->comm,
                                  (struct ompi_info_t *) MPI_INFO_NULL, request,
                                  m->prev_allreduce_init_module);
}

static bool allreduce_same_numbers(const mca_coll_optcast_module_t *m)
{
    return m->prev_iallreduce_module == m->prev_allreduce_init_module;
}

static const mca_coll_optcast_operation_t operation = {
    .names = {"Allreduce", "Iallreduce", "Allreduce_init"},
    .service = OC_SERVICE_AGGREGATION,
    .by_size = true,
    .ruled = OC_RULED_ALLREDUCE,
    .decide = mca_coll_optcast_decide_reduction,
    .start = coll_allreduce_start,
    .previous = allreduce_previous,
    .previous_now = allreduce_previous_now,
    .previous_init = allreduce_previous_init,
    .previous_unused = allreduce_previous_unused,
    .same_numbers = allreduce_same_numbers,
};

static mca_coll_optcast_call_t allreduce_call_of(mca_coll_optcast_way_t way, const void *sbuf,
                                                 void *rbuf, oc_mpi_count_t count,
                                                 struct ompi_datatype_t *dtype,
                                                 struct ompi_op_t *op)
{
    return (mca_coll_optcast_call_t) {.operation = &operation, .way = way, .sbuf = sbuf,
                                      .rbuf = rbuf, .count = count, .dtype = dtype, .op = op,
                                      .elements = (size_t) count, .own = (size_t) count};
}

int mca_coll_optcast_allreduce(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                               struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                               struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_optcast_module_t *m = (mca_coll_optcast_module_t *) module;
    uint64_t bytes = (uint64_t) count * dtype->super.size;
    mca_coll_optcast_call_t call;
    int rc;

    if (mca_coll_optcast_pass_begin(m, m->least[OC_RULED_ALLREDUCE], bytes, true)) {
        rc = m->prev_allreduce(sbuf, rbuf, count, dtype, op, comm, m->prev_allreduce_module);
        mca_coll_optcast_pass_end(m);
        return rc;
    }
    call = allreduce_call_of(OC_WAY_BLOCKING, sbuf, rbuf, count, dtype, op);
    return mca_coll_optcast_operate(m, &call);
}

int mca_coll_optcast_iallreduce(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                                struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                struct ompi_communicator_t *comm, ompi_request_t **request,
                                mca_coll_base_module_t *module)
{
    mca_coll_optcast_call_t call = allreduce_call_of(OC_WAY_NONBLOCKING, sbuf, rbuf, count, dtype,
                                                     op);

    (void) comm;
    return mca_coll_optcast_operate_now((mca_coll_optcast_module_t *) module, &call, request);
}

int mca_coll_optcast_allreduce_init(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                                    struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                    struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                    ompi_request_t **request, mca_coll_base_module_t *module)
{
    mca_coll_optcast_call_t call = allreduce_call_of(OC_WAY_PERSISTENT, sbuf, rbuf, count, dtype,
                                                     op);

    (void) comm;
    return mca_coll_optcast_operate_init((mca_coll_optcast_module_t *) module, &call, info,
                                         request);
}
