/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allgather and MPI_Allgatherv, nonblocking ones, too. */
#include "mpich/mpich_allgather.h"

#include <stdlib.h>
#include <string.h>

#include "mpich/enter.h"
#include "mpich/handles.h"
#include "mpich/mpich_operate.h"
#include "mpich/pmpi.h"

/*
 * By the receive side: what the send side says is not significant in place, and must come to the
 * same if it is.
 */
static oc_fallback_t mpich_allgather_decide(const oc_mpich_comm_t *c, oc_mpich_call_t *call)
{
    int64_t count = call->unequal ? oc_mpich_array_sum(call->counts, c->size)
                                  : call->count * c->size;

    call->bytes = (size_t) count * oc_mpich_type_bytes(call->type);
    return oc_mpich_decide_cast(c, c->gather_least, call->bytes);
}

static int64_t counted(const oc_mpich_call_t *call, int block)
{
    return call->unequal ? oc_mpich_array_get(call->counts, block) : call->count;
}

/* In elements. */
static int64_t place_of(const oc_mpich_call_t *call, int block)
{
    return call->unequal ? oc_mpich_array_get(call->displs, block) : block * call->count;
}

/* Where the first block begins if all are side by side, as rows of bytes; NULL: they are not. */
static char *one_row(const oc_mpich_call_t *call)
{
    return call->unequal ? NULL : (char *) oc_mpich_row(call->rbuf, 2, call->type);
}

static void list_places(const oc_mpich_comm_t *c, oc_mpich_call_t *call, size_t size)
{
    oc_layout_blocks_t *blocks = &call->layout.blocks;
    bool alone = NULL != oc_mpich_row(call->rbuf, 1, call->type);
    bool many = NULL != oc_mpich_row(call->rbuf, 2, call->type);
    MPI_Aint lower, extent, first, length;

    (void) PMPI_Type_get_extent(call->type, &lower, &extent);
    (void) PMPI_Type_get_true_extent(call->type, &first, &length);
    for (int i = 0; i < c->size; i++) {
        int64_t count = counted(call, i);

        blocks->lengths[i] = (size_t) count * size;
        blocks->places[i] = place_of(call, i) * extent;
        blocks->scattered |= 0 != blocks->lengths[i] && !(count > 1 ? many : alone);
    }
    oc_layout_place(blocks, (size_t) c->size, call->rbuf, first);
}

static bool mpich_allgather_prepare(const oc_mpich_comm_t *c, oc_mpich_call_t *call)
{
    oc_layout_blocks_t *blocks = &call->layout.blocks;
    size_t size = oc_mpich_type_bytes(call->type);

    blocks->recv = one_row(call);
    if (NULL != blocks->recv) {
        blocks->block = (size_t) call->count * size;
        return true;
    }
    if (!oc_layout_lists(blocks, (size_t) c->size)) {
        return false;
    }
    list_places(c, call, size);
    /* the program may free its type meanwhile */
    return !blocks->scattered
           || MPI_SUCCESS == PMPI_Type_dup(call->type, &call->layout.type);
}

static bool gathers_in_place(const oc_mpich_call_t *call)
{
    return MPI_IN_PLACE == call->sbuf;
}

static size_t sent_bytes(const oc_mpich_call_t *call)
{
    return gathers_in_place(call) ? 0 : (size_t) call->scount * oc_mpich_type_bytes(call->stype);
}

/* What the receive buffer has of this rank's block goes to the temporary, if there is one. */
static int save_own(const oc_mpich_comm_t *c, const oc_mpich_call_t *call, oc_layout_own_t own)
{
    const oc_layout_blocks_t *blocks = &call->layout.blocks;

    if (!blocks->scattered || 0 == own.length) {
        return MPI_SUCCESS;
    }
    return oc_mpich_pack((const char *) call->rbuf + blocks->places[c->rank],
                         counted(call, c->rank), call->type, own.place, own.length);
}

/* What is longer than the block is packed as a whole, of which the beginning is sent. */
static oc_status_t pack_to_send(const oc_mpich_call_t *call, oc_layout_own_t own)
{
    size_t size = sent_bytes(call);
    char *all = size > own.length ? malloc(size) : own.place;
    oc_status_t status = OC_ERR_NO_MEMORY;

    if (NULL != all) {
        status = MPI_SUCCESS == oc_mpich_pack(call->sbuf, call->scount, call->stype, all, size)
                     ? OC_OK
                     : OC_ERR_SYSTEM;
    }
    if (all != own.place) {
        if (OC_OK == status) {
            memcpy(own.place, all, own.length);
        }
        free(all);
    }
    return status;
}

/*
 * This rank's block as the engine is to send it; NULL: it is in its place. What is to be sent has to
 * be as long as the block. Where it is shorter, the block's beginning becomes what there is of it, so
 * that nothing is read that is not to be sent. See finish for what is too long.
 */
static oc_status_t block_to_send(const oc_mpich_comm_t *c, const oc_mpich_call_t *call,
                                 const void **send)
{
    oc_layout_own_t own = oc_layout_own(&call->layout.blocks, (size_t) c->rank);
    size_t size = sent_bytes(call);

    *send = NULL;
    if (0 == own.length) {
        return OC_OK;
    }
    if (size >= own.length) {
        *send = oc_mpich_row(call->sbuf, call->scount, call->stype);
    } else if (MPI_SUCCESS != save_own(c, call, own)) {
        return OC_ERR_SYSTEM;
    }
    return NULL != *send || 0 == size ? OC_OK : pack_to_send(call, own);
}

