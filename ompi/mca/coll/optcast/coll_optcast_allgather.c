/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, and the same for Allgatherv. */
#include "coll_optcast_allgather.h"

#include "adapter/fallback.h"

#include "coll_optcast_call.h"
#include "coll_optcast_decide.h"
#include "coll_optcast_device.h"
#include "coll_optcast_layout.h"
#include "coll_optcast_module.h"
#include "coll_optcast_operate.h"
#include "coll_optcast_operation.h"
#include "coll_optcast_pass.h"
#include "coll_optcast_persistent.h"

/*
 * By the receive side: what the send side says is not significant in place, and must come to the
 * same if it is.
 */
static oc_fallback_t allgather_decide(const mca_coll_optcast_module_t *m,
                                      mca_coll_optcast_call_t *call)
{
    size_t blocks = (size_t) ompi_comm_size(m->comm);

    return mca_coll_optcast_decide_cast(
        m, m->gather_least, (size_t) call->count * call->dtype->super.size * blocks);
}

static oc_fallback_t decide_v(const mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call)
{
    size_t count = 0;

    for (int i = 0; i < ompi_comm_size(m->comm); i++) {
        count += OC_MPI_COUNT(call->counts, i);
    }
    return mca_coll_optcast_decide_cast(m, m->gather_least, count * call->dtype->super.size);
}

static int allgather_prepare(const mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call)
{
    return mca_coll_optcast_layout_blocks(call, ompi_comm_size(m->comm));
}

static oc_layout_own_t own_of(const mca_coll_optcast_module_t *m,
                              const mca_coll_optcast_call_t *call)
{
    return oc_layout_own(&call->layout.blocks, (size_t) ompi_comm_rank(m->comm));
}

static bool is_in_place(const mca_coll_optcast_call_t *call)
{
    return MPI_IN_PLACE == call->sbuf;
}

static size_t send_size(const mca_coll_optcast_call_t *call)
{
    return (size_t) call->scount * call->sdtype->super.size;
}

/* What the receive buffer has of this rank's block goes to the temporary, if there is one. */
static int keep_own(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                    oc_layout_own_t own)
{
    const mca_coll_optcast_layout_t *layout = &call->layout;

    if (!layout->blocks.scattered || 0 == own.length) {
        return OMPI_SUCCESS;
    }
    return mca_coll_optcast_pack(call->rdevice,
                                 (const char *) call->rbuf
                                     + layout->blocks.places[ompi_comm_rank(m->comm)],
                                 own.length / call->dtype->super.size, call->dtype, own.place,
                                 own.length);
}

/* What is to be sent, or as much of it as there is, to its place. */
static int pack_own(const mca_coll_optcast_call_t *call, oc_layout_own_t own, size_t size)
{
    bool on_device = NULL != call->rdevice && !call->layout.blocks.scattered;
    char *row = on_device ? malloc(size) : own.place;
    int rc;

    if (NULL == row) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    rc = mca_coll_optcast_pack(call->sdevice, call->sbuf, (size_t) call->scount, call->sdtype, row,
                               size);
    if (on_device) {
        if (OMPI_SUCCESS == rc
            && OC_OK != oc_device_copy(call->rdevice, OC_TO_DEVICE, own.place, row, size)) {
            rc = OMPI_ERROR;
        }
        mca_coll_optcast_count_staged(size);
        free(row);
    }
    return rc;
}

/*
 * This rank's block as the engine is to send it; NULL: it is in its place. What is to be sent has
 * to be as long as the block. Where it is not, the block's beginning becomes what there is of it,
 * as in Open MPI's ring: nothing is read that is not to be sent. See finish for what is too long.
 */
