/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Bcast and MPI_Ibcast. */
#include "mpich/mpich_bcast.h"

#include "mpich/enter.h"
#include "mpich/handles.h"
#include "mpich/mpich_operate.h"
#include "mpich/pmpi.h"

static oc_fallback_t mpich_bcast_decide(const oc_mpich_comm_t *c, oc_mpich_call_t *call)
{
    call->bytes = (uint64_t) call->count * oc_mpich_type_bytes(call->type);
    return oc_mpich_decide_cast(c, c->bcast_least, call->bytes);
}

static bool mpich_bcast_is_root(const oc_mpich_comm_t *c, const oc_mpich_call_t *call)
{
    return call->root == c->rank;
}

static bool mpich_bcast_prepare(const oc_mpich_comm_t *c, oc_mpich_call_t *call)
{
    oc_layout_blocks_t *blocks = &call->layout.blocks;

    blocks->block = blocks->total = (size_t) call->bytes;
    blocks->recv = (char *) oc_mpich_row(call->rbuf, call->count, call->type);
    blocks->scattered = NULL == blocks->recv;
    /* the program may free its type meanwhile */
    return !blocks->scattered || mpich_bcast_is_root(c, call)
           || MPI_SUCCESS == PMPI_Type_dup(call->type, &call->layout.type);
}

static oc_status_t mpich_bcast_start(const oc_mpich_comm_t *c, oc_mpich_call_t *call,
                                     void (*finished)(void *, oc_status_t), void *arg)
{
    oc_layout_blocks_t *blocks = &call->layout.blocks;
    oc_bcast_args_t args = {.length = blocks->block, .root = (uint32_t) call->root,
                            .blocking = call->blocking, .finished = finished, .arg = arg};

    if (!oc_layout_begin(blocks)) {
        return OC_ERR_NO_MEMORY;
    }
    if (blocks->scattered && mpich_bcast_is_root(c, call)
        && MPI_SUCCESS != oc_mpich_pack(call->rbuf, call->count, call->type, blocks->recv,
                                        blocks->block)) {
        return OC_ERR_SYSTEM;
    }
    args.buffer = blocks->recv;
    return oc_bcast_start(c->services[OC_SERVICE_MULTICAST].group, &args);
}

static int mpich_bcast_finish(const oc_mpich_comm_t *c, oc_mpich_call_t *call)
{
    const oc_layout_blocks_t *blocks = &call->layout.blocks;

    return !blocks->scattered || mpich_bcast_is_root(c, call)
               ? MPI_SUCCESS
               : oc_mpich_unpack(blocks->recv, blocks->block, call->rbuf, call->count,
                                 call->layout.type);
}

static const oc_mpich_operation_t operation = {
    .names = {"Bcast", "Ibcast"},
    .kind = OC_MPICH_BCAST,
    .service = OC_SERVICE_MULTICAST,
    .decide = mpich_bcast_decide,
    .prepare = mpich_bcast_prepare,
    .start = mpich_bcast_start,
    .finish = mpich_bcast_finish,
};

bool oc_mpich_bcast(void *buffer, int64_t count, int type, int root, int comm, int *request,
                    int *rc)
{
    oc_mpich_shape_t shape = {.count = count, .type = type};
    oc_mpich_comm_t *c = oc_mpich_enter(comm, operation.kind, shape, request);
    oc_mpich_call_t call;

    if (NULL == c) {
        return false;
    }
    call = (oc_mpich_call_t) {.operation = &operation, .rbuf = buffer, .count = count, .type = type,
                              .root = root, .layout.type = MPI_DATATYPE_NULL};
    return count >= 0 && root >= 0 && root < c->size && oc_mpich_is_type(type)
           && !oc_mpich_is_missing(buffer, count, type)
           && oc_mpich_operate(c, &call, request, rc);
}
