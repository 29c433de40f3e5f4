/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of <optcast/mpi.h> on 16-bit floats, by what Open MPI knows of operation and type. */
#include "coll_optcast_half.h"

#include <string.h>

#include "adapter/half.h"
#include "reduction/reduction.h"

oc_fallback_t mca_coll_optcast_map_half(const struct ompi_op_t *op,
                                        const struct ompi_datatype_t *dtype, unsigned *oc_op,
                                        unsigned *oc_type)
{
    const oc_half_t *half;

    /* what the functions refuse is left to them, so that they say so */
    if (0 != (op->o_flags & OC_OP_FLAGS_NOT_C) || 2 != dtype->super.size || 0 != dtype->super.lb
        || 2 != dtype->super.ub) {
        return OC_FALLBACK_OP;
    }
    half = oc_half_find((uintptr_t) op->o_func.c_fn);
    if (NULL == half || 0 == strcmp(half->not_with, dtype->name)) {
        return OC_FALLBACK_OP;
    }
    *oc_op = half->op;
    *oc_type = half->type;
    return NULL == oc_reduce_kernel(*oc_op, *oc_type) ? OC_FALLBACK_OP : OC_FALLBACK_NONE;
}