static int own_block(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                     const void **send)
{
    oc_layout_own_t own = own_of(m, call);
    size_t size = is_in_place(call) ? 0 : send_size(call);
    int rc;

    *send = NULL;
    if (size < own.length) {
        rc = keep_own(m, call, own);
        if (OMPI_SUCCESS != rc || 0 == size) {
            return rc;
        }
    } else if (0 != own.length) {
        *send = mca_coll_optcast_row(call->sbuf, (size_t) call->scount, call->sdtype);
        size = own.length;
    }
    return NULL != *send || 0 == size ? OMPI_SUCCESS : pack_own(call, own, size);
}

static oc_status_t coll_allgather_start(const mca_coll_optcast_module_t *m, oc_group_t *group,
                                        mca_coll_optcast_call_t *call,
                                        void (*finished)(void *, oc_status_t), void *arg)
{
    mca_coll_optcast_layout_t *layout = &call->layout;
    oc_allgather_args_t args = {
        .block = layout->blocks.block,
        .lengths = layout->blocks.lengths,
        .offsets = layout->blocks.offsets,
        .send_device = call->sdevice,
        .recv_device = layout->blocks.scattered ? NULL : call->rdevice,
        .blocking = OC_WAY_BLOCKING == call->way,
        .finished = finished,
        .arg = arg,
    };

    if (!oc_layout_begin(&layout->blocks)) {
        return OC_ERR_NO_MEMORY;
    }
    if (OMPI_SUCCESS != own_block(m, call, &args.send)) {
        return OC_ERR_SYSTEM;
    }
    args.recv = layout->blocks.recv;
    return oc_allgather_start(group, &args);
}

/* From the temporary to where it belongs. */
static int unpack_blocks(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call)
{
    const mca_coll_optcast_layout_t *layout = &call->layout;
    int rc = OMPI_SUCCESS;

    for (int i = 0; i < ompi_comm_size(m->comm) && OMPI_SUCCESS == rc; i++) {
        bool there = is_in_place(call) && i == ompi_comm_rank(m->comm);

        if (0 != layout->blocks.lengths[i] && !there) {
            rc = mca_coll_optcast_unpack(call->rdevice, layout->blocks.recv + layout->blocks.offsets[i], layout->blocks.lengths[i],
                                         (char *) call->rbuf + layout->blocks.places[i],
                                         layout->blocks.lengths[i] / call->dtype->super.size,
                                         call->dtype);
        }
    }
    return rc;
}

/* The other ranks have got what fits, and do not wait for this one. */
static int allgather_finish(const mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call)
{
    int rc = call->layout.blocks.scattered ? unpack_blocks(m, call) : OMPI_SUCCESS;

    if (OMPI_SUCCESS == rc && !is_in_place(call) && send_size(call) > own_of(m, call).length) {
        return MPI_ERR_TRUNCATE;
    }
    return rc;
}

/* The previous module's functions have the same arguments but for those of the receive side. */
#define DEFINE_PREVIOUS(name, ...)                                                              \
    static int previous_##name(const mca_coll_optcast_module_t *m,                              \
                               const mca_coll_optcast_call_t *call)                             \
    {                                                                                           \
        return m->prev_##name(call->sbuf, call->scount, call->sdtype, call->rbuf, __VA_ARGS__,  \
                              call->dtype, m->comm, m->prev_##name##_module);                   \
    }                                                                                           \
    static int previous_i##name(const mca_coll_optcast_module_t *m,                             \
                                const mca_coll_optcast_call_t *call, ompi_request_t **request)  \
    {                                                                                           \
        return m->prev_i##name(call->sbuf, call->scount, call->sdtype, call->rbuf, __VA_ARGS__, \
                               call->dtype, m->comm, request, m->prev_i##name##_module);        \
    }                                                                                           \
    static int previous_##name##_init(const mca_coll_optcast_module_t *m,                       \
                                      const mca_coll_optcast_call_t *call,                      \
                                      struct ompi_info_t *info, ompi_request_t **request)       \
    {                                                                                           \
        return m->prev_##name##_init(call->sbuf, call->scount, call->sdtype, call->rbuf,        \
                                     __VA_ARGS__, call->dtype, m->comm, info, request,          \
                                     m->prev_##name##_init_module);                             \
    }                                                                                           \
    static int unused_##name(const mca_coll_optcast_module_t *m,                                \
                             const mca_coll_optcast_call_t *call, ompi_request_t **request)     \
    {                                                                                           \
        return previous_##name##_init(m, call, (struct ompi_info_t *) MPI_INFO_NULL, request);  \
    }                                                                                           \
    static bool same_numbers_##name(const mca_coll_optcast_module_t *m)                         \
    {                                                                                           \
        return m->prev_i##name##_module == m->prev_##name##_init_module;                        \
    }

