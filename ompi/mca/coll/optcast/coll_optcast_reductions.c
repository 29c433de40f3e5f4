/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions as the engine sees them. */
#include "coll_optcast_reductions.h"

#include "reduction/reduction.h"

#include "coll_optcast_operation.h"
#include "coll_optcast_types.h"

/*
 * Open MPI agrees on communicator ids by nonblocking MAX and MIN of at most two integers, Reduces
 * among them, from inside progress, and in an order that differs between ranks.
 */
static bool is_open_mpis_own(const mca_coll_optcast_call_t *call)
{
    return OC_WAY_NONBLOCKING == call->way && call->elements <= 2
           && (OC_OP_MAX == call->oc_op || OC_OP_MIN == call->oc_op)
           && call->oc_type <= OC_TYPE_UINT64;
}

/*
 * If several reasons apply, ORDER goes first, then size and place, then operation and type: a call
 * that passes at once (pass.h) knows only its size.
 */
oc_fallback_t mca_coll_optcast_decide_reduction(const mca_coll_optcast_module_t *m,
                                                mca_coll_optcast_call_t *call)
{
    oc_fallback_t unknown = mca_coll_optcast_map(call->op, call->dtype, &call->oc_op,
                                                 &call->oc_type);
    oc_fallback_t left;

    call->bytes = call->elements * call->dtype->super.size;
    if (OC_FALLBACK_NONE == unknown && is_open_mpis_own(call)) {
        return OC_FALLBACK_ORDER;
    }
    left = mca_coll_optcast_decide_size(m, call);
    if (OC_FALLBACK_NONE != left || OC_FALLBACK_NONE != unknown) {
        return OC_FALLBACK_NONE != left ? left : unknown;
    }
    if (NULL == m->services[OC_SERVICE_AGGREGATION].group) {
        return OC_FALLBACK_RANKS;
    }
    return 0 == call->bytes ? OC_FALLBACK_SIZE : OC_FALLBACK_NONE;
}

oc_fallback_t mca_coll_optcast_decide_size(const mca_coll_optcast_module_t *m,
                                           const mca_coll_optcast_call_t *call)
{
    uint64_t least = m->least[call->operation->ruled];

    if (call->bytes >= least) {
        return OC_FALLBACK_NONE;
    }
    return UINT64_MAX == least ? OC_FALLBACK_PLACE : OC_FALLBACK_SIZE;
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

oc_allreduce_args_t mca_coll_optcast_reduction_args(const mca_coll_optcast_call_t *call,
                                                    void (*finished)(void *, oc_status_t),
                                                    void *arg)
{
    return (oc_allreduce_args_t) {
        .send = MPI_IN_PLACE == call->sbuf ? call->rbuf : call->sbuf,
        .recv = call->no_result ? NULL : call->rbuf,
        .count = call->elements,
        .ruled = call->operation->ruled,
        .op = call->oc_op,
        .type = call->oc_type,
        .layout = layout_of(call),
        .send_device = MPI_IN_PLACE == call->sbuf ? call->rdevice : call->sdevice,
        .recv_device = call->rdevice,
        .blocking = OC_WAY_BLOCKING == call->way,
        .finished = finished,
        .arg = arg,
    };
}
