/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions as the engine sees them. */
#include "mpich/reductions.h"

#include "adapter/mpi_map.h"
#include "reduction/reduction.h"

#include "mpich/mpich_op.h"
#include "mpich/pmpi.h"
#include "mpich/state.h"

/* What the library itself makes of true and true, as a Fortran compiler stores it. */
static bool stores_true_as_one(void)
{
    int in = 1, out = 1;

    return MPI_SUCCESS == PMPI_Reduce_local(&in, &out, 1, MPI_LOGICAL, MPI_LAND) && 1 == out;
}

static const oc_mpi_map_basis_t basis = {.type_size = oc_mpich_type_bytes,
                                         .true_is_one = stores_true_as_one};

oc_fallback_t oc_mpich_decide_reduction(const oc_mpich_comm_t *c, oc_mpich_call_t *call)
{
    uint64_t least = c->least[call->operation->ruled];
    bool own;
    oc_fallback_t unknown = oc_mpi_map(&basis, call->op, call->type, &call->oc_op, &call->oc_type,
                                       &own);

    if (own) {
        unknown = oc_mpich_op_map(call->op, call->type, &call->oc_op, &call->oc_type);
    }
    call->bytes = call->elements * (OC_FALLBACK_NONE == unknown ? oc_type_size(call->oc_type)
                                                                : oc_mpich_type_bytes(call->type));
    if (call->bytes < least) {
        return UINT64_MAX == least ? OC_FALLBACK_PLACE : OC_FALLBACK_SIZE;
    }
    if (OC_FALLBACK_NONE != unknown) {
        return unknown;
    }
    if (c->size > oc_mpich_state.settings.max_ranks) {
        return OC_FALLBACK_RANKS;
    }
    return 0 == call->bytes ? OC_FALLBACK_SIZE : OC_FALLBACK_NONE;
}

/* Pairs of a value and an int are structures of C: the int is aligned, and so is the next pair. */
static oc_layout_t pair_layout_of(const oc_mpich_call_t *call)
{
    size_t size = oc_type_size(call->oc_type), first = size - sizeof(int);
    MPI_Aint lower, extent = (MPI_Aint) size;

    (void) PMPI_Type_get_extent(call->type, &lower, &extent);
    if ((size_t) extent == size) {
        return (oc_layout_t) {0};
    }
    return (oc_layout_t) {
        .extent = (size_t) extent,
        .first = first,
        .second_at = (first + _Alignof(int) - 1) / _Alignof(int) * _Alignof(int),
    };
}

oc_allreduce_args_t oc_mpich_reduction_args(const oc_mpich_call_t *call,
                                            void (*finished)(void *, oc_status_t), void *arg)
{
    return (oc_allreduce_args_t) {
        .send = MPI_IN_PLACE == call->sbuf ? call->rbuf : call->sbuf,
        .recv = call->no_result ? NULL : call->rbuf,
        .count = call->elements,
        .ruled = call->operation->ruled,
        .op = call->oc_op,
        .type = call->oc_type,
        .layout = pair_layout_of(call),
        .blocking = call->blocking,
        .finished = finished,
        .arg = arg,
    };
}

oc_group_t *oc_mpich_reduction_group(const oc_mpich_comm_t *c)
{
    return c->services[OC_SERVICE_AGGREGATION].group;
}