DEFINE_PREVIOUS(allgather, call->count)
DEFINE_PREVIOUS(allgatherv, call->counts, call->displs)

static const mca_coll_optcast_operation_t allgather = {
    .names = {"Allgather", "Iallgather", "Allgather_init"},
    .service = OC_SERVICE_MULTICAST,
    .decide = allgather_decide,
    .prepare = allgather_prepare,
    .start = coll_allgather_start,
    .finish = allgather_finish,
    .previous = previous_allgather,
    .previous_now = previous_iallgather,
    .previous_init = previous_allgather_init,
    .previous_unused = unused_allgather,
    .same_numbers = same_numbers_allgather,
};

static const mca_coll_optcast_operation_t allgatherv = {
    .names = {"Allgatherv", "Iallgatherv", "Allgatherv_init"},
    .service = OC_SERVICE_MULTICAST,
    .decide = decide_v,
    .prepare = allgather_prepare,
    .start = coll_allgather_start,
    .finish = allgather_finish,
    .previous = previous_allgatherv,
    .previous_now = previous_iallgatherv,
    .previous_init = previous_allgatherv_init,
    .previous_unused = unused_allgatherv,
    .same_numbers = same_numbers_allgatherv,
};

static mca_coll_optcast_call_t allgather_call_of(mca_coll_optcast_way_t way, const void *sbuf,
                                                 oc_mpi_count_t scount,
                                                 struct ompi_datatype_t *sdtype, void *rbuf,
                                                 oc_mpi_count_t rcount,
                                                 struct ompi_datatype_t *rdtype)
{
    return (mca_coll_optcast_call_t) {.operation = &allgather, .way = way, .sbuf = sbuf,
                                      .scount = scount, .sdtype = sdtype, .rbuf = rbuf,
                                      .count = rcount, .dtype = rdtype};
}

static mca_coll_optcast_call_t call_of_v(mca_coll_optcast_way_t way, const void *sbuf,
                                         oc_mpi_count_t scount, struct ompi_datatype_t *sdtype,
                                         void *rbuf, oc_mpi_counts_t rcounts,
                                         oc_mpi_displs_t displs, struct ompi_datatype_t *rdtype)
{
    return (mca_coll_optcast_call_t) {.operation = &allgatherv, .way = way, .sbuf = sbuf,
                                      .scount = scount, .sdtype = sdtype, .rbuf = rbuf,
                                      .unequal = true, .counts = rcounts, .displs = displs,
                                      .dtype = rdtype};
}

int mca_coll_optcast_allgather(const void *sbuf, oc_mpi_count_t scount,
                               struct ompi_datatype_t *sdtype, void *rbuf, oc_mpi_count_t rcount,
                               struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
                               mca_coll_base_module_t *module)
{
    mca_coll_optcast_module_t *m = (mca_coll_optcast_module_t *) module;
    uint64_t bytes = (uint64_t) rcount * (uint64_t) ompi_comm_size(comm) * rdtype->super.size;
    mca_coll_optcast_call_t call;
    int rc;

    if (mca_coll_optcast_pass_begin(m, m->gather_least, bytes, true)) {
        rc = m->prev_allgather(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm,
                               m->prev_allgather_module);
        mca_coll_optcast_pass_end(m);
        return rc;
    }
    call = allgather_call_of(OC_WAY_BLOCKING, sbuf, scount, sdtype, rbuf, rcount, rdtype);
    return mca_coll_optcast_operate(m, &call);
}

