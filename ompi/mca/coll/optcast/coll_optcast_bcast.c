/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Bcast, MPI_Ibcast and MPI_Bcast_init. */
#include "coll_optcast_bcast.h"

#include "adapter/fallback.h"

#include "coll_optcast_call.h"
#include "coll_optcast_decide.h"
#include "coll_optcast_layout.h"
#include "coll_optcast_module.h"
#include "coll_optcast_operate.h"
#include "coll_optcast_operation.h"
#include "coll_optcast_pass.h"
#include "coll_optcast_persistent.h"

/*
 * Open MPI spreads ids of communicators by nonblocking Bcasts of at most two integers, from inside
 * progress, and in an order that differs between ranks.
 */
#define OWN_BYTES (2 * sizeof(int))

static oc_fallback_t bcast_decide(const mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call)
{
    size_t bytes = (size_t) call->count * call->dtype->super.size;

    if (OC_WAY_NONBLOCKING == call->way && bytes <= OWN_BYTES) {
        return OC_FALLBACK_ORDER;
    }
    return mca_coll_optcast_decide_cast(m, m->bcast_least, bytes);
}

static int bcast_prepare(const mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call)
{
    (void) m;
    mca_coll_optcast_layout_whole(call);
    return OMPI_SUCCESS;
}

static bool bcast_is_root(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call)
{
    return call->root == ompi_comm_rank(m->comm);
}

static oc_status_t coll_bcast_start(const mca_coll_optcast_module_t *m, oc_group_t *group,
                                    mca_coll_optcast_call_t *call,
                                    void (*finished)(void *, oc_status_t), void *arg)
{
    mca_coll_optcast_layout_t *layout = &call->layout;
    oc_bcast_args_t args = {
        .length = layout->blocks.block,
        .device = layout->blocks.scattered ? NULL : call->rdevice,
        .root = (uint32_t) call->root,
        .blocking = OC_WAY_BLOCKING == call->way,
        .finished = finished,
        .arg = arg,
    };

    if (!oc_layout_begin(&layout->blocks)) {
        return OC_ERR_NO_MEMORY;
    }
    if (layout->blocks.scattered && bcast_is_root(m, call)
        && OMPI_SUCCESS != mca_coll_optcast_pack(call->rdevice, call->rbuf, (size_t) call->count,
                                                 call->dtype, layout->blocks.recv, layout->blocks.block)) {
        return OC_ERR_SYSTEM;
    }
    args.buffer = layout->blocks.recv;
    return oc_bcast_start(group, &args);
}

static int bcast_finish(const mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call)
{
    if (!call->layout.blocks.scattered || bcast_is_root(m, call)) {
        return OMPI_SUCCESS;
    }
    return mca_coll_optcast_unpack(call->rdevice, call->layout.blocks.recv, call->layout.blocks.block,
                                   call->rbuf, (size_t) call->count, call->dtype);
}

static int bcast_previous(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call)
{
    return m->prev_bcast(call->rbuf, call->count, call->dtype, call->root, m->comm,
                         m->prev_bcast_module);
}

static int bcast_previous_now(const mca_coll_optcast_module_t *m,
                              const mca_coll_optcast_call_t *call, ompi_request_t **request)
{
    return m->prev_ibcast(call->rbuf, call->count, call->dtype, call->root, m->comm, request,
                          m->prev_ibcast_module);
}

static int bcast_previous_init(const mca_coll_optcast_module_t *m,
                               const mca_coll_optcast_call_t *call, struct ompi_info_t *info,
                               ompi_request_t **request)
{
    return m->prev_bcast_init(call->rbuf, call->count, call->dtype, call->root, m->comm, info,
                              request, m->prev_bcast_init_module);
}

static int bcast_previous_unused(const mca_coll_optcast_module_t *m,
                                 const mca_coll_optcast_call_t *call, ompi_request_t **request)
{
    return bcast_previous_init(m, call, (struct ompi_info_t *) MPI_INFO_NULL, request);
}

static bool bcast_same_numbers(const mca_coll_optcast_module_t *m)
{
    return m->prev_ibcast_module == m->prev_bcast_init_module;
}

static const mca_coll_optcast_operation_t operation = {
    .names = {"Bcast", "Ibcast", "Bcast_init"},
    .service = OC_SERVICE_MULTICAST,
    .decide = bcast_decide,
    .prepare = bcast_prepare,
    .start = coll_bcast_start,
    .finish = bcast_finish,
    .previous = bcast_previous,
    .previous_now = bcast_previous_now,
    .previous_init = bcast_previous_init,
    .previous_unused = bcast_previous_unused,
    .same_numbers = bcast_same_numbers,
};

static mca_coll_optcast_call_t bcast_call_of(mca_coll_optcast_way_t way, void *buffer,
                                             oc_mpi_count_t count, struct ompi_datatype_t *dtype,
                                             int root)
{
    return (mca_coll_optcast_call_t) {.operation = &operation, .way = way, .rbuf = buffer,
                                      .count = count, .dtype = dtype, .root = root};
}

int mca_coll_optcast_bcast(void *buffer, oc_mpi_count_t count, struct ompi_datatype_t *dtype,
                           int root, struct ompi_communicator_t *comm,
                           mca_coll_base_module_t *module)
{
    mca_coll_optcast_module_t *m = (mca_coll_optcast_module_t *) module;
    uint64_t bytes = (uint64_t) count * dtype->super.size;
    mca_coll_optcast_call_t call;
    int rc;

    if (mca_coll_optcast_pass_begin(m, m->bcast_least, bytes, true)) {
        rc = m->prev_bcast(buffer, count, dtype, root, comm, m->prev_bcast_module);
        mca_coll_optcast_pass_end(m);
        return rc;
    }
    call = bcast_call_of(OC_WAY_BLOCKING, buffer, count, dtype, root);
    return mca_coll_optcast_operate(m, &call);
}

int mca_coll_optcast_ibcast(void *buffer, oc_mpi_count_t count, struct ompi_datatype_t *dtype,
                            int root, struct ompi_communicator_t *comm, ompi_request_t **request,
                            mca_coll_base_module_t *module)
{
    mca_coll_optcast_call_t call = bcast_call_of(OC_WAY_NONBLOCKING, buffer, count, dtype, root);

    (void) comm;
    return mca_coll_optcast_operate_now((mca_coll_optcast_module_t *) module, &call, request);
}

int mca_coll_optcast_bcast_init(void *buffer, oc_mpi_count_t count, struct ompi_datatype_t *dtype,
                                int root, struct ompi_communicator_t *comm,
                                struct ompi_info_t *info, ompi_request_t **request,
                                mca_coll_base_module_t *module)
{
    mca_coll_optcast_call_t call = bcast_call_of(OC_WAY_PERSISTENT, buffer, count, dtype, root);

    (void) comm;
    return mca_coll_optcast_operate_init((mca_coll_optcast_module_t *) module, &call, info,
                                         request);
}
