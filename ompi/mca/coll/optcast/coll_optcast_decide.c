/* SPDX-License-Identifier: BSD-3-Clause */
/* What is offloaded, and what the engine is told about it. */
#include "coll_optcast.h"

#include "opal/util/output.h"

#include "reduction/reduction.h"

/* Open MPI agrees on communicator ids that way, and uses integers for it. */
static bool is_open_mpis_own(const mca_coll_optcast_call_t *call)
{
    return call->count <= 2 && (OC_OP_MAX == call->oc_op || OC_OP_MIN == call->oc_op)
           && call->oc_type <= OC_TYPE_UINT64;
}

oc_fallback_t mca_coll_optcast_decide(const mca_coll_optcast_module_t *m,
                                      mca_coll_optcast_call_t *call, bool nonblocking)
{
    oc_fallback_t reason = mca_coll_optcast_map(call->op, call->dtype, &call->oc_op,
                                                &call->oc_type);
    size_t bytes;

    if (OC_FALLBACK_NONE != reason) {
        return reason;
    }
    if (NULL == oc_reduce_kernel(call->oc_op, call->oc_type)) {
        return OC_FALLBACK_OP;
    }
    if (NULL == m->group) {
        return OC_FALLBACK_RANKS;
    }
    if (nonblocking && is_open_mpis_own(call)) {
        return OC_FALLBACK_ORDER;
    }
    bytes = (size_t) call->count * oc_type_size(call->oc_type);
    if (0 == bytes
        || (OC_MODE_AUTO == m->mode && bytes < mca_coll_optcast_component.settings.min_size)) {
        return OC_FALLBACK_SIZE;
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

oc_allreduce_args_t mca_coll_optcast_engine_args(const mca_coll_optcast_call_t *call,
                                                 void (*finished)(void *, oc_status_t), void *arg)
{
    return (oc_allreduce_args_t) {
        .send = MPI_IN_PLACE == call->sbuf ? call->rbuf : call->sbuf,
        .recv = call->rbuf,
        .count = (size_t) call->count,
        .op = call->oc_op,
        .type = call->oc_type,
        .layout = layout_of(call),
        .finished = finished,
        .arg = arg,
    };
}

void mca_coll_optcast_tell(const mca_coll_optcast_module_t *m, const char *name,
                           const mca_coll_optcast_call_t *call, oc_fallback_t reason)
{
    static const char *const texts[OC_FALLBACK_END] = {
        [OC_FALLBACK_NONE] = "goes to the servers",
        [OC_FALLBACK_OP] = "falls back: operation",
        [OC_FALLBACK_TYPE] = "falls back: type",
        [OC_FALLBACK_RANKS] = "falls back: too many ranks",
        [OC_FALLBACK_SIZE] = "falls back: size",
        [OC_FALLBACK_SETUP] = "falls back: no service",
        [OC_FALLBACK_ORDER] = "falls back: order",
    };

    OC_VERBOSE(2, "optcast: %s on \"%s\": %zu x %s, %s: %s", name, mca_coll_optcast_name(m->comm),
               (size_t) call->count, call->dtype->name, call->op->o_name, texts[reason]);
}