static oc_status_t mpich_allgather_start(const oc_mpich_comm_t *c, oc_mpich_call_t *call,
                                         void (*finished)(void *, oc_status_t), void *arg)
{
    oc_layout_blocks_t *blocks = &call->layout.blocks;
    oc_allgather_args_t args = {.block = blocks->block, .lengths = blocks->lengths,
                                .offsets = blocks->offsets, .blocking = call->blocking,
                                .finished = finished, .arg = arg};
    oc_status_t status;

    if (!oc_layout_begin(blocks)) {
        return OC_ERR_NO_MEMORY;
    }
    status = block_to_send(c, call, &args.send);
    if (OC_OK != status) {
        return status;
    }
    args.recv = blocks->recv;
    return oc_allgather_start(c->services[OC_SERVICE_MULTICAST].group, &args);
}

/* From the temporary to where they belong. Counts may be gone by now. */
static int unpack_all(const oc_mpich_comm_t *c, const oc_mpich_call_t *call)
{
    const oc_layout_blocks_t *blocks = &call->layout.blocks;
    size_t size = oc_mpich_type_bytes(call->layout.type);
    int rc = MPI_SUCCESS;

    for (int i = 0; i < c->size && MPI_SUCCESS == rc; i++) {
        bool there = gathers_in_place(call) && i == c->rank;

        if (0 != blocks->lengths[i] && !there) {
            rc = oc_mpich_unpack(blocks->recv + blocks->offsets[i], blocks->lengths[i],
                                 (char *) call->rbuf + blocks->places[i],
                                 (int64_t) (blocks->lengths[i] / size), call->layout.type);
        }
    }
    return rc;
}

/* The other ranks have got what fits, and do not wait for this one. */
static int mpich_allgather_finish(const oc_mpich_comm_t *c, oc_mpich_call_t *call)
{
    const oc_layout_blocks_t *blocks = &call->layout.blocks;
    int rc = blocks->scattered ? unpack_all(c, call) : MPI_SUCCESS;
    bool fits = call->bytes_to_send <= oc_layout_own(blocks, (size_t) c->rank).length;

    return MPI_SUCCESS == rc && !fits ? MPI_ERR_TRUNCATE : rc;
}

static const oc_mpich_operation_t equal_blocks = {
    .names = {"Allgather", "Iallgather"},
    .kind = OC_MPICH_ALLGATHER,
    .service = OC_SERVICE_MULTICAST,
    .decide = mpich_allgather_decide,
    .prepare = mpich_allgather_prepare,
    .start = mpich_allgather_start,
    .finish = mpich_allgather_finish,
};

static const oc_mpich_operation_t any_blocks = {
    .names = {"Allgatherv", "Iallgatherv"},
    .kind = OC_MPICH_ALLGATHERV,
    .service = OC_SERVICE_MULTICAST,
    .decide = mpich_allgather_decide,
    .prepare = mpich_allgather_prepare,
    .start = mpich_allgather_start,
    .finish = mpich_allgather_finish,
};

/* What MPICH has to say itself. */
static bool is_wrong(const oc_mpich_call_t *call)
{
    return !oc_mpich_is_type(call->type)
           || (!gathers_in_place(call)
               && (call->scount < 0 || !oc_mpich_is_type(call->stype)
                   || oc_mpich_is_missing(call->sbuf, call->scount, call->stype)));
}

bool oc_mpich_allgather(const void *sbuf, int64_t scount, int stype, void *rbuf, int64_t rcount,
                        int rtype, int comm, int *request, int *rc)
{
    oc_mpich_shape_t shape = {.count = rcount, .type = rtype};
    oc_mpich_comm_t *c = oc_mpich_enter(comm, equal_blocks.kind, shape, request);
    oc_mpich_call_t call;

    if (NULL == c) {
        return false;
    }
    call = (oc_mpich_call_t) {.operation = &equal_blocks, .sbuf = sbuf, .scount = scount,
                              .stype = stype, .rbuf = rbuf, .count = rcount, .type = rtype,
                              .layout.type = MPI_DATATYPE_NULL};
    if (rcount < 0 || is_wrong(&call) || oc_mpich_is_missing(rbuf, rcount, rtype)) {
        return false;
    }
    call.bytes_to_send = sent_bytes(&call);
    return oc_mpich_operate(c, &call, request, rc);
}

bool oc_mpich_allgatherv(const void *sbuf, int64_t scount, int stype, void *rbuf,
                         const void *rcounts, const void *displs, bool large, int rtype, int comm,
                         int *request, int *rc)
{
    oc_mpich_comm_t *c = oc_mpich_enter(comm, any_blocks.kind, OC_MPICH_NO_SHAPE, request);
    oc_mpich_call_t call;
    int64_t sum;

    if (NULL == c) {
        return false;
    }
    call = (oc_mpich_call_t) {.operation = &any_blocks, .sbuf = sbuf, .scount = scount,
                              .stype = stype, .rbuf = rbuf, .unequal = true,
                              .counts = {rcounts, large}, .displs = {displs, large}, .type = rtype,
                              .layout.type = MPI_DATATYPE_NULL};
    if (NULL == rcounts || NULL == displs || is_wrong(&call)) {
        return false;
    }
    sum = oc_mpich_array_sum(call.counts, c->size);
    if (sum < 0 || oc_mpich_is_missing(rbuf, sum, rtype)) {
        return false;
    }
    call.bytes_to_send = sent_bytes(&call);
    return oc_mpich_operate(c, &call, request, rc);
}