int mca_coll_optcast_iallgather(const void *sbuf, oc_mpi_count_t scount,
                                struct ompi_datatype_t *sdtype, void *rbuf, oc_mpi_count_t rcount,
                                struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
                                ompi_request_t **request, mca_coll_base_module_t *module)
{
    mca_coll_optcast_call_t call = allgather_call_of(OC_WAY_NONBLOCKING, sbuf, scount, sdtype, rbuf,
                                                     rcount, rdtype);

    (void) comm;
    return mca_coll_optcast_operate_now((mca_coll_optcast_module_t *) module, &call, request);
}

int mca_coll_optcast_allgather_init(const void *sbuf, oc_mpi_count_t scount,
                                    struct ompi_datatype_t *sdtype, void *rbuf,
                                    oc_mpi_count_t rcount, struct ompi_datatype_t *rdtype,
                                    struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                    ompi_request_t **request, mca_coll_base_module_t *module)
{
    mca_coll_optcast_call_t call = allgather_call_of(OC_WAY_PERSISTENT, sbuf, scount, sdtype, rbuf,
                                                     rcount, rdtype);

    (void) comm;
    return mca_coll_optcast_operate_init((mca_coll_optcast_module_t *) module, &call, info,
                                         request);
}

int mca_coll_optcast_allgatherv(const void *sbuf, oc_mpi_count_t scount,
                                struct ompi_datatype_t *sdtype, void *rbuf,
                                oc_mpi_counts_t rcounts, oc_mpi_displs_t displs,
                                struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
                                mca_coll_base_module_t *module)
{
    mca_coll_optcast_module_t *m = (mca_coll_optcast_module_t *) module;
    mca_coll_optcast_call_t call;
    int rc;

    if (mca_coll_optcast_pass_begin_unsized(m, m->gather_least)) {
        rc = m->prev_allgatherv(sbuf, scount, sdtype, rbuf, rcounts, displs, rdtype, comm,
                                m->prev_allgatherv_module);
        mca_coll_optcast_pass_end(m);
        return rc;
    }
    call = call_of_v(OC_WAY_BLOCKING, sbuf, scount, sdtype, rbuf, rcounts, displs, rdtype);
    return mca_coll_optcast_operate(m, &call);
}

int mca_coll_optcast_iallgatherv(const void *sbuf, oc_mpi_count_t scount,
                                 struct ompi_datatype_t *sdtype, void *rbuf,
                                 oc_mpi_counts_t rcounts, oc_mpi_displs_t displs,
                                 struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
                                 ompi_request_t **request, mca_coll_base_module_t *module)
{
    mca_coll_optcast_call_t call = call_of_v(OC_WAY_NONBLOCKING, sbuf, scount, sdtype, rbuf,
                                             rcounts, displs, rdtype);

    (void) comm;
    return mca_coll_optcast_operate_now((mca_coll_optcast_module_t *) module, &call, request);
}

int mca_coll_optcast_allgatherv_init(const void *sbuf, oc_mpi_count_t scount,
                                     struct ompi_datatype_t *sdtype, void *rbuf,
                                     oc_mpi_counts_t rcounts, oc_mpi_displs_t displs,
                                     struct ompi_datatype_t *rdtype,
                                     struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                     ompi_request_t **request, mca_coll_base_module_t *module)
{
    mca_coll_optcast_call_t call = call_of_v(OC_WAY_PERSISTENT, sbuf, scount, sdtype, rbuf,
                                             rcounts, displs, rdtype);

    (void) comm;
    return mca_coll_optcast_operate_init((mca_coll_optcast_module_t *) module, &call, info,
                                         request);
}
