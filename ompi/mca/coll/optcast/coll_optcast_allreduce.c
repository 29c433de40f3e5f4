/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allreduce, MPI_Iallreduce and MPI_Allreduce_init. */
#include "coll_optcast_allreduce.h"

#include "reduction/reduction.h"

#include "coll_optcast_call.h"
#include "coll_optcast_fallback.h"
#include "coll_optcast_module.h"
#include "coll_optcast_operate.h"
#include "coll_optcast_operation.h"
#include "coll_optcast_persistent.h"
#include "coll_optcast_types.h"

/*
 * Open MPI agrees on communicator ids by nonblocking MAX and MIN of at most two integers, from
 * inside progress, and in an order that differs between ranks.
 */
static bool is_open_mpis_own(const mca_coll_optcast_call_t *call)
{
    return OC_WAY_NONBLOCKING == call->way && call->count <= 2
           && (OC_OP_MAX == call->oc_op || OC_OP_MIN == call->oc_op)
           && call->oc_type <= OC_TYPE_UINT64;
}

static oc_fallback_t allreduce_decide(const mca_coll_optcast_module_t *m,
                                      mca_coll_optcast_call_t *call)
{
    oc_fallback_t reason = mca_coll_optcast_map(call->op, call->dtype, &call->oc_op,
                                                &call->oc_type);

    if (OC_FALLBACK_NONE != reason) {
        return reason;
    }
    if (NULL == m->services[OC_SERVICE_AGGREGATION].group) {
        return OC_FALLBACK_RANKS;
    }
    if (is_open_mpis_own(call)) {
        return OC_FALLBACK_ORDER;
    }
    call->bytes = (uint64_t) call->count * oc_type_size(call->oc_type);
    if (0 == call->bytes || call->bytes < m->least) {
        return UINT64_MAX == m->least ? OC_FALLBACK_PLACE : OC_FALLBACK_SIZE;
    }
    return OC_FALLBACK_NONE;
}

/* Pairs of a value and an int are structures of C: the int is aligned, and so is the next pair. */
static oc_layout_t layout_of(const mca_coll_optcast_call_t *call)
{
    size_t size = oc_type_size(call->oc_type), first = size - sizeof(int);
    ptrdiff_t extent;

    (void) ompi_datatype_type_extent(call->dtype, &extent);
    if ((size_t) extent == size || !ompi_datatype_is_predefined(call->dtype)) {
        return (oc_layout_t) {0};
    }
    return (oc_layout_t) {
        .extent = (size_t) extent,
        .first = first,
        .second_at = (first + _Alignof(int) - 1) / _Alignof(int) * _Alignof(int),
    };
}

static oc_status_t coll_allreduce_start(const mca_coll_optcast_module_t *m, oc_group_t *group,
                                        mca_coll_optcast_call_t *call,
                                        void (*finished)(void *, oc_status_t), void *arg)
{
    oc_allreduce_args_t args = {
        .send = MPI_IN_PLACE == call->sbuf ? call->rbuf : call->sbuf,
        .recv = call->rbuf,
        .count = (size_t) call->count,
        .op = call->oc_op,
        .type = call->oc_type,
        .layout = layout_of(call),
        .send_device = MPI_IN_PLACE == call->sbuf ? call->rdevice : call->sdevice,
        .recv_device = call->rdevice,
        .finished = finished,
        .arg = arg,
    };

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
    .decide = allreduce_decide,
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
                                      .rbuf = rbuf, .count = count, .dtype = dtype, .op = op};
}

int mca_coll_optcast_allreduce(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                               struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                               struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_optcast_call_t call = allreduce_call_of(OC_WAY_BLOCKING, sbuf, rbuf, count, dtype, op);

    (void) comm;
    return mca_coll_optcast_operate((mca_coll_optcast_module_t *) module, &call);
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
